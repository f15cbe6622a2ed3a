//! Setting and reading rates.

use chrono::Weekday;
use keyrack_booking::{
    FieldError, KeyRefusal,
    night_range::NightRange,
    nights_query::{NightsQuery, NightsQueryError},
    rates::{self, NightRateView, RateChange, SetRates, SetRatesError},
};
use keyrack_domain::{
    code::HotelCode,
    ids::HotelId,
    principal::{Caller, Role},
};
use serde_json::json;

use crate::world::{HORIZON, World, caller, day, fresh_key, guest, hotel, htl_204, key, rate_change};

fn told(error: &SetRatesError) -> Vec<(&str, &str)> {
    let SetRatesError::Invalid(faults) = error else { panic!("not invalid: {error:?}") };
    faults.iter().map(|FieldError { pointer, code, .. }| (pointer.as_str(), *code)).collect()
}

fn query(first: &str, last: &str) -> NightsQuery {
    NightsQuery {
        room_type: "RT-DLX".parse().expect("a code"),
        rate_plan: None,
        first_night: day(first),
        last_night: day(last),
    }
}

async fn read(world: &World, hotel: &HotelCode, first: &str, last: &str) -> Vec<NightRateView> {
    rates::read(&world.hotels, &world.operator, hotel, &query(first, last)).await.expect("rates")
}

async fn refusal(world: &World, hotel: &HotelCode, changes: Vec<RateChange>) -> SetRatesError {
    let request = SetRates { hotel: hotel.clone(), changes, key: fresh_key() };
    rates::set(&world.hotels, HORIZON, &world.operator, request).await.expect_err("refused")
}

#[tokio::test]
async fn each_edit_of_a_night_raises_its_price_version_and_keeps_what_it_does_not_say() {
    let world = World::new().await;
    let hotel = world.create(htl_204(), "open").await.expect("a hotel").answer.code;
    let mut first = rate_change(day("2026-11-14"), day("2026-11-16"), "6500.00");
    first.extra_adult = Some("1500".to_owned());
    world.set_rates(&hotel, vec![first]).await;
    let saturday = NightRange::new(day("2026-11-14"), day("2026-11-16"), Some(vec![Weekday::Sun]));
    let second =
        RateChange { range: saturday, ..rate_change(day("2026-11-14"), day("2026-11-14"), "7000.00") };
    world.set_rates(&hotel, vec![second]).await;
    let told: Vec<_> = read(&world, &hotel, "2026-11-13", "2026-11-17")
        .await
        .into_iter()
        .map(|r| (r.night.to_string(), r.amount.to_string(), r.extra_adult.to_string(), r.price_version))
        .collect();
    let row = |night: &str, amount: &str, version| {
        (night.to_owned(), amount.to_owned(), "1500.00".to_owned(), version)
    };
    let expected =
        [row("2026-11-14", "6500.00", 1), row("2026-11-15", "7000.00", 2), row("2026-11-16", "6500.00", 1)];
    assert_eq!(told, expected);
}

#[tokio::test]
async fn of_changes_that_name_one_night_the_last_wins_and_the_version_rises_once() {
    let world = World::new().await;
    let hotel = world.create(htl_204(), "open").await.expect("a hotel").answer.code;
    let mut all = rate_change(day("2026-11-14"), day("2026-11-16"), "6500.00");
    all.extra_child = Some("750.00".to_owned());
    let one = rate_change(day("2026-11-15"), day("2026-11-15"), "8000.00");
    world.set_rates(&hotel, vec![all, one]).await;
    let rates = read(&world, &hotel, "2026-11-15", "2026-11-15").await;
    let [rate] = rates.as_slice() else { panic!("one night: {rates:?}") };
    assert_eq!(
        (rate.amount.to_string(), rate.extra_child.to_string(), rate.price_version),
        ("8000.00".into(), "750.00".into(), 1)
    );
}

#[tokio::test]
async fn an_edit_is_audited_with_before_and_after_and_told_to_the_world() {
    let world = World::new().await;
    let hotel = world.create(htl_204(), "open").await.expect("a hotel").answer.code;
    for amount in ["6500.00", "7000.00"] {
        world.set_rates(&hotel, vec![rate_change(day("2026-11-14"), day("2026-11-15"), amount)]).await;
    }
    let audit = "SELECT before, after FROM audit WHERE action = 'rates.set' ORDER BY entry_id DESC LIMIT 1";
    let inr = |amount: &str| json!({"amount": amount, "currency": "INR"});
    let run = |amount: &str, version: i32| {
        json!([{
            "room_type": "RT-DLX", "rate_plan": "FLEX", "first_night": "2026-11-14", "last_night": "2026-11-15",
            "amount": inr(amount), "extra_adult": inr("0.00"), "extra_child": inr("0.00"), "price_version": version,
        }])
    };
    let expected = json!({"before": run("6500.00", 1), "after": run("7000.00", 2)});
    assert_eq!(world.database().rows(audit).await, [expected]);
    let events = "SELECT payload FROM outbox WHERE type = 'rates.changed' ORDER BY seq DESC LIMIT 1";
    let night = |night: &str| {
        json!({
            "room_type_id": 1, "rate_plan_id": 1, "night": night, "amount": inr("7000.00"), "price_version": 2,
        })
    };
    let nights = json!({"nights": [night("2026-11-14"), night("2026-11-15")]});
    assert_eq!(world.database().value(events).await, nights);
}

#[tokio::test]
async fn a_repeat_changes_nothing_and_is_answered_alike_after_midnight_too() {
    let world = World::new().await;
    let hotel = world.create(htl_204(), "open").await.expect("a hotel").answer.code;
    let set = |amount: &str| {
        let changes = vec![rate_change(day("2026-01-10"), day("2026-01-12"), amount)];
        let request = SetRates { hotel: hotel.clone(), changes, key: key("k1") };
        let (hotels, operator) = (world.hotels.clone(), world.operator.clone());
        async move { rates::set(&hotels, HORIZON, &operator, request).await }
    };
    let first = set("6500.00").await.expect("set");
    world.clock("2026-01-10T20:00:00Z").await;
    // "6500" is another spelling of the same amount.
    let again = set("6500").await.expect("the same");
    assert!(again.replayed);
    assert_eq!(again.answer, first.answer);
    let other = set("6500.01").await;
    assert!(matches!(other, Err(SetRatesError::Key(KeyRefusal::Reused))), "{other:?}");
    assert_eq!(world.database().value("SELECT max(price_version) FROM daily_rates").await, 1);
}

#[tokio::test]
async fn copies_of_one_call_at_once_are_one_edit() {
    let world = World::new().await;
    let hotel = world.create(htl_204(), "open").await.expect("a hotel").answer.code;
    let copy = || {
        let changes = vec![rate_change(day("2026-11-14"), day("2026-11-16"), "6500.00")];
        rates::set(
            &world.hotels,
            HORIZON,
            &world.operator,
            SetRates { hotel: hotel.clone(), changes, key: key("k1") },
        )
    };
    let outcomes = futures::future::join_all((0..8).map(|_| copy())).await;
    let fresh = outcomes.iter().filter(|o| matches!(o, Ok(answered) if !answered.replayed)).count();
    assert_eq!(fresh, 1);
    for outcome in outcomes {
        let refused = outcome.err();
        assert!(
            matches!(refused, None | Some(SetRatesError::Key(KeyRefusal::InProgress { .. }))),
            "{refused:?}"
        );
    }
    assert_eq!(world.database().value("SELECT max(price_version) FROM daily_rates").await, 1);
}

/// Two edits of nights that have no row yet: the second sees what the first has made.
#[tokio::test]
async fn edits_at_once_of_new_nights_each_count() {
    let world = World::new().await;
    let hotel = world.create(htl_204(), "open").await.expect("a hotel").answer.code;
    let edits = (0..6).map(|n| {
        let changes = vec![rate_change(day("2026-11-14"), day("2027-02-14"), &format!("{}", 6_000 + n))];
        let request = SetRates { hotel: hotel.clone(), changes, key: fresh_key() };
        rates::set(&world.hotels, HORIZON, &world.operator, request)
    });
    let done = futures::future::join_all(edits).await.into_iter().flatten().count();
    let versions = world.database().value("SELECT array_agg(DISTINCT price_version) FROM daily_rates").await;
    assert_eq!(versions, json!([done]));
}

#[tokio::test]
async fn b099_b105_amounts_are_read_exactly_in_the_hotels_currency() {
    let world = World::new().await;
    let tokyo =
        world.create(hotel("HTL-411", "Asia/Tokyo", "JPY", Vec::new()), "open").await.expect("a hotel");
    let tokyo = tokyo.answer.code;
    let night = (day("2026-11-14"), day("2026-11-14"));
    let refused = refusal(&world, &tokyo, vec![rate_change(night.0, night.1, "26400.50")]).await;
    assert_eq!(told(&refused), [("/changes/0/amount", "TOO_MANY_DECIMALS")]);
    let euro =
        world.create(hotel("HTL-500", "Europe/Berlin", "EUR", Vec::new()), "open").await.expect("a hotel");
    let euro = euro.answer.code;
    for amount in ["90071992547409.93", "14560.10"] {
        world.set_rates(&euro, vec![rate_change(night.0, night.1, amount)]).await;
        assert_eq!(read(&world, &euro, "2026-11-14", "2026-11-14").await[0].amount.to_string(), amount);
    }
    for amount in ["", "-1", "1e3", "1,000", "NaN"] {
        let refused = refusal(&world, &euro, vec![rate_change(night.0, night.1, amount)]).await;
        assert_eq!(told(&refused), [("/changes/0/amount", "INVALID_AMOUNT")], "{amount:?}");
    }
}

#[tokio::test]
async fn everything_that_is_wrong_is_named_at_once_and_nothing_is_set() {
    let world = World::new().await;
    let hotel = world.create(htl_204(), "open").await.expect("a hotel").answer.code;
    let mut unknown = rate_change(day("2026-11-14"), day("2026-11-14"), "1.00");
    unknown.room_type = "RT-NIL".parse().expect("a code");
    unknown.rate_plan = "NIL".parse().expect("a code");
    let changes = vec![
        rate_change(day("2026-11-14"), day("2026-11-14"), "6500.00"),
        rate_change(day("2026-01-09"), day("2027-07-05"), "6500.00"),
        unknown,
    ];
    let expected = [
        ("/changes/1/first_night", "PAST_DATE"),
        ("/changes/1/last_night", "OUT_OF_HORIZON"),
        ("/changes/2/room_type", "UNKNOWN_ROOM_TYPE"),
        ("/changes/2/rate_plan", "UNKNOWN_RATE_PLAN"),
    ];
    assert_eq!(told(&refusal(&world, &hotel, changes).await), expected);
    assert_eq!(told(&refusal(&world, &hotel, Vec::new()).await), [("/changes", "OUT_OF_RANGE")]);
    assert_eq!(world.database().value("SELECT count(*) FROM daily_rates").await, 0);
    assert_eq!(world.database().value("SELECT count(*) FROM idempotency_keys").await, 1, "the hotel's own");
}

/// The largest call there may be, within the time that a statement has.
#[tokio::test]
async fn twenty_thousand_nights_are_set_in_one_call() {
    let world = World::new().await;
    let mut large = htl_204();
    let plan = large.rate_plans[0].clone();
    large.rate_plans = (0..19)
        .map(|n| {
            let mut plan = plan.clone();
            plan.code = format!("P{n}");
            plan
        })
        .collect();
    let hotel = world.create(large, "open").await.expect("a hotel").answer.code;
    let changes = ["RT-DLX", "RT-STD"].into_iter().flat_map(|room_type| {
        (0..19).map(move |n| {
            let mut change = rate_change(day("2026-01-10"), day("2027-06-19"), "6500.00");
            change.room_type = room_type.parse().expect("a code");
            change.rate_plan = format!("P{n}").parse().expect("a code");
            change
        })
    });
    let changes: Vec<_> = changes.collect();
    world.set_rates(&hotel, changes.clone()).await;
    world.set_rates(&hotel, changes).await;
    let count = "SELECT count(*) FROM daily_rates WHERE price_version = 2";
    assert_eq!(world.database().value(count).await, 2 * 19 * 526);
    let answer = "SELECT max(length(answer::text)) < 20000 FROM idempotency_keys";
    assert_eq!(world.database().value(answer).await, true, "kept as runs");
}

#[tokio::test]
async fn only_operators_and_the_hotels_own_staff_set_and_read_rates() {
    let world = World::new().await;
    let hotel = world.create(htl_204(), "open").await.expect("a hotel").answer.code;
    let own = world.hotels.by_code(&hotel).await.expect("the hotel").id;
    let bound = |role, hotel| Caller { hotel: Some(hotel), ..caller(role) };
    let cases = [
        (bound(Role::Staff, own), true),
        (bound(Role::Staff, HotelId(own.0 + 1)), false),
        (bound(Role::Pms, own), false),
        (bound(Role::Channel, own), false),
        (bound(Role::Provider, own), false),
        (guest(), false),
    ];
    for (who, may) in cases {
        let changes = vec![rate_change(day("2026-11-14"), day("2026-11-14"), "6500.00")];
        let request = SetRates { hotel: hotel.clone(), changes, key: fresh_key() };
        let set = rates::set(&world.hotels, HORIZON, &who, request).await;
        assert_eq!(set.is_ok(), may, "{who:?}");
        assert!(may || matches!(set, Err(SetRatesError::HotelNotFound)), "{set:?}");
        let read = rates::read(&world.hotels, &who, &hotel, &query("2026-11-14", "2026-11-14")).await;
        assert!(may || matches!(read, Err(NightsQueryError::HotelNotFound)), "{read:?}");
    }
}
