//! Setting hotels up.

use keyrack_booking::{
    FieldError, KeyRefusal,
    create_hotel::{self, CreateHotelError, DepositInput, HotelInput, PenaltyInput, PenaltyKind, TaxInput},
    hotel_directory::NoHotel,
    hotel_view,
};
use keyrack_domain::{ids::ShardId, policy::PaymentPolicy, principal::Role, tax::TaxKind};
use keyrack_store::directory;
use serde_json::json;

use crate::world::{HORIZON, World, caller, hotel, htl_204, key};

fn told(error: &CreateHotelError) -> Vec<(&str, &str)> {
    let CreateHotelError::Invalid(faults) = error else { panic!("not invalid: {error}") };
    faults.iter().map(|FieldError { pointer, code, .. }| (pointer.as_str(), *code)).collect()
}

#[tokio::test]
async fn a_new_hotel_is_seen_and_its_inventory_is_open_over_the_horizon() {
    let world = World::new().await;
    let made = world.create(htl_204(), "k1").await.expect("a hotel");
    assert!(!made.replayed);
    let seen = hotel_view::find(&world.hotels, &made.answer.code).await.expect("seen");
    assert_eq!(seen, made.answer);
    // Today in Kolkata is 10 January; 540 days later is the last night, one more is open.
    let open = world.database().rows(
        "SELECT room_type_id, count(*), min(stay_date), max(stay_date), min(sellable), max(sellable)
         FROM room_night_inventory GROUP BY room_type_id ORDER BY room_type_id",
    );
    let row = |id| json!({"room_type_id": id, "count": 542, "min": 5, "max": 5});
    let open: Vec<_> = open
        .await
        .into_iter()
        .map(|row| json!({"room_type_id": row["room_type_id"], "count": row["count"], "min": 5, "max": 5}))
        .collect();
    assert_eq!(open, [row(1), row(2)]);
    let ends = world
        .database()
        .rows("SELECT min(stay_date) AS first, max(stay_date) AS last FROM room_night_inventory");
    assert_eq!(ends.await, [json!({"first": "2026-01-10", "last": "2027-07-05"})]);
    let until = world.database().value("SELECT opened_until FROM hotels").await;
    assert_eq!(until, "2027-07-05");
}

#[tokio::test]
async fn its_creation_is_audited_and_told_to_the_world() {
    let world = World::new().await;
    world.create(htl_204(), "k1").await.expect("a hotel");
    let audit = "SELECT actor, action, subject, request_id, before, after ->> 'code' AS code FROM audit";
    let expected = json!({
        "actor": "operator", "action": "hotel.created", "subject": "HTL-204", "request_id": "req-1",
        "before": null, "code": "HTL-204",
    });
    assert_eq!(world.database().rows(audit).await, [expected]);
    let told = "SELECT type, jsonb_array_length(payload -> 'nights') AS nights FROM outbox ORDER BY seq";
    let events = [("inventory.changed", 1000), ("inventory.changed", 84)];
    assert_eq!(world.database().rows(told).await, events.map(|(name, n)| json!({"type": name, "nights": n})));
}

#[tokio::test]
async fn a_repeat_is_answered_alike_and_makes_nothing_and_other_input_is_refused() {
    let world = World::new().await;
    let first = world.create(htl_204(), "k1").await.expect("a hotel");
    let again = world.create(htl_204(), "k1").await.expect("the same");
    assert!(again.replayed);
    assert_eq!(again.answer, first.answer);
    let mut other = htl_204();
    other.name = "Another name".to_owned();
    let refused = world.create(other, "k1").await;
    assert!(matches!(refused, Err(CreateHotelError::Key(KeyRefusal::Reused))), "{refused:?}");
    let taken = world.create(htl_204(), "k2").await;
    assert!(matches!(taken, Err(CreateHotelError::CodeTaken(_))), "{taken:?}");
    let count = "SELECT (SELECT count(*) FROM hotels) + (SELECT count(*) FROM audit) AS n";
    assert_eq!(world.database().value(count).await, 2);
}

#[tokio::test]
async fn copies_of_one_call_at_once_make_one_hotel() {
    let world = World::new().await;
    let copies = (0..8).map(|_| world.create(htl_204(), "k1"));
    for outcome in futures::future::join_all(copies).await {
        match outcome {
            Ok(answered) => assert_eq!(answered.answer.code.as_str(), "HTL-204"),
            Err(CreateHotelError::Key(KeyRefusal::InProgress { .. })) => {}
            Err(other) => panic!("{other:?}"),
        }
    }
    assert_eq!(world.database().value("SELECT count(*) FROM hotels").await, 1);
    assert_eq!(world.database().value("SELECT count(*) FROM audit").await, 1);
}

/// The process ends between the directory's entry and the hotel's rows.
#[tokio::test]
async fn an_entry_without_its_hotel_is_not_found_and_the_repeat_finishes_it() {
    let world = World::new().await;
    let code = "HTL-204".parse().expect("a code");
    let mut connection = world.hotels.shards().directory().connection().await.expect("a connection");
    let entry = directory::enter(&mut connection, &code, ShardId(1)).await.expect("an entry");
    drop(connection);
    let unfinished = hotel_view::find(&world.hotels, &code).await;
    assert!(matches!(unfinished, Err(NoHotel::NotFound)), "{unfinished:?}");
    world.create(htl_204(), "k1").await.expect("finished");
    let found = world.hotels.by_code(&code).await.expect("found");
    assert_eq!(found.id, entry.hotel);
}

#[tokio::test]
async fn only_an_operator_sets_hotels_up() {
    let world = World::new().await;
    for role in [Role::Guest, Role::Staff, Role::Pms, Role::Channel, Role::Provider] {
        let refused = create_hotel::run(&world.hotels, HORIZON, &caller(role), htl_204(), key("k1")).await;
        assert!(matches!(refused, Err(CreateHotelError::NotAnOperator)), "{role:?}");
    }
    assert_eq!(world.database().value("SELECT count(*) FROM directory.hotels").await, 0);
}

#[tokio::test]
async fn everything_that_is_wrong_is_named_at_once_and_nothing_is_entered() {
    let world = World::new().await;
    let refused = world.create(wrong(), "k1").await.expect_err("wrong");
    let expected = [
        ("/code", "INVALID_CODE"),
        ("/name", "BLANK"),
        ("/time_zone", "UNKNOWN_TIME_ZONE"),
        ("/latitude", "OUT_OF_RANGE"),
        ("/longitude", "MISSING"),
        ("/taxes/0/value", "INVALID_PERCENTAGE"),
        ("/taxes/1/value", "INVALID_AMOUNT"),
        ("/taxes/2/to_amount", "TOO_MANY_DECIMALS"),
        ("/room_types/0/max_occupancy", "OUT_OF_RANGE"),
        ("/room_types/0/units", "OUT_OF_RANGE"),
        ("/room_types/1/code", "DUPLICATE"),
        ("/room_types/1/base_occupancy", "OUT_OF_RANGE"),
        ("/rate_plans/0/cancellation/0/until_time", "INVALID_TIME"),
        ("/rate_plans/0/cancellation/1/penalty/value", "INVALID_PERCENTAGE"),
        ("/rate_plans/0/cancellation/2/penalty/value", "MISSING"),
        ("/rate_plans/0/deposit/percent", "INVALID_PERCENTAGE"),
        ("/rate_plans/0/deposit/balance_due_days_before", "OUT_OF_RANGE"),
    ];
    assert_eq!(told(&refused), expected);
    assert_eq!(world.database().value("SELECT count(*) FROM directory.hotels").await, 0);
}

fn wrong() -> HotelInput {
    let tax = |kind, value: &str, to_amount: Option<&str>| TaxInput {
        kind,
        label: "Tax".to_owned(),
        value: value.to_owned(),
        included: false,
        from_amount: None,
        to_amount: to_amount.map(str::to_owned),
    };
    let taxes = vec![
        tax(TaxKind::Percent, "100.5", None),
        tax(TaxKind::PerNight, "-1", None),
        tax(TaxKind::Percent, "5", Some("10.5")),
    ];
    let mut hotel = hotel("HTL 204", "Asia/Bangalore", "JPY", taxes);
    hotel.name = " ".to_owned();
    hotel.latitude = Some(91.into());
    hotel.room_types[0].max_occupancy = 5;
    hotel.room_types[0].units = 100_001;
    hotel.room_types[1].code = hotel.room_types[0].code.clone();
    hotel.room_types[1].base_occupancy = 0;
    let plan = &mut hotel.rate_plans[0];
    plan.cancellation.push(plan.cancellation[0].clone());
    plan.cancellation[0].until_time = "24:00".to_owned();
    plan.cancellation[1].penalty =
        PenaltyInput { kind: PenaltyKind::Percent, value: Some("half".to_owned()) };
    plan.cancellation.push(plan.cancellation[1].clone());
    plan.cancellation[2].penalty.value = None;
    plan.payment = PaymentPolicy::Deposit;
    let (percent, balance_due_days_before) = (Some("0".to_owned()), Some(751));
    plan.deposit = Some(DepositInput { percent, amount: None, balance_due_days_before });
    hotel
}

/// Two shards: hotels go where there are fewest, and codes and ids lead to the right one.
#[tokio::test]
async fn hotels_spread_over_the_shards_and_resolve_by_code_and_by_id() {
    let world = World::with_shards(2).await;
    for (n, code) in ["HTL-1", "HTL-2", "HTL-3"].into_iter().enumerate() {
        let code = world.open(hotel(code, "Europe/London", "GBP", Vec::new()), "120.00").await;
        let found = world.hotels.by_code(&code).await.expect("by code");
        let shard = i32::try_from(n % 2).expect("small") + 1;
        assert_eq!(found.shard, ShardId(shard), "{code}");
        assert_eq!(*world.hotels.by_id(found.id).await.expect("by id"), *found);
    }
    let counts = [2, 1];
    for (database, count) in world.databases.iter().zip(counts) {
        assert_eq!(database.value("SELECT count(*) FROM hotels").await, count);
    }
}
