//! What a hotel has configured: fences, order, and rows that cannot be read.

use std::collections::BTreeMap;

use keyrack_db::DbError;
use keyrack_domain::{
    actor::Actor,
    event::{Event, InventoryChanged, NightAvailability},
    ids::{HotelId, RatePlanId, RoomTypeId, ShardId},
    money::{Currency, Money},
    pricing::DailyRate,
};
use keyrack_store::{
    audit::{self, NewAudit},
    daily_rates::{self, RateKey},
    directory, hotels,
    outbox::{self, NewEvent},
};
use keyrack_testkit::TestDatabase;
use serde_json::json;

const HOTEL: HotelId = HotelId(1);

/// A hotel with a room type and a plan.
pub(crate) async fn database() -> TestDatabase {
    let database = TestDatabase::new().await;
    database
        .execute(
            "INSERT INTO hotels (hotel_id, code, name, time_zone, currency, city)
             VALUES (1, 'HTL-1', 'A hotel', 'Asia/Tokyo', 'JPY', 'Tokyo');
             INSERT INTO room_types (hotel_id, room_type_id, code, name, max_adults, max_children, max_occupancy, units)
             VALUES (1, 1, 'RT-DLX', 'A room', 2, 1, 3, 5);
             INSERT INTO rate_plans (hotel_id, rate_plan_id, code, name, cancellation, payment)
             VALUES (1, 1, 'FLEX', 'A plan', '[]', 'prepay')",
        )
        .await;
    database
}

fn yen() -> Currency {
    "JPY".parse().expect("a currency")
}

fn rates(price_version: i32) -> BTreeMap<RateKey, DailyRate> {
    let night = "2026-11-14".parse().expect("a date");
    let key = RateKey { room_type: RoomTypeId(1), rate_plan: RatePlanId(1), night };
    let amount = |text| Money::parse(text, yen()).expect("money");
    let rate = DailyRate {
        amount: amount("12000"),
        extra_adult: amount("0"),
        extra_child: amount("0"),
        price_version,
    };
    BTreeMap::from([(key, rate)])
}

#[tokio::test]
async fn a_rate_is_written_only_over_the_version_that_was_read() {
    let database = database().await;
    let mut connection = database.connect().await;
    for version in [1, 2] {
        daily_rates::set(&mut connection, HOTEL, &rates(version)).await.expect("the next version");
    }
    for version in [1, 2, 4] {
        let stale = daily_rates::set(&mut connection, HOTEL, &rates(version)).await;
        let told = matches!(stale, Err(DbError::RowCount { expected: 1, got: 0, .. }));
        assert!(told, "{version}: {stale:?}");
    }
    assert_eq!(database.value("SELECT price_version FROM daily_rates").await, 2);
}

#[tokio::test]
async fn an_amount_that_its_currency_does_not_have_is_an_error_and_never_rounded() {
    let database = database().await;
    let mut connection = database.connect().await;
    daily_rates::set(&mut connection, HOTEL, &rates(1)).await.expect("set");
    database.execute("UPDATE daily_rates SET amount = 12000.5").await;
    let keys: Vec<RateKey> = rates(1).into_keys().collect();
    let read = daily_rates::read(&mut connection, HOTEL, yen(), &keys).await;
    assert!(matches!(read, Err(DbError::Unreadable { .. })), "{read:?}");
    database.execute("UPDATE hotels SET time_zone = 'Asia/Edo'").await;
    let read = hotels::reference(&mut connection, HOTEL, ShardId(1)).await;
    assert!(matches!(read, Err(DbError::Unreadable { what: "time zone", .. })), "{read:?}");
}

#[tokio::test]
async fn events_are_numbered_in_the_order_given() {
    let database = database().await;
    let event = |available| NewEvent {
        hotel: HOTEL,
        event: Event::InventoryChanged(InventoryChanged {
            nights: vec![NightAvailability {
                room_type_id: RoomTypeId(1),
                night: "2026-11-14".parse().expect("a date"),
                available,
            }],
        }),
    };
    // Neither rising nor falling, so that no accident of a plan puts them in order.
    let order = [5, 1, 4, 2, 3, 0];
    let events: Vec<NewEvent> = order.into_iter().map(event).collect();
    outbox::append(&mut database.connect().await, &events).await.expect("appended");
    let told = "SELECT array_agg(payload #> '{nights,0,available}' ORDER BY seq) FROM outbox";
    assert_eq!(database.value(told).await, json!(order));
}

#[tokio::test]
async fn what_was_audited_can_neither_be_rewritten_nor_removed() {
    let database = database().await;
    let entry = NewAudit {
        hotel: HOTEL,
        actor: Actor::Worker,
        action: "test.done",
        subject: "HTL-1".to_owned(),
        before: None,
        after: Some(json!({"a": 1})),
    };
    audit::append(&mut database.connect().await, &[entry.clone(), entry]).await.expect("appended");
    for statement in ["UPDATE audit SET action = 'x'", "DELETE FROM audit", "TRUNCATE audit"] {
        assert_eq!(database.refusal(statement).await.as_deref(), Some("KR001"), "{statement}");
    }
    let kept = "SELECT actor, principal_id, before, after FROM audit LIMIT 1";
    let expected = json!({"actor": "worker", "principal_id": null, "before": null, "after": {"a": 1}});
    assert_eq!(database.rows(kept).await, [expected]);
}

#[tokio::test]
async fn a_code_is_entered_once_and_keeps_its_shard() {
    let database = TestDatabase::new().await;
    let code = "HTL-1".parse().expect("a code");
    let mut connection = database.connect().await;
    let first = directory::enter(&mut connection, &code, ShardId(2)).await.expect("an entry");
    let again = directory::enter(&mut connection, &code, ShardId(1)).await.expect("the same");
    assert_eq!((first, first.shard), (again, ShardId(2)));
    assert_eq!(directory::by_id(&mut connection, first.hotel).await.expect("an answer"), Some(first));
    let counts = directory::hotels_by_shard(&mut connection).await.expect("counts");
    assert_eq!(counts, [(ShardId(2), 1)]);
}
