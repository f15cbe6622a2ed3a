//! The front desk: the guest comes, leaves, never comes, or comes after all; and money given back by hand.

use chrono::NaiveDate;
use keyrack_domain::{
    ids::{PrincipalId, RefundId, ReservationId},
    money::Money,
    operation_key::OperationKey,
    reservation::ReservationState,
};

use crate::{
    keys::Input,
    nights::{Move, RoomNights, Units, count},
    outcome::{Answer, Outcome, Refusal},
    world::World,
};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Step {
    CheckIn,
    /// `Some`: before the end of the stay, whose nights from that date on go back.
    CheckOut(Option<NaiveDate>),
    NoShow,
    UndoNoShow,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TakeStep {
    pub principal: PrincipalId,
    pub key: OperationKey,
    pub reservation: ReservationId,
    pub step: Step,
    pub if_match: Option<i32>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct GiveMoneyBack {
    pub principal: PrincipalId,
    pub key: OperationKey,
    pub reservation: ReservationId,
    pub amount: Money,
    /// The first refund's.
    pub refund: RefundId,
}

impl Step {
    const fn moves(self) -> (ReservationState, ReservationState) {
        use ReservationState::{CheckedIn, CheckedOut, Confirmed, NoShow};
        match self {
            Self::CheckIn => (Confirmed, CheckedIn),
            Self::CheckOut(_) => (CheckedIn, CheckedOut),
            Self::NoShow => (Confirmed, NoShow),
            Self::UndoNoShow => (NoShow, Confirmed),
        }
    }
}

impl World {
    pub fn take_step(&mut self, call: &TakeStep) -> Answer {
        self.of_the_desk(call.principal, call.reservation)?;
        let input = Input::Step { reservation: call.reservation, step: call.step, if_match: call.if_match };
        self.once(call.reservation.hotel(), call.principal, &call.key, input, |world| world.new_step(call))
    }

    fn new_step(&mut self, call: &TakeStep) -> Result<Outcome, Refusal> {
        let id = call.reservation;
        let reservation = self.reservations.get(&id).ok_or(Refusal::NotFound)?;
        let (from, to) = call.step.moves();
        if reservation.state != from {
            return Err(Refusal::Conflict(reservation.state));
        }
        if call.if_match.is_some_and(|seen| seen != reservation.version) {
            return Err(Refusal::VersionConflict(reservation.version));
        }
        let (from_date, back) = self.on_the_calendar(call)?;
        let owned = if back { &reservation.nights } else { &reservation.given_back };
        let touched = |(_, date, _): &&(usize, NaiveDate, _)| from_date.is_some_and(|from| *date >= from);
        let touched: RoomNights = owned.iter().filter(touched).copied().collect();
        if !back {
            self.must_fit(id.hotel(), &count(&touched), &Units::new())?;
        }
        self.change(id.hotel(), &count(&touched), if back { Move::GiveUp } else { Move::Allocate });
        let reservation = self.reservations.get_mut(&id).ok_or(Refusal::NotFound)?;
        let (lose, win) = if back {
            (&mut reservation.nights, &mut reservation.given_back)
        } else {
            (&mut reservation.given_back, &mut reservation.nights)
        };
        lose.retain(|night| !touched.contains(night));
        win.extend(touched);
        reservation.state = to;
        reservation.version += 1;
        Ok(Outcome::Stepped { reservation: id, state: to, version: reservation.version })
    }

    /// By the hotel's date: the first night that moves, if any does, and whether it goes back.
    fn on_the_calendar(&self, call: &TakeStep) -> Result<(Option<NaiveDate>, bool), Refusal> {
        let id = call.reservation;
        let stay = self.reservations.get(&id).ok_or(Refusal::NotFound)?.document.stay;
        let (today, arrival, departure) = (self.today(id.hotel()), stay.check_in(), stay.check_out());
        match call.step {
            Step::CheckIn if today < arrival || today > departure => Err(Refusal::NotToday),
            Step::NoShow if today <= arrival => Err(Refusal::NotToday),
            Step::UndoNoShow if today > departure => Err(Refusal::NotToday),
            Step::CheckIn | Step::CheckOut(None) => Ok((None, true)),
            Step::CheckOut(Some(date)) if date < today.clamp(arrival, departure) || date > departure => {
                Err(Refusal::Invalid)
            }
            Step::CheckOut(Some(date)) => Ok((Some(date), true)),
            Step::NoShow => Ok((Some(today), true)),
            Step::UndoNoShow => Ok((Some(today), false)),
        }
    }

    /// At most what is left of what was paid.
    pub fn give_money_back(&mut self, call: &GiveMoneyBack) -> Answer {
        self.of_the_desk(call.principal, call.reservation)?;
        let (id, amount) = (call.reservation, call.amount);
        let input = Input::GiveMoneyBack { reservation: id, amount };
        self.once(id.hotel(), call.principal, &call.key, input, |world| {
            let left = world.left(id).ok_or(Refusal::NotFound)?;
            if amount.amount() > left.amount() {
                return Err(Refusal::Invalid);
            }
            world.pay_back(id, amount, call.refund);
            Ok(Outcome::RefundRequested { reservation: id, amount })
        })
    }

    fn of_the_desk(&self, principal: PrincipalId, id: ReservationId) -> Result<(), Refusal> {
        let hotel = self.hotels.get(&id.hotel()).filter(|hotel| hotel.staff.contains(&principal));
        hotel.and(self.reservations.get(&id)).map(|_| ()).ok_or(Refusal::NotFound)
    }
}
