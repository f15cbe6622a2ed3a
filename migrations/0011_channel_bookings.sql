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
