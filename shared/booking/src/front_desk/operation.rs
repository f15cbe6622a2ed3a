//! The steps of a stay as operations of the ledger: the guest comes, leaves, never comes, or comes after all.

use std::collections::BTreeMap;

use chrono::NaiveDate;
use keyrack_domain::{
    actor::Actor,
    event::{Event, ReservationMoved},
    hotel::HotelRef,
    ids::ReservationId,
    policy::PaymentPolicy,
    principal::Caller,
    reservation::ReservationState,
};
use keyrack_ledger::{
    Changes, Decision, Facts, Found, Grounds, KeyClaim, Needs, NightDelta, NightKey, NightsFrom, Operation,
    ReservationFacts, ReservationMove, UnitNight, Write,
};
use keyrack_store::{audit::NewAudit, outbox::NewEvent};
use serde::{Deserialize, Serialize};

use crate::{availability, charges::Schedule, key};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Step {
    CheckIn,
    /// `Some`: an early departure on that date; the nights from it on go back.
    CheckOut(Option<NaiveDate>),
    NoShow,
    UndoNoShow,
}

impl Step {
    const fn from(self) -> ReservationState {
        match self {
            Self::CheckIn | Self::NoShow => ReservationState::Confirmed,
            Self::CheckOut(_) => ReservationState::CheckedIn,
            Self::UndoNoShow => ReservationState::NoShow,
        }
    }

    const fn to(self) -> ReservationState {
        match self {
            Self::CheckIn => ReservationState::CheckedIn,
            Self::CheckOut(_) => ReservationState::CheckedOut,
            Self::NoShow => ReservationState::NoShow,
            Self::UndoNoShow => ReservationState::Confirmed,
        }
    }

    const fn event(self, moved: ReservationMoved) -> Event {
        match self {
            Self::CheckIn => Event::ReservationCheckedIn(moved),
            Self::CheckOut(_) => Event::ReservationCheckedOut(moved),
            Self::NoShow => Event::ReservationNoShow(moved),
            Self::UndoNoShow => Event::ReservationNoShowUndone(moved),
        }
    }
}

#[derive(Clone, Debug)]
pub struct StepOp {
    pub hotel: HotelRef,
    pub claim: KeyClaim,
    pub caller: Caller,
    pub reservation: ReservationId,
    pub step: Step,
    /// The version that the caller has seen, where it says so.
    pub if_match: Option<i32>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stepped {
    pub reservation: ReservationId,
    pub state: ReservationState,
    pub version: i32,
}

#[derive(Clone, Debug)]
pub enum StepAnswer {
    Stepped(Stepped),
    NotFound,
    Stale(i32, ReservationState),
    /// The reservation is in another state than the step starts from.
    WrongState(ReservationState),
    /// The step's day has not come, or has passed: from the first date on, to the last one if it has one.
    NotToday(NaiveDate, Option<NaiveDate>),
    /// The departure must lie between these dates, both included.
    NoSuchDeparture(NaiveDate, NaiveDate),
    /// The nights of an undone no-show are sold to others.
    SoldOut(NightKey),
    /// The counters do not carry it. Nothing was done.
    Drift(NightKey),
}

/// What a step does to the nights.
enum Nights {
    Stay,
    Back(NaiveDate),
    Again(NaiveDate),
}

impl Operation for StepOp {
    type Answer = StepAnswer;

    fn name(&self) -> &'static str {
        match self.step {
            Step::CheckIn => "check_in",
            Step::CheckOut(_) => "check_out",
            Step::NoShow => "no_show",
            Step::UndoNoShow => "undo_no_show",
        }
    }

    fn key(&self) -> Option<&KeyClaim> {
        Some(&self.claim)
    }

    fn needs(&self, facts: &Facts) -> Needs {
        let mut needs = Needs::default();
        needs.reservations.insert(self.reservation);
        if let Some(reservation) = facts.reservations.get(&self.reservation) {
            // All that the step could touch: more than it does harms nothing.
            let units = match self.step {
                Step::CheckIn => [].as_slice(),
                Step::CheckOut(_) | Step::NoShow => reservation.units.as_slice(),
                Step::UndoNoShow => reservation.given_back.as_slice(),
            };
            needs.nights.extend(units.iter().map(|unit| availability::night_of(self.hotel.id, unit)));
        }
        needs
    }

    fn unseen(&self, facts: &Facts) -> Option<StepAnswer> {
        let hidden = !self.caller.runs(self.hotel.id) || !facts.reservations.contains_key(&self.reservation);
        hidden.then_some(StepAnswer::NotFound)
    }

    fn decide(&self, facts: &Facts) -> Decision<StepAnswer> {
        let Some(reservation) = facts.reservations.get(&self.reservation) else {
            return Decision::refuse(StepAnswer::NotFound);
        };
        let row = &reservation.row;
        if row.state != self.step.from() {
            return Decision::refuse(StepAnswer::WrongState(row.state));
        }
        if self.if_match.is_some_and(|seen| seen != row.version) {
            return Decision::refuse(StepAnswer::Stale(row.version, row.state));
        }
        match self.nights(reservation, facts.now.date_in(self.hotel.zone)) {
            Err(refusal) => Decision::refuse(refusal),
            Ok(nights) => self.step(reservation, &nights, facts),
        }
    }

    fn replay(&self, found: &Found) -> Result<StepAnswer, keyrack_db::DbError> {
        key::recorded(found).map(StepAnswer::Stepped)
    }
}

impl StepOp {
    /// The rules of the calendar, all by the hotel's date.
    fn nights(&self, reservation: &ReservationFacts, today: NaiveDate) -> Result<Nights, StepAnswer> {
        let stay = reservation.row.stay;
        let (arrival, departure) = (stay.check_in(), stay.check_out());
        match self.step {
            // Also after midnight of the last night: the guest may come late, or the desk write late.
            Step::CheckIn if today < arrival || today > departure => {
                Err(StepAnswer::NotToday(arrival, Some(departure)))
            }
            Step::CheckIn | Step::CheckOut(None) => Ok(Nights::Stay),
            // The guest has slept there until today, whatever the desk writes.
            Step::CheckOut(Some(date)) => {
                let first = today.clamp(arrival, departure);
                let possible = (first..=departure).contains(&date);
                if possible {
                    Ok(Nights::Back(date))
                } else {
                    Err(StepAnswer::NoSuchDeparture(first, departure))
                }
            }
            // Until the arrival's midnight the guest may still come.
            Step::NoShow if today <= arrival => {
                Err(StepAnswer::NotToday(arrival.succ_opt().unwrap_or(arrival), None))
            }
            // The nights that have passed were kept free for the guest; those to come are sold again.
            Step::NoShow => Ok(Nights::Back(today)),
            Step::UndoNoShow if today > departure => Err(StepAnswer::NotToday(arrival, Some(departure))),
            // A night that has passed without the guest is of no use any more; others may have had it.
            Step::UndoNoShow => Ok(Nights::Again(today)),
        }
    }

    fn step(&self, reservation: &ReservationFacts, nights: &Nights, facts: &Facts) -> Decision<StepAnswer> {
        let row = &reservation.row;
        let mut changes = Changes::default();
        let touched: Vec<&UnitNight> = match nights {
            Nights::Stay => Vec::new(),
            Nights::Back(first) => reservation.units.iter().filter(|unit| unit.date >= *first).collect(),
            Nights::Again(first) => {
                reservation.given_back.iter().filter(|unit| unit.date >= *first).collect()
            }
        };
        let by = if matches!(nights, Nights::Again(_)) { 1 } else { -1 };
        for unit in &touched {
            let delta = changes.nights.entry(availability::night_of(self.hotel.id, unit)).or_default();
            *delta = NightDelta { confirmed: delta.confirmed + by, ..*delta };
        }
        if let Some(refusal) = does_not_fit(&changes.nights, facts) {
            return refusal;
        }
        let first = touched.iter().map(|unit| unit.date).min();
        if let Some(first) = first {
            let nights = NightsFrom { reservation: row.id, first, units: touched.len() };
            changes.writes.push(if by > 0 { Write::TakeAgain(nights) } else { Write::GiveBack(nights) });
        }
        let stepped = Stepped { reservation: row.id, state: self.step.to(), version: row.version + 1 };
        changes.writes.push(Write::ShiftReservation(ReservationMove {
            id: row.id,
            from: row.state,
            to: stepped.state,
            from_version: row.version,
            to_version: stepped.version,
        }));
        self.charges(reservation, facts, &mut changes);
        self.tell(reservation, &stepped, &touched, facts, &mut changes);
        changes.answer = key::answer(&stepped);
        Decision::Commit(changes, StepAnswer::Stepped(stepped))
    }

    /// A no-show is past every rung of its policy: the whole price is due, and what is owed of it is collected.
    /// A guest who came after all pays at the property what was to be paid there.
    fn charges(&self, reservation: &ReservationFacts, facts: &Facts, changes: &mut Changes) {
        let mut schedule = Schedule::of(reservation);
        match self.step {
            Step::NoShow => schedule.due_as_penalty(facts.now),
            Step::UndoNoShow if reservation.row.document.payment() == PaymentPolicy::AtProperty => {
                schedule.back_to_the_property(facts.now);
            }
            Step::UndoNoShow | Step::CheckIn | Step::CheckOut(_) => {}
        }
        schedule.write(changes);
    }

    fn tell(
        &self,
        reservation: &ReservationFacts,
        stepped: &Stepped,
        touched: &[&UnitNight],
        facts: &Facts,
        changes: &mut Changes,
    ) {
        let hotel = self.hotel.id;
        let event = self.step.event(ReservationMoved {
            reservation_id: stepped.reservation,
            state: stepped.state,
            version: stepped.version,
            nights: availability::after(facts, changes, hotel, touched.iter().copied()),
        });
        changes.audit.push(NewAudit {
            hotel,
            actor: Actor::Caller(self.caller.clone()),
            action: event.type_name(),
            subject: stepped.reservation.to_string(),
            before: Some(serde_json::json!({
                "state": reservation.row.state,
                "version": reservation.row.version,
            })),
            after: Some(serde_json::json!({
                "state": stepped.state,
                "version": stepped.version,
                "nights": touched.iter().map(|unit| (unit.room, unit.date)).collect::<Vec<_>>(),
            })),
        });
        changes.events.push(NewEvent { hotel, event });
    }
}

/// Units that cannot go back are drift; units that cannot be taken again are sold.
fn does_not_fit(deltas: &BTreeMap<NightKey, NightDelta>, facts: &Facts) -> Option<Decision<StepAnswer>> {
    let lacks = |(key, delta): &(&NightKey, &NightDelta)| match facts.nights.get(key) {
        None => true,
        Some(night) if delta.confirmed > 0 => night.available() < delta.confirmed,
        Some(night) => night.confirmed + delta.confirmed < 0,
    };
    let (key, delta) = deltas.iter().find(lacks)?;
    let sold = delta.confirmed > 0;
    let answer = if sold { StepAnswer::SoldOut(*key) } else { StepAnswer::Drift(*key) };
    // The reservation and its nights must be of one instant.
    Some(Decision::Refuse { answer, grounds: Grounds::Locks })
}
