//! Bookings that Stripe is paid for: localstripe, over real HTTP, with its ids in the hotel's database.

use std::sync::Arc;

use keyrack_booking::{
    Desk, Settings, hotel_directory::HotelDirectory, stored_ids::StoredIds, views::Standing,
};
use keyrack_domain::{
    ids::{AttemptId, HotelId},
    principal::Caller,
};
use keyrack_payments::{ProviderId, ProviderIds, Reference, StripeProvider, StripeSettings};
use keyrack_testkit::LocalStripe;
use tokio::runtime::Handle;
use tokio_util::task::TaskTracker;
use uuid::Uuid;

use crate::{
    desk_world::DeskWorld,
    world::{HORIZON, guest},
};

const STAY: (&str, &str) = ("2026-11-14", "2026-11-16");

fn ids(at: &DeskWorld) -> StoredIds {
    StoredIds::new(HotelDirectory::new(at.world.hotels.shards().clone()), "stripe".parse().expect("a name"))
}

/// The desk of the world, with Stripe in front of it. It is given up after two seconds.
async fn world() -> (DeskWorld, LocalStripe) {
    let mut at = DeskWorld::new().await;
    let stripe = LocalStripe::start();
    let settings = StripeSettings {
        secret_key: "sk_test_of_nobody".into(),
        base_url: stripe.base_url().to_owned(),
        return_url: None,
    };
    let provider = StripeProvider::new(settings, Arc::new(ids(&at))).expect("settings");
    let provider_deadline = std::time::Duration::from_secs(2);
    let settings = Settings { horizon: HORIZON, provider_deadline, ..Settings::default() };
    let shards = at.world.hotels.shards().clone();
    at.desk = Desk::new(shards, Arc::new(provider), settings, Handle::current(), TaskTracker::new());
    (at, stripe)
}

/// A guest who has tried to pay, and where that stands.
async fn paid(at: &DeskWorld, method: &str) -> (Caller, AttemptId, Standing) {
    let guest = guest();
    let hold = at.hold(&guest, STAY).await;
    let booking = at.pay(&guest, hold.id, method).await;
    (guest, booking.attempt, booking.standing)
}

async fn kept(at: &DeskWorld, attempt: AttemptId) -> Option<ProviderId> {
    ids(at).find(Reference::Authorization(attempt)).await
}

#[tokio::test]
async fn a_booking_is_paid_through_stripe_whose_id_is_kept_at_once() {
    let (at, _stripe) = world().await;
    let (_, attempt, standing) = paid(&at, "pm_card_visa").await;
    assert!(matches!(standing, Standing::Confirmed(_)), "{standing:?}");
    let id = kept(&at, attempt).await.expect("is kept");
    assert!(id.as_str().starts_with("pi_"), "{id}");
    assert_eq!(ids(&at).reference_of(&id).await, Some(Reference::Authorization(attempt)));
    assert_eq!(at.captures(), 0, "the simulator was not asked");
    at.verify().await;
}

#[tokio::test]
async fn a_card_that_stripe_declines_leaves_the_hold_for_another() {
    let (at, _stripe) = world().await;
    let guest = guest();
    let hold = at.hold(&guest, STAY).await;
    let declined = at.pay(&guest, hold.id, "pm_card_chargeCustomerFail").await;
    assert!(matches!(declined.standing, Standing::Declined { .. }), "{declined:?}");
    let booked = at.pay(&guest, hold.id, "pm_card_visa").await;
    assert!(matches!(booked.standing, Standing::Confirmed(_)), "{booked:?}");
    at.verify().await;
}

/// B053: the id is not known either, as after a crash between Stripe's answer and its being kept.
#[tokio::test]
async fn b053_a_capture_whose_answer_was_lost_is_found_in_stripes_list() {
    let (at, _stripe) = world().await;
    let (guest, attempt, standing) = paid(&at, "pm_lost_answer").await;
    assert!(matches!(standing, Standing::Pending { .. }), "{standing:?}");
    at.database().execute("DELETE FROM provider_ids").await;
    at.advance(121).await;
    at.settle_money().await;
    let standing = at.standing(&guest, attempt).await;
    assert!(matches!(standing, Standing::Confirmed(_)), "{standing:?}");
    assert!(kept(&at, attempt).await.is_some(), "and is kept now");
    at.verify().await;
}

#[tokio::test]
async fn a_capture_that_is_found_after_its_hold_goes_back_through_stripe() {
    let (at, _stripe) = world().await;
    let (guest, attempt, _) = paid(&at, "pm_lost_answer").await;
    at.database().execute("UPDATE hotels SET late_capture = 'refund'").await;
    at.advance(602).await;
    at.expire().await;
    at.settle_money().await;
    let standing = at.standing(&guest, attempt).await;
    assert!(matches!(standing, Standing::NoRoom { .. }), "{standing:?}");
    assert_eq!(at.count("refunds WHERE state = 'SUCCEEDED'").await, 1);
    assert_eq!(at.count("provider_ids WHERE provider_id LIKE 're\\_%'").await, 1);
    at.verify().await;
}

/// The create never arrives: a placeholder takes its key, and its intent cannot come into being.
#[tokio::test]
async fn a_create_that_never_arrives_is_shut_out_and_the_attempt_fails() {
    let (at, _stripe) = world().await;
    let (guest, attempt, standing) = paid(&at, "pm_silence").await;
    assert!(matches!(standing, Standing::Pending { .. }), "{standing:?}");
    at.advance(121).await;
    at.settle_money().await;
    let standing = at.standing(&guest, attempt).await;
    assert!(matches!(standing, Standing::Declined { .. }), "{standing:?}");
    at.verify().await;
}

#[tokio::test]
async fn the_first_id_of_a_reference_stays_and_a_hotel_that_is_not_there_has_none() {
    let at = DeskWorld::new().await;
    let (ids, id) = (ids(&at), |text: &str| text.parse::<ProviderId>().expect("an id"));
    let hotel = at.database().value("SELECT hotel_id FROM hotels").await;
    let hotel = i32::try_from(hotel.as_i64().expect("a number")).expect("a hotel's number");
    let reference = Reference::Authorization(AttemptId::new(HotelId(hotel), Uuid::now_v7()));
    assert_eq!(ids.find(reference).await, None);
    ids.keep(reference, &id("pi_1")).await;
    ids.keep(reference, &id("pi_1")).await;
    ids.keep(reference, &id("pi_2")).await;
    let other = Reference::Capture(reference.attempt());
    ids.keep(other, &id("pi_1")).await;
    assert_eq!(ids.find(reference).await, Some(id("pi_1")));
    assert_eq!(ids.find(other).await, None, "an id names one call");
    assert_eq!(ids.reference_of(&id("pi_2")).await, None);
    assert_eq!(at.count("provider_ids").await, 1);

    let nowhere = Reference::Authorization(AttemptId::new(HotelId(hotel + 1), Uuid::now_v7()));
    ids.keep(nowhere, &id("pi_3")).await;
    assert_eq!(ids.find(nowhere).await, None);
}
