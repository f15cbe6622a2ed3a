//! Paid, and the hold is gone: the rooms may still be free. A fresh conditional allocation, with the rules of
//! the day; the hold that ended stays as it is. Where it does not fit, the money goes back.

use keyrack_domain::{
    actor::Actor,
    attempt::AttemptState,
    event::{Event, HoldPlaced},
    hold::HoldState,
    hotel::HotelRef,
    ids::{AttemptId, HoldId, ReservationId},
    money::Money,
};
use keyrack_ledger::{
    AttemptMove, AttemptRow, Changes, Decision, Facts, Found, Grounds, HoldFacts, HoldRow, KeyClaim, Needs,
    NightDelta, NightKey, Operation, Write,
};
use keyrack_store::{outbox::NewEvent, quotes::QuoteRow};

use crate::{
    availability, charges,
    confirm::{capture_became_known, needs_of_attempt, reservation_of, tell},
    rules_again::{dates, in_the_way},
};

#[derive(Clone, Debug)]
pub struct AllocateAnewOp {
    pub hotel: HotelRef,
    /// RECONCILING
    pub attempt: AttemptId,
    pub captured: Money,
    /// The ids that the fresh hold and the reservation get.
    pub hold: HoldId,
    pub reservation: ReservationId,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AllocateAnswer {
    Confirmed,
    /// A night is full, a rule is in the way, the stay has begun, or another amount was taken.
    DoesNotFit,
    /// The hold lives, or somebody else has ended the case.
    Stale(Option<AttemptState>),
}

impl Operation for AllocateAnewOp {
    type Answer = AllocateAnswer;

    fn name(&self) -> &'static str {
        "allocate_anew"
    }

    fn key(&self) -> Option<&KeyClaim> {
        None
    }

    fn needs(&self, facts: &Facts) -> Needs {
        let mut needs = needs_of_attempt(self.attempt, facts);
        if let Some((.., quote)) = self.case(facts) {
            needs.restrictions.extend(dates(&self.hotel, &quote.document));
        }
        needs
    }

    fn decide(&self, facts: &Facts) -> Decision<AllocateAnswer> {
        let state = facts.attempts.get(&self.attempt).map(|attempt| attempt.state);
        let Some((attempt, ended, quote)) = self.case(facts) else {
            return Decision::refuse(AllocateAnswer::Stale(state));
        };
        if attempt.state != AttemptState::Reconciling || ended.row.state == HoldState::Active {
            return Decision::refuse(AllocateAnswer::Stale(state));
        }
        if self.captured != attempt.amount || !in_the_way(&self.hotel, &quote.document, facts).is_empty() {
            return Decision::refuse(AllocateAnswer::DoesNotFit);
        }
        let mut changes = Changes::default();
        let confirmed = NightDelta { confirmed: 1, ..NightDelta::default() };
        changes.move_units(self.hold, &ended.units, confirmed);
        let short: Vec<NightKey> = changes
            .nights
            .iter()
            .filter(|(key, delta)| facts.nights.get(key).is_none_or(|n| n.available() < delta.confirmed))
            .map(|(key, _)| *key)
            .collect();
        if !short.is_empty() {
            return Decision::Refuse { answer: AllocateAnswer::DoesNotFit, grounds: Grounds::Units(short) };
        }
        self.allocate(attempt, ended, quote, facts, changes)
    }

    fn replay(&self, _found: &Found) -> Result<AllocateAnswer, keyrack_db::DbError> {
        Ok(AllocateAnswer::Stale(None))
    }
}

impl AllocateAnewOp {
    /// What a change held is nothing to book.
    fn case<'f>(&self, facts: &'f Facts) -> Option<(&'f AttemptRow, &'f HoldFacts, &'f QuoteRow)> {
        let attempt = facts.attempts.get(&self.attempt)?;
        let hold = facts.holds.get(&attempt.hold?).filter(|hold| hold.row.change.is_none())?;
        Some((attempt, hold, facts.quotes.get(&hold.row.quote)?))
    }

    fn allocate(
        &self,
        attempt: &AttemptRow,
        ended: &HoldFacts,
        quote: &QuoteRow,
        facts: &Facts,
        mut changes: Changes,
    ) -> Decision<AllocateAnswer> {
        // Placed and consumed at once. Its end is of no account, and after its beginning as any hold's.
        let hold = HoldRow {
            id: self.hold,
            state: HoldState::Consumed,
            created_at: facts.now,
            expires_at: facts.now.plus(keyrack_domain::quote::VALID_FOR),
            deferred_until: None,
            drifted: false,
            ..ended.row.clone()
        };
        let hotel = self.hotel.id;
        let event = Event::HoldPlaced(HoldPlaced {
            hold_id: hold.id,
            quote_id: hold.quote,
            principal_id: hold.principal,
            stay: hold.stay,
            total: hold.total,
            expires_at: hold.expires_at,
            nights: availability::after(facts, &changes, hotel, &ended.units),
        });
        changes.events.push(NewEvent { hotel, event });
        let reservation = reservation_of(self.reservation, attempt, &hold, quote, facts.now);
        tell(&Actor::Worker, self.captured, &reservation, &ended.units, facts, &mut changes);
        changes.writes.push(Write::ShiftAttempt(AttemptMove {
            captured: self.captured,
            ..attempt.moved(AttemptState::Confirmed)
        }));
        changes.writes.extend(capture_became_known(attempt, self.captured));
        charges::begin(&reservation, attempt, &mut changes);
        changes.writes.push(Write::PlaceHold(hold, ended.units.clone()));
        changes.writes.push(Write::MakeReservation(Box::new(reservation), ended.units.clone()));
        Decision::Commit(changes, AllocateAnswer::Confirmed)
    }
}
