//! A database whose own zone is not UTC: instants are instants, and nights are dates.

use std::{collections::BTreeMap, time::Duration};

use keyrack_booking::{
    Settings, hotel_directory::HotelDirectory, start_attempt::StartAttemptError, views::Standing,
};
use keyrack_db::{Points, Shards};
use keyrack_domain::{code::HotelCode, ids::ShardId};

use crate::{
    desk_world::{DeskWorld, desk},
    world::{HORIZON, fresh_key, guest, hotel, percent},
};

/// HTL-204 in a database of that zone, through sessions that were opened after it was set.
async fn in_zone(zone: &str) -> DeskWorld {
    let mut at = DeskWorld::new().await;
    let set = format!("ALTER DATABASE \"{}\" SET timezone = '{zone}'", at.database().name());
    at.database().execute(&set).await;
    let known = "SELECT unnest(setconfig) AS told FROM pg_db_role_setting s
                 JOIN pg_database d ON d.oid = s.setdatabase WHERE d.datname = current_database()";
    assert_eq!(at.database().value(known).await, format!("TimeZone={zone}"));
    let shard = at.database().database();
    let shards = BTreeMap::from([(ShardId(1), shard.clone())]);
    at.world.hotels = HotelDirectory::new(Shards::new(shard, shards));
    let settings = Settings { horizon: HORIZON, ..Settings::default() };
    at.desk = desk(&at.world, &at.simulator, &Points::default(), settings);
    at
}

/// B098
#[tokio::test]
async fn b098_a_hold_lasts_600_seconds_whatever_the_databases_zone_is() {
    for zone in ["Asia/Kolkata", "America/New_York"] {
        let at = in_zone(zone).await;
        let guest = guest();
        let stay = ("2026-11-14", "2026-11-16");
        let (spent, lapsed) = (at.hold(&guest, stay).await, at.hold(&guest, stay).await);
        assert_eq!(spent.created_at.until(spent.expires_at), Duration::from_secs(600), "{zone}");
        let age = spent.created_at.until(at.world.now().await);
        assert!(age < Duration::from_secs(60), "{zone}: {age:?}");
        at.advance(540).await;
        assert_eq!(at.expire().await.expired, 0, "{zone}");
        let booking = at.pay(&guest, spent.id, "pm_ok").await;
        assert!(matches!(booking.standing, Standing::Confirmed(_)), "{zone}: {booking:?}");
        at.advance(61).await;
        let late = at.try_pay(&guest, lapsed.id, "pm_ok", fresh_key()).await.expect_err("601 seconds");
        assert!(matches!(late, StartAttemptError::HoldExpired(_)), "{zone}: {late:?}");
        assert_eq!(at.expire().await.expired, 1, "{zone}");
        for night in ["2026-11-14", "2026-11-15"] {
            assert_eq!(at.counters(night).await, (5, 0, 1), "{zone}: {night}");
        }
        at.verify().await;
    }
}

/// B098: a column without a zone would be read in the zone of whoever asks.
#[tokio::test]
async fn b098_every_instant_in_the_schema_has_its_zone() {
    let at = DeskWorld::new().await;
    let without = "information_schema.columns
                   WHERE table_schema NOT IN ('pg_catalog', 'information_schema')
                     AND data_type = 'timestamp without time zone'";
    assert_eq!(at.count(without).await, 0);
}

/// B091
#[tokio::test]
async fn b091_a_stay_over_a_clock_change_holds_its_own_nights_in_every_zone_of_the_database() {
    for zone in ["Asia/Kolkata", "America/New_York"] {
        let at = in_zone(zone).await;
        let vat = vec![percent("VAT", "20", true)];
        let created = at.world.create(hotel("HTL-310", "Europe/London", "GBP", vat), "open-310").await;
        let code: HotelCode = created.expect("a hotel").answer.code;
        at.world.price(&code, "120.00").await;
        let guest = guest();
        for (stay, nights, total) in
            [(("2026-10-24", "2026-10-26"), 2, "240.00"), (("2026-03-29", "2026-03-30"), 1, "120.00")]
        {
            let quote = at.world.quote(&guest, &code, stay).await.expect("a quote").id;
            let hold = at.hold_quote(&guest, quote, fresh_key()).await.expect("a hold").answer;
            assert_eq!(hold.total.to_string(), total, "{zone}: {stay:?}");
            let held = format!(
                "room_night_inventory
                 WHERE held = 1 AND stay_date >= '{}' AND stay_date < '{}'",
                stay.0, stay.1
            );
            assert_eq!(at.count(&held).await, nights, "{zone}: {stay:?}");
        }
        assert_eq!(at.count("room_night_inventory WHERE held > 0").await, 3, "{zone}: no other night");
        at.verify().await;
    }
}
