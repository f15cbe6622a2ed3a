-- Stays that are not paid at booking: deposits with a balance, and pay at the property. Each later charge is a row
-- of its own, paid by an attempt of its own.

ALTER TABLE rate_plans
    ADD COLUMN deposit jsonb,
    ADD CONSTRAINT rate_plans_deposit_has_its_terms CHECK ((payment = 'deposit') = (deposit IS NOT NULL));
COMMENT ON COLUMN rate_plans.deposit IS 'Of a deposit plan: the part that is due at booking, and how many days before arrival the balance is.';

CREATE TABLE scheduled_charges (
    hotel_id       integer NOT NULL,
    reservation_id uuid NOT NULL,
    number         smallint NOT NULL,
    kind           text NOT NULL,
    amount         numeric(20, 3) NOT NULL,
    currency       text NOT NULL,
    due_at         timestamptz NOT NULL,
    state          text NOT NULL,
    attempt_id     uuid,
    tries          smallint NOT NULL DEFAULT 0,
    next_try_at    timestamptz,
    PRIMARY KEY (hotel_id, reservation_id, number),
    FOREIGN KEY (hotel_id, reservation_id) REFERENCES reservations (hotel_id, reservation_id),
    FOREIGN KEY (hotel_id, attempt_id) REFERENCES payment_attempts (hotel_id, attempt_id),
    CONSTRAINT scheduled_charges_from_one CHECK (number >= 1),
    CONSTRAINT scheduled_charges_kind CHECK (kind IN ('deposit', 'balance', 'prepayment', 'at_property', 'penalty')),
    CONSTRAINT scheduled_charges_state CHECK (state IN ('DUE', 'PAID', 'FAILED', 'WAIVED')),
    CONSTRAINT scheduled_charges_more_than_nothing CHECK (amount > 0),
    CONSTRAINT scheduled_charges_tries_not_negative CHECK (tries >= 0),
    CONSTRAINT scheduled_charges_failed_has_no_attempt CHECK (state <> 'FAILED' OR attempt_id IS NULL),
    CONSTRAINT scheduled_charges_open_is_tried CHECK (
        next_try_at IS NULL OR (state IN ('DUE', 'FAILED') AND attempt_id IS NULL AND kind <> 'at_property'))
);
CREATE UNIQUE INDEX scheduled_charges_attempt_once ON scheduled_charges (hotel_id, attempt_id) WHERE attempt_id IS NOT NULL;
CREATE INDEX scheduled_charges_to_collect ON scheduled_charges (next_try_at) WHERE next_try_at IS NOT NULL;
CREATE INDEX scheduled_charges_given_up ON scheduled_charges (hotel_id) WHERE state = 'FAILED' AND next_try_at IS NULL;
COMMENT ON TABLE scheduled_charges IS 'What a stay that is not prepaid costs, charge by charge. Changes only under the lock of its reservation. A prepaid stay has none.';
COMMENT ON COLUMN scheduled_charges.number IS 'Its place in the reservation''s schedule, from 1.';
COMMENT ON COLUMN scheduled_charges.state IS 'DUE and FAILED are owed. FAILED is tried again until next_try_at is NULL: then it is the hotel''s staff''s.';
COMMENT ON COLUMN scheduled_charges.attempt_id IS 'That is paying it, or has paid it. NULL and PAID: taken at the desk, by staff''s word. Of a WAIVED one: what it takes goes back.';
COMMENT ON COLUMN scheduled_charges.tries IS 'Attempts so far; the key of each derives from the reservation, the number and the try.';
COMMENT ON COLUMN scheduled_charges.next_try_at IS 'The collector opens an attempt from here on; a collector that takes it puts it off, so that others pass it over.';
