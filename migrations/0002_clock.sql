-- One authority for the time that decides: the database's clock plus the sandbox's offset.

CREATE TABLE sandbox_clock (
    singleton boolean PRIMARY KEY DEFAULT true,
    ahead     interval NOT NULL DEFAULT interval '0',
    CONSTRAINT sandbox_clock_one_row CHECK (singleton)
);
INSERT INTO sandbox_clock DEFAULT VALUES;
COMMENT ON TABLE sandbox_clock IS 'How far the deciding clock is ahead of the real one. Zero outside the sandbox.';

CREATE FUNCTION keyrack_now() RETURNS timestamptz LANGUAGE sql VOLATILE
    AS $$ SELECT clock_timestamp() + (SELECT ahead FROM sandbox_clock WHERE singleton) $$;
COMMENT ON FUNCTION keyrack_now() IS 'The clock of everything that decides: expiry, deadlines, today, cut-offs. Not the transaction''s start: it moves while locks are waited for.';

-- For tables whose rows are history: they may be added to and never rewritten.
CREATE FUNCTION refuse_rewriting_history() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION '% is append-only: % refused', TG_TABLE_NAME, TG_OP USING ERRCODE = 'KR001';
END $$;
COMMENT ON FUNCTION refuse_rewriting_history() IS 'Trigger of append-only tables; raises KR001.';
