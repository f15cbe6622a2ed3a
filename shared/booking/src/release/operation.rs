//! Giving a hold up, as an operation of the ledger: the expiry's transaction, by its owner.

use keyrack_domain::{
    actor::Actor,
    event::{Event, HoldEnded},
    hold::HoldState,
    hotel::HotelRef,
    ids::{AttemptId, HoldId, PrincipalId},
};
use keyrack_ledger::{
    Changes, Decision, Facts, Found, Grounds, HoldFacts, HoldRow, KeyClaim, Needs, NightDelta, NightKey,
    Operation, Write,
};
use keyrack_store::{audit::NewAudit, outbox::NewEvent};

use crate::{availability, drift, key, views::HoldView};

#[derive(Clone, Debug)]
pub struct ReleaseOp {
    pub hotel: HotelRef,
    pub claim: KeyClaim,
    pub actor: Actor,
    pub principal: PrincipalId,
    pub hold: HoldId,
}

#[derive(Clone, Debug)]
pub enum ReleaseAnswer {
    /// Released now, or ended before: the hold as it is.
    Ended(HoldView),
    NotFound,
    Consumed,
    AttemptInProgress(AttemptId),
    /// The counters do not carry it. Nothing was done.
    Drift(NightKey),
}

impl Operation for ReleaseOp {
    type Answer = ReleaseAnswer;

    fn name(&self) -> &'static str {
        "release_hold"
    }

    fn key(&self) -> Option<&KeyClaim> {
        Some(&self.claim)
    }

    fn needs(&self, facts: &Facts) -> Needs {
        needs_of_hold(self.hold, facts)
    }

    fn unseen(&self, facts: &Facts) -> Option<ReleaseAnswer> {
        self.own_hold(facts).is_none().then_some(ReleaseAnswer::NotFound)
    }

    fn decide(&self, facts: &Facts) -> Decision<ReleaseAnswer> {
        let Some(hold) = self.own_hold(facts) else { return Decision::refuse(ReleaseAnswer::NotFound) };
        // Also on a hold that has expired meanwhile: its payment decides what it comes to.
        if let Some(attempt) = hold.open_attempt {
            return Decision::refuse(ReleaseAnswer::AttemptInProgress(attempt));
        }
        let ended = HoldView::of(&hold.row, &self.hotel.code);
        let released = match hold.row.state.release() {
            Ok(state) => state,
            Err(_) if hold.row.state == HoldState::Consumed => {
                return Decision::refuse(ReleaseAnswer::Consumed);
            }
            Err(_) => return Self::ended_before(ended),
        };
        if let Some(night) = drift::of(facts, self.hotel.id, &hold.units) {
            return Decision::Refuse { answer: ReleaseAnswer::Drift(night), grounds: Grounds::Locks };
        }
        let mut changes = give_back(facts, hold, released, self.actor.clone());
        let view = HoldView { state: released, ..ended };
        changes.answer = key::answer(&view);
        Decision::Commit(changes, ReleaseAnswer::Ended(view))
    }

    fn replay(&self, found: &Found) -> Result<ReleaseAnswer, keyrack_db::DbError> {
        key::recorded(found).map(ReleaseAnswer::Ended)
    }
}

impl ReleaseOp {
    /// An answer as good as the first one, and kept under its key as well.
    fn ended_before(view: HoldView) -> Decision<ReleaseAnswer> {
        let changes = Changes { answer: key::answer(&view), ..Changes::default() };
        Decision::Commit(changes, ReleaseAnswer::Ended(view))
    }

    /// Somebody else's is not there, and neither is a change's.
    fn own_hold<'f>(&self, facts: &'f Facts) -> Option<&'f HoldFacts> {
        facts.holds.get(&self.hold).filter(|hold| hold.row.is_of_guest(self.principal))
    }
}

/// A hold, and the nights of its units.
pub(crate) fn needs_of_hold(id: HoldId, facts: &Facts) -> Needs {
    let mut needs = Needs::default();
    needs.holds.insert(id);
    if let Some(hold) = facts.holds.get(&id) {
        needs.nights.extend(hold.units.iter().map(|unit| availability::night_of(id.hotel(), unit)));
    }
    needs
}

/// The hold ends without a reservation: its units go back, and the world hears of it.
pub(crate) fn give_back(facts: &Facts, hold: &HoldFacts, to: HoldState, actor: Actor) -> Changes {
    let mut changes = free(hold, to);
    tell_ended(facts, hold, to, actor, &mut changes);
    changes
}

pub(crate) fn free(hold: &HoldFacts, to: HoldState) -> Changes {
    let mut changes = Changes::default();
    changes.move_units(hold.row.id, &hold.units, NightDelta { held: -1, ..NightDelta::default() });
    changes.writes.push(Write::CloseHold(hold.row.id, to));
    changes
}

/// Called when `changes` are whole: what is told of a night is what the transaction leaves there.
pub(crate) fn tell_ended(
    facts: &Facts,
    hold: &HoldFacts,
    to: HoldState,
    actor: Actor,
    changes: &mut Changes,
) {
    let HoldRow { id, .. } = hold.row;
    let nights = availability::after(facts, changes, id.hotel(), &hold.units);
    let ended = HoldEnded { hold_id: id, nights };
    let event = if to == HoldState::Expired { Event::HoldExpired(ended) } else { Event::HoldReleased(ended) };
    changes.audit.push(NewAudit {
        hotel: id.hotel(),
        actor,
        action: event.type_name(),
        subject: id.to_string(),
        before: Some(serde_json::json!({ "state": HoldState::Active })),
        after: Some(serde_json::json!({ "state": to })),
    });
    changes.events.push(NewEvent { hotel: id.hotel(), event });
}
