-- What a change holds is the change's alone; what a cancellation gave back is told as it was; and what the desk
-- took and owes back is a fact.

ALTER TABLE holds
    ADD COLUMN change_id uuid,
    ADD CONSTRAINT holds_hold_for_a_change FOREIGN KEY (hotel_id, change_id)
        REFERENCES reservation_changes (hotel_id, change_id);
-- Nobody but its change can hold at the price of a change.
UPDATE holds AS h
SET change_id = c.change_id
FROM reservation_changes c
WHERE c.hotel_id = h.hotel_id
  AND c.quote_id = h.quote_id;
COMMENT ON COLUMN holds.change_id IS 'The change for which it holds what the stay adds: no booking, release or swap of a guest''s ever touches it.';

ALTER TABLE reservation_rooms
    ADD COLUMN refund numeric(20, 3);
-- Until now a cancellation was told with the refund of its policy, whatever had been given back before.
UPDATE reservation_rooms
SET refund = total - penalty
WHERE cancelled_at IS NOT NULL
  AND removed_at_version IS NULL;
ALTER TABLE reservation_rooms
    ADD CONSTRAINT reservation_rooms_refund_when_cancelled_by_itself CHECK (
        (refund IS NOT NULL) = (cancelled_at IS NOT NULL AND removed_at_version IS NULL)),
    ADD CONSTRAINT reservation_rooms_refund_within_the_rest CHECK (refund BETWEEN 0 AND total - penalty);
COMMENT ON COLUMN reservation_rooms.refund IS 'What its cancellation gave back of the payments: less than the policy leaves where something was not paid, or had been given back before.';

ALTER TABLE scheduled_charges
    ADD COLUMN owed_back numeric(20, 3) NOT NULL DEFAULT 0,
    ADD CONSTRAINT scheduled_charges_owed_back_within_what_was_taken CHECK (owed_back BETWEEN 0 AND amount),
    ADD CONSTRAINT scheduled_charges_owed_back_by_the_desk_alone CHECK (
        owed_back = 0 OR (state = 'PAID' AND attempt_id IS NULL));
COMMENT ON COLUMN scheduled_charges.owed_back IS 'Of what the desk took: what the desk has to give back, since the stay costs less by now and no card has paid that part.';
