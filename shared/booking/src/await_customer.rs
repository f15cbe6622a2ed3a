//! The provider has asked for the customer: the attempt keeps the page, and hold and attempt wait longer. A
//! notice ends it, or the sweep at its deadline.

use keyrack_db::DbError;
use keyrack_domain::{
    actor::Actor, attempt::AttemptState, hold::HoldState, hotel::HotelRef, ids::HoldId, page_url::PageUrl,
};
use keyrack_ledger::AttemptRow;
use keyrack_store::{
    attempts,
    audit::{self, NewAudit},
    clock, customer_actions, holds,
};

use crate::{Desk, Fault};

/// The deadline counts from the attempt's beginning. Where the hold has ended meanwhile, or somebody else has
/// ended the attempt, nobody is sent anywhere: what waits at the provider is cancelled by the sweep.
pub(crate) async fn run(
    desk: &Desk,
    hotel: &HotelRef,
    attempt: &AttemptRow,
    url: PageUrl,
    actor: Actor,
) -> Result<(), Fault> {
    let deadline = attempt.created_at.plus(desk.settings().action_timeout);
    let id = attempt.id;
    // An attempt whose purpose claims no units waits without a hold.
    let hold: Option<HoldId> = attempt.hold;
    desk.ledger(hotel)?
        .database()
        .transaction("await_customer", move |connection| {
            let (url, actor) = (url.clone(), actor.clone());
            Box::pin(async move {
                let held = holds::lock(connection, &hold).await?.pop();
                let row = attempts::lock(connection, [&id]).await?.pop();
                let now = clock::now(connection).await?;
                let lives = held.is_none_or(|hold| hold.state == HoldState::Active);
                let waits = row.is_some_and(|row| row.state == AttemptState::PendingPayment);
                if !lives || !waits || now.is_past(deadline) {
                    return Ok(());
                }
                let deferred: Vec<_> = hold.map(|hold| (hold, Some(deadline))).into_iter().collect();
                holds::defer(connection, &deferred).await?;
                customer_actions::insert(connection, id, &url, now, deadline).await?;
                let audited = NewAudit {
                    hotel: id.hotel(),
                    actor,
                    action: "attempt.action_required",
                    subject: id.to_string(),
                    before: None,
                    after: Some(serde_json::json!({ "deadline": deadline })),
                };
                audit::append(connection, &[audited]).await
            })
        })
        .await
        .map_err(|error: DbError| Fault::from(error))
}
