//! The sandbox's hotels.

use keyrack_booking::{demo, hotel_view, quote};
use keyrack_domain::horizon::Horizon;

use crate::world::{World, asked, fresh_key, guest};

/// Everything that seeding writes, as it stands.
const STATE: &str = "SELECT md5(string_agg(t, '' ORDER BY t)) FROM (
    SELECT to_jsonb(h)::text || h.xmin AS t FROM hotels h
    UNION ALL SELECT to_jsonb(r)::text || r.xmin FROM daily_rates r
    UNION ALL SELECT to_jsonb(i)::text || i.xmin FROM room_night_inventory i
    UNION ALL SELECT to_jsonb(o)::text || o.xmin FROM outbox o
    UNION ALL SELECT to_jsonb(a)::text || a.xmin FROM audit a
    UNION ALL SELECT to_jsonb(d)::text || d.xmin FROM directory.hotels d) AS everything";

#[tokio::test]
async fn seeding_makes_hotels_that_can_be_quoted_over_the_whole_horizon() {
    let world = World::new().await;
    let codes = demo::seed(&world.hotels, Horizon::default(), &world.operator).await.expect("seeded");
    assert_eq!(codes.len(), 6);
    let costs = ["14560.00", "26400", "88.550", "240.00", "826.44", "530.00"];
    for (code, cost) in codes.iter().zip(costs) {
        let hotel = hotel_view::find(&world.hotels, code).await.expect("a hotel");
        assert_eq!(hotel.room_types[0].code.as_str(), "RT-DLX");
        assert!(hotel.room_types.iter().all(|room_type| room_type.units >= 5), "{code}");
        for stay in [("2026-11-14", "2026-11-16"), ("2028-01-27", "2028-01-29")] {
            let made =
                quote::make(&world.hotels, Horizon::default(), &guest(), asked(code, stay), fresh_key())
                    .await;
            let quote = made.unwrap_or_else(|error| panic!("{code} {stay:?}: {error:?}")).answer;
            assert_eq!(quote.document.total.to_string(), cost, "{code}");
        }
    }
    assert_eq!(world.database().value("SELECT count(*) FROM restrictions").await, 0);
    let last = "SELECT count(DISTINCT (hotel_id, room_type_id)) FROM room_night_inventory WHERE stay_date = '2028-01-30'";
    assert_eq!(world.database().value(last).await, 12);
}

#[tokio::test]
async fn seeding_twice_changes_nothing_days_later_too() {
    let world = World::new().await;
    demo::seed(&world.hotels, Horizon::default(), &world.operator).await.expect("seeded");
    let before = world.database().value(STATE).await;
    world.clock("2026-03-10T06:00:00Z").await;
    demo::seed(&world.hotels, Horizon::default(), &world.operator).await.expect("seeded again");
    assert_eq!(world.database().value(STATE).await, before);
}
