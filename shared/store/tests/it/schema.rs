//! What the database refuses by itself, whoever writes, and how time is kept.

use keyrack_testkit::TestDatabase;

use crate::configuration::database;

/// A night with five units of which some are taken.
async fn one_night() -> TestDatabase {
    let database = database().await;
    database
        .execute(
            "INSERT INTO room_night_inventory (hotel_id, room_type_id, stay_date, sellable, held, confirmed)
             VALUES (1, 1, '2026-11-14', 5, 2, 1)",
        )
        .await;
    database
}

#[tokio::test]
async fn b107_counters_that_cannot_be_are_refused_by_the_database_by_name() {
    let database = one_night().await;
    for (set, constraint) in [
        ("held = -1", "room_night_held_not_negative"),
        ("confirmed = -1", "room_night_confirmed_not_negative"),
        // Fewer than none is also fewer than what is taken, whatever is taken.
        ("sellable = -1, held = 0, confirmed = 0", "room_night_never_oversold"),
        ("sellable = 2", "room_night_never_oversold"),
        ("held = 5", "room_night_never_oversold"),
        ("confirmed = 4", "room_night_never_oversold"),
    ] {
        let write = format!("UPDATE room_night_inventory SET {set}");
        assert_eq!(database.refusing_constraint(&write).await.as_deref(), Some(constraint), "{set}");
    }
    let all = database.refusing_constraint("UPDATE room_night_inventory SET held = 4").await;
    assert_eq!(all, None, "five of five");
}

#[tokio::test]
async fn b098_every_instant_is_kept_with_its_zone() {
    let database = TestDatabase::new().await;
    let zoneless = database
        .rows(
            "SELECT table_name, column_name FROM information_schema.columns
             WHERE table_schema = 'public' AND data_type LIKE 'time%without time zone'",
        )
        .await;
    assert!(zoneless.is_empty(), "{zoneless:?}");
    let zoned = "SELECT count(*) FROM information_schema.columns
                 WHERE table_schema = 'public' AND data_type = 'timestamp with time zone'";
    assert!(
        database.value(zoned).await.as_i64().is_some_and(|count| count > 10),
        "it looks at the right place"
    );
}
