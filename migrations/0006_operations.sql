-- What makes calls repeatable, events deliverable and changes explainable.

CREATE TABLE idempotency_keys (
    hotel_id         integer NOT NULL REFERENCES hotels (hotel_id),
    principal_id     uuid NOT NULL,
    endpoint         text COLLATE "C" NOT NULL,
    idempotency_key  text COLLATE "C" NOT NULL,
    try_id           uuid NOT NULL,
    fingerprint      bytea NOT NULL,
    contract_version smallint NOT NULL,
    answer           jsonb NOT NULL,
    created_at       timestamptz NOT NULL,
    PRIMARY KEY (hotel_id, principal_id, endpoint, idempotency_key),
    CONSTRAINT idempotency_keys_length CHECK (char_length(idempotency_key) BETWEEN 1 AND 255),
    CONSTRAINT idempotency_keys_fingerprint_is_sha256 CHECK (octet_length(fingerprint) = 32)
);
CREATE INDEX idempotency_keys_by_age ON idempotency_keys (created_at);
CREATE INDEX idempotency_keys_of_principal ON idempotency_keys (principal_id, idempotency_key, hotel_id, endpoint);
COMMENT ON TABLE idempotency_keys IS 'Answers of completed calls, written in the transaction of their effect. A refused call leaves no row. Kept 7 days, removed in small batches; not partitioned, since a retry after midnight must find it.';

COMMENT ON COLUMN idempotency_keys.endpoint IS 'Method and path template: POST /v1/holds.';
COMMENT ON COLUMN idempotency_keys.try_id IS 'The try that wrote the row: after a commit whose outcome was unknown it tells the original from a replay.';
COMMENT ON COLUMN idempotency_keys.fingerprint IS 'SHA-256 of the normalized request: the same key with another one is refused.';
COMMENT ON COLUMN idempotency_keys.contract_version IS 'Of the normalization behind the fingerprint.';
COMMENT ON COLUMN idempotency_keys.answer IS 'What a repeat is answered with.';

CREATE SEQUENCE outbox_seq CACHE 1;
CREATE TABLE outbox (
    hotel_id     integer NOT NULL REFERENCES hotels (hotel_id),
    seq          bigint NOT NULL DEFAULT nextval('outbox_seq'),
    event_id     uuid NOT NULL,
    type         text NOT NULL,
    version      smallint NOT NULL,
    payload      jsonb NOT NULL,
    created_at   timestamptz NOT NULL,
    published_at timestamptz,
    PRIMARY KEY (hotel_id, seq)
);
ALTER SEQUENCE outbox_seq OWNED BY outbox.seq;
CREATE INDEX outbox_pending ON outbox (seq) WHERE published_at IS NULL;
COMMENT ON TABLE outbox IS 'One row per committed change, inserted last in its transaction, so that a later writer of a night always draws a larger seq. Delivered at least once.';
COMMENT ON COLUMN outbox.seq IS 'Drawn at insert; transactions commit out of order, so nobody may remember "done up to".';

COMMENT ON COLUMN outbox.event_id IS 'Consumers drop an id that they have seen.';
COMMENT ON COLUMN outbox.version IS 'Of the payload''s meaning.';
COMMENT ON COLUMN outbox.published_at IS 'NULL: waits to be published.';

CREATE TABLE audit (
    hotel_id     integer NOT NULL REFERENCES hotels (hotel_id),
    entry_id     bigint GENERATED ALWAYS AS IDENTITY,
    at           timestamptz NOT NULL,
    principal_id uuid,
    actor        text NOT NULL,
    action       text NOT NULL,
    subject      text NOT NULL,
    before       jsonb,
    after        jsonb,
    request_id   text,
    PRIMARY KEY (hotel_id, entry_id),
    CONSTRAINT audit_actor CHECK (actor IN ('guest', 'operator', 'staff', 'pms', 'channel', 'provider', 'worker'))
);
CREATE TRIGGER audit_is_append_only BEFORE UPDATE OR DELETE ON audit
    FOR EACH ROW EXECUTE FUNCTION refuse_rewriting_history();
CREATE TRIGGER audit_is_never_emptied BEFORE TRUNCATE ON audit
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_rewriting_history();
COMMENT ON TABLE audit IS 'Who did what, when, before and after. Append-only: the database refuses UPDATE, DELETE and TRUNCATE.';
COMMENT ON COLUMN audit.actor IS 'The role of who did it; worker: one of our own, by the clock.';
COMMENT ON COLUMN audit.action IS 'Stable word: hold.placed, rates.set.';
COMMENT ON COLUMN audit.subject IS 'What it was done to: an id or a code.';
COMMENT ON COLUMN audit.request_id IS 'X-Request-Id of the call.';
