//! What the front desk does with a reservation: `POST /v1/hotels/{hotel}/reservations/{id}/check-in`,
//! `/check-out`, `/no-show` and `/no-show/undo`.

pub mod operation;

use chrono::NaiveDate;
use keyrack_domain::{
    code::{HotelCode, RoomTypeCode},
    ids::ReservationId,
    operation_key::{Endpoint, OperationKey},
    principal::Caller,
    reservation::ReservationState,
};
use keyrack_ledger::NightKey;
use keyrack_store::hotels;

use self::operation::{Step, StepAnswer, StepOp, Stepped};
use crate::{Answered, Desk, Fault, KeyRefusal, drift, hotel_directory::NoHotel, key};

#[derive(Clone, Debug)]
pub struct StepRequest {
    pub hotel: HotelCode,
    pub reservation: ReservationId,
    pub step: Step,
    pub if_match: Option<i32>,
    pub key: OperationKey,
}

#[derive(Debug, thiserror::Error)]
pub enum StepError {
    /// Also for whoever does not work there.
    #[error("no such reservation at this hotel")]
    NotFound,
    #[error("the reservation is at version {0}")]
    Stale(i32, ReservationState),
    #[error("the reservation is {0:?}")]
    WrongState(ReservationState),
    #[error("not today")]
    NotToday { first: NaiveDate, last: Option<NaiveDate> },
    #[error("the departure must be from {0} to {1}")]
    NoSuchDeparture(NaiveDate, NaiveDate),
    #[error("{room_type} is sold out on {night}")]
    SoldOut { room_type: RoomTypeCode, night: NaiveDate },
    #[error(transparent)]
    Key(#[from] KeyRefusal),
    #[error(transparent)]
    Fault(#[from] Fault),
}

impl From<NoHotel> for StepError {
    fn from(error: NoHotel) -> Self {
        match error {
            NoHotel::NotFound => Self::NotFound,
            NoHotel::Fault(fault) => Self::Fault(fault),
        }
    }
}

const fn endpoint(step: Step) -> Endpoint {
    match step {
        Step::CheckIn => Endpoint("POST /v1/hotels/{hotel}/reservations/{id}/check-in"),
        Step::CheckOut(_) => Endpoint("POST /v1/hotels/{hotel}/reservations/{id}/check-out"),
        Step::NoShow => Endpoint("POST /v1/hotels/{hotel}/reservations/{id}/no-show"),
        Step::UndoNoShow => Endpoint("POST /v1/hotels/{hotel}/reservations/{id}/no-show/undo"),
    }
}

pub async fn run(desk: &Desk, caller: &Caller, request: StepRequest) -> Result<Answered<Stepped>, StepError> {
    let StepRequest { hotel, reservation, step, if_match, key } = request;
    let hotel = desk.hotels().by_code(&hotel).await?;
    if reservation.hotel() != hotel.id {
        return Err(StepError::NotFound);
    }
    let endpoint = endpoint(step);
    let departure = if let Step::CheckOut(date) = step { date } else { None };
    let fingerprint = key::fingerprint(endpoint, &(reservation, departure, if_match))?;
    let operation = StepOp {
        hotel: hotel.as_ref().clone(),
        claim: key::claim(hotel.id, caller.principal, endpoint, key, fingerprint),
        caller: caller.clone(),
        reservation,
        step,
        if_match,
    };
    let outcome = desk.ledger(&hotel)?.run(operation).await.map_err(Fault::from)?;
    let Answered { answer, replayed } = key::answered(outcome)?;
    match answer {
        StepAnswer::Stepped(view) => Ok(Answered { answer: view, replayed }),
        StepAnswer::NotFound => Err(StepError::NotFound),
        StepAnswer::Stale(version, state) => Err(StepError::Stale(version, state)),
        StepAnswer::WrongState(state) => Err(StepError::WrongState(state)),
        StepAnswer::NotToday(first, last) => Err(StepError::NotToday { first, last }),
        StepAnswer::NoSuchDeparture(first, last) => Err(StepError::NoSuchDeparture(first, last)),
        StepAnswer::SoldOut(night) => Err(sold_out(desk, night).await?),
        StepAnswer::Drift(night) => Err(drift::of_reservation(reservation, night).into()),
    }
}

async fn sold_out(desk: &Desk, night: NightKey) -> Result<StepError, Fault> {
    let gone = || Fault::internal(NoRoomType(night));
    let hotel = desk.hotel_of(night.hotel).await?.ok_or_else(gone)?;
    let mut connection = desk.hotels().database(&hotel)?.connection().await?;
    let profile = hotels::profile(&mut connection, hotel.id, hotel.shard).await?.ok_or_else(gone)?;
    let mut room_types = profile.room_types.into_iter();
    let room_type = room_types.find(|room_type| room_type.id == night.room_type).ok_or_else(gone)?;
    Ok(StepError::SoldOut { room_type: room_type.code, night: night.date })
}

#[derive(Debug, thiserror::Error)]
#[error("no room type for {0:?}")]
struct NoRoomType(NightKey);
