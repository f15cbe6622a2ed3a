-- What leaves the outbox, and what those who act on it have done.

CREATE TABLE relay_parts (
    part         smallint PRIMARY KEY,
    lease        uuid,
    leased_until timestamptz,
    CONSTRAINT relay_parts_part CHECK (part BETWEEN 0 AND 7),
    CONSTRAINT relay_parts_lease_whole CHECK ((lease IS NULL) = (leased_until IS NULL))
);
COMMENT ON TABLE relay_parts IS 'Hotels by their number modulo 8: who publishes the events of a part has its lease, so that those of a hotel keep their order whoever publishes.';
COMMENT ON COLUMN relay_parts.leased_until IS 'Real time. A lease that has ended is anybody''s.';
INSERT INTO relay_parts (part)
SELECT generate_series(0, 7);

DROP INDEX outbox_pending;
CREATE INDEX outbox_pending ON outbox ((hotel_id % 8), seq) WHERE published_at IS NULL;

-- No hotel needs to live here: the directory keeps them too, of handlers whose effect is there.
CREATE TABLE processed_events (
    hotel_id     integer NOT NULL,
    handler      text COLLATE "C" NOT NULL,
    event_id     uuid NOT NULL,
    processed_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (hotel_id, handler, event_id)
);
CREATE INDEX processed_events_by_age ON processed_events (processed_at);
COMMENT ON TABLE processed_events IS 'Events that a handler has acted on, each written in the transaction of its effect: one that stands here has had it, or is a dead letter.';

CREATE TABLE dead_letters (
    hotel_id    integer NOT NULL,
    letter_id   uuid NOT NULL,
    handler     text COLLATE "C" NOT NULL,
    event_id    uuid NOT NULL,
    seq         bigint NOT NULL,
    type        text NOT NULL,
    version     smallint NOT NULL,
    payload     jsonb NOT NULL,
    created_at  timestamptz NOT NULL,
    key         text COLLATE "C",
    error       text NOT NULL,
    died_at     timestamptz NOT NULL,
    state       text NOT NULL DEFAULT 'WAITING',
    resolved_at timestamptz,
    resolved_by uuid,
    PRIMARY KEY (hotel_id, letter_id),
    CONSTRAINT dead_letters_event_once UNIQUE (hotel_id, handler, event_id),
    CONSTRAINT dead_letters_state CHECK (state IN ('WAITING', 'REPLAYED', 'DISCARDED')),
    CONSTRAINT dead_letters_resolved CHECK (
        (state = 'WAITING') = (resolved_at IS NULL) AND (resolved_at IS NULL) = (resolved_by IS NULL)),
    CONSTRAINT dead_letters_error_length CHECK (char_length(error) BETWEEN 1 AND 500)
);
CREATE INDEX dead_letters_waiting ON dead_letters (letter_id) WHERE state = 'WAITING';
CREATE INDEX dead_letters_of_key ON dead_letters (hotel_id, handler, key, seq) WHERE state = 'WAITING';
COMMENT ON TABLE dead_letters IS 'Events on which a handler could not act, and those behind them that have to keep their order. An operator has them acted on again, or gives them up.';
COMMENT ON COLUMN dead_letters.letter_id IS 'In the order of arrival.';
COMMENT ON COLUMN dead_letters.created_at IS 'Of the event.';
COMMENT ON COLUMN dead_letters.key IS 'Later events of this handler with the same key wait behind it. NULL: none do.';
COMMENT ON COLUMN dead_letters.resolved_by IS 'The operator.';
COMMENT ON COLUMN dead_letters.error IS 'Ours to read: no guest''s detail stands in it.';
