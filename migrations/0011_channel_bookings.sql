-- A stay can be replaced by another one within its reservation: a room's night may be given back and taken anew.

ALTER TABLE reservation_nights
    ADD COLUMN since integer NOT NULL DEFAULT 1,
    ADD COLUMN left_at_version integer,
    DROP CONSTRAINT reservation_nights_pkey,
    ADD PRIMARY KEY (hotel_id, reservation_id, room, stay_date, since),
    ADD CONSTRAINT reservation_nights_since_from_one CHECK (since >= 1),
    ADD CONSTRAINT reservation_nights_left_after_taken CHECK (left_at_version > since),
    ADD CONSTRAINT reservation_nights_left_is_given_back CHECK (left_at_version IS NULL OR given_back_at IS NOT NULL);
CREATE UNIQUE INDEX reservation_nights_one_live ON reservation_nights (hotel_id, reservation_id, room, stay_date)
    WHERE given_back_at IS NULL;
COMMENT ON COLUMN reservation_nights.since IS 'The version of the reservation that took the unit. A room has at most one unit of a night that is not given back.';
COMMENT ON COLUMN reservation_nights.left_at_version IS 'The version whose change let the night go: it is no part of the stay any more, so an undone no-show never takes it again.';

ALTER TABLE reservation_rooms
    ADD COLUMN removed_at_version integer,
    ADD CONSTRAINT reservation_rooms_removed_is_cancelled CHECK (removed_at_version IS NULL OR cancelled_at IS NOT NULL),
    ADD CONSTRAINT reservation_rooms_removed_by_a_change CHECK (removed_at_version > 1);
COMMENT ON COLUMN reservation_rooms.removed_at_version IS 'The version whose change took the room out of the stay; NULL where it stands or was cancelled by itself.';

-- Bookings that channels bring under their own identifiers.

CREATE TABLE channel_bookings (
    hotel_id       integer NOT NULL REFERENCES hotels (hotel_id),
    channel        text COLLATE "C" NOT NULL,
    booking_id     text COLLATE "C" NOT NULL,
    state          text NOT NULL,
    revision       bigint,
    fingerprint    bytea,
    reservation_id uuid,
    unplaced       jsonb,
    try_id         uuid NOT NULL,
    created_at     timestamptz NOT NULL,
    changed_at     timestamptz NOT NULL,
    PRIMARY KEY (hotel_id, channel, booking_id),
    FOREIGN KEY (hotel_id, reservation_id) REFERENCES reservations (hotel_id, reservation_id),
    CONSTRAINT channel_bookings_one_per_reservation UNIQUE (hotel_id, reservation_id),
    CONSTRAINT channel_bookings_channel_form CHECK (channel ~ '^[A-Za-z0-9_-]{1,32}$'),
    CONSTRAINT channel_bookings_id_form CHECK (booking_id ~ '^[!-~]{1,64}$'),
    CONSTRAINT channel_bookings_state CHECK (state IN ('ACTIVE', 'CANCELLED', 'UNMAPPED')),
    CONSTRAINT channel_bookings_active_is_reserved CHECK (state <> 'ACTIVE' OR reservation_id IS NOT NULL),
    CONSTRAINT channel_bookings_unmapped_is_kept CHECK (
        state <> 'UNMAPPED' OR (reservation_id IS NULL AND unplaced IS NOT NULL)),
    CONSTRAINT channel_bookings_revision_not_negative CHECK (revision >= 0),
    CONSTRAINT channel_bookings_fingerprint_is_sha256 CHECK (octet_length(fingerprint) = 32),
    CONSTRAINT channel_bookings_told_when_reserved CHECK (
        reservation_id IS NULL OR (revision IS NOT NULL AND fingerprint IS NOT NULL))
);
CREATE INDEX channel_bookings_unplaced ON channel_bookings (hotel_id, channel, booking_id) WHERE unplaced IS NOT NULL;
COMMENT ON TABLE channel_bookings IS 'A channel''s booking by the identifier that it has there. Written only under the advisory lock of the identifier.';
COMMENT ON COLUMN channel_bookings.state IS 'CANCELLED also before the booking itself arrived: it then takes no room any more. UNMAPPED: it names what the hotel does not have, and waits for somebody.';
COMMENT ON COLUMN channel_bookings.revision IS 'The highest one that took effect; NULL where only a cancellation came.';
COMMENT ON COLUMN channel_bookings.fingerprint IS 'SHA-256 of what was booked, without its revision: tells a repeat from a modification.';
COMMENT ON COLUMN channel_bookings.unplaced IS 'The last delivery that names what the hotel does not have, as it came, until one can be placed or the booking is cancelled.';
COMMENT ON COLUMN channel_bookings.try_id IS 'The try that wrote the row: after a commit whose outcome was unknown it tells the original from a repeat.';
