-- Quote, hold, attempt, reservation. States only move forward; the transitions stand in keyrack-domain,
-- and the constraints here tie each state to the columns that it needs.

CREATE TABLE quotes (
    hotel_id     integer NOT NULL REFERENCES hotels (hotel_id),
    quote_id     uuid NOT NULL,
    principal_id uuid NOT NULL,
    document     jsonb NOT NULL,
    created_at   timestamptz NOT NULL,
    expires_at   timestamptz NOT NULL,
    PRIMARY KEY (hotel_id, quote_id),
    CONSTRAINT quotes_end_after_start CHECK (expires_at > created_at)
);
COMMENT ON TABLE quotes IS 'A price promise. Claims nothing and never changes.';
COMMENT ON COLUMN quotes.expires_at IS 'Valid while now <= expires_at.';
COMMENT ON COLUMN quotes.document IS 'The stay, each room with its nightly amounts and price versions, charges line by line, total, policies.';

CREATE TABLE holds (
    hotel_id       integer NOT NULL REFERENCES hotels (hotel_id),
    hold_id        uuid NOT NULL,
    principal_id   uuid NOT NULL,
    quote_id       uuid NOT NULL,
    state          text NOT NULL,
    check_in       date NOT NULL,
    check_out      date NOT NULL,
    total          numeric(20, 3) NOT NULL,
    currency       text NOT NULL,
    created_at     timestamptz NOT NULL,
    expires_at     timestamptz NOT NULL,
    deferred_until timestamptz,
    drift_at       timestamptz,
    closed_at      timestamptz,
    PRIMARY KEY (hotel_id, hold_id),
    FOREIGN KEY (hotel_id, quote_id) REFERENCES quotes (hotel_id, quote_id),
    CONSTRAINT holds_state CHECK (state IN ('ACTIVE', 'CONSUMED', 'EXPIRED', 'RELEASED')),
    CONSTRAINT holds_closed_when_not_active CHECK ((state = 'ACTIVE') = (closed_at IS NULL)),
    CONSTRAINT holds_only_active_is_deferred CHECK (state = 'ACTIVE' OR deferred_until IS NULL),
    CONSTRAINT holds_only_active_drifts CHECK (state = 'ACTIVE' OR drift_at IS NULL),
    CONSTRAINT holds_has_a_night CHECK (check_out > check_in),
    CONSTRAINT holds_total_not_negative CHECK (total >= 0),
    CONSTRAINT holds_end_after_start CHECK (expires_at > created_at)
) WITH (fillfactor = 90);
CREATE INDEX holds_to_expire ON holds (expires_at) WHERE state = 'ACTIVE' AND drift_at IS NULL;
CREATE INDEX holds_active_of_principal ON holds (hotel_id, principal_id) WHERE state = 'ACTIVE';
COMMENT ON TABLE holds IS 'Inventory claimed at a fixed amount until expires_at.';
COMMENT ON COLUMN holds.quote_id IS 'Whose price it holds.';
COMMENT ON COLUMN holds.total IS 'With taxes and fees; what the payment must be.';
COMMENT ON COLUMN holds.expires_at IS 'Never changes. Valid while now <= expires_at.';
COMMENT ON COLUMN holds.deferred_until IS 'While a payment is in flight the release waits until here at most.';
COMMENT ON COLUMN holds.drift_at IS 'The counters did not carry this hold when it should have been released; skipped until repaired.';

CREATE TABLE hold_nights (
    hotel_id      integer NOT NULL,
    hold_id       uuid NOT NULL,
    room          smallint NOT NULL,
    stay_date     date NOT NULL,
    room_type_id  integer NOT NULL,
    rate_plan_id  integer NOT NULL,
    amount        numeric(20, 3) NOT NULL,
    price_version integer NOT NULL,
    PRIMARY KEY (hotel_id, hold_id, room, stay_date),
    FOREIGN KEY (hotel_id, hold_id) REFERENCES holds (hotel_id, hold_id),
    CONSTRAINT hold_nights_room_from_one CHECK (room >= 1),
    CONSTRAINT hold_nights_amount_not_negative CHECK (amount >= 0)
);
COMMENT ON TABLE hold_nights IS 'One row per room and night of a hold: one unit of held, at the quote''s amount and price version.';
COMMENT ON COLUMN hold_nights.room IS 'The room''s place in the quote, from 1.';

CREATE TABLE payment_attempts (
    hotel_id         integer NOT NULL REFERENCES hotels (hotel_id),
    attempt_id       uuid NOT NULL,
    purpose          text NOT NULL,
    hold_id          uuid,
    principal_id     uuid NOT NULL,
    endpoint         text COLLATE "C" NOT NULL,
    idempotency_key  text COLLATE "C" NOT NULL,
    try_id           uuid NOT NULL,
    fingerprint      bytea NOT NULL,
    contract_version smallint NOT NULL,
    state            text NOT NULL,
    amount           numeric(20, 3) NOT NULL,
    currency         text NOT NULL,
    method_token     text NOT NULL,
    guest            jsonb NOT NULL,
    deadline_at      timestamptz NOT NULL,
    created_at       timestamptz NOT NULL,
    decided_at       timestamptz,
    failure          text,
    captured         numeric(20, 3) NOT NULL DEFAULT 0,
    refund_committed numeric(20, 3) NOT NULL DEFAULT 0,
    refunds          integer NOT NULL DEFAULT 0,
    lease_id         uuid,
    leased_until     timestamptz,
    PRIMARY KEY (hotel_id, attempt_id),
    FOREIGN KEY (hotel_id, hold_id) REFERENCES holds (hotel_id, hold_id),
    CONSTRAINT attempts_key_once UNIQUE (principal_id, idempotency_key, hotel_id, endpoint),
    CONSTRAINT attempts_purpose CHECK (purpose IN ('booking', 'deposit', 'change', 'penalty')),
    CONSTRAINT attempts_booking_has_a_hold CHECK (purpose <> 'booking' OR hold_id IS NOT NULL),
    CONSTRAINT attempts_state CHECK (state IN (
        'PENDING_PAYMENT', 'RECONCILING', 'CONFIRMED', 'FAILED', 'PAYMENT_CAPTURED_BOOKING_FAILED', 'REFUNDED')),
    CONSTRAINT attempts_decided_when_ended CHECK ((state IN ('PENDING_PAYMENT', 'RECONCILING')) = (decided_at IS NULL)),
    CONSTRAINT attempts_failure_only_when_failed CHECK (
        (state IN ('FAILED', 'PAYMENT_CAPTURED_BOOKING_FAILED', 'REFUNDED')) = (failure IS NOT NULL)),
    CONSTRAINT attempts_confirmed_is_paid CHECK (state <> 'CONFIRMED' OR captured = amount),
    CONSTRAINT attempts_lease_whole CHECK ((lease_id IS NULL) = (leased_until IS NULL)),
    CONSTRAINT attempts_amounts_not_negative CHECK (amount >= 0 AND captured >= 0 AND refund_committed >= 0),
    CONSTRAINT attempts_refund_within_capture CHECK (refund_committed <= captured),
    CONSTRAINT attempts_refunds_when_committed CHECK ((refund_committed > 0) = (refunds > 0))
) WITH (fillfactor = 90);
CREATE UNIQUE INDEX attempts_one_open_per_hold ON payment_attempts (hotel_id, hold_id)
    WHERE state IN ('PENDING_PAYMENT', 'RECONCILING');
CREATE INDEX attempts_to_reconcile ON payment_attempts (deadline_at) WHERE state IN ('PENDING_PAYMENT', 'RECONCILING');
COMMENT ON TABLE payment_attempts IS 'One try to pay. It answers repeats of its request for ever, so it is kept as long as the reservation. The provider''s references derive from its id.';
COMMENT ON COLUMN payment_attempts.purpose IS 'What it pays for; only those that claim units carry a hold.';
COMMENT ON COLUMN payment_attempts.endpoint IS 'The call that the key belongs to, as in idempotency_keys.';
COMMENT ON COLUMN payment_attempts.fingerprint IS 'SHA-256 of the normalized request: the same key with another one is refused.';
COMMENT ON COLUMN payment_attempts.failure IS 'Stable word for why it failed.';
COMMENT ON COLUMN payment_attempts.decided_at IS 'When it left the open states.';
COMMENT ON COLUMN payment_attempts.lease_id IS 'The resolver that owns the case.';
COMMENT ON COLUMN payment_attempts.try_id IS 'The try that wrote the row: after a commit whose outcome was unknown it tells the original from a replay.';
COMMENT ON COLUMN payment_attempts.deadline_at IS 'After this the sweep asks the provider what became of it.';
COMMENT ON COLUMN payment_attempts.method_token IS 'The provider''s token for the payment method; never a card number.';
COMMENT ON COLUMN payment_attempts.captured IS 'What the provider is known to have taken.';
COMMENT ON COLUMN payment_attempts.refund_committed IS 'What has been given back or is promised to be: the sum of its refunds.';
COMMENT ON COLUMN payment_attempts.refunds IS 'How many refunds it has: the number of the next one is one more.';
COMMENT ON COLUMN payment_attempts.leased_until IS 'One resolver owns the case until here.';

CREATE TABLE refunds (
    hotel_id     integer NOT NULL,
    refund_id    uuid NOT NULL,
    attempt_id   uuid NOT NULL,
    number       integer NOT NULL,
    try          integer NOT NULL DEFAULT 1,
    state        text NOT NULL,
    amount       numeric(20, 3) NOT NULL,
    currency     text NOT NULL,
    reason       text NOT NULL,
    requested_at timestamptz NOT NULL,
    retry_at     timestamptz NOT NULL,
    settled_at   timestamptz,
    PRIMARY KEY (hotel_id, refund_id),
    FOREIGN KEY (hotel_id, attempt_id) REFERENCES payment_attempts (hotel_id, attempt_id),
    CONSTRAINT refunds_number_once UNIQUE (hotel_id, attempt_id, number),
    CONSTRAINT refunds_from_one CHECK (number >= 1 AND try >= 1),
    CONSTRAINT refunds_state CHECK (state IN ('REQUESTED', 'SUCCEEDED', 'NEEDS_ATTENTION')),
    CONSTRAINT refunds_settled_when_succeeded CHECK ((state = 'SUCCEEDED') = (settled_at IS NOT NULL)),
    CONSTRAINT refunds_more_than_nothing CHECK (amount > 0)
);
CREATE INDEX refunds_to_send ON refunds (retry_at) WHERE state = 'REQUESTED';
COMMENT ON TABLE refunds IS 'Money on its way back. The provider''s reference is <attempt>-refund-<number>-<try>; try rises only after a definite failure, never after an unknown outcome.';

COMMENT ON COLUMN refunds.number IS 'The refund''s place among those of its attempt, from 1.';
COMMENT ON COLUMN refunds.reason IS 'A stable word, or what staff wrote.';
COMMENT ON COLUMN refunds.retry_at IS 'While REQUESTED: not sent before; a sender that takes it puts it off, so that others pass it over.';

CREATE TABLE reservations (
    hotel_id       integer NOT NULL REFERENCES hotels (hotel_id),
    reservation_id uuid NOT NULL,
    principal_id   uuid NOT NULL,
    hold_id        uuid NOT NULL,
    attempt_id     uuid NOT NULL,
    state          text NOT NULL,
    version        integer NOT NULL DEFAULT 1,
    check_in       date NOT NULL,
    check_out      date NOT NULL,
    total          numeric(20, 3) NOT NULL,
    currency       text NOT NULL,
    guest          jsonb NOT NULL,
    document       jsonb NOT NULL,
    created_at     timestamptz NOT NULL,
    PRIMARY KEY (hotel_id, reservation_id),
    FOREIGN KEY (hotel_id, hold_id) REFERENCES holds (hotel_id, hold_id),
    FOREIGN KEY (hotel_id, attempt_id) REFERENCES payment_attempts (hotel_id, attempt_id),
    CONSTRAINT reservations_one_per_hold UNIQUE (hotel_id, hold_id),
    CONSTRAINT reservations_one_per_attempt UNIQUE (hotel_id, attempt_id),
    CONSTRAINT reservations_state CHECK (state IN ('CONFIRMED', 'CHECKED_IN', 'CHECKED_OUT', 'CANCELLED', 'NO_SHOW')),
    CONSTRAINT reservations_version_from_one CHECK (version >= 1),
    CONSTRAINT reservations_has_a_night CHECK (check_out > check_in),
    CONSTRAINT reservations_total_not_negative CHECK (total >= 0)
);
CREATE INDEX reservations_of_principal ON reservations (principal_id, reservation_id, hotel_id);
COMMENT ON TABLE reservations IS 'A confirmed stay. version rises with each change and is the ETag.';
COMMENT ON COLUMN reservations.guest IS 'Name, email, phone and note, as given.';
COMMENT ON COLUMN reservations.document IS 'The quote''s document as it was sold: rooms, nightly amounts, charges, policies.';

CREATE TABLE reservation_rooms (
    hotel_id       integer NOT NULL,
    reservation_id uuid NOT NULL,
    room           smallint NOT NULL,
    total          numeric(20, 3) NOT NULL,
    penalty        numeric(20, 3),
    cancelled_at   timestamptz,
    PRIMARY KEY (hotel_id, reservation_id, room),
    FOREIGN KEY (hotel_id, reservation_id) REFERENCES reservations (hotel_id, reservation_id),
    CONSTRAINT reservation_rooms_room_from_one CHECK (room >= 1),
    CONSTRAINT reservation_rooms_total_not_negative CHECK (total >= 0),
    CONSTRAINT reservation_rooms_penalty_when_cancelled CHECK ((cancelled_at IS NULL) = (penalty IS NULL)),
    CONSTRAINT reservation_rooms_penalty_within_total CHECK (penalty BETWEEN 0 AND total)
);
COMMENT ON TABLE reservation_rooms IS 'The rooms of a reservation, each cancelled on its own. A reservation is CANCELLED when all of them are.';
COMMENT ON COLUMN reservation_rooms.total IS 'Its share of the reservation''s total, with its taxes and fees.';
COMMENT ON COLUMN reservation_rooms.penalty IS 'What its cancellation cost, by the policy that was sold.';

CREATE TABLE reservation_nights (
    hotel_id       integer NOT NULL,
    reservation_id uuid NOT NULL,
    room           smallint NOT NULL,
    stay_date      date NOT NULL,
    room_type_id   integer NOT NULL,
    rate_plan_id   integer NOT NULL,
    amount         numeric(20, 3) NOT NULL,
    price_version  integer NOT NULL,
    given_back_at  timestamptz,
    PRIMARY KEY (hotel_id, reservation_id, room, stay_date),
    FOREIGN KEY (hotel_id, reservation_id) REFERENCES reservations (hotel_id, reservation_id),
    CONSTRAINT reservation_nights_room_from_one CHECK (room >= 1),
    CONSTRAINT reservation_nights_amount_not_negative CHECK (amount >= 0)
);
CREATE INDEX reservation_nights_by_night ON reservation_nights (hotel_id, room_type_id, stay_date) WHERE given_back_at IS NULL;
COMMENT ON TABLE reservation_nights IS 'One row per room and night: one unit of confirmed until it is given back.';

COMMENT ON COLUMN reservation_nights.given_back_at IS 'When the unit went back to the night: cancelled, departed early, no-show.';

CREATE TABLE payment_history (
    hotel_id   integer NOT NULL,
    entry_id   bigint GENERATED ALWAYS AS IDENTITY,
    attempt_id uuid NOT NULL,
    kind       text NOT NULL,
    amount     numeric(20, 3) NOT NULL,
    currency   text NOT NULL,
    reference  text NOT NULL,
    at         timestamptz NOT NULL,
    PRIMARY KEY (hotel_id, entry_id),
    FOREIGN KEY (hotel_id, attempt_id) REFERENCES payment_attempts (hotel_id, attempt_id),
    CONSTRAINT payment_history_kind CHECK (kind IN ('captured', 'refund_requested', 'refund_succeeded', 'refund_failed'))
);
CREATE INDEX payment_history_of_attempt ON payment_history (hotel_id, attempt_id);
CREATE TRIGGER payment_history_is_append_only BEFORE UPDATE OR DELETE ON payment_history
    FOR EACH ROW EXECUTE FUNCTION refuse_rewriting_history();
CREATE TRIGGER payment_history_is_never_emptied BEFORE TRUNCATE ON payment_history
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_rewriting_history();
COMMENT ON TABLE payment_history IS 'Every movement of money that became known, in order. Append-only.';
COMMENT ON COLUMN payment_history.reference IS 'The provider''s name for the movement, made from the attempt''s id.';
