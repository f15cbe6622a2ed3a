-- What a hotel's own system tells of its nights: batches in order, and where it contradicts what is committed.

ALTER TABLE room_night_inventory
    ADD COLUMN reported integer,
    ADD CONSTRAINT room_night_reported_within_sellable CHECK (reported BETWEEN 0 AND sellable);
COMMENT ON COLUMN room_night_inventory.reported IS 'What the hotel''s system said last, where that was below what is held and confirmed: a conflict waits, and no sale goes above this number. NULL: none waits.';

CREATE TABLE pms_cursors (
    hotel_id  integer NOT NULL REFERENCES hotels (hotel_id),
    connector uuid NOT NULL,
    sequence  bigint NOT NULL,
    moved_at  timestamptz NOT NULL,
    PRIMARY KEY (hotel_id, connector),
    CONSTRAINT pms_cursors_sequence_from_one CHECK (sequence >= 1)
);
COMMENT ON TABLE pms_cursors IS 'How far each connector of a hotel''s system has been followed. Moved in the transaction that applies a batch, from the stated sequence alone.';
COMMENT ON COLUMN pms_cursors.connector IS 'The principal of the credential that delivers.';

CREATE TABLE pms_batches (
    hotel_id    integer NOT NULL REFERENCES hotels (hotel_id),
    connector   uuid NOT NULL,
    sequence    bigint NOT NULL,
    mode        text NOT NULL,
    outcome     text NOT NULL,
    fingerprint bytea NOT NULL,
    verdicts    jsonb NOT NULL,
    try_id      uuid NOT NULL,
    received_at timestamptz NOT NULL,
    PRIMARY KEY (hotel_id, connector, sequence),
    CONSTRAINT pms_batches_sequence_from_one CHECK (sequence >= 1),
    CONSTRAINT pms_batches_mode CHECK (mode IN ('absolute', 'delta', 'full')),
    CONSTRAINT pms_batches_outcome CHECK (outcome IN ('applied', 'superseded')),
    CONSTRAINT pms_batches_fingerprint_is_sha256 CHECK (octet_length(fingerprint) = 32)
);
CREATE INDEX pms_batches_by_sequence ON pms_batches (hotel_id, sequence);
CREATE INDEX pms_batches_by_age ON pms_batches (received_at);
COMMENT ON TABLE pms_batches IS 'Batches that were taken, for some months: what a repeat is told, and what each line came to.';
COMMENT ON COLUMN pms_batches.outcome IS 'superseded: a later batch had been taken before, and nothing of this one was applied.';
COMMENT ON COLUMN pms_batches.fingerprint IS 'SHA-256 of what was sent: tells a repeat from another batch of the same number.';
COMMENT ON COLUMN pms_batches.verdicts IS 'What each line came to, a run of lines that are alike in one entry.';
COMMENT ON COLUMN pms_batches.try_id IS 'The try that wrote the row: after a commit whose outcome was unknown it tells the original from a repeat.';

CREATE TABLE pms_conflicts (
    hotel_id     integer NOT NULL,
    conflict_id  uuid NOT NULL,
    room_type_id integer NOT NULL,
    stay_date    date NOT NULL,
    state        text NOT NULL,
    reported     integer NOT NULL,
    held         integer NOT NULL,
    confirmed    integer NOT NULL,
    connector    uuid NOT NULL,
    sequence     bigint NOT NULL,
    created_at   timestamptz NOT NULL,
    ended_at     timestamptz,
    PRIMARY KEY (hotel_id, conflict_id),
    FOREIGN KEY (hotel_id, room_type_id) REFERENCES room_types (hotel_id, room_type_id),
    CONSTRAINT pms_conflicts_state CHECK (
        state IN ('OPEN', 'WALKING', 'ACCEPTED', 'OVERRIDDEN', 'SETTLED', 'REPLACED')),
    CONSTRAINT pms_conflicts_below_committed CHECK (reported >= 0 AND reported < held + confirmed),
    CONSTRAINT pms_conflicts_waits_or_has_ended CHECK ((ended_at IS NULL) = (state IN ('OPEN', 'WALKING')))
);
CREATE UNIQUE INDEX pms_conflicts_one_waiting ON pms_conflicts (hotel_id, room_type_id, stay_date)
    WHERE state IN ('OPEN', 'WALKING');
COMMENT ON TABLE pms_conflicts IS 'A night that a hotel''s system reported below what is held and confirmed. Written only under the night''s lock; one that waits is the reported number of its night.';
COMMENT ON COLUMN pms_conflicts.state IS 'WALKING: the reported number stands, and the staff rebooks guests. SETTLED: what is committed fell to it. REPLACED: a later batch named the night.';
COMMENT ON COLUMN pms_conflicts.held IS 'Units in holds when it was reported.';
COMMENT ON COLUMN pms_conflicts.confirmed IS 'Units in reservations when it was reported.';
