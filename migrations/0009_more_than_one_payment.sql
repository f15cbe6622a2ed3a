-- A reservation is paid by one attempt or by several: at booking, later by its schedule, for a change. One that
-- a channel brings has no hold and no payment of ours.

ALTER TABLE payment_attempts
    ADD COLUMN reservation_id uuid,
    ADD COLUMN change_id uuid,
    DROP CONSTRAINT attempts_booking_has_a_hold,
    ADD CONSTRAINT attempts_that_claim_units_have_a_hold CHECK ((purpose IN ('booking', 'change')) = (hold_id IS NOT NULL)),
    ADD CONSTRAINT attempts_booking_makes_its_reservation CHECK ((purpose = 'booking') = (reservation_id IS NULL)),
    ADD CONSTRAINT attempts_change_is_named CHECK ((purpose = 'change') = (change_id IS NOT NULL)),
    ADD CONSTRAINT attempts_pay_for_a_reservation FOREIGN KEY (hotel_id, reservation_id)
        REFERENCES reservations (hotel_id, reservation_id);
CREATE INDEX attempts_of_reservation ON payment_attempts (hotel_id, reservation_id) WHERE reservation_id IS NOT NULL;
COMMENT ON COLUMN payment_attempts.reservation_id IS 'What it pays for, where that exists already: not for a booking, whose reservation names the attempt.';
COMMENT ON COLUMN payment_attempts.change_id IS 'The change whose difference it pays.';

ALTER TABLE reservations
    ALTER COLUMN hold_id DROP NOT NULL,
    ALTER COLUMN attempt_id DROP NOT NULL,
    ADD CONSTRAINT reservations_hold_and_attempt_together CHECK ((hold_id IS NULL) = (attempt_id IS NULL));
COMMENT ON COLUMN reservations.hold_id IS 'What it was made of; NULL for a channel''s booking, which is made at once.';
COMMENT ON COLUMN reservations.attempt_id IS 'What paid at booking; NULL for a channel''s booking.';
