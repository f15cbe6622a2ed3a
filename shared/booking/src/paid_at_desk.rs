//! Money that the hotel itself has taken for a charge, on its staff's word:
//! `POST /v1/hotels/{hotel}/reservations/{id}/charges/{number}/paid`.

use std::collections::BTreeSet;

use keyrack_domain::{
    actor::Actor,
    code::HotelCode,
    ids::{AttemptId, ReservationId},
    operation_key::{Endpoint, OperationKey},
    principal::Caller,
    schedule::ChargeState,
};
use keyrack_ledger::{Changes, ChargeRow, Decision, Facts, Found, KeyClaim, Needs, Operation};

use crate::{Answered, Desk, Fault, KeyRefusal, charges, hotel_directory::NoHotel, key, views::ChargeView};

const ENDPOINT: Endpoint = Endpoint("POST /v1/hotels/{hotel}/reservations/{id}/charges/{number}/paid");

#[derive(Clone, Debug)]
pub struct PaidAtDesk {
    pub hotel: HotelCode,
    pub reservation: ReservationId,
    /// The charge's place in the schedule, from 1.
    pub number: i16,
    pub key: OperationKey,
}

#[derive(Debug, thiserror::Error)]
pub enum PaidAtDeskError {
    /// Also for whoever does not work there.
    #[error("no such charge at this hotel")]
    NotFound,
    #[error("the charge is {0:?}")]
    NotOwed(ChargeState),
    #[error("the charge is being collected")]
    InProgress(AttemptId),
    #[error(transparent)]
    Key(#[from] KeyRefusal),
    #[error(transparent)]
    Fault(#[from] Fault),
}

impl From<NoHotel> for PaidAtDeskError {
    fn from(error: NoHotel) -> Self {
        match error {
            NoHotel::NotFound => Self::NotFound,
            NoHotel::Fault(fault) => Self::Fault(fault),
        }
    }
}

pub async fn run(
    desk: &Desk,
    caller: &Caller,
    request: PaidAtDesk,
) -> Result<Answered<ChargeView>, PaidAtDeskError> {
    let PaidAtDesk { hotel, reservation, number, key } = request;
    let hotel = desk.hotel_run_by(caller, &hotel, reservation).await?;
    let fingerprint = key::fingerprint(ENDPOINT, &(reservation, number))?;
    let operation = PaidAtDeskOp {
        claim: key::claim(hotel.id, caller.principal, ENDPOINT, key, fingerprint),
        caller: caller.clone(),
        reservation,
        number,
    };
    let outcome = desk.ledger(&hotel)?.run(operation).await.map_err(Fault::from)?;
    let Answered { answer, replayed } = key::answered(outcome)?;
    match answer {
        PaidAtDeskAnswer::Paid(view) => Ok(Answered { answer: view, replayed }),
        PaidAtDeskAnswer::NotFound => Err(PaidAtDeskError::NotFound),
        PaidAtDeskAnswer::NotOwed(state) => Err(PaidAtDeskError::NotOwed(state)),
        PaidAtDeskAnswer::InProgress(attempt) => Err(PaidAtDeskError::InProgress(attempt)),
    }
}

#[derive(Clone, Debug)]
pub struct PaidAtDeskOp {
    pub claim: KeyClaim,
    pub caller: Caller,
    pub reservation: ReservationId,
    pub number: i16,
}

#[derive(Clone, Debug)]
pub enum PaidAtDeskAnswer {
    Paid(ChargeView),
    NotFound,
    NotOwed(ChargeState),
    /// An attempt is paying it: taken twice it would be owed back.
    InProgress(AttemptId),
}

impl Operation for PaidAtDeskOp {
    type Answer = PaidAtDeskAnswer;

    fn name(&self) -> &'static str {
        "paid_at_desk"
    }

    fn key(&self) -> Option<&KeyClaim> {
        Some(&self.claim)
    }

    fn needs(&self, _facts: &Facts) -> Needs {
        Needs { reservations: BTreeSet::from([self.reservation]), ..Needs::default() }
    }

    fn unseen(&self, facts: &Facts) -> Option<PaidAtDeskAnswer> {
        let hidden = !facts.reservations.contains_key(&self.reservation);
        hidden.then_some(PaidAtDeskAnswer::NotFound)
    }

    fn decide(&self, facts: &Facts) -> Decision<PaidAtDeskAnswer> {
        let reservation = facts.reservations.get(&self.reservation);
        let charge = reservation
            .and_then(|reservation| reservation.charges.iter().find(|charge| charge.number == self.number));
        let Some(charge) = charge else { return Decision::refuse(PaidAtDeskAnswer::NotFound) };
        if !charge.state.is_owed() {
            return Decision::refuse(PaidAtDeskAnswer::NotOwed(charge.state));
        }
        if let Some(attempt) = charge.attempt {
            return Decision::refuse(PaidAtDeskAnswer::InProgress(attempt));
        }
        let mut changes = Changes::default();
        charges::pay(charge, None, &Actor::Caller(self.caller.clone()), &mut changes);
        let view = ChargeView::of(&ChargeRow { state: ChargeState::Paid, ..charge.clone() });
        changes.answer = key::answer(&view);
        Decision::Commit(changes, PaidAtDeskAnswer::Paid(view))
    }

    fn replay(&self, found: &Found) -> Result<PaidAtDeskAnswer, keyrack_db::DbError> {
        key::recorded(found).map(PaidAtDeskAnswer::Paid)
    }
}
