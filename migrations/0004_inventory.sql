-- The one authority for what can be sold.

CREATE TABLE room_night_inventory (
    hotel_id     integer NOT NULL,
    room_type_id integer NOT NULL,
    stay_date    date NOT NULL,
    sellable     integer NOT NULL,
    held         integer NOT NULL DEFAULT 0,
    confirmed    integer NOT NULL DEFAULT 0,
    PRIMARY KEY (hotel_id, room_type_id, stay_date),
    FOREIGN KEY (hotel_id, room_type_id) REFERENCES room_types (hotel_id, room_type_id),
    CONSTRAINT room_night_sellable_not_negative CHECK (sellable >= 0),
    CONSTRAINT room_night_held_not_negative CHECK (held >= 0),
    CONSTRAINT room_night_confirmed_not_negative CHECK (confirmed >= 0),
    CONSTRAINT room_night_never_oversold CHECK (held + confirmed <= sellable)
    -- Room on each page keeps the counter updates within it (HOT), without touching the index.
) WITH (fillfactor = 80);
COMMENT ON TABLE room_night_inventory IS 'One row per hotel, room type and local date. A unit is sold by one conditional UPDATE of this row; nothing else decides. A night without a row is not for sale. No foreign key points here: it would lock the row early, out of order.';
COMMENT ON COLUMN room_night_inventory.stay_date IS 'The night, by the hotel''s calendar.';
COMMENT ON COLUMN room_night_inventory.sellable IS 'Units that may be sold in total, what is held and confirmed included.';
COMMENT ON COLUMN room_night_inventory.held IS 'Units of ACTIVE holds.';
COMMENT ON COLUMN room_night_inventory.confirmed IS 'Units of reservation nights not given back.';
