-- What happened to one booking, in order: which transaction committed what, and what the provider was asked.

-- Without a default first: what was written before this did not all come from one transaction.
ALTER TABLE audit ADD COLUMN transaction_id xid8;
ALTER TABLE audit ALTER COLUMN transaction_id SET DEFAULT pg_current_xact_id();
ALTER TABLE outbox ADD COLUMN transaction_id xid8;
ALTER TABLE outbox ALTER COLUMN transaction_id SET DEFAULT pg_current_xact_id();
ALTER TABLE payment_history ADD COLUMN transaction_id xid8;
ALTER TABLE payment_history ALTER COLUMN transaction_id SET DEFAULT pg_current_xact_id();
ALTER TABLE provider_events ADD COLUMN transaction_id xid8;
ALTER TABLE provider_events ALTER COLUMN transaction_id SET DEFAULT pg_current_xact_id();
COMMENT ON COLUMN audit.transaction_id IS 'What carries the same one was committed together. NULL: written before this was kept.';
COMMENT ON COLUMN outbox.transaction_id IS 'As that of audit.';
COMMENT ON COLUMN payment_history.transaction_id IS 'As that of audit.';
COMMENT ON COLUMN provider_events.transaction_id IS 'As that of audit.';

CREATE INDEX audit_of_subject ON audit (hotel_id, subject, entry_id);
CREATE INDEX outbox_of_transaction ON outbox (hotel_id, transaction_id);
CREATE INDEX attempts_of_hold ON payment_attempts (hotel_id, hold_id) WHERE hold_id IS NOT NULL;
CREATE INDEX changes_of_reservation ON reservation_changes (hotel_id, reservation_id);
CREATE INDEX unmatched_notices_of_attempt ON directory.unmatched_notices (attempt) WHERE attempt IS NOT NULL;

CREATE TABLE provider_calls (
    hotel_id    integer NOT NULL,
    call_id     uuid NOT NULL,
    attempt_id  uuid NOT NULL,
    call        text COLLATE "C" NOT NULL,
    reference   text COLLATE "C" NOT NULL,
    asked_at    timestamptz NOT NULL,
    answered_at timestamptz,
    outcome     text,
    detail      text,
    PRIMARY KEY (hotel_id, call_id),
    CONSTRAINT provider_calls_call CHECK (call IN (
        'authorize', 'capture', 'void', 'expire_session', 'refund', 'look_up')),
    CONSTRAINT provider_calls_answered_has_its_outcome CHECK ((answered_at IS NULL) = (outcome IS NULL)),
    CONSTRAINT provider_calls_detail_of_an_answer CHECK (detail IS NULL OR outcome IS NOT NULL),
    CONSTRAINT provider_calls_words CHECK (outcome ~ '^[a-z0-9_]{1,64}$' AND detail ~ '^[a-z0-9_]{1,64}$')
);
CREATE INDEX provider_calls_of_attempt ON provider_calls (hotel_id, attempt_id, reference, call, call_id);
CREATE INDEX provider_calls_by_age ON provider_calls (asked_at);
COMMENT ON TABLE provider_calls IS 'What the payment provider was asked and what it answered, for people: nothing is decided by it. Written beside every transaction, before the call is sent and when it has ended. No foreign key: a note waits for no lock of its attempt.';
COMMENT ON COLUMN provider_calls.call_id IS 'In the order of the calls.';
COMMENT ON COLUMN provider_calls.reference IS 'Our name for it, made from the attempt''s id.';
COMMENT ON COLUMN provider_calls.answered_at IS 'NULL: the call is under way, or its process died over it.';
COMMENT ON COLUMN provider_calls.outcome IS 'A word of ours: how the call ended.';
COMMENT ON COLUMN provider_calls.detail IS 'A word: why, or what stands at the provider.';
