//! A hotel in which everything has happened once: every state of a hold, an attempt and a refund.

use std::time::Duration;

use keyrack_booking::{Settings, reconcile, refund, release, verify};
use keyrack_db::Points;
use keyrack_domain::{
    ids::{AttemptId, HoldId},
    principal::Caller,
};

use crate::{
    desk_world::DeskWorld,
    world::{HORIZON, fresh_key, guest},
};

/// The worked example's nights.
pub(crate) const STAY: (&str, &str) = ("2026-11-14", "2026-11-16");

pub(crate) struct Season {
    pub(crate) at: DeskWorld,
    pub(crate) active: HoldId,
    pub(crate) released: HoldId,
    /// Its first attempt failed, its second made the reservation.
    pub(crate) consumed: HoldId,
    pub(crate) failed: AttemptId,
    pub(crate) confirmed: AttemptId,
    /// Captured late; the refund is due.
    pub(crate) refund_due: AttemptId,
    pub(crate) refunded: AttemptId,
    /// ACTIVE, with an attempt that is PENDING_PAYMENT.
    pub(crate) paying: HoldId,
}

impl Season {
    pub(crate) async fn new() -> Self {
        // Answers that are lost are not waited for.
        let impatient =
            Settings { horizon: HORIZON, provider_deadline: Duration::from_secs(1), ..Settings::default() };
        let at = DeskWorld::with(Points::default(), impatient).await;
        let refunded = captured_too_late(&at).await;
        refund::run_once(&at.desk, at.ledger()).await.expect("refunds are sent");
        let refund_due = captured_too_late(&at).await;

        let (walks_away, released) = held(&at).await;
        release::run(&at.desk, &walks_away, released, fresh_key()).await.expect("released");

        let (books, consumed) = held(&at).await;
        let failed = at.pay(&books, consumed, "pm_declined").await.attempt;
        let confirmed = at.pay(&books, consumed, "pm_ok").await.attempt;

        let (waits, paying) = held(&at).await;
        at.pay(&waits, paying, "pm_lost_response").await;
        let (_, active) = held(&at).await;
        Self { at, active, released, consumed, failed, confirmed, refund_due, refunded, paying }
    }

    pub(crate) async fn verify(&self) -> verify::Report {
        verified(&self.at).await
    }
}

pub(crate) async fn verified(at: &DeskWorld) -> verify::Report {
    verify::run(at.world.hotels.shards(), verify::Options::default()).await
}

pub(crate) async fn held(at: &DeskWorld) -> (Caller, HoldId) {
    let guest = guest();
    let hold = at.hold(&guest, STAY).await.id;
    (guest, hold)
}

/// The provider outlasts hold and deferral: the hold expires, and the capture found later goes back.
async fn captured_too_late(at: &DeskWorld) -> AttemptId {
    let (guest, hold) = held(at).await;
    let attempt = at.pay(&guest, hold, "pm_lost_response").await.attempt;
    at.advance(721).await;
    assert_eq!(at.expire().await.expired, 1);
    reconcile::run_once(&at.desk, at.ledger()).await.expect("the sweep runs");
    attempt
}
