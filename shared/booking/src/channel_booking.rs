//! Bookings that channels bring under identifiers of their own:
//! `PUT`, `DELETE /v1/hotels/{hotel}/channel-bookings/{channel}/{booking_id}`.
//!
//! The identifier is the key of these calls: what an earlier delivery did stands on its booking for ever, and a
//! repeat is told how the booking is by then, never what an old answer was.

mod input;
mod look;
pub mod operation;
mod placing;
mod replacing;
pub mod withdrawal;

use keyrack_domain::{
    channel_booking::{ChannelBookingId, ChannelBookingKey, ChannelBookingState},
    code::{ChannelCode, HotelCode},
    hotel::HotelRef,
    ids::ReservationId,
    principal::{Caller, Role},
    reservation::ReservationState,
};
use keyrack_ledger::{NightKey, Outcome};
use keyrack_store::{credentials, hotels};
use keyrack_telemetry::names;

pub use self::{
    input::{Delivered, DeliveredRoom},
    look::{ChannelBookingView, Item, Page, find, list},
};
use self::{
    operation::{BookAnswer, ChannelBookOp},
    withdrawal::{ChannelCancelOp, WithdrawAnswer},
};
use crate::{
    Desk, Fault, FieldError, drift, entropy,
    hotel_directory::NoHotel,
    place_hold::{ShortNight, operation::Short},
};

/// Where a booking is.
#[derive(Clone, Debug)]
pub struct Address {
    pub hotel: HotelCode,
    pub channel: ChannelCode,
    pub booking: ChannelBookingId,
}

/// What a delivery did.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Delivery {
    /// 201
    Created,
    /// It says what is booked already: nothing was changed.
    Repeated,
    /// Another stay, other rooms, another guest or price.
    Modified,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Booked {
    pub reservation: ReservationId,
    pub delivery: Delivery,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Withdrawn {
    /// None where the booking had never been placed.
    pub reservation: Option<ReservationId>,
    /// By an earlier call.
    pub before: bool,
}

#[derive(Debug, thiserror::Error)]
pub enum ChannelBookingError {
    /// No such hotel, or another channel's or hotel's credential. For a withdrawal also: nobody knew the
    /// booking, and it is recorded as cancelled.
    #[error("no such booking")]
    NotFound,
    #[error("the input is wrong")]
    Invalid(Vec<FieldError>),
    /// 422; the booking waits for somebody, as UNMAPPED.
    #[error("the booking names what the hotel does not have")]
    Unmapped(Vec<FieldError>),
    #[error("the booking was cancelled")]
    Inactive,
    #[error("revision {present} is known, and says something else")]
    StaleRevision { present: i64 },
    #[error("a night is short")]
    SoldOut { first: ShortNight, also_short: Vec<ShortNight> },
    /// Checked in, departed, not come, or past the day of arrival.
    #[error("the reservation is {0:?}")]
    NotChangeable(ReservationState),
    #[error(transparent)]
    Fault(#[from] Fault),
}

impl From<NoHotel> for ChannelBookingError {
    fn from(error: NoHotel) -> Self {
        match error {
            NoHotel::NotFound => Self::NotFound,
            NoHotel::Fault(fault) => Self::Fault(fault),
        }
    }
}

/// What a delivery asks of the ledger. Refused here is what is wrong whatever the day and the state.
pub async fn operation(
    desk: &Desk,
    caller: &Caller,
    address: Address,
    delivered: &Delivered,
) -> Result<ChannelBookOp, ChannelBookingError> {
    let hotel = desk.hotels().by_code(&address.hotel).await?;
    admit(desk, caller, &hotel, &address.channel).await?;
    let mut connection = desk.hotels().database(&hotel)?.connection().await.map_err(Fault::from)?;
    let profile = hotels::profile(&mut connection, hotel.id, hotel.shard).await.map_err(Fault::from)?;
    drop(connection);
    let profile = profile.ok_or(ChannelBookingError::NotFound)?;
    Ok(ChannelBookOp {
        hotel: hotel.as_ref().clone(),
        caller: caller.clone(),
        key: key(&hotel, address),
        revision: delivered.revision,
        fingerprint: input::fingerprint(delivered)?,
        wanted: input::read(delivered, &profile).map_err(ChannelBookingError::Invalid)?,
        delivery: input::as_it_came(delivered)?,
        horizon: desk.settings().horizon,
        reservation: ReservationId::new(hotel.id, entropy::id()),
        try_id: entropy::id(),
    })
}

/// A booking as it is now at the channel: it is placed, found as it is, or modified.
pub async fn deliver(
    desk: &Desk,
    caller: &Caller,
    address: Address,
    delivered: Delivered,
) -> Result<Booked, ChannelBookingError> {
    let operation = operation(desk, caller, address, &delivered).await?;
    let codes = operation.clone();
    let outcome = desk.ledger(&codes.hotel)?.run(operation).await.map_err(Fault::from)?;
    match answered(outcome)? {
        BookAnswer::Booked(booked) => Ok(booked),
        BookAnswer::Inactive => Err(ChannelBookingError::Inactive),
        BookAnswer::StaleRevision(present) => Err(ChannelBookingError::StaleRevision { present }),
        BookAnswer::Unmapped(faults) => {
            report_unmapped(&codes);
            Err(ChannelBookingError::Unmapped(faults))
        }
        BookAnswer::Invalid(faults) => Err(ChannelBookingError::Invalid(faults)),
        BookAnswer::SoldOut(short) => Err(sold_out(&codes, &short)),
        BookAnswer::NotChangeable(state) => Err(ChannelBookingError::NotChangeable(state)),
        BookAnswer::Drift(reservation, night) => Err(drift::of_reservation(reservation, night).into()),
    }
}

/// The channel's guest does not come: the units go back, once.
pub async fn withdraw(
    desk: &Desk,
    caller: &Caller,
    address: Address,
) -> Result<Withdrawn, ChannelBookingError> {
    let hotel = desk.hotels().by_code(&address.hotel).await?;
    admit(desk, caller, &hotel, &address.channel).await?;
    let operation = ChannelCancelOp {
        hotel: hotel.as_ref().clone(),
        caller: caller.clone(),
        key: key(&hotel, address),
        try_id: entropy::id(),
    };
    let outcome = desk.ledger(&hotel)?.run(operation).await.map_err(Fault::from)?;
    match answered(outcome)? {
        WithdrawAnswer::Withdrawn(withdrawn) => Ok(withdrawn),
        WithdrawAnswer::Unknown => Err(ChannelBookingError::NotFound),
        WithdrawAnswer::NotChangeable(state) => Err(ChannelBookingError::NotChangeable(state)),
        WithdrawAnswer::Drift(reservation, night) => Err(drift::of_reservation(reservation, night).into()),
    }
}

fn report_unmapped(operation: &ChannelBookOp) {
    metrics::counter!(names::CHANNEL_BOOKINGS_UNMAPPED).increment(1);
    let ChannelBookingKey { hotel, channel, booking } = &operation.key;
    tracing::warn!(
        hotel_id = hotel.0,
        %channel,
        %booking,
        "a channel's booking names what the hotel does not have: somebody has to look"
    );
}

fn key(hotel: &HotelRef, address: Address) -> ChannelBookingKey {
    ChannelBookingKey { hotel: hotel.id, channel: address.channel, booking: address.booking }
}

/// A channel's credential, and where it is bound to one channel, that one's.
async fn admit(
    desk: &Desk,
    caller: &Caller,
    hotel: &HotelRef,
    channel: &ChannelCode,
) -> Result<(), ChannelBookingError> {
    if caller.role != Role::Channel || caller.hotel != Some(hotel.id) {
        return Err(ChannelBookingError::NotFound);
    }
    match bound_to(desk, caller).await? {
        Some(bound) if bound != *channel => Err(ChannelBookingError::NotFound),
        Some(_) | None => Ok(()),
    }
}

async fn bound_to(desk: &Desk, caller: &Caller) -> Result<Option<ChannelCode>, Fault> {
    let mut connection = desk.shards().directory().connection().await?;
    Ok(credentials::channel_of(&mut connection, caller.principal).await?)
}

/// These operations have no key and never yield.
fn answered<A>(outcome: Outcome<A>) -> Result<A, Fault> {
    match outcome {
        Outcome::Answered(answer) | Outcome::Replayed(answer) => Ok(answer),
        Outcome::KeyReused | Outcome::KeyExpired | Outcome::KeyInProgress | Outcome::PassedOver => {
            Err(Fault::internal(HasNoKey))
        }
    }
}

#[derive(Debug, thiserror::Error)]
#[error("a call without a key was answered by its key")]
struct HasNoKey;

fn sold_out(operation: &ChannelBookOp, short: &[Short]) -> ChannelBookingError {
    let mut told = short.iter().filter_map(|short: &Short| {
        Some(ShortNight {
            room_type: operation.code_of(short.night)?,
            night: short.night.date,
            requested: short.requested,
            available: short.available,
        })
    });
    let Some(first) = told.next() else { return Fault::internal(NothingShort).into() };
    ChannelBookingError::SoldOut { first, also_short: told.collect() }
}

#[derive(Debug, thiserror::Error)]
#[error("a channel's booking was refused for want of units, and no night of it is short")]
struct NothingShort;

impl ChannelBookOp {
    fn code_of(&self, night: NightKey) -> Option<keyrack_domain::code::RoomTypeCode> {
        self.wanted.as_ref().ok()?.document.code_of(night.room_type).cloned()
    }
}

/// How a booking stands for its channel: one whose reservation the hotel has cancelled is not active.
pub(crate) fn standing(
    state: ChannelBookingState,
    reservation: Option<ReservationState>,
) -> ChannelBookingState {
    match (state, reservation) {
        (ChannelBookingState::Active, Some(ReservationState::Cancelled)) => ChannelBookingState::Cancelled,
        (state, _) => state,
    }
}
