-- What payment providers tell by themselves, and refunds that were made or undone at the provider.

CREATE TABLE provider_events (
    hotel_id    integer NOT NULL REFERENCES hotels (hotel_id),
    notice_id   uuid NOT NULL,
    provider    text COLLATE "C" NOT NULL,
    event_id    text COLLATE "C" NOT NULL,
    kind        text NOT NULL,
    reference   text NOT NULL,
    amount      numeric(20, 3),
    currency    text,
    received_at timestamptz NOT NULL,
    outcome     text NOT NULL,
    finding     text,
    attempt_id  uuid NOT NULL,
    PRIMARY KEY (hotel_id, provider, event_id),
    FOREIGN KEY (hotel_id, attempt_id) REFERENCES payment_attempts (hotel_id, attempt_id),
    CONSTRAINT provider_events_event_length CHECK (char_length(event_id) BETWEEN 1 AND 255),
    CONSTRAINT provider_events_outcome CHECK (outcome IN ('APPLIED', 'HANDED_OVER', 'NO_OP')),
    CONSTRAINT provider_events_finding CHECK (finding IN (
        'another_amount', 'another_currency', 'failure_after_success', 'more_than_is_left', 'another_try_arrived')),
    CONSTRAINT provider_events_money_whole CHECK ((amount IS NULL) = (currency IS NULL))
);
CREATE INDEX provider_events_of_attempt ON provider_events (hotel_id, attempt_id);
CREATE INDEX provider_events_found ON provider_events (notice_id, hotel_id) WHERE finding IS NOT NULL;
COMMENT ON TABLE provider_events IS 'Notices of payment providers, each written in the transaction of its effect: an event id that stands here has had it.';
COMMENT ON COLUMN provider_events.notice_id IS 'Ours, in the order of arrival.';
COMMENT ON COLUMN provider_events.event_id IS 'The provider''s: a repeat carries it again.';
COMMENT ON COLUMN provider_events.kind IS 'The provider''s word for what happened.';
COMMENT ON COLUMN provider_events.reference IS 'What it was about: our name for the call.';
COMMENT ON COLUMN provider_events.outcome IS 'What it has done here.';
COMMENT ON COLUMN provider_events.finding IS 'Why an operator must look: it does not agree with what is recorded.';

ALTER TABLE refunds
    ADD COLUMN provider_id text COLLATE "C",
    ADD COLUMN by_hand boolean NOT NULL DEFAULT false,
    ADD CONSTRAINT refunds_by_hand_has_its_id CHECK (NOT by_hand OR provider_id IS NOT NULL);
CREATE UNIQUE INDEX refunds_provider_id_once ON refunds (hotel_id, attempt_id, provider_id)
    WHERE provider_id IS NOT NULL;
CREATE INDEX refunds_needing_attention ON refunds (refund_id, hotel_id) WHERE state = 'NEEDS_ATTENTION';
COMMENT ON COLUMN refunds.provider_id IS 'The provider''s id of it, where it told one.';
COMMENT ON COLUMN refunds.by_hand IS 'Made at the provider and not by us: known by its provider_id.';

CREATE TABLE directory.unmatched_notices (
    notice_id   uuid PRIMARY KEY,
    provider    text COLLATE "C" NOT NULL,
    event_id    text COLLATE "C" NOT NULL,
    kind        text NOT NULL,
    reference   text NOT NULL,
    attempt     text,
    notice      jsonb NOT NULL,
    received_at timestamptz NOT NULL DEFAULT now(),
    looked_at   timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT unmatched_notices_event_once UNIQUE (provider, event_id),
    CONSTRAINT unmatched_notices_event_length CHECK (char_length(event_id) BETWEEN 1 AND 255)
);
CREATE INDEX unmatched_notices_to_match ON directory.unmatched_notices (looked_at) WHERE attempt IS NOT NULL;
COMMENT ON TABLE directory.unmatched_notices IS 'Authentic notices about what is not there: kept, listed for operators, and applied when it appears. In real time.';
COMMENT ON COLUMN directory.unmatched_notices.attempt IS 'The attempt that it names; NULL where its reference is none of ours, and nothing can appear.';
COMMENT ON COLUMN directory.unmatched_notices.notice IS 'As it was read, to be applied later.';
COMMENT ON COLUMN directory.unmatched_notices.looked_at IS 'When somebody last looked whether it can be applied; the older the notice, the rarer.';
