-- Findings of the comparison with a provider's books are seen and closed by operators, and what is kept of a
-- comparison is kept for each provider by its own name. Guest sessions are found by their end. Taxes and terms have
-- versions, which a quote names.

-- Until now one name stood for whichever provider was configured. Places and lines are the providers' own words,
-- and tell whose they are.
UPDATE directory.settlement_positions
SET provider = CASE WHEN position ~ '^[0-9]+$' THEN 'simulator' ELSE 'stripe' END
WHERE provider = 'default';
UPDATE directory.settlement_findings
SET provider = CASE
    WHEN entry ~ '^(capture|refund|refund_failed):' THEN 'simulator'
    WHEN entry ~ '^txn_' THEN 'stripe'
    ELSE coalesce((SELECT min(p.provider) FROM directory.settlement_positions p), 'simulator')
    END
WHERE provider = 'default';
ALTER TABLE directory.settlement_positions
    ADD CONSTRAINT settlement_positions_provider CHECK (provider ~ '^[a-z0-9_-]{1,32}$' AND provider <> 'default');

ALTER TABLE directory.settlement_findings
    ADD COLUMN finding_id uuid,
    ADD COLUMN closed_by uuid,
    ADD COLUMN closing_key text COLLATE "C",
    ADD COLUMN closing_request text,
    ADD COLUMN note text,
    DROP CONSTRAINT settlement_findings_state,
    DROP CONSTRAINT settlement_findings_settled_when_returned,
    ADD CONSTRAINT settlement_findings_state CHECK (state IN ('OPEN', 'RETURNING', 'RETURNED', 'CLOSED')),
    ADD CONSTRAINT settlement_findings_settled_when_ended CHECK (
        (state IN ('RETURNED', 'CLOSED')) = (settled_at IS NOT NULL)),
    ADD CONSTRAINT settlement_findings_closed_by_somebody CHECK (
        num_nonnulls(closed_by, closing_key, closing_request, note) = CASE WHEN state = 'CLOSED' THEN 4 ELSE 0 END),
    ADD CONSTRAINT settlement_findings_note_length CHECK (char_length(note) BETWEEN 1 AND 2000);
-- In the order in which they were found, as new ones are numbered.
UPDATE directory.settlement_findings
SET finding_id = overlay(
    gen_random_uuid()::text
    PLACING regexp_replace(lpad(to_hex((extract(epoch FROM found_at) * 1000)::bigint), 12, '0'), '^(.{8})', '\1-') || '-7'
    FROM 1 FOR 15)::uuid;
ALTER TABLE directory.settlement_findings
    ALTER COLUMN finding_id SET NOT NULL,
    ADD CONSTRAINT settlement_findings_id_once UNIQUE (finding_id),
    ADD CONSTRAINT settlement_findings_key_once UNIQUE (closed_by, closing_key);
CREATE INDEX settlement_findings_not_ended ON directory.settlement_findings (finding_id)
    WHERE state IN ('OPEN', 'RETURNING');
CREATE TRIGGER settlement_findings_closed_ones_stay BEFORE UPDATE OR DELETE ON directory.settlement_findings
    FOR EACH ROW WHEN (OLD.state = 'CLOSED') EXECUTE FUNCTION refuse_rewriting_history();
COMMENT ON COLUMN directory.settlement_findings.finding_id IS 'Ours, in the order of finding.';
COMMENT ON COLUMN directory.settlement_findings.state IS 'RETURNING: a charge that nobody asked for is being given back. RETURNED: it has been. CLOSED: an operator has looked.';
COMMENT ON COLUMN directory.settlement_findings.settled_at IS 'When it was returned or closed.';
COMMENT ON COLUMN directory.settlement_findings.closed_by IS 'The principal of the operator. With note, request and instant it is the record of who closed it, when and why, and never changes.';
COMMENT ON COLUMN directory.settlement_findings.closing_key IS 'The Idempotency-Key of the closing: it lives here, so it never expires.';
COMMENT ON COLUMN directory.settlement_findings.closing_request IS 'The id of the request.';

CREATE INDEX guest_sessions_by_end ON directory.guest_sessions (expires_at);

ALTER TABLE taxes
    ADD COLUMN version integer NOT NULL DEFAULT 1,
    ADD CONSTRAINT taxes_version_from_one CHECK (version >= 1);
ALTER TABLE rate_plans
    ADD COLUMN version integer NOT NULL DEFAULT 1,
    ADD CONSTRAINT rate_plans_version_from_one CHECK (version >= 1);
COMMENT ON COLUMN taxes.version IS 'Rises with every change, whoever makes it: a quote names it. From 1.';
COMMENT ON COLUMN rate_plans.version IS 'Of the terms: rises whenever cancellation, payment or deposit change, whoever changes them. From 1.';

-- In the database, so that no edit can forget it and a version never stands for two rules.
CREATE FUNCTION rise_version() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.version := OLD.version + 1;
    RETURN NEW;
END
$$;
CREATE TRIGGER taxes_version_rises
    BEFORE UPDATE ON taxes
    FOR EACH ROW
    WHEN (NEW IS DISTINCT FROM OLD)
    EXECUTE FUNCTION rise_version();
CREATE TRIGGER rate_plans_version_rises
    BEFORE UPDATE ON rate_plans
    FOR EACH ROW
    WHEN ((NEW.cancellation, NEW.payment, NEW.deposit) IS DISTINCT FROM (OLD.cancellation, OLD.payment, OLD.deposit))
    EXECUTE FUNCTION rise_version();
