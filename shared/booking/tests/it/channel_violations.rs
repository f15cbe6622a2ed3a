//! Each rule of channels' bookings broken on its own, behind the application's back: `verify` names it.

use keyrack_booking::verify;

use crate::{
    channel_world::{Channel, STAY, delivered, revision},
    desk_world::DeskWorld,
};

const LATER: (&str, &str) = ("2026-11-20", "2026-11-22");

/// One booking that was moved, one that was cancelled, and one whose cancellation came before it.
async fn world() -> DeskWorld {
    let at = DeskWorld::new().await;
    let channel = Channel::of(&at).await;
    channel.put(&at, "MOVED", delivered(STAY)).await;
    channel.put(&at, "MOVED", revision(3, LATER)).await;
    channel.put(&at, "GONE", delivered(STAY)).await;
    channel.delete(&at, "GONE").await;
    channel.try_delete(&at, "EARLY").await.expect_err("nobody knew it");
    at.verify().await;
    at
}

/// What `verify` tells of channels after the statement.
async fn after(at: &DeskWorld, statement: &str) -> Vec<String> {
    at.database().execute(statement).await;
    let report = verify::run(at.world.hotels.shards(), verify::Options::default()).await;
    assert_eq!(report.exit_code(), 1, "{report}");
    let told = report.told().map(|(_, invariant, violation)| format!("{invariant}: {violation}"));
    told.filter(|told| told.contains(" of OTA: ")).collect()
}

#[tokio::test]
async fn a_booking_that_stands_and_is_called_cancelled() {
    let at = world().await;
    let told = after(&at, "UPDATE channel_bookings SET state = 'CANCELLED' WHERE booking_id = 'MOVED'").await;
    let rule = "a channel's booking that was cancelled has no reservation that stands; expected 0, found 1";
    assert_eq!(told, [format!("invariant 3: booking MOVED of OTA: {rule}")]);
}

#[tokio::test]
async fn a_booking_with_another_reservation_than_it_made() {
    let at = world().await;
    let told = after(
        &at,
        "ALTER TABLE audit DISABLE TRIGGER USER;
         DELETE FROM audit WHERE after ->> 'booking_id' = 'MOVED'",
    )
    .await;
    let rule = "a channel's booking that stands has the one reservation that it made; expected 1, found 0";
    assert_eq!(told, [format!("invariant 3: booking MOVED of OTA: {rule}")]);
}

#[tokio::test]
async fn two_reservations_of_one_booking() {
    let at = world().await;
    Channel::of(&at).await.put(&at, "OTHER", revision(2, LATER)).await;
    let told = after(
        &at,
        "ALTER TABLE audit DISABLE TRIGGER USER;
         UPDATE audit SET after = after || '{\"booking_id\": \"MOVED\"}' WHERE after ->> 'booking_id' = 'OTHER';
         DELETE FROM channel_bookings WHERE booking_id = 'OTHER'",
    )
    .await;
    let rule = "a channel's booking that stands has the one reservation that it made; expected 1, found 2";
    assert_eq!(told, [format!("invariant 3: booking MOVED of OTA: {rule}")]);
}

#[tokio::test]
async fn a_reservation_for_another_stay_than_was_delivered_last() {
    let at = world().await;
    let told = after(&at, "UPDATE reservations SET check_out = '2026-11-23' WHERE state = 'CONFIRMED'").await;
    let rule = "the reservation of a channel's booking has the stay that was delivered last; \
                expected 2026-11-20 to 2026-11-22, found 2026-11-20 to 2026-11-23";
    assert_eq!(told, [format!("invariant 3: booking MOVED of OTA: {rule}")]);
}

#[tokio::test]
async fn a_booking_that_has_forgotten_its_last_revision() {
    let at = world().await;
    let told = after(&at, "UPDATE channel_bookings SET revision = 2 WHERE booking_id = 'MOVED'").await;
    let rule = "a channel's booking is at no lower revision than was delivered; expected 3, found 2";
    assert_eq!(told, [format!("invariant 3: booking MOVED of OTA: {rule}")]);
}
