//! What happened to one booking, in order of time: `GET /v1/ops/bookings/{id}/timeline`. For operators.
//!
//! It is put together from what is kept anyway (the audit, the outbox, movements of money, notices) and from the
//! notes of provider calls and of repeats. Nothing in it names a guest or a payment method.

mod item;

use std::{fmt, str::FromStr, sync::Arc};

use chrono::DateTime;
use keyrack_db::DbError;
use keyrack_domain::{
    clock::Moment,
    hotel::HotelRef,
    ids::{AttemptId, ChangeId, HoldId, QuoteId, ReservationId},
    principal::Caller,
};
use keyrack_ledger::{AttemptRow, ChangeRow, HoldRow, RefundRow, ReservationRow};
use keyrack_store::{
    attempts, changes, holds, refunds, reservations,
    timeline::{self, Asked, ItemRow, Members},
};
use serde::{Deserialize, Deserializer, de};

pub use self::item::{Entry, Event, Happened, Item, Movement};
use crate::{
    Desk, Fault,
    ops::{MAX_PAGE, OpsError, must_operate},
};

/// Any id of a booking: of its reservation, or of one of its attempts, holds or changes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AnyId(Asked);

impl FromStr for AnyId {
    type Err = keyrack_domain::ids::NotAnId;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let reservation = text.parse::<ReservationId>().map(Asked::Reservation);
        let attempt = || text.parse::<AttemptId>().map(Asked::Attempt);
        let hold = || text.parse::<HoldId>().map(Asked::Hold);
        let change = || text.parse::<ChangeId>().map(Asked::Change);
        reservation.or_else(|_| attempt()).or_else(|_| hold()).or_else(|_| change()).map(Self)
    }
}

impl<'de> Deserialize<'de> for AnyId {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        String::deserialize(d)?.parse().map_err(de::Error::custom)
    }
}

/// A place in a timeline, after which a page begins.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Place(timeline::Place);

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.0.at.0.timestamp_micros(), self.0.id)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not a place of a timeline")]
pub struct NotAPlace;

impl FromStr for Place {
    type Err = NotAPlace;

    fn from_str(text: &str) -> Result<Self, NotAPlace> {
        let (at, id) = text.split_once(':').ok_or(NotAPlace)?;
        let at = at.parse().ok().and_then(DateTime::from_timestamp_micros).ok_or(NotAPlace)?;
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
        if !(1..=64).contains(&id.len()) || !id.bytes().all(plain) {
            return Err(NotAPlace);
        }
        Ok(Self(timeline::Place { at: Moment(at), id: id.to_owned() }))
    }
}

/// What belongs to the booking, as it stands.
#[derive(Clone, Debug)]
pub struct Belongings {
    pub hotel: Arc<HotelRef>,
    pub reservation: Option<ReservationRow>,
    pub quotes: Vec<QuoteId>,
    pub holds: Vec<HoldRow>,
    pub attempts: Vec<AttemptRow>,
    pub changes: Vec<ChangeRow>,
    pub refunds: Vec<RefundRow>,
}

#[derive(Clone, Debug)]
pub struct Timeline {
    pub booking: Belongings,
    /// Oldest first.
    pub items: Vec<Item>,
    /// Goes on after here.
    pub next: Option<Place>,
}

/// What an id of no booking names is not found, and for everybody but operators nothing is.
pub async fn find(
    desk: &Desk,
    caller: &Caller,
    id: AnyId,
    after: Option<Place>,
    limit: u16,
) -> Result<Timeline, OpsError> {
    must_operate(caller)?;
    let limit = limit.clamp(1, MAX_PAGE);
    let after = after.map(|place| place.0);
    let one_more = i64::from(limit) + 1;
    let hotel = desk.hotel_of(id.0.hotel()).await?.ok_or(OpsError::NotFound)?;
    let mut connection = desk.hotels().database(&hotel)?.connection().await?;
    let members = timeline::members(&mut connection, id.0).await?;
    if members.is_empty() {
        return Err(OpsError::NotFound);
    }
    let booking = belongings(&mut connection, &hotel, &members).await?;
    let mut rows =
        timeline::transactions(&mut connection, hotel.id, &members, after.as_ref(), one_more).await?;
    rows.extend(timeline::others(&mut connection, hotel.id, &members, after.as_ref(), one_more).await?);
    drop(connection);
    let mut directory = desk.shards().directory().connection().await?;
    rows.extend(timeline::unmatched(&mut directory, &members, after.as_ref(), one_more).await?);
    drop(directory);
    rows.sort_by(|a, b| a.place.cmp(&b.place));
    let next = (rows.len() > usize::from(limit)).then(|| Place(rows[usize::from(limit) - 1].place.clone()));
    rows.truncate(usize::from(limit));
    let items = rows.into_iter().map(|row| read(&hotel, row)).collect::<Result<_, _>>()?;
    Ok(Timeline { booking, items, next })
}

fn read(hotel: &HotelRef, row: ItemRow) -> Result<Item, Fault> {
    let happened = item::read(hotel.id, row.item)
        .map_err(|error| Fault::internal(DbError::unreadable("item of a timeline", &error)))?;
    Ok(Item { at: row.place.at, happened })
}

async fn belongings(
    connection: &mut keyrack_db::PgConnection,
    hotel: &Arc<HotelRef>,
    members: &Members,
) -> Result<Belongings, DbError> {
    Ok(Belongings {
        hotel: Arc::clone(hotel),
        reservation: reservations::read(connection, &members.reservations).await?.pop(),
        quotes: members.quotes.clone(),
        holds: holds::read(connection, &members.holds).await?,
        attempts: attempts::read(connection, &members.attempts).await?,
        changes: changes::read(connection, &members.changes).await?,
        refunds: refunds::of_attempts(connection, &members.attempts).await?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_read_as_it_was_written_and_nothing_else_is_one() {
        let at = Moment("2026-01-10T06:00:00.123456Z".parse().expect("an instant"));
        let place = Place(timeline::Place { at, id: "2019b7c3f".to_owned() });
        assert_eq!(place.to_string().parse(), Ok(place));
        for text in ["", ":", "1:", "x:1", "1:'", "1:a b", "99999999999999999999:1"] {
            assert_eq!(text.parse::<Place>(), Err(NotAPlace), "{text:?}");
        }
    }
}
