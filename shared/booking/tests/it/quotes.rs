//! Quotes: what they promise and what they refuse.

use keyrack_booking::{
    FieldError, KeyRefusal,
    quote::{self, QuoteError, QuoteView},
    restrictions::{Patch, RestrictionPatch},
};
use keyrack_domain::{
    horizon::Horizon,
    ids::{HotelId, QuoteId},
    occupancy::RoomRequest,
    principal::Role,
    restriction::Rule,
};
use uuid::Uuid;

use crate::world::{
    HORIZON, World, asked, caller, day, fresh_key, guest, hotel, htl_204, key, percent, rate_change, room,
};

fn told(error: &QuoteError) -> Vec<(&str, &str)> {
    let QuoteError::Invalid(faults) = error else { panic!("not invalid: {error:?}") };
    faults.iter().map(|FieldError { pointer, code, .. }| (pointer.as_str(), *code)).collect()
}

fn broken(error: &QuoteError) -> Vec<(Rule, String)> {
    let QuoteError::Restricted(violations) = error else { panic!("not restricted: {error:?}") };
    violations.iter().map(|v| (v.rule, v.night.to_string())).collect()
}

fn total(quote: &QuoteView) -> String {
    quote.document.total.to_string()
}

#[tokio::test]
async fn the_worked_example_costs_what_it_says() {
    let world = World::new().await;
    let hotel = world.open(htl_204(), "6500.00").await;
    let quote = world.quote(&guest(), &hotel, ("2026-11-14", "2026-11-16")).await.expect("a quote");
    assert_eq!(total(&quote), "14560.00");
    let charges: Vec<_> =
        quote.document.charges.iter().map(|c| (c.label.as_str(), c.amount.to_string())).collect();
    assert_eq!(charges, [("RT-DLX, FLEX, 2 nights", "13000.00".into()), ("GST", "1560.00".to_owned())]);
    let nights: Vec<_> = quote.document.rooms[0].nights.iter().map(|n| (n.date, n.price_version)).collect();
    assert_eq!(nights, [(day("2026-11-14"), 1), (day("2026-11-15"), 1)]);
    let available: Vec<_> = quote.available.iter().map(|night| night.available).collect();
    assert_eq!(available, [5, 5]);
    assert_eq!((quote.expires_at.0 - quote.created_at.0).num_seconds(), 600);
}

#[tokio::test]
async fn a_quote_claims_nothing_and_never_refuses_for_want_of_units() {
    let world = World::new().await;
    let hotel = world.open(htl_204(), "6500.00").await;
    world
        .database()
        .execute("UPDATE room_night_inventory SET sellable = 0 WHERE stay_date = '2026-11-15'")
        .await;
    let quote = world.quote(&guest(), &hotel, ("2026-11-14", "2026-11-16")).await.expect("a quote");
    assert_eq!(quote.available.iter().map(|night| night.available).collect::<Vec<_>>(), [5, 0]);
    assert_eq!(world.database().value("SELECT sum(held + confirmed) FROM room_night_inventory").await, 0);
}

#[tokio::test]
async fn a_repeat_is_answered_with_the_same_promise_and_other_input_is_refused() {
    let world = World::new().await;
    let hotel = world.open(htl_204(), "6500.00").await;
    let guest = guest();
    let make = |stay| quote::make(&world.hotels, HORIZON, &guest, asked(&hotel, stay), key("k1"));
    let first = make(("2026-11-14", "2026-11-16")).await.expect("a quote");
    world.price(&hotel, "9000.00").await;
    // Its day is over by then, so that the same call would be refused if it were new.
    world.clock("2026-01-11T05:00:00Z").await;
    let again = make(("2026-11-14", "2026-11-16")).await.expect("the same");
    assert!(again.replayed && !first.replayed);
    assert_eq!(again.answer, first.answer);
    let other = make(("2026-11-14", "2026-11-17")).await;
    assert!(matches!(other, Err(QuoteError::Key(KeyRefusal::Reused))), "{other:?}");
    assert_eq!(world.database().value("SELECT count(*) FROM quotes").await, 1);
}

#[tokio::test]
async fn a_repeat_is_answered_for_a_day_even_when_the_stay_is_past_by_then() {
    let world = World::new().await;
    let hotel = world.open(htl_204(), "6500.00").await;
    let guest = guest();
    let make = || {
        quote::make(&world.hotels, HORIZON, &guest, asked(&hotel, ("2026-01-10", "2026-01-11")), key("k1"))
    };
    let first = make().await.expect("a quote");
    world.clock("2026-01-11T05:00:00Z").await;
    assert_eq!(make().await.expect("the same").answer, first.answer);
    world.clock("2026-01-11T07:00:00Z").await;
    let late = make().await;
    assert!(matches!(late, Err(QuoteError::Key(KeyRefusal::Expired))), "{late:?}");
}

#[tokio::test]
async fn only_its_owner_sees_a_quote_and_sees_it_when_it_has_expired() {
    let world = World::new().await;
    let hotel = world.open(htl_204(), "6500.00").await;
    let owner = guest();
    let made = world.quote(&owner, &hotel, ("2026-11-14", "2026-11-16")).await.expect("a quote");
    world.clock("2026-01-10T07:00:00Z").await;
    let found = quote::find(&world.hotels, &owner, made.id).await.expect("an answer").expect("a quote");
    assert_eq!((found.document, found.expires_at), (made.document, made.expires_at));
    for (who, id) in [
        (guest(), made.id),
        (world.operator.clone(), made.id),
        (owner.clone(), QuoteId::new(made.id.hotel(), Uuid::new_v4())),
        (owner, QuoteId::new(HotelId(4711), made.id.uuid())),
    ] {
        assert_eq!(quote::find(&world.hotels, &who, id).await.expect("an answer"), None);
    }
}

#[tokio::test]
async fn a_credential_of_another_hotel_or_one_that_sells_nothing_finds_no_hotel_to_quote() {
    let world = World::new().await;
    let hotel = world.open(htl_204(), "6500.00").await;
    let own = world.hotels.by_code(&hotel).await.expect("the hotel").id;
    let bound = |role, hotel| keyrack_domain::principal::Caller { hotel: Some(hotel), ..caller(role) };
    let cases = [
        (bound(Role::Staff, own), true),
        (bound(Role::Channel, own), true),
        (bound(Role::Staff, HotelId(own.0 + 1)), false),
        (bound(Role::Channel, HotelId(own.0 + 1)), false),
        (bound(Role::Pms, own), false),
        (bound(Role::Provider, own), false),
    ];
    for (who, may) in cases {
        let quote = world.quote(&who, &hotel, ("2026-11-14", "2026-11-16")).await;
        assert_eq!(quote.is_ok(), may, "{who:?}");
    }
    let nowhere =
        world.quote(&guest(), &"HTL-0".parse().expect("a code"), ("2026-11-14", "2026-11-16")).await;
    assert!(matches!(nowhere, Err(QuoteError::HotelNotFound)), "{nowhere:?}");
}

/// B081, B108: nothing without nights, without an end, or off the calendar is quoted.
#[tokio::test]
async fn b081_b108_stays_without_nights_or_end_are_refused() {
    let world = World::new().await;
    let hotel = world.open(htl_204(), "6500.00").await;
    for stay in [
        ("2026-11-14", "2026-11-14"),
        ("2026-11-15", "2026-11-14"),
        ("2026-11-14", "2027-12-19"),
        ("9999-12-30", "9999-12-31"),
        ("0000-01-01", "0000-01-02"),
        ("2026-11-14", "+262142-12-31"),
    ] {
        let refused = world.quote(&guest(), &hotel, stay).await.expect_err("refused");
        assert_eq!(told(&refused), [("/check_out", "INVALID_STAY")], "{stay:?}");
    }
    assert_eq!(world.database().value("SELECT count(*) FROM quotes").await, 0);
}

/// B085: the last night is sold, the one beyond is not.
#[tokio::test]
async fn b085_the_last_night_of_the_horizon_can_be_quoted_and_none_beyond() {
    let world = World::new().await;
    let hotel = world.open(htl_204(), "6500.00").await;
    let make = |stay| {
        let input = asked(&hotel, stay);
        let (hotels, guest) = (world.hotels.clone(), guest());
        async move { quote::make(&hotels, Horizon::days(365), &guest, input, fresh_key()).await }
    };
    let last = make(("2027-01-10", "2027-01-11")).await.expect("the last night");
    assert_eq!(last.answer.available[0].available, 5);
    let beyond = make(("2027-01-11", "2027-01-12")).await.expect_err("beyond");
    assert_eq!(told(&beyond), [("/check_out", "OUT_OF_HORIZON")]);
    let over = make(("2027-01-10", "2027-01-12")).await.expect_err("over the edge");
    assert_eq!(told(&over), [("/check_out", "OUT_OF_HORIZON")]);
}

/// B087: a minimum on the arrival day is another rule than one on any night.
#[tokio::test]
async fn b087_minimum_stay_looks_at_the_arrival_or_at_every_night() {
    let world = World::new().await;
    let hotel = world.open(htl_204(), "6500.00").await;
    let monday = "2026-11-16";
    let four = Patch::Set(4);
    let through = RestrictionPatch { min_stay_through: four, ..RestrictionPatch::default() };
    world.restrict(&hotel, None, monday, through).await;
    for stay in [("2026-11-15", "2026-11-17"), ("2026-11-16", "2026-11-18")] {
        let refused = world.quote(&guest(), &hotel, stay).await.expect_err("too short");
        assert_eq!(broken(&refused), [(Rule::MinStayThrough, monday.to_owned())], "{stay:?}");
    }
    let arrival = RestrictionPatch { min_stay_arrival: four, min_stay_through: Patch::Clear, ..through };
    world.restrict(&hotel, None, monday, arrival).await;
    world.quote(&guest(), &hotel, ("2026-11-15", "2026-11-17")).await.expect("arrives on a Sunday");
    let refused = world.quote(&guest(), &hotel, ("2026-11-16", "2026-11-18")).await.expect_err("too short");
    assert_eq!(broken(&refused), [(Rule::MinStayArrival, monday.to_owned())]);
}

/// B088: what is closed is not quoted, from the moment on that it is.
#[tokio::test]
async fn b088_a_closed_night_is_refused_with_everything_else_in_the_way() {
    let world = World::new().await;
    let hotel = world.open(htl_204(), "6500.00").await;
    world.quote(&guest(), &hotel, ("2026-11-14", "2026-11-16")).await.expect("open");
    let closed = RestrictionPatch { stop_sell: Patch::Set(true), ..RestrictionPatch::default() };
    world.restrict(&hotel, None, "2026-11-15", closed).await;
    let no_departure =
        RestrictionPatch { closed_to_departure: Patch::Set(true), ..RestrictionPatch::default() };
    world.restrict(&hotel, None, "2026-11-16", no_departure).await;
    let refused = world.quote(&guest(), &hotel, ("2026-11-14", "2026-11-16")).await.expect_err("closed");
    let all = [(Rule::StopSell, "2026-11-15".to_owned()), (Rule::ClosedToDeparture, "2026-11-16".to_owned())];
    assert_eq!(broken(&refused), all);
    assert_eq!(world.database().value("SELECT count(*) FROM quotes").await, 1);
}

/// B089: a quote keeps the price and the version that it was made with.
#[tokio::test]
async fn b089_a_new_price_is_a_new_version_and_leaves_quotes_as_they_are() {
    let world = World::new().await;
    let hotel = world.open(htl_204(), "1000.00").await;
    for _ in 0..6 {
        world.price(&hotel, "6500.00").await;
    }
    let owner = guest();
    let first = world.quote(&owner, &hotel, ("2026-11-14", "2026-11-16")).await.expect("a quote");
    assert_eq!((total(&first).as_str(), first.document.rooms[0].nights[0].price_version), ("14560.00", 7));
    world.price(&hotel, "7000.00").await;
    let kept = quote::find(&world.hotels, &owner, first.id).await.expect("an answer").expect("a quote");
    assert_eq!(kept.document, first.document);
    let second = world.quote(&owner, &hotel, ("2026-11-14", "2026-11-16")).await.expect("a quote");
    assert_eq!((total(&second).as_str(), second.document.rooms[0].nights[0].price_version), ("15680.00", 8));
}

/// B091: nights are dates, so that a clock change neither adds nor loses one.
#[tokio::test]
async fn b091_a_stay_over_a_clock_change_costs_its_nights() {
    let world = World::new().await;
    let vat = vec![percent("VAT", "20", true)];
    let hotel = world.open(hotel("HTL-310", "Europe/London", "GBP", vat), "120.00").await;
    for (stay, cost) in [
        (("2026-10-24", "2026-10-26"), "240.00"),
        (("2026-10-25", "2026-10-26"), "120.00"),
        (("2026-03-28", "2026-03-30"), "240.00"),
        (("2026-03-29", "2026-03-30"), "120.00"),
        (("2026-10-01", "2026-11-01"), "3720.00"),
    ] {
        let quote = world.quote(&guest(), &hotel, stay).await.expect("a quote");
        assert_eq!(
            (total(&quote).as_str(), quote.document.stay.check_out()),
            (cost, day(stay.1)),
            "{stay:?}"
        );
    }
}

/// Santiago's clock jumps over midnight on 6 September 2026.
#[tokio::test]
async fn a_day_without_a_midnight_can_be_quoted() {
    let world = World::new().await;
    let hotel = world.open(hotel("HTL-900", "America/Santiago", "CLP", Vec::new()), "90000").await;
    world.clock("2026-09-06T04:00:00Z").await;
    let quote = world.quote(&guest(), &hotel, ("2026-09-06", "2026-09-07")).await.expect("today");
    assert_eq!(total(&quote), "90000");
    let past = world.quote(&guest(), &hotel, ("2026-09-05", "2026-09-06")).await.expect_err("yesterday");
    assert_eq!(told(&past), [("/check_in", "PAST_DATE")]);
    let ahead =
        world.quote(&guest(), &hotel, ("2026-09-08", "2026-09-09")).await.expect("free until that day");
    let deadlines =
        ahead.document.rooms[0].cancellation.deadlines(ahead.document.stay.check_in(), ahead.zone);
    assert_eq!(deadlines[0].at.to_string(), "2026-09-06T21:00:00Z");
}

/// B095: today is the hotel's, wherever the server is.
#[tokio::test]
async fn b095_a_past_date_is_one_that_is_past_at_the_hotel() {
    let world = World::new().await;
    let honolulu = world.open(hotel("HTL-714", "Pacific/Honolulu", "USD", Vec::new()), "289.00").await;
    let auckland = world.open(hotel("HTL-715", "Pacific/Auckland", "NZD", Vec::new()), "265.00").await;
    world.clock("2026-11-14T12:00:00Z").await;
    let past = world.quote(&guest(), &auckland, ("2026-11-14", "2026-11-15")).await.expect_err("past");
    assert_eq!(told(&past), [("/check_in", "PAST_DATE")]);
    world.quote(&guest(), &auckland, ("2026-11-15", "2026-11-16")).await.expect("today");
    world.clock("2026-11-15T08:00:00Z").await;
    let past = world.quote(&guest(), &honolulu, ("2026-11-13", "2026-11-14")).await.expect_err("past");
    assert_eq!(told(&past), [("/check_in", "PAST_DATE")]);
    world.quote(&guest(), &honolulu, ("2026-11-14", "2026-11-15")).await.expect("today");
}

/// B099: no currency has a factor of a hundred by itself.
#[tokio::test]
async fn b099_yen_and_dinars_keep_their_own_decimals() {
    let world = World::new().await;
    let tax = |label, value| vec![percent(label, value, false)];
    let tokyo = world.open(hotel("HTL-411", "Asia/Tokyo", "JPY", tax("Tax", "10")), "12000").await;
    let kuwait = world.open(hotel("HTL-820", "Asia/Kuwait", "KWD", tax("Service", "15")), "38.500").await;
    for (hotel, cost) in [(tokyo, "26400"), (kuwait, "88.550")] {
        let quote = world.quote(&guest(), &hotel, ("2026-11-14", "2026-11-16")).await.expect("a quote");
        assert_eq!(total(&quote), cost);
    }
}

/// B101: the tax of the offer is the sum of its nights' taxes.
#[tokio::test]
async fn b101_taxes_are_rounded_per_night_and_add_up() {
    let world = World::new().await;
    let tax = vec![percent("City tax", "5.25", false)];
    let hotel = world.open(hotel("HTL-500", "Europe/Berlin", "EUR", tax), "90.00").await;
    let quote = world.quote(&guest(), &hotel, ("2026-11-14", "2026-11-16")).await.expect("a quote");
    assert_eq!(quote.document.charges[1].amount.to_string(), "9.46");
    assert_eq!(total(&quote), "189.46");
}

/// B107: no room, no adult, and too many of either are refused with their place.
#[tokio::test]
async fn b107_what_does_not_fit_is_told_room_by_room() {
    let world = World::new().await;
    let hotel = world.open(htl_204(), "6500.00").await;
    let make = |rooms: Vec<RoomRequest>| {
        let mut input = asked(&hotel, ("2026-11-14", "2026-11-16"));
        input.rooms = rooms;
        let (hotels, guest) = (world.hotels.clone(), guest());
        async move { quote::make(&hotels, HORIZON, &guest, input, fresh_key()).await.expect_err("refused") }
    };
    assert_eq!(told(&make(Vec::new()).await), [("/rooms", "OUT_OF_RANGE")]);
    assert_eq!(told(&make(vec![room("RT-DLX", 2, &[]); 11]).await), [("/rooms", "OUT_OF_RANGE")]);
    let mut unknown = room("RT-NIL", 1, &[]);
    unknown.rate_plan = "NIL".parse().expect("a code");
    let rooms = vec![room("RT-DLX", 0, &[]), room("RT-STD", 3, &[1, 2, 18]), unknown];
    let expected = [
        ("/rooms/0/adults", "OCCUPANCY"),
        ("/rooms/1/adults", "OCCUPANCY"),
        ("/rooms/1/children_ages", "OCCUPANCY"),
        ("/rooms/1/adults", "OCCUPANCY"),
        ("/rooms/1/children_ages/2", "CHILD_AGE"),
        ("/rooms/2/room_type", "UNKNOWN_ROOM_TYPE"),
        ("/rooms/2/rate_plan", "UNKNOWN_RATE_PLAN"),
    ];
    assert_eq!(told(&make(rooms).await), expected);
    assert_eq!(world.database().value("SELECT count(*) FROM quotes").await, 0);
}

#[tokio::test]
async fn a_night_without_a_rate_is_named_and_a_rate_of_nothing_is_none() {
    let world = World::new().await;
    let hotel = world.create(htl_204(), "open").await.expect("a hotel").answer.code;
    let one = rate_change(day("2026-11-14"), day("2026-11-14"), "6500.00");
    world.set_rates(&hotel, vec![one]).await;
    let refused = world.quote(&guest(), &hotel, ("2026-11-14", "2026-11-16")).await.expect_err("no rate");
    assert_eq!(broken(&refused), [(Rule::NoRate, "2026-11-15".to_owned())]);
    world.set_rates(&hotel, vec![rate_change(day("2026-11-14"), day("2026-11-14"), "0.00")]).await;
    let refused = world.quote(&guest(), &hotel, ("2026-11-14", "2026-11-15")).await.expect_err("nothing");
    assert_eq!(broken(&refused), [(Rule::NoRate, "2026-11-14".to_owned())]);
}

#[tokio::test]
async fn several_rooms_of_several_types_are_priced_by_their_occupancy() {
    let world = World::new().await;
    let hotel = world.open(htl_204(), "6500.00").await;
    let mut extra = rate_change(day("2026-11-14"), day("2026-11-15"), "6500.00");
    extra.extra_child = Some("750.00".to_owned());
    let mut standard = rate_change(day("2026-11-14"), day("2026-11-15"), "5000.00");
    standard.room_type = "RT-STD".parse().expect("a code");
    world.set_rates(&hotel, vec![extra, standard]).await;
    let mut input = asked(&hotel, ("2026-11-14", "2026-11-16"));
    input.rooms = vec![room("RT-DLX", 2, &[7]), room("RT-STD", 1, &[]), room("RT-DLX", 1, &[7])];
    let made =
        quote::make(&world.hotels, HORIZON, &guest(), input, fresh_key()).await.expect("a quote").answer;
    let amounts: Vec<_> = made.document.rooms.iter().map(|room| room.nights[0].amount.to_string()).collect();
    assert_eq!(amounts, ["7250.00", "5000.00", "6500.00"]);
    assert_eq!(total(&made), "42000.00");
    assert_eq!(made.available.len(), 4, "two types, two nights");
}

/// A hotel on each shard: each quote lies with its hotel and is found by its id alone.
#[tokio::test]
async fn quotes_of_two_shards_resolve_by_their_ids() {
    let world = World::with_shards(2).await;
    let owner = guest();
    let mut ids = Vec::new();
    for code in ["HTL-1", "HTL-2"] {
        let hotel = world.open(hotel(code, "Europe/London", "GBP", Vec::new()), "120.00").await;
        let input = asked(&hotel, ("2026-11-14", "2026-11-16"));
        // The same key at two hotels is two requests.
        let made = quote::make(&world.hotels, HORIZON, &owner, input, key("k1")).await.expect("a quote");
        assert!(!made.replayed);
        ids.push((hotel, made.answer.id));
    }
    for (database, (hotel, id)) in world.databases.iter().zip(ids) {
        assert_eq!(database.value("SELECT count(*) FROM quotes").await, 1);
        let found = quote::find(&world.hotels, &owner, id).await.expect("an answer").expect("a quote");
        assert_eq!(found.hotel, hotel);
    }
}
