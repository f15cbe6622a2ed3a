//! Bookings that Stripe is paid for: localstripe, over real HTTP, with its ids in the hotel's database.

use std::{
    sync::Arc,
    time::{Duration, SystemTime},
};

use keyrack_booking::{
    Desk, Settings, compare_settlement,
    hotel_directory::HotelDirectory,
    receive_notice::{self, Received, unmatched},
    stored_ids::StoredIds,
    views::Standing,
};
use keyrack_domain::{
    ids::{AttemptId, HotelId},
    notice::NoticeOutcome,
    principal::Caller,
};
use keyrack_payments::{
    ProviderId, ProviderIds, Reference, SignatureCheck, StripeNotices, StripeProvider, StripeSettings, sign,
};
use keyrack_testkit::LocalStripe;
use serde_json::json;
use tokio::runtime::Handle;
use tokio_util::task::TaskTracker;
use uuid::Uuid;

use crate::{
    desk_world::{DeskWorld, SECRET},
    world::{HORIZON, guest},
};

const STAY: (&str, &str) = ("2026-11-14", "2026-11-16");

fn ids(at: &DeskWorld) -> StoredIds {
    StoredIds::new(HotelDirectory::new(at.world.hotels.shards().clone()), "stripe".parse().expect("a name"))
}

/// By when Stripe's books of today are closed.
#[expect(clippy::disallowed_methods, reason = "Stripe's books keep real time")]
fn in_an_hour() -> SystemTime {
    SystemTime::now() + Duration::from_hours(1)
}

/// A refund that somebody made in Stripe's dashboard, as Stripe tells it.
async fn told_of_a_refund_by_hand(at: &DeskWorld, payment: &ProviderId) -> Received {
    let refund = json!({
        "id": "re_1", "object": "refund", "amount": 56_000, "currency": "inr", "metadata": {},
        "payment_intent": payment.as_str(), "status": "succeeded",
    });
    let event = json!({
        "id": "evt_1", "object": "event", "type": "refund.created", "api_version": "2025-03-31.basil",
        "data": {"object": refund},
    });
    let body = event.to_string();
    #[expect(clippy::disallowed_methods, reason = "a signature is made in real time")]
    let signature = sign(&SECRET.into(), SystemTime::now(), body.as_bytes());
    let (signature, provider) = (Some(signature.as_bytes()), "stripe".parse().expect("a name"));
    let receipt =
        receive_notice::run(&at.desk, &provider, signature, body.as_bytes(), "req-1".to_owned()).await;
    receipt.expect("a receipt").received
}

/// The desk of the world, with Stripe in front of it. It is given up after two seconds.
async fn world() -> (DeskWorld, LocalStripe) {
    let mut at = DeskWorld::new().await;
    let stripe = LocalStripe::start();
    let settings = StripeSettings {
        secret_key: "sk_test_of_nobody".into(),
        base_url: stripe.base_url().to_owned(),
        return_url: Some("https://hotels.example/paid".to_owned()),
    };
    let provider = StripeProvider::new(settings, Arc::new(ids(&at))).expect("settings");
    let provider = provider.telling_time_by(in_an_hour);
    let provider_deadline = Duration::from_secs(2);
    let settings = Settings { horizon: HORIZON, provider_deadline, ..Settings::default() };
    let shards = at.world.hotels.shards().clone();
    let desk = Desk::new(shards, Arc::new(provider), settings, Handle::current(), TaskTracker::new());
    let signatures = SignatureCheck::new(vec![SECRET.into()], Duration::from_mins(5)).expect("settings");
    at.desk = desk.reading("stripe".parse().expect("a name"), Arc::new(StripeNotices::new(signatures)));
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

#[tokio::test]
async fn a_refund_by_hand_is_recorded_for_the_attempt_whose_payment_stripe_names() {
    let (at, _stripe) = world().await;
    let (_, attempt, _) = paid(&at, "pm_card_visa").await;
    let payment = kept(&at, attempt).await.expect("is kept");
    let applied = Received::Recorded(NoticeOutcome::Applied);
    assert_eq!(told_of_a_refund_by_hand(&at, &payment).await, applied);
    assert_eq!(told_of_a_refund_by_hand(&at, &payment).await, Received::Duplicate);
    let by_hand = "refunds WHERE by_hand AND provider_id = 're_1' AND amount = 560";
    assert_eq!(at.count(by_hand).await, 1);
    at.verify().await;
}

#[tokio::test]
async fn a_refund_by_hand_of_a_payment_whose_id_is_not_known_yet_is_recorded_when_it_is() {
    let (at, _stripe) = world().await;
    let (_, attempt, _) = paid(&at, "pm_card_visa").await;
    let payment = kept(&at, attempt).await.expect("is kept");
    at.database().execute("DELETE FROM provider_ids").await;
    assert_eq!(told_of_a_refund_by_hand(&at, &payment).await, Received::Unmatched);
    let matched = unmatched::run_once(&at.desk).await.expect("a run");
    assert_eq!((matched.taken, matched.applied), (1, 0));
    ids(&at).keep(Reference::Authorization(attempt), &payment).await;
    // As much later as it rests.
    let earlier = "UPDATE directory.unmatched_notices SET looked_at = looked_at - interval '1 hour'";
    at.database().execute(earlier).await;
    let matched = unmatched::run_once(&at.desk).await.expect("a run");
    assert_eq!((matched.taken, matched.applied), (1, 1));
    assert_eq!(at.count("refunds WHERE by_hand").await, 1);
    assert_eq!(at.count("directory.unmatched_notices").await, 0);
    at.verify().await;
}

#[tokio::test]
async fn b019_a_customer_whom_the_bank_asks_is_sent_to_its_page_and_too_late_after_the_deadline() {
    let (at, _stripe) = world().await;
    let (guest, attempt, standing) = paid(&at, "pm_card_authenticationRequired").await;
    let Standing::Pending { next_action: Some(page), .. } = &standing else { panic!("{standing:?}") };
    assert!(page.expose().starts_with("https://hooks.stripe.com/"), "{}", page.expose());
    at.advance(301).await;
    at.settle_money().await;
    let standing = at.standing(&guest, attempt).await;
    assert!(matches!(standing, Standing::Declined { .. }), "{standing:?}");
    at.verify().await;
}

/// B053: every answer and notice is lost, and the ids too.
#[tokio::test]
async fn b053_a_capture_of_a_failed_attempt_is_found_in_stripes_books_and_goes_back() {
    let (at, _stripe) = world().await;
    let (_, agreed, _) = paid(&at, "pm_card_visa").await;
    let (_, attempt, _) = paid(&at, "pm_lost_answer").await;
    let fails = format!(
        "UPDATE payment_attempts SET state = 'FAILED', failure = 'voided', decided_at = keyrack_now() WHERE attempt_id = '{}'",
        attempt.uuid()
    );
    at.database().execute(&fails).await;
    at.database().execute("DELETE FROM provider_ids").await;
    let (mut lines, mut given_back) = (0, 0);
    for _ in 0..3 {
        let compared = compare_settlement::run_once(&at.desk).await.expect("the comparison runs");
        assert_eq!(compared.found, 0, "{compared:?}");
        (lines, given_back) = (lines + compared.lines, given_back + compared.given_back);
    }
    assert_eq!((lines, given_back), (2, 1), "each once");
    assert!(kept(&at, agreed).await.is_some(), "and is known again");
    at.settle_money().await;
    assert_eq!(at.count("refunds WHERE state = 'SUCCEEDED'").await, 1);
    let compared = compare_settlement::run_once(&at.desk).await.expect("the comparison runs");
    assert_eq!((compared.lines, compared.found), (1, 0), "the refund");
    at.verify().await;
}
