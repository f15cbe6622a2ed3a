-- Payments whose customer has to act first, and what a comparison with the provider's books has found.

CREATE TABLE customer_actions (
    hotel_id   integer NOT NULL,
    attempt_id uuid NOT NULL,
    url        text NOT NULL,
    asked_at   timestamptz NOT NULL,
    PRIMARY KEY (hotel_id, attempt_id),
    FOREIGN KEY (hotel_id, attempt_id) REFERENCES payment_attempts (hotel_id, attempt_id),
    CONSTRAINT customer_actions_url_length CHECK (char_length(url) BETWEEN 1 AND 2048)
);
COMMENT ON TABLE customer_actions IS 'Attempts whose customer was sent to a page of the provider. Told while the attempt is PENDING_PAYMENT.';
COMMENT ON COLUMN customer_actions.url IS 'The page. Whoever has it may act for the customer, so it is told to the attempt''s principal alone.';

CREATE TABLE refund_book_lines (
    hotel_id   integer NOT NULL,
    attempt_id uuid NOT NULL,
    number     integer NOT NULL,
    found      boolean NOT NULL,
    looked_at  timestamptz NOT NULL,
    PRIMARY KEY (hotel_id, attempt_id, number),
    FOREIGN KEY (hotel_id, attempt_id) REFERENCES payment_attempts (hotel_id, attempt_id),
    CONSTRAINT refund_book_lines_from_one CHECK (number >= 1)
);
COMMENT ON TABLE refund_book_lines IS 'Refunds that were looked for in the provider''s books, each once.';
COMMENT ON COLUMN refund_book_lines.found IS 'The books have it; else it is among the findings.';
COMMENT ON COLUMN refund_book_lines.number IS 'The refund''s place among those of its attempt.';

CREATE INDEX refunds_by_settlement ON refunds (settled_at) WHERE state = 'SUCCEEDED';

-- The provider's books are those of all hotels, so this lives beside the directory and not on a shard.

CREATE TABLE directory.settlement_positions (
    provider    text COLLATE "C" PRIMARY KEY,
    position    text NOT NULL,
    compared_at timestamptz NOT NULL,
    CONSTRAINT settlement_positions_length CHECK (char_length(position) BETWEEN 1 AND 255)
);
COMMENT ON TABLE directory.settlement_positions IS 'How far a provider''s settlement export has been compared. A page that is compared again changes nothing.';
COMMENT ON COLUMN directory.settlement_positions.position IS 'The provider''s own word for the place.';

CREATE TABLE directory.settlement_findings (
    provider    text COLLATE "C" NOT NULL,
    entry       text COLLATE "C" NOT NULL,
    kind        text NOT NULL,
    state       text NOT NULL,
    hotel_id    integer,
    attempt_id  uuid,
    reference   text NOT NULL,
    amount      numeric(20, 3) NOT NULL,
    currency    text NOT NULL,
    happened_at timestamptz NOT NULL,
    found_at    timestamptz NOT NULL,
    retry_at    timestamptz,
    settled_at  timestamptz,
    PRIMARY KEY (provider, entry),
    CONSTRAINT settlement_findings_kind CHECK (kind IN (
        'unknown_attempt', 'amount_differs', 'other_charge', 'unknown_refund', 'refund_differs', 'refund_failed',
        'refund_by_hand', 'refund_missing', 'unreadable')),
    CONSTRAINT settlement_findings_state CHECK (state IN ('OPEN', 'RETURNING', 'RETURNED')),
    CONSTRAINT settlement_findings_retry_while_returning CHECK ((state = 'RETURNING') = (retry_at IS NOT NULL)),
    CONSTRAINT settlement_findings_settled_when_returned CHECK ((state = 'RETURNED') = (settled_at IS NOT NULL)),
    CONSTRAINT settlement_findings_attempt_has_its_hotel CHECK ((hotel_id IS NULL) = (attempt_id IS NULL)),
    CONSTRAINT settlement_findings_amount_not_negative CHECK (amount >= 0)
);
CREATE INDEX settlement_findings_to_return ON directory.settlement_findings (retry_at) WHERE state = 'RETURNING';
COMMENT ON TABLE directory.settlement_findings IS 'Lines of the settlement export that do not agree with what is recorded, each once. OPEN ones are for an operator.';
COMMENT ON COLUMN directory.settlement_findings.entry IS 'The provider''s name of the line.';
COMMENT ON COLUMN directory.settlement_findings.state IS 'RETURNING: a charge that nobody asked for is being given back. RETURNED: it has been.';
COMMENT ON COLUMN directory.settlement_findings.attempt_id IS 'Whom the line speaks of, where it can be read; it need not exist.';
COMMENT ON COLUMN directory.settlement_findings.happened_at IS 'By the provider''s clock.';
