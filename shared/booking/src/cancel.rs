//! Cancelling a reservation or single rooms of it: `POST /v1/reservations/{id}/cancel`,
//! `POST /v1/reservations/{id}/rooms/{n}/cancel`, and what it would cost:
//! `GET /v1/reservations/{id}/cancellation-preview`.

pub mod operation;
pub mod price;

use keyrack_domain::{
    clock::Moment,
    ids::{RefundId, ReservationId},
    money::Money,
    operation_key::{Endpoint, OperationKey},
    principal::Caller,
    reservation::ReservationState,
};
use keyrack_store::{attempts, clock, reservation_rooms, reservations, scheduled_charges};

use self::{
    operation::{CancelAnswer, CancelOp, Cancellation},
    price::{RoomPrice, Wanted},
};
use crate::{
    Answered, Desk, Fault, KeyRefusal,
    charges::Schedule,
    drift, entropy, key,
    replays::{self, Replay},
};

#[derive(Clone, Debug)]
pub struct Cancel {
    pub reservation: ReservationId,
    pub wanted: Wanted,
    pub if_match: i32,
    pub key: OperationKey,
}

#[derive(Debug, thiserror::Error)]
pub enum CancelError {
    /// Also a reservation of somebody else.
    #[error("no such reservation or room")]
    NotFound,
    /// 412: the present version and state.
    #[error("the reservation is at version {0}")]
    Stale(i32, ReservationState),
    #[error("the reservation is {0:?}")]
    NotConfirmed(ReservationState),
    #[error(transparent)]
    Key(#[from] KeyRefusal),
    #[error(transparent)]
    Fault(#[from] Fault),
}

pub const CANCEL: Endpoint = Endpoint("POST /v1/reservations/{id}/cancel");
pub const CANCEL_ROOM: Endpoint = Endpoint("POST /v1/reservations/{id}/rooms/{room}/cancel");

pub async fn run(
    desk: &Desk,
    caller: &Caller,
    request: Cancel,
) -> Result<Answered<Cancellation>, CancelError> {
    let Cancel { reservation, wanted, if_match, key } = request;
    let Some(hotel) = desk.hotel_of(reservation.hotel()).await? else { return Err(CancelError::NotFound) };
    let (endpoint, room) = match wanted {
        Wanted::Whole => (CANCEL, None),
        Wanted::Room(room) => (CANCEL_ROOM, Some(room)),
    };
    let fingerprint = key::fingerprint(endpoint, &(reservation, room, if_match))?;
    let operation = CancelOp {
        hotel: hotel.as_ref().clone(),
        claim: key::claim(hotel.id, caller.principal, endpoint, key, fingerprint),
        caller: caller.clone(),
        reservation,
        wanted,
        if_match,
        refund: RefundId::new(hotel.id, entropy::id()),
    };
    let outcome = desk.ledger(&hotel)?.run(operation).await.map_err(Fault::from)?;
    let Answered { answer, replayed } = key::answered(outcome)?;
    match answer {
        CancelAnswer::Cancelled(view) => {
            if replayed {
                let told = serde_json::json!({ "state": view.state, "picked_up": "the_cancellation" });
                let (action, subject) = ("cancellation.replayed", reservation.to_string());
                replays::note(desk, &hotel, caller.clone(), Replay { action, subject, told }).await;
            }
            Ok(Answered { answer: view, replayed })
        }
        CancelAnswer::NotFound | CancelAnswer::NoSuchRoom => Err(CancelError::NotFound),
        CancelAnswer::Stale(version, state) => Err(CancelError::Stale(version, state)),
        CancelAnswer::NotConfirmed(state) => Err(CancelError::NotConfirmed(state)),
        CancelAnswer::Drift(night) => Err(drift::of_reservation(reservation, night).into()),
    }
}

/// What cancelling would cost at `as_of`. Claims nothing: the cancellation prices anew.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Preview {
    pub reservation: ReservationId,
    pub state: ReservationState,
    /// For `If-Match`.
    pub version: i32,
    /// Of the rooms that stand.
    pub rooms: Vec<RoomPrice>,
    pub penalty: Money,
    pub refund: Money,
    /// What is owed and would stay so: it would be collected at once.
    pub due: Money,
    pub as_of: Moment,
}

/// Its guest's, or its hotel's staff's; anybody else's is not found.
pub async fn preview(desk: &Desk, caller: &Caller, id: ReservationId) -> Result<Option<Preview>, Fault> {
    let Some(hotel) = desk.hotel_of(id.hotel()).await? else { return Ok(None) };
    let mut connection = desk.hotels().database(&hotel)?.connection().await?;
    let row = reservations::find(&mut connection, id).await?;
    let Some(row) = row.filter(|row| row.principal == caller.principal || caller.runs(hotel.id)) else {
        return Ok(None);
    };
    let rooms = reservation_rooms::read(&mut connection, [&id]).await?;
    let rooms: Vec<_> = rooms.into_iter().map(|(_, room)| room).collect();
    let as_of = clock::now(&mut connection).await?;
    let rooms = match row.state {
        ReservationState::Confirmed if as_of.date_in(hotel.zone) <= row.stay.check_in() => {
            price::prices(&row, &rooms, Wanted::Whole, hotel.zone, as_of)
        }
        _ => Vec::new(),
    };
    let zero = Money::zero(row.total.currency());
    let paid_by = attempts::that_paid(&mut connection, &[id]).await?;
    let paid = attempts::read(&mut connection, paid_by.iter().map(|(_, attempt)| attempt)).await?;
    let payments: Vec<_> = paid.iter().collect();
    let charges = scheduled_charges::read(&mut connection, &[id]).await?;
    let mut schedule = Schedule::new(&charges, zero.currency());
    let (refund, due) = if rooms.is_empty() {
        (zero, None)
    } else {
        let less = price::sum(&rooms, |room| room.refund, zero);
        operation::settle(&mut schedule, &payments, less, ReservationState::Cancelled, as_of)
    };
    Ok(Some(Preview {
        reservation: id,
        state: row.state,
        version: row.version,
        penalty: price::sum(&rooms, |room| room.penalty, zero),
        refund,
        due: due.unwrap_or(zero),
        rooms,
        as_of,
    }))
}
