//! T1 and the ways in which a hold ends without a booking.

use keyrack_domain::{
    hold::{self, HoldState},
    ids::{HoldId, HotelId, PrincipalId, QuoteId},
    operation_key::OperationKey,
    quote::{QuoteDocument, VALID_FOR},
    restriction::{Rule, Violation, violations},
};

use crate::{
    keys::Input,
    nights::{Move, Units, units_of},
    outcome::{Answer, Outcome, Refusal},
    world::{Hold, Quote, World},
};

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MakeQuote {
    pub principal: PrincipalId,
    pub key: OperationKey,
    /// As the rules of pricing make it.
    pub document: QuoteDocument,
    /// The new quote's, if it is made.
    pub id: QuoteId,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PlaceHold {
    pub principal: PrincipalId,
    pub key: OperationKey,
    pub quote: QuoteId,
    pub replaces: Option<HoldId>,
    /// The new hold's, if it is placed.
    pub id: HoldId,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ReleaseHold {
    pub principal: PrincipalId,
    pub key: OperationKey,
    pub hold: HoldId,
}

impl World {
    /// Who may not see the quote, or the hold to replace, learns nothing of the key either.
    pub fn place_hold(&mut self, call: &PlaceHold) -> Answer {
        self.own_quote(call)?;
        call.replaces.map_or(Ok(()), |old| self.own_hold(call.principal, old).map(|_| ()))?;
        let input = Input::PlaceHold { quote: call.quote, replaces: call.replaces };
        self.once(call.quote.hotel(), call.principal, &call.key, input, |world| world.new_hold(call))
    }

    /// Of several reasons the first of these is told: quote expired, restrictions, the replaced
    /// hold, the limit, the nights.
    fn new_hold(&mut self, call: &PlaceHold) -> Result<Outcome, Refusal> {
        let hotel = call.quote.hotel();
        let quote = self.own_quote(call)?.clone();
        if self.now.is_past(quote.expires_at) {
            return Err(Refusal::QuoteExpired);
        }
        self.must_be_allowed(&quote, call)?;
        let given_back = call.replaces.map_or(Ok(Units::new()), |old| self.replaceable(old))?;
        let kept = self.active_holds(call).filter(|id| Some(*id) != call.replaces).count();
        if kept >= self.settings.holds_per_principal {
            return Err(Refusal::HoldLimit);
        }
        self.must_fit(hotel, &units_of(&quote.document), &given_back)?;

        if let Some(old) = call.replaces {
            self.close(old, HoldState::Released);
        }
        let expires_at = self.now.plus(self.settings.hold_valid_for);
        let (principal, document) = (quote.principal, quote.document);
        let units = units_of(&document);
        self.change(hotel, &units, Move::Hold);
        let state = HoldState::Active;
        let hold = Hold { principal, document, state, expires_at, deferred_until: None, units };
        self.holds.insert(call.id, hold);
        self.hold_outcome(call.id)
    }

    fn must_be_allowed(&self, quote: &Quote, call: &PlaceHold) -> Result<(), Refusal> {
        let broken = self.broken(call.quote.hotel(), &quote.document);
        if broken.is_empty() { Ok(()) } else { Err(Refusal::RestrictionViolated(broken)) }
    }

    /// What forbids to sell this stay now, by the hotel's date.
    pub(crate) fn broken(&self, hotel: HotelId, document: &QuoteDocument) -> Vec<Violation> {
        let Some(hotel) = self.hotels.get(&hotel) else { return Vec::new() };
        let (stay, today) = (document.stay, self.now.date_in(hotel.zone));
        let rooms = document.rooms.iter().map(|room| (room.room_type_id, room.rate_plan_id));
        let mut broken = violations(stay, today, rooms, &hotel.restrictions);
        if stay.check_in() < today {
            let past = |room_type| Violation {
                night: stay.check_in(),
                rule: Rule::PastDate,
                room_type,
                required: None,
                given: None,
            };
            broken.extend(document.units_by_room_type().into_keys().map(past));
        }
        broken
    }

    /// A price for 600 s; it claims nothing.
    pub fn make_quote(&mut self, call: &MakeQuote) -> Answer {
        let hotel = call.id.hotel();
        let input = Input::Quote { document: call.document.clone() };
        self.once(hotel, call.principal, &call.key, input, |world| {
            if call.document.stay.check_in() < world.today(hotel) {
                return Err(Refusal::Invalid);
            }
            let broken = world.broken(hotel, &call.document);
            if !broken.is_empty() {
                return Err(Refusal::RestrictionViolated(broken));
            }
            let expires_at = world.now.plus(VALID_FOR);
            let (principal, document) = (call.principal, call.document.clone());
            let total = document.total;
            world.quotes.insert(call.id, Quote { principal, document, expires_at });
            Ok(Outcome::Quoted { total })
        })
    }

    /// The units that a hold gives back when it is swapped for another.
    fn replaceable(&self, old: HoldId) -> Result<Units, Refusal> {
        self.must_not_be_paid_for(old)?;
        let hold = self.holds.get(&old).ok_or(Refusal::NotFound)?;
        hold.state.release().map_err(|closed| Refusal::HoldNotActive(closed.0))?;
        Ok(hold.units.clone())
    }

    fn active_holds(&self, call: &PlaceHold) -> impl Iterator<Item = HoldId> {
        let mine = |id: &HoldId, hold: &Hold| {
            id.hotel() == call.quote.hotel()
                && hold.principal == call.principal
                && hold.state == HoldState::Active
        };
        self.holds.iter().filter(move |(id, hold)| mine(id, hold)).map(|(id, _)| *id)
    }

    /// A hold that is closed already answers with itself, unless a reservation took it over.
    pub fn release_hold(&mut self, call: &ReleaseHold) -> Answer {
        self.own_hold(call.principal, call.hold)?;
        let input = Input::ReleaseHold { hold: call.hold };
        self.once(call.hold.hotel(), call.principal, &call.key, input, |world| {
            world.must_not_be_paid_for(call.hold)?;
            match world.own_hold(call.principal, call.hold)?.state {
                HoldState::Active => world.close(call.hold, HoldState::Released),
                HoldState::Released | HoldState::Expired => {}
                HoldState::Consumed => return Err(Refusal::HoldNotActive(HoldState::Consumed)),
            }
            world.hold_outcome(call.hold)
        })
    }

    /// The expiry worker, until it has nothing left to do: the holds that it ended.
    pub fn expire(&mut self) -> Vec<HoldId> {
        let now = self.now;
        let is_due = |hold: &Hold| {
            hold.state == HoldState::Active && hold::is_due(hold.expires_at, hold.deferred_until, now)
        };
        let due: Vec<_> = self.holds.iter().filter(|(_, hold)| is_due(hold)).map(|(id, _)| *id).collect();
        for id in &due {
            self.close(*id, HoldState::Expired);
        }
        due
    }

    /// The same for one of them.
    pub fn expire_one(&mut self, id: HoldId) {
        let due = |hold: &Hold| hold::is_due(hold.expires_at, hold.deferred_until, self.now);
        if self.holds.get(&id).is_some_and(due) {
            self.close(id, HoldState::Expired);
        }
    }

    /// Out of ACTIVE, units back at once.
    pub(crate) fn close(&mut self, id: HoldId, to: HoldState) {
        let Some(hold) = self.holds.get_mut(&id).filter(|hold| hold.state == HoldState::Active) else {
            return;
        };
        (hold.state, hold.deferred_until) = (to, None);
        let units = hold.units.clone();
        self.change(id.hotel(), &units, Move::GiveBack);
    }

    fn own_quote(&self, call: &PlaceHold) -> Result<&Quote, Refusal> {
        self.quotes
            .get(&call.quote)
            .filter(|quote| quote.principal == call.principal)
            .ok_or(Refusal::NotFound)
    }

    pub(crate) fn own_hold(&self, principal: PrincipalId, hold: HoldId) -> Result<&Hold, Refusal> {
        self.holds.get(&hold).filter(|hold| hold.principal == principal).ok_or(Refusal::NotFound)
    }

    /// As long as an attempt of the hold is open, its owner can neither give it up nor pay again.
    pub(crate) fn must_not_be_paid_for(&self, hold: HoldId) -> Result<(), Refusal> {
        self.open_attempt_of(hold).map_or(Ok(()), |attempt| Err(Refusal::AttemptInProgress(attempt)))
    }

    fn hold_outcome(&self, id: HoldId) -> Result<Outcome, Refusal> {
        let hold = self.holds.get(&id).ok_or(Refusal::NotFound)?;
        Ok(Outcome::Hold { id, state: hold.state, expires_at: hold.expires_at, total: hold.document.total })
    }
}
