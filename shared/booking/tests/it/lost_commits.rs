//! B050 beyond the hold: the answer of a COMMIT is lost at each step of a booking. Whether it happened is
//! found out by the step's own try, and the caller gets the original answer.

use keyrack_booking::{edit_inventory, release, start_attempt, views::Standing};
use keyrack_db::Points;
use keyrack_domain::hold::HoldState;
use keyrack_testkit::{Fault, Gates};

use crate::{
    desk_world::{DeskWorld, payment},
    disconnects::{COMMIT, through_a_proxy},
    world::{guest, key},
};

const STAY: (&str, &str) = ("2026-11-14", "2026-11-16");

fn lost() -> Fault {
    Fault::LoseAnswer(COMMIT.to_vec())
}

async fn is_booked_and_charged_once(at: &DeskWorld) {
    let rows = (at.count("payment_attempts").await, at.count("reservations").await);
    assert_eq!((at.captures(), rows), (1, (1, 1)));
    assert_eq!(at.simulator.simulator().charges("", None, 10).len(), 2, "one authorization, one capture");
    for event in ["attempt.started", "reservation.confirmed"] {
        assert_eq!(at.count(&format!("outbox WHERE type = '{event}'")).await, 1, "{event}");
    }
    assert_eq!(at.counters("2026-11-14").await, (5, 0, 1));
    at.verify().await;
}

#[tokio::test]
async fn b050_an_attempt_whose_commit_is_not_answered_is_opened_once_and_paid_once() {
    let at = DeskWorld::new().await;
    let (desk, proxy) = through_a_proxy(&at, Points::default()).await;
    let guest = guest();
    let request = payment(at.hold(&guest, STAY).await.id, "pm_ok", key("K"));
    let fired = proxy.arm(lost());
    let paid = start_attempt::run(&desk, &guest, request.clone()).await.expect("the truth");
    fired.wait().await;
    assert!(!paid.replayed && matches!(paid.answer.standing, Standing::Confirmed(_)), "{paid:?}");
    let again = start_attempt::run(&desk, &guest, request).await.expect("the same answer");
    assert_eq!((again.answer, again.replayed), (paid.answer, true));
    is_booked_and_charged_once(&at).await;
}

#[tokio::test]
async fn b050_a_confirmation_whose_commit_is_not_answered_is_told_as_the_reservation() {
    let at = DeskWorld::new().await;
    let gates = Gates::new();
    let (desk, proxy) = through_a_proxy(&at, gates.points()).await;
    let guest = guest();
    let request = payment(at.hold(&guest, STAY).await.id, "pm_ok", key("K"));
    let mut gate = gates.close("pay.after_provider");
    let meanwhile = async {
        gate.reached().await;
        let fired = proxy.arm(lost());
        gate.open();
        fired.wait().await;
    };
    let (paid, ()) = tokio::join!(start_attempt::run(&desk, &guest, request.clone()), meanwhile);
    let paid = paid.expect("the truth");
    assert!(!paid.replayed && matches!(paid.answer.standing, Standing::Confirmed(_)), "{paid:?}");
    let again = start_attempt::run(&desk, &guest, request).await.expect("the same answer");
    assert_eq!((again.answer, again.replayed), (paid.answer, true));
    is_booked_and_charged_once(&at).await;
}

#[tokio::test]
async fn b050_a_release_whose_commit_is_not_answered_gives_back_once() {
    let at = DeskWorld::new().await;
    let (desk, proxy) = through_a_proxy(&at, Points::default()).await;
    let guest = guest();
    // Another hold of the same night, whose unit must stay.
    at.hold(&crate::world::guest(), STAY).await;
    let hold = at.hold(&guest, STAY).await;
    let fired = proxy.arm(lost());
    let released = release::run(&desk, &guest, hold.id, key("R")).await.expect("the truth");
    fired.wait().await;
    assert_eq!((released.answer.state, released.replayed), (HoldState::Released, false));
    let again = release::run(&desk, &guest, hold.id, key("R")).await.expect("the same answer");
    assert_eq!((again.answer, again.replayed), (released.answer, true));
    assert_eq!(at.counters("2026-11-14").await, (5, 1, 0));
    assert_eq!(at.count("outbox WHERE type = 'hold.released'").await, 1);
    at.verify().await;
}

#[tokio::test]
async fn b050_an_edit_whose_commit_is_not_answered_is_applied_and_told_once() {
    let at = DeskWorld::new().await;
    let (desk, proxy) = through_a_proxy(&at, Points::default()).await;
    let request = at.edit("RT-DLX", STAY, 3, key("E"));
    let traces = || async { (at.count("outbox").await, at.count("audit").await) };
    let before = traces().await;
    let fired = proxy.arm(lost());
    let edited = edit_inventory::run(&desk, &at.world.operator, request.clone()).await.expect("the truth");
    fired.wait().await;
    assert!(!edited.replayed);
    assert_eq!(edited.answer.nights.iter().map(|night| night.sellable).collect::<Vec<_>>(), [3, 3]);
    let once = traces().await;
    assert_eq!((once.0 - before.0, once.1 - before.1), (1, 1));
    // Another edit in between: a repeat tells the original and does not apply it again.
    at.sellable(STAY, 4).await;
    let again = edit_inventory::run(&desk, &at.world.operator, request).await.expect("the same answer");
    assert_eq!((again.answer, again.replayed), (edited.answer, true));
    assert_eq!(at.counters("2026-11-14").await, (4, 0, 0));
    at.verify().await;
}
