//! An attempt to pay for a change has ended without the change: what was held for it goes back, and the
//! reservation is what it was.

use keyrack_db::{DbError, PgConnection};
use keyrack_domain::{actor::Actor, change::ChangeState, hold::HoldState, ids::ChangeId};
use keyrack_ledger::{AttemptRow, Changes, Facts, Needs, Write};
use keyrack_store::{changes as stay_changes, reservations};

use super::swap::is_as_priced;
use crate::{
    drift,
    release::operation::{give_back, needs_of_hold},
};

/// The change of an attempt, where it pays for one, and the nights that its hold has.
pub(crate) fn needs(attempt: &AttemptRow, facts: &Facts) -> Needs {
    let (Some(change), Some(hold)) = (attempt.change, attempt.hold) else { return Needs::default() };
    let mut needs = needs_of_hold(hold, facts);
    needs.changes.insert(change);
    needs
}

/// `to` is PRICED where nothing was taken, so that another card may pay, and FAILED where money was taken.
/// A change that has moved on since, by another attempt, is left alone.
pub(crate) fn end(
    attempt: &AttemptRow,
    to: ChangeState,
    actor: &Actor,
    facts: &Facts,
    changes: &mut Changes,
) {
    let Some(change) = attempt.change.and_then(|id| facts.changes.get(&id)) else { return };
    let hold = attempt.hold.and_then(|id| facts.holds.get(&id));
    let active = hold.filter(|hold| hold.row.state == HoldState::Active && !hold.row.drifted);
    // One that its nights do not carry stays for the expiry, which marks it.
    let carried = active.filter(|hold| drift::of(facts, attempt.id.hotel(), &hold.units).is_none());
    if let Some(hold) = carried {
        let released = give_back(facts, hold, HoldState::Released, actor.clone());
        changes.nights.extend(released.nights);
        changes.writes.extend(released.writes);
        changes.events.extend(released.events);
        changes.audit.extend(released.audit);
    }
    if change.state == ChangeState::Started && change.attempt == Some(attempt.id) {
        changes.writes.push(Write::ShiftChange(change.moved(to)));
    }
}

/// The reservation is no longer the one that was priced: somebody cancelled or changed it meanwhile.
pub(crate) fn is_overtaken(attempt: &AttemptRow, facts: &Facts) -> bool {
    let Some(change) = attempt.change.and_then(|id| facts.changes.get(&id)) else { return false };
    let reservation = facts.reservations.get(&change.reservation);
    !reservation.is_some_and(|reservation| is_as_priced(&reservation.row, change))
}

/// The same, read without a lock: what has been overtaken stays so, since versions only rise.
pub(crate) async fn was_overtaken(connection: &mut PgConnection, id: ChangeId) -> Result<bool, DbError> {
    let Some(change) = stay_changes::read(connection, [&id]).await?.pop() else { return Ok(false) };
    let reservation = reservations::find(connection, change.reservation).await?;
    Ok(!reservation.is_some_and(|reservation| is_as_priced(&reservation, &change)))
}
