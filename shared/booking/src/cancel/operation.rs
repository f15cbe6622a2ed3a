//! The cancellation as an operation of the ledger: the rooms' units go back and the refund is requested in
//! one transaction. A refund that fails later never opens the reservation again.

use std::collections::BTreeMap;

use keyrack_domain::{
    actor::Actor,
    clock::Moment,
    event::{Event, ReservationCancelled},
    hotel::HotelRef,
    ids::{RefundId, ReservationId},
    money::Money,
    principal::Caller,
    reservation::ReservationState,
};
use keyrack_ledger::{
    AttemptRow, Changes, Decision, Facts, Found, Grounds, KeyClaim, Needs, NightDelta, NightKey, Operation,
    ReservationFacts, ReservationMove, RoomCancelled, UnitNight, Write,
};
use keyrack_store::{audit::NewAudit, outbox::NewEvent};
use serde::{Deserialize, Serialize};

use super::price::{self, RoomPrice, Wanted};
use crate::{
    availability,
    charges::{self, Schedule},
    key,
    request_refund::{lesser, pay_back, payments},
};

/// Why it is paid back.
pub const CANCELLED: &str = "cancelled";

#[derive(Clone, Debug)]
pub struct CancelOp {
    pub hotel: HotelRef,
    pub claim: KeyClaim,
    pub caller: Caller,
    pub reservation: ReservationId,
    pub wanted: Wanted,
    /// The version that the caller has seen, and the price with it.
    pub if_match: i32,
    /// The id that the refund gets, where one is due.
    pub refund: RefundId,
}

/// What the cancellation did, or an earlier one had done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cancellation {
    pub reservation: ReservationId,
    pub state: ReservationState,
    pub version: i32,
    pub rooms: Vec<RoomPrice>,
    pub penalty: Money,
    /// What goes back: the rooms' refunds, less where more had been given back before.
    pub refund: Money,
    /// What was owed and stays so: it is collected now. Absent in answers kept before there was any.
    #[serde(default)]
    pub due: Option<Money>,
}

#[derive(Clone, Debug)]
pub enum CancelAnswer {
    Cancelled(Cancellation),
    NotFound,
    NoSuchRoom,
    /// Changed since the caller looked: the present version and state.
    Stale(i32, ReservationState),
    /// Checked in, checked out, a no-show, or past the day of arrival: nothing to cancel.
    NotConfirmed(ReservationState),
    /// The counters do not carry it. Nothing was done.
    Drift(NightKey),
}

impl Operation for CancelOp {
    type Answer = CancelAnswer;

    fn name(&self) -> &'static str {
        "cancel"
    }

    fn key(&self) -> Option<&KeyClaim> {
        Some(&self.claim)
    }

    fn needs(&self, facts: &Facts) -> Needs {
        let mut needs = Needs::default();
        needs.reservations.insert(self.reservation);
        if let Some(reservation) = facts.reservations.get(&self.reservation) {
            needs.attempts.extend(&reservation.paid_by);
            needs
                .nights
                .extend(self.units(reservation).map(|unit| availability::night_of(self.hotel.id, unit)));
        }
        needs
    }

    fn unseen(&self, facts: &Facts) -> Option<CancelAnswer> {
        self.seen(facts).is_none().then_some(CancelAnswer::NotFound)
    }

    fn decide(&self, facts: &Facts) -> Decision<CancelAnswer> {
        let Some(reservation) = self.seen(facts) else { return Decision::refuse(CancelAnswer::NotFound) };
        if !reservation.rooms.iter().any(|room| self.wanted.covers(room.room)) {
            return Decision::refuse(CancelAnswer::NoSuchRoom);
        }
        let row = &reservation.row;
        let prices = price::prices(row, &reservation.rooms, self.wanted, self.hotel.zone, facts.now);
        // An impatient second click gets the answer of the first, whatever version it has seen.
        if prices.is_empty() {
            return self.cancelled_before(reservation);
        }
        // Nights that have passed are not given back: from then on it is a no-show or a departure.
        let has_begun = facts.now.date_in(self.hotel.zone) > row.stay.check_in();
        if row.state != ReservationState::Confirmed || has_begun {
            return Decision::refuse(CancelAnswer::NotConfirmed(row.state));
        }
        if row.version != self.if_match {
            return Decision::refuse(CancelAnswer::Stale(row.version, row.state));
        }
        if let Some(night) = self.drift(reservation, facts) {
            return Decision::Refuse { answer: CancelAnswer::Drift(night), grounds: Grounds::Locks };
        }
        self.cancel(reservation, &payments(reservation, facts), prices, facts)
    }

    fn replay(&self, found: &Found) -> Result<CancelAnswer, keyrack_db::DbError> {
        key::recorded(found).map(CancelAnswer::Cancelled)
    }
}

/// The stay costs `less` less: what is owed gives way first, and of the rest goes back what was paid, to the card
/// as far as it has paid, and else at the desk. Of a reservation that is cancelled altogether, what stays owed is
/// due now. Returns what goes back to the card and what is due.
pub(super) fn settle(
    schedule: &mut Schedule,
    payments: &[&AttemptRow],
    less: Money,
    to: ReservationState,
    now: Moment,
) -> (Money, Option<Money>) {
    let back = schedule.lessen(less);
    let refund = schedule.pay_back(back, payments);
    let mut due = Money::zero(less.currency());
    if to == ReservationState::Cancelled {
        due = schedule.owed();
        schedule.due_as_penalty(now);
    }
    (refund, Some(due))
}

impl CancelOp {
    /// Its guest's, or its hotel's staff's.
    fn seen<'f>(&self, facts: &'f Facts) -> Option<&'f ReservationFacts> {
        facts.reservations.get(&self.reservation).filter(|reservation| {
            reservation.row.principal == self.caller.principal || self.caller.runs(self.hotel.id)
        })
    }

    fn units<'a>(&'a self, reservation: &'a ReservationFacts) -> impl Iterator<Item = &'a UnitNight> + 'a {
        reservation.units.iter().filter(|unit| self.wanted.covers(unit.room))
    }

    /// The first night whose counter does not carry what would be given back.
    fn drift(&self, reservation: &ReservationFacts, facts: &Facts) -> Option<NightKey> {
        let mut wanted = BTreeMap::new();
        for unit in self.units(reservation) {
            *wanted.entry(availability::night_of(self.hotel.id, unit)).or_insert(0) += 1;
        }
        let carries =
            |key: &NightKey, count: i32| facts.nights.get(key).is_some_and(|n| n.confirmed >= count);
        wanted.into_iter().find(|(key, count)| !carries(key, *count)).map(|(key, _)| key)
    }

    fn cancelled_before(&self, reservation: &ReservationFacts) -> Decision<CancelAnswer> {
        let rooms = price::paid(&reservation.rooms, self.wanted);
        let mut view = self.view(reservation, rooms, reservation.row.state, reservation.row.version);
        // What went back then, whatever the policy left and whatever has gone back since.
        view.refund = price::given_back(&reservation.rooms, self.wanted, Money::zero(view.refund.currency()));
        if !reservation.charges.is_empty() {
            view.due = Some(charges::penalties(&reservation.charges, view.refund.currency()));
        }
        let changes = Changes { answer: key::answer(&view), ..Changes::default() };
        Decision::Commit(changes, CancelAnswer::Cancelled(view))
    }

    fn view(
        &self,
        reservation: &ReservationFacts,
        rooms: Vec<RoomPrice>,
        state: ReservationState,
        version: i32,
    ) -> Cancellation {
        let zero = Money::zero(reservation.row.total.currency());
        Cancellation {
            reservation: self.reservation,
            state,
            version,
            penalty: price::sum(&rooms, |room| room.penalty, zero),
            refund: price::sum(&rooms, |room| room.refund, zero),
            due: Some(zero),
            rooms,
        }
    }

    fn cancel(
        &self,
        reservation: &ReservationFacts,
        payments: &[&AttemptRow],
        prices: Vec<RoomPrice>,
        facts: &Facts,
    ) -> Decision<CancelAnswer> {
        let row = &reservation.row;
        let standing = reservation.rooms.iter().filter(|room| room.cancelled.is_none()).count();
        let state = if standing == prices.len() { ReservationState::Cancelled } else { row.state };
        let mut view = self.view(reservation, prices, state, row.version + 1);
        let mut schedule = Schedule::of(reservation);
        (view.refund, view.due) = settle(&mut schedule, payments, view.refund, state, facts.now);
        let mut changes = Changes::default();
        for unit in self.units(reservation) {
            let delta = changes.nights.entry(availability::night_of(self.hotel.id, unit)).or_default();
            *delta = NightDelta { confirmed: delta.confirmed - 1, ..*delta };
        }
        changes.writes.push(Write::ShiftReservation(ReservationMove {
            id: row.id,
            from: row.state,
            to: state,
            from_version: row.version,
            to_version: view.version,
        }));
        // The rooms share what goes back, in their order.
        let mut left = view.refund;
        changes.writes.extend(view.rooms.iter().map(|room| {
            let refund = lesser(left, room.refund);
            left = left.minus(refund).unwrap_or(left);
            Write::CancelRoom(RoomCancelled {
                reservation: row.id,
                room: room.room,
                penalty: room.penalty,
                refund,
                units: reservation.units.iter().filter(|unit| unit.room == room.room).count(),
            })
        }));
        self.tell(reservation, &view, facts, &mut changes);
        pay_back(self.refund, payments, view.refund, CANCELLED, facts.now, &mut changes);
        schedule.write(&mut changes);
        changes.answer = key::answer(&view);
        Decision::Commit(changes, CancelAnswer::Cancelled(view))
    }

    fn tell(
        &self,
        reservation: &ReservationFacts,
        view: &Cancellation,
        facts: &Facts,
        changes: &mut Changes,
    ) {
        let hotel = self.hotel.id;
        let event = Event::ReservationCancelled(ReservationCancelled {
            reservation_id: view.reservation,
            rooms: view.rooms.iter().map(|room| room.room).collect(),
            state: view.state,
            version: view.version,
            penalty: view.penalty,
            refund: view.refund,
            nights: availability::after(facts, changes, hotel, self.units(reservation)),
        });
        changes.events.push(NewEvent { hotel, event });
        changes.audit.push(NewAudit {
            hotel,
            actor: Actor::Caller(self.caller.clone()),
            action: "reservation.cancelled",
            subject: view.reservation.to_string(),
            before: Some(serde_json::json!({
                "state": reservation.row.state,
                "version": reservation.row.version,
            })),
            after: Some(serde_json::json!({
                "state": view.state,
                "version": view.version,
                "rooms": view.rooms,
            })),
        });
    }
}
