-- The directory: which hotel lives on which shard, and who may call.
-- It is a small database of its own by design; in the default set-up it shares the first shard's
-- database, so every database carries this schema and only the one named as the directory uses it.

CREATE SCHEMA directory;
COMMENT ON SCHEMA directory IS 'Hotel -> shard, guest sessions and API credentials. Used only in the database named as the directory.';

CREATE TABLE directory.hotels (
    hotel_id   integer GENERATED ALWAYS AS IDENTITY (MINVALUE 1) PRIMARY KEY,
    code       text COLLATE "C" NOT NULL,
    shard_id   integer NOT NULL,
    version    bigint NOT NULL DEFAULT 1,
    created_at timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT hotels_code_once UNIQUE (code),
    CONSTRAINT hotels_code_form CHECK (code ~ '^[A-Za-z0-9_-]{1,32}$'),
    CONSTRAINT hotels_shard_from_one CHECK (shard_id >= 1),
    CONSTRAINT hotels_version_from_one CHECK (version >= 1)
);
COMMENT ON TABLE directory.hotels IS 'Where each hotel lives. Ids carry the hotel id, so nothing else has to be looked up.';
COMMENT ON COLUMN directory.hotels.version IS 'Rises when the entry changes; a process that caches an older one must read again.';

CREATE TABLE directory.guest_sessions (
    token_hash   bytea PRIMARY KEY,
    principal_id uuid NOT NULL,
    created_at   timestamptz NOT NULL DEFAULT now(),
    expires_at   timestamptz NOT NULL,
    CONSTRAINT guest_sessions_principal_once UNIQUE (principal_id),
    CONSTRAINT guest_sessions_hash_is_sha256 CHECK (octet_length(token_hash) = 32),
    CONSTRAINT guest_sessions_end_after_start CHECK (expires_at > created_at)
);
COMMENT ON TABLE directory.guest_sessions IS 'One traveler without an account. Only the SHA-256 of the token is kept; the token has 256 random bits, so a slow hash would add nothing. Ends in real time.';

CREATE TABLE directory.credentials (
    credential_id uuid PRIMARY KEY,
    principal_id  uuid NOT NULL,
    token_hash    bytea NOT NULL,
    role          text NOT NULL,
    hotel_id      integer REFERENCES directory.hotels (hotel_id),
    channel       text,
    name          text NOT NULL,
    created_at    timestamptz NOT NULL DEFAULT now(),
    revoked_at    timestamptz,
    CONSTRAINT credentials_hash_once UNIQUE (token_hash),
    CONSTRAINT credentials_principal_once UNIQUE (principal_id),
    CONSTRAINT credentials_hash_is_sha256 CHECK (octet_length(token_hash) = 32),
    CONSTRAINT credentials_role CHECK (role IN ('operator', 'staff', 'pms', 'channel', 'provider')),
    CONSTRAINT credentials_operator_has_no_hotel CHECK ((role = 'operator') = (hotel_id IS NULL)),
    CONSTRAINT credentials_channel_only_for_channels CHECK (channel IS NULL OR role = 'channel'),
    CONSTRAINT credentials_name_length CHECK (char_length(name) BETWEEN 1 AND 255)
);
COMMENT ON TABLE directory.credentials IS 'API keys: a role, and for all but operators the one hotel they belong to. Only the SHA-256 is kept.';
COMMENT ON COLUMN directory.credentials.channel IS 'A channel credential may be bound to one channel.';
COMMENT ON COLUMN directory.credentials.principal_id IS 'Who the holder is in keys, holds and audit.';
COMMENT ON COLUMN directory.credentials.name IS 'For people: which system or person has it.';
COMMENT ON COLUMN directory.credentials.revoked_at IS 'Refused from then on.';
