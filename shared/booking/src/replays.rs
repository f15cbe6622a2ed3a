//! Notes of calls that were answered from a recorded key: what the repeat was told, and where it picked up.

use keyrack_db::DbError;
use keyrack_domain::{
    actor::Actor, attempt::AttemptState, hotel::HotelRef, ids::AttemptId, principal::Caller,
};
use keyrack_store::audit::{self, NewAudit};

use crate::{Desk, Fault};

/// A client in a loop fills no table: of what is repeated more often, the first are kept.
const MOST: i64 = 100;

/// What happens next, or has happened, where a repeat is told this state.
pub(crate) const fn picked_up(state: AttemptState) -> &'static str {
    match state {
        AttemptState::PendingPayment => "waits_for_the_provider",
        AttemptState::Reconciling => "waits_for_the_resolver",
        AttemptState::Confirmed => "the_reservation",
        AttemptState::Failed => "the_decline",
        AttemptState::PaymentCapturedBookingFailed | AttemptState::Refunded => "the_refund",
    }
}

/// A payment that was repeated.
pub(crate) async fn of_attempt(
    desk: &Desk,
    hotel: &HotelRef,
    caller: Caller,
    attempt: AttemptId,
    state: AttemptState,
) {
    let told = serde_json::json!({ "state": state, "picked_up": picked_up(state) });
    let action = "attempt.replayed";
    note(desk, hotel, caller, Replay { action, subject: attempt.to_string(), told }).await;
}

/// A call that was repeated and told what it told before.
pub(crate) struct Replay {
    /// Ends with `.replayed`.
    pub(crate) action: &'static str,
    pub(crate) subject: String,
    pub(crate) told: serde_json::Value,
}

/// Never fails what it is about, and delays it within the bound of every note.
pub(crate) async fn note(desk: &Desk, hotel: &HotelRef, caller: Caller, replay: Replay) {
    let Replay { action, subject, told } = replay;
    let actor = Actor::Caller(caller);
    let entry = NewAudit { hotel: hotel.id, actor, action, subject, before: None, after: Some(told) };
    let database = desk.hotels().database(hotel).cloned();
    let writing = async move {
        let written: Result<bool, DbError> = database?
            .transaction("note_replay", move |connection| {
                let entry = entry.clone();
                Box::pin(async move { audit::append_up_to(connection, &entry, MOST).await })
            })
            .await;
        // False: there are enough of them.
        written.map(|_| ()).map_err(Fault::from)
    };
    desk.notes().in_time("replay", writing).await;
}
