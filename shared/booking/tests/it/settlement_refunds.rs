//! A refund that was made, or has come back, at the provider: told by its notice and by the books, in all orders.

use keyrack_booking::{
    compare_settlement, ops,
    receive_notice::Received,
    refund, retry_refund,
    staff_refund::{self, StaffRefund},
    views::Standing,
};
use keyrack_domain::{
    ids::{AttemptId, RefundId},
    notice::NoticeOutcome,
};
use keyrack_payment_simulator::{Amount, ReferenceName};
use serde_json::{Value, json};

use crate::{
    desk_world::DeskWorld,
    drivers::orders,
    telling::notice,
    world::{fresh_key, guest},
};

const STAY: (&str, &str) = ("2026-11-14", "2026-11-16");
const APPLIED: Received = Received::Recorded(NoticeOutcome::Applied);

/// What has happened at the provider.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Fact {
    ByHand,
    /// While all that is left is promised already, so that nothing of it fits.
    ByHandOfMoreThanIsLeft,
    CameBack,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Teller {
    Notice,
    /// The same fact under another event.
    Again,
    Books,
}

/// A booking with a refund of ours: sent, or still to be sent.
struct Scene {
    at: DeskWorld,
    attempt: AttemptId,
    ours: RefundId,
    told: Value,
}

fn name(text: String) -> ReferenceName {
    text.try_into().expect("a reference")
}

impl Scene {
    async fn of(fact: Fact) -> Self {
        let (at, guest) = (DeskWorld::new().await, guest());
        let hold = at.hold(&guest, STAY).await;
        let paid = at.pay(&guest, hold.id, "pm_ok").await;
        let Standing::Confirmed(reservation) = paid.standing else { panic!("{paid:?}") };
        let attempt = paid.attempt;
        let request = StaffRefund {
            hotel: at.hotel.clone(),
            reservation: reservation.id,
            amount: if fact == Fact::ByHandOfMoreThanIsLeft { "14560.00" } else { "14000.00" }.to_owned(),
            reason: "goodwill".to_owned(),
            key: fresh_key(),
        };
        let operator = &at.world.operator;
        let ours = staff_refund::run(&at.desk, operator, request).await.expect("a refund").answer.id;
        if fact != Fact::ByHandOfMoreThanIsLeft {
            assert_eq!(refund::run_once(&at.desk, at.ledger()).await.expect("sent").settled, 1);
        }
        let simulator = at.simulator.simulator();
        let told = if fact == Fact::CameBack {
            let reference = name(format!("{attempt}-refund-1-1"));
            simulator.fail_refund(&reference).await.expect("it had left");
            notice("evt_1", "refund.failed", attempt, "refund-1-1", 1_400_000)
        } else {
            let units = if fact == Fact::ByHand { 30_000 } else { 1_400_000 };
            let amount = Amount { amount: units, currency: "INR".to_owned() };
            let made = simulator.refund_by_hand(name(format!("{attempt}-capture")), amount).await;
            assert!(made.is_some());
            let charges = simulator.charges("", None, 1_000);
            let by_hand = charges.iter().find(|charge| charge.reference.as_str().starts_with("re_hand_"));
            let mut told = notice("evt_1", "refund.created", attempt, "capture", units);
            told["provider_id"] = json!(by_hand.expect("it stands").reference.as_str());
            told
        };
        Self { at, attempt, ours, told }
    }

    /// Whether that has changed anything.
    async fn tell(&self, by: Teller) -> bool {
        let mut told = self.told.clone();
        match by {
            Teller::Books => {
                // From the beginning, as after a restore.
                self.at.database().execute("DELETE FROM directory.settlement_positions").await;
                compare_settlement::run_once(&self.at.desk).await.expect("a run").applied == 1
            }
            Teller::Again => {
                told["id"] = json!("evt_2");
                self.at.tell(&told).await == APPLIED
            }
            Teller::Notice => self.at.tell(&told).await == APPLIED,
        }
    }

    /// Everything that a second effect would change.
    async fn records(&self) -> Value {
        let query = "SELECT json_build_object(
            'refunds', (SELECT json_agg(json_build_array(number, state, try, amount, by_hand, provider_id)
                                        ORDER BY number) FROM refunds),
            'history', (SELECT json_agg(json_build_array(kind, amount, reference) ORDER BY entry_id)
                        FROM payment_history),
            'committed', (SELECT refund_committed FROM payment_attempts),
            'found', (SELECT count(*) FROM provider_events WHERE finding IS NOT NULL),
            'findings', (SELECT count(*) FROM directory.settlement_findings),
            'events', (SELECT json_agg(type ORDER BY seq) FROM outbox))";
        self.at.database().value(query).await
    }

    async fn is_once(&self, fact: Fact, what: &str) {
        let records = self.records().await;
        let (refunds, found) = (&records["refunds"], &records["found"]);
        let events = records["events"].as_array().expect("events");
        let count = |event: &str| events.iter().filter(|told| *told == event).count();
        assert_eq!(records["findings"], json!(0), "{what}");
        match fact {
            Fact::ByHand => {
                assert_eq!(
                    (refunds[1][1].as_str(), &refunds[1][4]),
                    (Some("SUCCEEDED"), &json!(true)),
                    "{what}"
                );
                assert_eq!((refunds[2].is_null(), found), (true, &json!(0)), "{what}");
                assert_eq!(count("refund.succeeded"), 2, "{what}");
            }
            Fact::ByHandOfMoreThanIsLeft => {
                assert_eq!(refunds[0][1], "NEEDS_ATTENTION", "{what}");
                assert_eq!((refunds[1].is_null(), found), (true, &json!(1)), "{what}");
                assert_eq!(count("refund.needs_attention"), 1, "{what}");
            }
            Fact::CameBack => {
                assert_eq!(refunds[0][1], "REQUESTED", "{what}");
                assert_eq!((&refunds[0][2], found), (&json!(2), &json!(0)), "{what}");
                assert_eq!((count("refund.succeeded"), count("refund.failed")), (1, 1), "{what}");
            }
        }
        self.at.verify().await;
    }
}

#[tokio::test]
async fn b061_a_fact_of_the_provider_has_one_effect_in_every_order_of_notice_repeat_and_books() {
    for fact in [Fact::ByHand, Fact::ByHandOfMoreThanIsLeft, Fact::CameBack] {
        for order in orders(&[Teller::Notice, Teller::Again, Teller::Books]) {
            let what = format!("{fact:?}, {order:?}");
            let scene = Scene::of(fact).await;
            assert!(scene.tell(order[0]).await, "{what}");
            scene.is_once(fact, &what).await;
            let records = scene.records().await;
            for teller in [order[1], order[2], order[0], order[1]] {
                assert!(!scene.tell(teller).await, "{what}: {teller:?}");
                assert_eq!(scene.records().await, records, "{what}: {teller:?}");
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn b061_a_fact_of_the_provider_that_three_tell_at_once_has_one_effect() {
    for fact in [Fact::ByHand, Fact::ByHandOfMoreThanIsLeft, Fact::CameBack] {
        for round in 0..4 {
            let scene = Scene::of(fact).await;
            let (one, two, three) = tokio::join!(
                scene.tell(Teller::Notice),
                scene.tell(Teller::Again),
                scene.tell(Teller::Books)
            );
            let effects = [one, two, three].into_iter().filter(|applied| *applied).count();
            assert_eq!(effects, 1, "{fact:?}, round {round}");
            scene.is_once(fact, &format!("{fact:?}, round {round}")).await;
        }
    }
}

/// An operator has looked, and ours goes out after all: what tells the old fact again does not stop it once more.
#[tokio::test]
async fn b061_what_an_operator_has_decided_is_not_undone_by_the_same_fact_told_again() {
    for order in orders(&[Teller::Notice, Teller::Again, Teller::Books]) {
        let scene = Scene::of(Fact::ByHandOfMoreThanIsLeft).await;
        assert!(scene.tell(order[0]).await);
        let operator = &scene.at.world.operator;
        retry_refund::run(&scene.at.desk, operator, scene.ours, fresh_key()).await.expect("sent again");
        for teller in order {
            assert!(!scene.tell(teller).await);
        }
        let listed = ops::refunds(&scene.at.desk, operator, None, 10).await.expect("a list");
        assert!(listed.items.is_empty());
        assert_eq!(scene.records().await["refunds"][0][1], "REQUESTED");
    }
}

/// It goes out again by its next name, and the books then have all three lines of it.
#[tokio::test]
async fn b060_a_refund_that_came_back_by_the_books_alone_is_sent_again_and_agrees() {
    let scene = Scene::of(Fact::CameBack).await;
    assert!(scene.tell(Teller::Books).await);
    let at = &scene.at;
    at.advance(31).await;
    assert_eq!(refund::run_once(&at.desk, at.ledger()).await.expect("sent").settled, 1);
    assert_eq!(at.charge(scene.attempt, "refund-1-2").map(|charge| charge.calls), Some(1));
    assert!(!scene.tell(Teller::Books).await);
    let records = scene.records().await;
    assert_eq!((&records["refunds"][0][1], &records["findings"]), (&json!("SUCCEEDED"), &json!(0)));
    at.verify().await;
}
