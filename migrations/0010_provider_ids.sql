-- What providers call our calls, where they act on names of their own.

CREATE TABLE provider_ids (
    hotel_id    integer NOT NULL REFERENCES hotels (hotel_id),
    provider    text COLLATE "C" NOT NULL,
    reference   text COLLATE "C" NOT NULL,
    provider_id text COLLATE "C" NOT NULL,
    kept_at     timestamptz NOT NULL,
    PRIMARY KEY (hotel_id, provider, reference),
    CONSTRAINT provider_ids_name_one_call UNIQUE (provider, provider_id),
    CONSTRAINT provider_ids_reference_length CHECK (char_length(reference) BETWEEN 1 AND 255),
    CONSTRAINT provider_ids_length CHECK (char_length(provider_id) BETWEEN 1 AND 255)
);
COMMENT ON TABLE provider_ids IS 'The provider''s name for each of our references, kept as soon as it is known. A row that is missing costs a search in the provider''s list, and is never read as a call that was not made.';
COMMENT ON COLUMN provider_ids.provider IS 'stripe.';
COMMENT ON COLUMN provider_ids.reference IS 'Ours, in its one spelling: <attempt>-auth, <attempt>-refund-<n>-<try>.';
COMMENT ON COLUMN provider_ids.provider_id IS 'The provider''s: pi_..., re_.... The first one of a reference stays.';
