-- A change of a stay as a record of its own: priced, started where its difference has to be paid, completed.

ALTER TABLE reservations
    ADD COLUMN change_fees numeric(20, 3) NOT NULL DEFAULT 0,
    ADD CONSTRAINT reservations_change_fees_not_negative CHECK (change_fees >= 0);
COMMENT ON COLUMN reservations.change_fees IS 'What its changes cost by the policy that was sold; part of the total, and kept whatever becomes of the rooms.';

CREATE TABLE reservation_changes (
    hotel_id       integer NOT NULL,
    change_id      uuid NOT NULL,
    reservation_id uuid NOT NULL,
    principal_id   uuid NOT NULL,
    quote_id       uuid NOT NULL,
    base_version   integer NOT NULL,
    state          text NOT NULL,
    difference     numeric(20, 3) NOT NULL,
    penalty        numeric(20, 3) NOT NULL,
    fees           numeric(20, 3) NOT NULL,
    removed        jsonb NOT NULL,
    charge         numeric(20, 3) NOT NULL,
    total          numeric(20, 3) NOT NULL,
    currency       text NOT NULL,
    created_at     timestamptz NOT NULL,
    expires_at     timestamptz NOT NULL,
    hold_id        uuid,
    attempt_id     uuid,
    to_version     integer,
    PRIMARY KEY (hotel_id, change_id),
    FOREIGN KEY (hotel_id, reservation_id) REFERENCES reservations (hotel_id, reservation_id),
    FOREIGN KEY (hotel_id, quote_id) REFERENCES quotes (hotel_id, quote_id),
    FOREIGN KEY (hotel_id, hold_id) REFERENCES holds (hotel_id, hold_id),
    FOREIGN KEY (hotel_id, attempt_id) REFERENCES payment_attempts (hotel_id, attempt_id),
    CONSTRAINT changes_state CHECK (state IN ('PRICED', 'STARTED', 'COMPLETED', 'FAILED')),
    CONSTRAINT changes_started_is_held_and_paid CHECK (
        (hold_id IS NULL) = (attempt_id IS NULL) AND (state NOT IN ('STARTED', 'FAILED') OR hold_id IS NOT NULL)),
    CONSTRAINT changes_paid_when_there_is_a_charge CHECK (state <> 'COMPLETED' OR (charge > 0) = (attempt_id IS NOT NULL)),
    CONSTRAINT changes_version_when_completed CHECK ((state = 'COMPLETED') = (to_version IS NOT NULL)),
    CONSTRAINT changes_version_rises CHECK (to_version > base_version),
    CONSTRAINT changes_amounts_not_negative CHECK (
        fees >= 0 AND penalty >= fees AND charge >= 0 AND total >= 0),
    CONSTRAINT changes_end_after_start CHECK (expires_at > created_at)
);
CREATE UNIQUE INDEX changes_one_started_per_reservation ON reservation_changes (hotel_id, reservation_id)
    WHERE state = 'STARTED';
COMMENT ON TABLE reservation_changes IS 'Changes of stays. PRICED claims nothing; until COMPLETED the reservation is what it was.';
COMMENT ON COLUMN reservation_changes.quote_id IS 'The stay as it will be, with its prices. No hold can be placed on it: it ends when it begins.';
COMMENT ON COLUMN reservation_changes.base_version IS 'Of the reservation that was priced; another one cannot be changed by it.';
COMMENT ON COLUMN reservation_changes.difference IS 'New total less old total: above zero it is owed, below it goes back.';
COMMENT ON COLUMN reservation_changes.penalty IS 'Of this change, by the policy that was sold; contained in the total.';
COMMENT ON COLUMN reservation_changes.fees IS 'Of the penalty, what is due for nights that go from rooms that stay.';
COMMENT ON COLUMN reservation_changes.removed IS 'Rooms that go, each with its penalty.';
COMMENT ON COLUMN reservation_changes.charge IS 'What is paid before the stay changes.';
COMMENT ON COLUMN reservation_changes.expires_at IS 'May be confirmed while now <= expires_at.';
COMMENT ON COLUMN reservation_changes.hold_id IS 'What it adds, while the charge is paid: of the last try.';
COMMENT ON COLUMN reservation_changes.to_version IS 'The version that it made.';

ALTER TABLE payment_attempts
    ADD CONSTRAINT attempts_pay_for_a_change FOREIGN KEY (hotel_id, change_id)
        REFERENCES reservation_changes (hotel_id, change_id);
