-- What a hotel sells and under which rules. Every table of a hotel starts its primary key with hotel_id.

CREATE TABLE hotels (
    hotel_id      integer PRIMARY KEY,
    code          text COLLATE "C" NOT NULL,
    name          text NOT NULL,
    time_zone     text NOT NULL,
    currency      text NOT NULL,
    city          text NOT NULL,
    latitude      numeric(9, 6),
    longitude     numeric(9, 6),
    late_capture  text NOT NULL DEFAULT 'allocate',
    opened_until  date,
    created_at    timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT hotels_code_once UNIQUE (code),
    CONSTRAINT hotels_name_length CHECK (char_length(name) BETWEEN 1 AND 255),
    CONSTRAINT hotels_currency_form CHECK (currency ~ '^[A-Z]{3}$'),
    CONSTRAINT hotels_late_capture CHECK (late_capture IN ('allocate', 'refund')),
    CONSTRAINT hotels_place_whole CHECK ((latitude IS NULL) = (longitude IS NULL)),
    CONSTRAINT hotels_place_on_earth CHECK (latitude BETWEEN -90 AND 90 AND longitude BETWEEN -180 AND 180)
);
COMMENT ON TABLE hotels IS 'A hotel of this shard. Its time zone decides today, cut-offs and deadlines; all its money is in its currency.';
COMMENT ON COLUMN hotels.hotel_id IS 'Issued by the directory.';
COMMENT ON COLUMN hotels.time_zone IS 'IANA name.';
COMMENT ON COLUMN hotels.currency IS 'ISO 4217; every amount of the hotel is in it, with at most its decimals.';
COMMENT ON COLUMN hotels.late_capture IS 'What becomes of money that was taken when the hold had ended: the rooms are allocated anew where that is still possible, else it goes back; or it goes back in any case.';
COMMENT ON COLUMN hotels.opened_until IS 'The last night for which the rolling horizon has opened inventory.';

CREATE TABLE room_types (
    hotel_id       integer NOT NULL REFERENCES hotels (hotel_id),
    room_type_id   integer NOT NULL,
    code           text COLLATE "C" NOT NULL,
    name           text NOT NULL,
    base_occupancy integer NOT NULL DEFAULT 2,
    max_adults     integer NOT NULL,
    max_children   integer NOT NULL,
    max_occupancy  integer NOT NULL,
    units          integer NOT NULL,
    PRIMARY KEY (hotel_id, room_type_id),
    CONSTRAINT room_types_code_once UNIQUE (hotel_id, code),
    CONSTRAINT room_types_name_length CHECK (char_length(name) BETWEEN 1 AND 255),
    CONSTRAINT room_types_occupancy CHECK (
        base_occupancy BETWEEN 1 AND 100 AND max_adults BETWEEN 1 AND 100 AND max_children BETWEEN 0 AND 100
        AND max_occupancy BETWEEN max_adults AND max_adults + max_children),
    CONSTRAINT room_types_units CHECK (units BETWEEN 0 AND 100000)
);
COMMENT ON TABLE room_types IS 'A kind of room: what is counted and sold. Numbered from 1 within its hotel, in order of creation.';
COMMENT ON COLUMN room_types.max_occupancy IS 'Adults and children together.';
COMMENT ON COLUMN room_types.base_occupancy IS 'Guests whose price is the base amount of the night.';
COMMENT ON COLUMN room_types.units IS 'Units with which the horizon opens a new night; a night already open keeps its own number.';

CREATE TABLE rate_plans (
    hotel_id     integer NOT NULL REFERENCES hotels (hotel_id),
    rate_plan_id integer NOT NULL,
    code         text COLLATE "C" NOT NULL,
    name         text NOT NULL,
    cancellation jsonb NOT NULL,
    payment      text NOT NULL,
    PRIMARY KEY (hotel_id, rate_plan_id),
    CONSTRAINT rate_plans_from_one CHECK (rate_plan_id >= 1),
    CONSTRAINT rate_plans_code_once UNIQUE (hotel_id, code),
    CONSTRAINT rate_plans_name_length CHECK (char_length(name) BETWEEN 1 AND 255),
    CONSTRAINT rate_plans_cancellation_is_a_ladder CHECK (jsonb_typeof(cancellation) = 'array'),
    CONSTRAINT rate_plans_payment CHECK (payment IN ('prepay', 'deposit', 'at_property'))
);
COMMENT ON TABLE rate_plans IS 'Terms under which a room is sold. Numbered from 1 within its hotel, in order of creation.';
COMMENT ON COLUMN rate_plans.payment IS 'When the guest pays: prepay at booking, deposit in part, at_property there.';
COMMENT ON COLUMN rate_plans.cancellation IS 'Rungs, first to last: the first whose local instant has not passed applies; after the last the full price is due. No rung: non-refundable.';

CREATE TABLE taxes (
    hotel_id    integer NOT NULL REFERENCES hotels (hotel_id),
    tax_id      integer NOT NULL,
    kind        text NOT NULL,
    label       text NOT NULL,
    value       numeric(20, 6) NOT NULL,
    included    boolean NOT NULL,
    from_amount numeric(20, 3),
    to_amount   numeric(20, 3),
    PRIMARY KEY (hotel_id, tax_id),
    CONSTRAINT taxes_kind CHECK (kind IN ('percent', 'per_night', 'per_person_night', 'per_stay')),
    CONSTRAINT taxes_label_length CHECK (char_length(label) BETWEEN 1 AND 255),
    CONSTRAINT taxes_value CHECK (value >= 0),
    CONSTRAINT taxes_slab CHECK (from_amount >= 0 AND to_amount > coalesce(from_amount, 0))
);
COMMENT ON TABLE taxes IS 'Taxes and fees, in the order in which they are shown. value is a percentage or an amount in the hotel''s currency.';
COMMENT ON COLUMN taxes.from_amount IS 'Slab of the room''s nightly price: applies where from_amount <= price < to_amount.';

CREATE TABLE daily_rates (
    hotel_id      integer NOT NULL,
    room_type_id  integer NOT NULL,
    rate_plan_id  integer NOT NULL,
    stay_date     date NOT NULL,
    amount        numeric(20, 3) NOT NULL,
    extra_adult   numeric(20, 3) NOT NULL DEFAULT 0,
    extra_child   numeric(20, 3) NOT NULL DEFAULT 0,
    price_version integer NOT NULL DEFAULT 1,
    PRIMARY KEY (hotel_id, room_type_id, rate_plan_id, stay_date),
    FOREIGN KEY (hotel_id, room_type_id) REFERENCES room_types (hotel_id, room_type_id),
    FOREIGN KEY (hotel_id, rate_plan_id) REFERENCES rate_plans (hotel_id, rate_plan_id),
    CONSTRAINT daily_rates_not_negative CHECK (amount >= 0 AND extra_adult >= 0 AND extra_child >= 0),
    CONSTRAINT daily_rates_version_from_one CHECK (price_version >= 1)
);
COMMENT ON COLUMN taxes.included IS 'Contained in the nightly prices: shown, not added.';
COMMENT ON TABLE daily_rates IS 'The price of one room of a type under a plan on a night, in the hotel''s currency.';
COMMENT ON COLUMN daily_rates.amount IS 'For up to the room type''s base occupancy, before taxes that come on top.';
COMMENT ON COLUMN daily_rates.extra_adult IS 'For each adult beyond the base occupancy.';
COMMENT ON COLUMN daily_rates.extra_child IS 'For each child beyond the base occupancy.';
COMMENT ON COLUMN daily_rates.price_version IS 'Rises with every edit; a quote keeps the version it used, so that a charge can be explained later.';

CREATE TABLE restrictions (
    hotel_id          integer NOT NULL,
    room_type_id      integer NOT NULL,
    rate_plan_id      integer NOT NULL DEFAULT 0,
    stay_date         date NOT NULL,
    stop_sell         boolean NOT NULL DEFAULT false,
    min_stay_arrival  integer,
    min_stay_through  integer,
    max_stay          integer,
    closed_to_arrival   boolean NOT NULL DEFAULT false,
    closed_to_departure boolean NOT NULL DEFAULT false,
    min_advance_days  integer,
    max_advance_days  integer,
    PRIMARY KEY (hotel_id, room_type_id, rate_plan_id, stay_date),
    FOREIGN KEY (hotel_id, room_type_id) REFERENCES room_types (hotel_id, room_type_id),
    CONSTRAINT restrictions_stay_limits CHECK (
        min_stay_arrival BETWEEN 1 AND 90 AND min_stay_through BETWEEN 1 AND 90 AND max_stay BETWEEN 1 AND 90),
    CONSTRAINT restrictions_min_not_above_max CHECK (
        greatest(coalesce(min_stay_arrival, 1), coalesce(min_stay_through, 1)) <= coalesce(max_stay, 90)),
    CONSTRAINT restrictions_advance_limits CHECK (
        min_advance_days BETWEEN 0 AND 750 AND max_advance_days BETWEEN 0 AND 750
        AND coalesce(min_advance_days, 0) <= coalesce(max_advance_days, 750))
);
COMMENT ON TABLE restrictions IS 'Rules for new sales of a night. They never touch what is held or booked. No row: no rule.';
COMMENT ON COLUMN restrictions.rate_plan_id IS '0: for the room type under every plan. A row of a plan applies in addition.';
COMMENT ON COLUMN restrictions.min_stay_arrival IS 'Nights that a stay arriving on this night must have.';
COMMENT ON COLUMN restrictions.min_stay_through IS 'Nights that a stay containing this night must have.';
COMMENT ON COLUMN restrictions.max_stay IS 'Nights that a stay containing this night may have at most.';
COMMENT ON COLUMN restrictions.closed_to_arrival IS 'No stay may begin with this night.';
COMMENT ON COLUMN restrictions.closed_to_departure IS 'No stay may end on the morning of this date.';
COMMENT ON COLUMN restrictions.min_advance_days IS 'For stays arriving on this night: days between today at the hotel and arrival, at least.';
COMMENT ON COLUMN restrictions.max_advance_days IS 'The same, at most.';
