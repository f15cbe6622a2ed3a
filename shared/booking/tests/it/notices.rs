//! What the provider tells of payments: twice, late, out of order, in a race with the request and the resolver.

use futures::future::join_all;
use keyrack_booking::{
    EventRow, ops,
    receive_notice::{
        Received,
        payment::{ApplyNoticeOp, NoticeAnswer, PaymentFact},
    },
    reconcile,
    staff_refund::{self, StaffRefund, StaffRefundError},
    views::{BookingView, Standing},
};
use keyrack_db::Points;
use keyrack_domain::{
    actor::Actor,
    ids::{AttemptId, NoticeId, RefundId, ReservationId},
    money::Money,
    notice::NoticeOutcome,
    principal::Caller,
    refund::RefundState,
};
use keyrack_ledger::Outcome;
use keyrack_testkit::Gates;
use serde_json::json;
use uuid::Uuid;

use crate::{
    desk_world::DeskWorld,
    telling::{PAISE, captured, notice},
    world::{fresh_key, guest, hotel, percent},
};

const STAY: (&str, &str) = ("2026-11-14", "2026-11-16");
const APPLIED: Received = Received::Recorded(NoticeOutcome::Applied);
const HANDED_OVER: Received = Received::Recorded(NoticeOutcome::HandedOver);
const NO_OP: Received = Received::Recorded(NoticeOutcome::NoOp);

/// Paid, as far as the provider knows; we have not heard of it.
pub(crate) async fn unanswered(at: &DeskWorld, guest: &Caller) -> BookingView {
    let hold = at.hold(guest, STAY).await;
    let pending = at.pay(guest, hold.id, "pm_lost_response").await;
    assert!(matches!(pending.standing, Standing::Pending { reconciling: false, .. }), "{pending:?}");
    pending
}

pub(crate) async fn is_confirmed_once(at: &DeskWorld, guest: &Caller, attempt: AttemptId) {
    let standing = at.standing(guest, attempt).await;
    assert!(matches!(standing, Standing::Confirmed(_)), "{standing:?}");
    assert_eq!((at.count("reservations").await, at.told("reservation.confirmed").await), (1, 1));
    assert_eq!((at.captures(), at.counters(STAY.0).await), (1, (5, 0, 1)));
    at.verify().await;
}

#[tokio::test]
async fn b027_the_same_notice_three_times_at_once_and_ten_times_later_confirms_once() {
    let at = DeskWorld::new().await;
    let guest = guest();
    let attempt = unanswered(&at, &guest).await.attempt;
    let body = captured("evt_1", attempt);
    let mut told = join_all((0..3).map(|_| at.tell(&body))).await;
    for _ in 0..10 {
        told.push(at.tell(&body).await);
    }
    let applied = told.iter().filter(|received| **received == APPLIED).count();
    let repeats = told.iter().filter(|received| **received == Received::Duplicate).count();
    assert_eq!((applied, repeats), (1, 12), "{told:?}");
    assert_eq!(at.recorded().await, [("evt_1".to_owned(), "APPLIED".to_owned(), None)]);
    is_confirmed_once(&at, &guest, attempt).await;
}

#[tokio::test]
async fn b028_the_same_fact_under_another_id_is_a_no_op_of_the_same_attempt() {
    let at = DeskWorld::new().await;
    let guest = guest();
    let attempt = unanswered(&at, &guest).await.attempt;
    assert_eq!(at.tell(&captured("evt_A", attempt)).await, APPLIED);
    assert_eq!(at.tell(&captured("evt_B", attempt)).await, NO_OP);
    // Told after what it comes before, and from long ago.
    let authorized = notice("evt_C", "authorization.succeeded", attempt, "auth", PAISE);
    assert_eq!(at.tell(&authorized).await, NO_OP);
    assert_eq!(at.count("provider_events").await, 3);
    assert_eq!(at.count(&format!("provider_events WHERE attempt_id = '{}'", attempt.uuid())).await, 3);
    assert_eq!(at.count("provider_events WHERE finding IS NOT NULL").await, 0);
    is_confirmed_once(&at, &guest, attempt).await;
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Driver {
    Notice,
    Request,
    Resolver,
}

/// B029, stepped: the request comes back from the provider in each place among the others.
#[tokio::test]
async fn b029_notice_request_and_resolver_confirm_once_in_every_order() {
    use Driver::{Notice, Request, Resolver};
    for order in [
        [Notice, Request, Resolver],
        [Notice, Resolver, Request],
        [Request, Notice, Resolver],
        [Request, Resolver, Notice],
        [Resolver, Notice, Request],
        [Resolver, Request, Notice],
    ] {
        let gates = Gates::new();
        let at = DeskWorld::with_points(gates.points()).await;
        let guest = guest();
        let hold = at.hold(&guest, STAY).await;
        let mut gate = gates.close("pay.after_provider");
        let meanwhile = async {
            gate.reached().await;
            let attempt = at.database().value("SELECT attempt_id FROM payment_attempts").await;
            let attempt: Uuid = attempt.as_str().expect("an id").parse().expect("an id");
            let attempt = AttemptId::new(hold.id.hotel(), attempt);
            at.advance(121).await;
            let mut gate = Some(gate);
            for driver in order {
                match driver {
                    Notice => {
                        at.tell(&captured("evt_1", attempt)).await;
                    }
                    Resolver => {
                        reconcile::run_once(&at.desk, at.ledger()).await.expect("the sweep runs");
                    }
                    Request => {
                        let mut written = gates.close("confirm.after_commit");
                        gate.take().expect("one request").open();
                        written.reached().await;
                        written.open();
                    }
                }
            }
            attempt
        };
        let (paid, attempt) = tokio::join!(at.pay(&guest, hold.id, "pm_ok"), meanwhile);
        assert!(matches!(paid.standing, Standing::Confirmed(_)), "{order:?}: {paid:?}");
        assert_eq!(at.count("provider_events").await, 1, "{order:?}");
        is_confirmed_once(&at, &guest, attempt).await;
    }
}

/// B029, at a barrier: a hundred times the notice and the coming back of the request, together.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn b029_a_hundred_races_of_notice_and_request_confirm_a_hundred_times() {
    let gates = Gates::new();
    let at = DeskWorld::with_points(gates.points()).await;
    at.sellable(STAY, 100).await;
    for round in 0..100_i64 {
        let guest = guest();
        let hold = at.hold(&guest, STAY).await;
        let mut gate = gates.close("pay.after_provider");
        let meanwhile = async {
            gate.reached().await;
            let open = at
                .database()
                .value("SELECT attempt_id FROM payment_attempts WHERE state = 'PENDING_PAYMENT'");
            let attempt: Uuid = open.await.as_str().expect("an id").parse().expect("an id");
            let body = captured(&format!("evt_{round}"), AttemptId::new(hold.id.hotel(), attempt));
            gate.open();
            at.tell(&body).await
        };
        let (paid, told) = tokio::join!(at.pay(&guest, hold.id, "pm_ok"), meanwhile);
        assert!(matches!(paid.standing, Standing::Confirmed(_)), "{round}: {paid:?}");
        assert!([APPLIED, NO_OP].contains(&told), "{round}: {told:?}");
        assert_eq!(at.told("reservation.confirmed").await, round + 1);
    }
    assert_eq!(at.counters(STAY.0).await, (100, 0, 100));
    assert_eq!((at.count("reservations").await, at.count("refunds").await), (100, 0));
    at.verify().await;
}

#[tokio::test]
async fn b032_the_old_cards_failure_never_overturns_the_new_cards_success() {
    let at = DeskWorld::new().await;
    let guest = guest();
    let hold = at.hold(&guest, STAY).await;
    let declined = at.pay(&guest, hold.id, "pm_declined").await;
    let paid = at.pay(&guest, hold.id, "pm_ok").await;
    at.advance(1_800).await;
    let failed = |event: &str, attempt| notice(event, "capture.failed", attempt, "capture", PAISE);
    assert_eq!(at.tell(&failed("evt_1", declined.attempt)).await, NO_OP);
    assert_eq!(at.tell(&failed("evt_2", paid.attempt)).await, NO_OP);
    let finding = Some("failure_after_success".to_owned());
    assert_eq!(at.recorded().await[1], ("evt_2".to_owned(), "NO_OP".to_owned(), finding));
    assert!(matches!(at.standing(&guest, declined.attempt).await, Standing::Declined { .. }));
    assert_eq!(at.count("refunds").await, 0);
    let listed = ops::notices_with_a_finding(&at.desk, &at.world.operator, None, 10).await.expect("a list");
    assert_eq!(listed.items.iter().map(|(event, _)| event.event.as_str()).collect::<Vec<_>>(), ["evt_2"]);
    is_confirmed_once(&at, &guest, paid.attempt).await;
}

#[tokio::test]
async fn b033_a_cancelled_authorization_frees_the_hold_for_another_card() {
    let at = DeskWorld::impatient(Points::default()).await;
    let guest = guest();
    let hold = at.hold(&guest, STAY).await;
    let pending = at.pay(&guest, hold.id, "pm_timeout").await;
    at.advance(60).await;
    let voided = notice("evt_1", "authorization.voided", pending.attempt, "auth", PAISE);
    assert_eq!(at.tell(&voided).await, APPLIED);
    let standing = at.standing(&guest, pending.attempt).await;
    assert!(matches!(&standing, Standing::Declined { reason, .. } if reason == "voided"), "{standing:?}");
    assert_eq!(at.count("holds WHERE deferred_until IS NOT NULL").await, 0);
    at.advance(30).await;
    let paid = at.pay(&guest, hold.id, "pm_ok").await;
    is_confirmed_once(&at, &guest, paid.attempt).await;
}

/// What the provider calls failed is let go there too: nothing can be taken for it any more.
#[tokio::test]
async fn a_declined_attempt_is_cancelled_at_the_provider() {
    let at = DeskWorld::impatient(Points::default()).await;
    let guest = guest();
    let hold = at.hold(&guest, STAY).await;
    let pending = at.pay(&guest, hold.id, "pm_timeout").await;
    let declined = notice("evt_1", "authorization.declined", pending.attempt, "auth", PAISE);
    assert_eq!(at.tell(&declined).await, APPLIED);
    let standing = at.standing(&guest, pending.attempt).await;
    assert!(matches!(&standing, Standing::Declined { reason, .. } if reason == "declined"), "{standing:?}");
    assert_eq!(at.charge(pending.attempt, "void").expect("a cancel by reference").calls, 1);
    at.verify().await;
}

/// The members of one batch that tell the same: the first has the effect, as if they had come one by one.
#[tokio::test]
async fn b027_the_same_notice_twice_in_one_batch_is_recorded_once() {
    let at = DeskWorld::new().await;
    let guest = guest();
    let attempt = unanswered(&at, &guest).await.attempt;
    let operation = |event: &str| {
        let hotel = attempt.hotel();
        let amount = Money::parse("14560.00", "INR".parse().expect("a currency")).expect("money");
        ApplyNoticeOp {
            actor: Actor::Provider { request_id: "req-1".to_owned() },
            event: EventRow {
                id: NoticeId::new(hotel, Uuid::now_v7()),
                provider: "simulator".parse().expect("a name"),
                event: event.to_owned(),
                kind: "capture.succeeded".to_owned(),
                reference: format!("{attempt}-capture"),
                amount: Some(amount),
                outcome: NoticeOutcome::NoOp,
                finding: None,
                attempt,
            },
            fact: PaymentFact::Captured(amount),
            reservation: ReservationId::new(hotel, Uuid::now_v7()),
            refund: RefundId::new(hotel, Uuid::now_v7()),
        }
    };
    let members = vec![operation("evt_1"), operation("evt_1"), operation("evt_2")];
    let answers = at.ledger().run_batch(members).await;
    let answers: Vec<_> = answers.into_iter().map(|answer| answer.expect("an answer")).collect();
    let recorded = |outcome| Outcome::Answered(NoticeAnswer::Recorded(outcome, None));
    let expected = [
        recorded(NoticeOutcome::Applied),
        Outcome::Answered(NoticeAnswer::Duplicate),
        recorded(NoticeOutcome::NoOp),
    ];
    assert_eq!(answers, expected);
    is_confirmed_once(&at, &guest, attempt).await;
}

/// B099: yen have no decimals, at the provider as here.
#[tokio::test]
async fn b099_a_booking_in_yen_is_confirmed_by_its_notice_and_half_of_it_given_back() {
    let at = DeskWorld::new().await;
    let tokyo = hotel("HTL-411", "Asia/Tokyo", "JPY", vec![percent("Tax", "10", false)]);
    let tokyo = at.world.open(tokyo, "12000").await;
    let guest = guest();
    let quote = at.world.quote(&guest, &tokyo, STAY).await.expect("a quote").id;
    let hold = at.hold_quote(&guest, quote, fresh_key()).await.expect("a hold").answer;
    let attempt = at.pay(&guest, hold.id, "pm_lost_response").await.attempt;
    let mut body = captured("evt_1", attempt);
    (body["amount"], body["currency"]) = (json!(26_400), json!("JPY"));
    assert_eq!(at.tell(&body).await, APPLIED);
    let standing = at.standing(&guest, attempt).await;
    let Standing::Confirmed(reservation) = standing else { panic!("{standing:?}") };
    let give_back = |amount: &str| StaffRefund {
        hotel: tokyo.clone(),
        reservation: reservation.id,
        amount: amount.to_owned(),
        reason: "half of it".to_owned(),
        key: fresh_key(),
    };
    let decimals = staff_refund::run(&at.desk, &at.world.operator, give_back("13200.50")).await;
    assert!(matches!(decimals, Err(StaffRefundError::Invalid(_))), "{decimals:?}");
    staff_refund::run(&at.desk, &at.world.operator, give_back("13200")).await.expect("a refund");
    at.settle_money().await;
    assert_eq!(at.charge(attempt, "capture").expect("a capture").refunded, 13_200);
    let mut told = notice("evt_2", "refund.succeeded", attempt, "refund-1-1", 13_200);
    told["currency"] = json!("JPY");
    assert_eq!(at.tell(&told).await, NO_OP);
    assert_eq!(at.count("provider_events WHERE finding IS NOT NULL").await, 0);
    at.verify().await;
}

/// A failure that overtakes the request, which then comes back with the money: that goes back, once.
#[tokio::test]
async fn a_capture_after_a_notice_of_failure_goes_back_whoever_tells_of_it() {
    let at = DeskWorld::new().await;
    let guest = guest();
    let attempt = unanswered(&at, &guest).await.attempt;
    assert_eq!(at.tell(&notice("evt_1", "authorization.voided", attempt, "auth", PAISE)).await, APPLIED);
    assert_eq!(at.tell(&captured("evt_2", attempt)).await, APPLIED);
    at.verify().await;
    assert_eq!(at.tell(&captured("evt_3", attempt)).await, NO_OP);
    at.settle_money().await;
    has_it_back(&at, &guest, attempt).await;
    assert_eq!(at.count("reservations").await, 0);
}

async fn has_it_back(at: &DeskWorld, guest: &Caller, attempt: AttemptId) {
    let standing = at.standing(guest, attempt).await;
    let Standing::NoRoom { refund } = &standing else { panic!("{standing:?}") };
    assert_eq!((refund.state, refund.amount.to_string().as_str()), (RefundState::Succeeded, "14560.00"));
    assert_eq!(at.charge(attempt, "capture").expect("a capture").refunded, PAISE);
    assert_eq!(at.count("refunds").await, 1);
    at.verify().await;
}

/// B013, B017: told a day late, of a hold that has expired; the other guest's unit is not touched.
#[tokio::test]
async fn b013_b017_a_notice_of_a_late_capture_opens_a_case_that_ends_in_one_refund() {
    let at = DeskWorld::impatient(Points::default()).await;
    at.sellable(STAY, 1).await;
    let (late, lucky) = (guest(), guest());
    let hold = at.hold(&late, STAY).await;
    let pending = at.pay(&late, hold.id, "pm_slow").await;
    at.advance(24 * 3_600).await;
    assert_eq!(at.expire().await.expired, 1);
    at.hold(&lucky, STAY).await;
    at.let_captured(pending.attempt).await;
    assert_eq!(at.tell(&captured("evt_1", pending.attempt)).await, HANDED_OVER);
    // The resolver was called at once, and has ended the case.
    assert_eq!(at.count("refunds WHERE state = 'REQUESTED'").await, 1);
    assert_eq!(at.tell(&captured("evt_2", pending.attempt)).await, NO_OP);
    at.settle_money().await;
    has_it_back(&at, &late, pending.attempt).await;
    assert_eq!((at.count("reservations").await, at.counters(STAY.0).await), (0, (1, 1, 0)));
}

/// B016 (a): the hotel wants the rooms taken again.
#[tokio::test]
async fn b016_a_notice_of_a_late_capture_gets_the_rooms_where_the_hotel_wants_it() {
    let at = DeskWorld::impatient(Points::default()).await;
    at.database().execute("UPDATE hotels SET late_capture = 'allocate'").await;
    let guest = guest();
    let hold = at.hold(&guest, STAY).await;
    let pending = at.pay(&guest, hold.id, "pm_slow").await;
    at.advance(721).await;
    assert_eq!(at.expire().await.expired, 1);
    at.let_captured(pending.attempt).await;
    assert_eq!(at.tell(&captured("evt_1", pending.attempt)).await, HANDED_OVER);
    is_confirmed_once(&at, &guest, pending.attempt).await;
    assert_eq!(at.count("refunds").await, 0);
}

/// The notice confirms nothing; what the provider says when it is asked decides.
#[tokio::test]
async fn b102_a_notice_of_another_amount_or_currency_confirms_nothing_and_opens_a_case() {
    for (change, finding) in
        [(("amount", json!(1)), "another_amount"), (("currency", json!("JPY")), "another_currency")]
    {
        let at = DeskWorld::new().await;
        let guest = guest();
        let attempt = unanswered(&at, &guest).await.attempt;
        let mut body = captured("evt_1", attempt);
        body[change.0] = change.1;
        let receipt = at.try_tell(&body).await.expect("a receipt");
        assert_eq!(receipt.received, HANDED_OVER);
        receipt.follow_up.expect("the resolver").await.expect("it ends");
        assert_eq!(at.told("attempt.reconciling").await, 1);
        assert_eq!(at.recorded().await[0].2.as_deref(), Some(finding));
        is_confirmed_once(&at, &guest, attempt).await;
        body["id"] = json!("evt_2");
        assert_eq!(at.tell(&body).await, NO_OP);
        assert!(at.recorded().await[1].2.is_some());
    }
}

/// B142: what was told while it was pending is no reason to overlook what comes later.
#[tokio::test]
async fn b142_a_notice_that_says_nothing_yet_is_followed_by_one_that_counts() {
    let at = DeskWorld::impatient(Points::default()).await;
    let guest = guest();
    let hold = at.hold(&guest, STAY).await;
    let pending = at.pay(&guest, hold.id, "pm_slow").await;
    assert_eq!(
        at.tell(&notice("evt_1", "authorization.succeeded", pending.attempt, "auth", PAISE)).await,
        NO_OP
    );
    at.advance(12 * 3_600).await;
    at.let_captured(pending.attempt).await;
    // No expiry has run: the hold still has its unit, and the payment gets it.
    assert_eq!(at.tell(&captured("evt_2", pending.attempt)).await, APPLIED);
    is_confirmed_once(&at, &guest, pending.attempt).await;
}

/// The request holds the attempt's rows when the notice comes: it waits for the guard and finds it moved.
#[tokio::test]
async fn a_notice_of_failure_that_waits_for_the_confirmation_finds_it_done() {
    let gates = Gates::new();
    let at = DeskWorld::with_points(gates.points()).await;
    let guest = guest();
    let hold = at.hold(&guest, STAY).await;
    let mut writing = gates.close("confirm.after_nights_locked");
    let mut told = gates.close("apply_notice.after_claim");
    let meanwhile = async {
        writing.reached().await;
        let attempt = at.database().value("SELECT attempt_id FROM payment_attempts").await;
        let attempt =
            AttemptId::new(hold.id.hotel(), attempt.as_str().expect("an id").parse().expect("an id"));
        let body = notice("evt_1", "capture.failed", attempt, "capture", PAISE);
        let telling = at.tell(&body);
        let stepping = async {
            told.reached().await;
            told.open();
            writing.open();
        };
        tokio::join!(telling, stepping).0
    };
    let (paid, told) = tokio::join!(at.try_pay(&guest, hold.id, "pm_ok", fresh_key()), meanwhile);
    let paid = paid.expect("an answer").answer;
    assert_eq!(told, NO_OP);
    assert_eq!(at.recorded().await[0].2.as_deref(), Some("failure_after_success"));
    is_confirmed_once(&at, &guest, paid.attempt).await;
}
