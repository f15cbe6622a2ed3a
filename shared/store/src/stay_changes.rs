//! A stay that takes the place of another one within its reservation: the writes on `reservations`,
//! `reservation_rooms` and `reservation_nights`, each with its exact number of rows.

use chrono::NaiveDate;
use keyrack_db::{DbError, ExactRows, PgConnection};
use keyrack_domain::{
    clock::Moment, guest::Guest, ids::ReservationId, money::Money, quote::QuoteDocument, stay::Stay,
};
use rust_decimal::Decimal;
use uuid::Uuid;

use crate::{
    holds::UnitNight,
    read::json,
    reservation_rooms::{insert_rooms, insert_units},
    reservations::ReservationMove,
};

/// What one version of a reservation puts in the place of the stay before it.
///
/// Rooms keep their numbers, which are their places in the document, from 1. A room that goes stays in the
/// document and is cancelled in its row; new rooms get the next numbers. A room-night that is the same
/// before and after (room, date, room type, plan, amount) is in neither list and keeps its row. The
/// counters are the caller's: their deltas are net per night, what is added less what is dropped.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StayReplaced {
    /// State and version from which, and to which. A change of the stay alone keeps the state.
    pub shift: ReservationMove,
    pub stay: Stay,
    pub total: Money,
    /// Of the total, what its changes have cost by the policy that was sold.
    pub change_fees: Money,
    pub guest: Guest,
    /// All rooms, those that were cancelled or go now as they were sold.
    pub document: QuoteDocument,
    /// Units that the reservation has and lets go: for good, so no undone no-show takes them again.
    pub dropped: Vec<UnitNight>,
    /// Units that it takes: also of a room and date that it drops, at another type, plan or price.
    pub added: Vec<UnitNight>,
    /// The rooms that stand before and after, with what each costs now.
    pub kept: Vec<(i16, Money)>,
    /// The rooms that go, with what that costs.
    pub removed: Vec<(i16, Money)>,
    /// The rooms that come, with what each costs.
    pub new_rooms: Vec<(i16, Money)>,
}

/// Of one batch, each reservation at most once: a second one finds another version, which is a surprise.
pub async fn replace(
    connection: &mut PgConnection,
    changes: &[StayReplaced],
    at: Moment,
) -> Result<(), DbError> {
    if changes.is_empty() {
        return Ok(());
    }
    heads(connection, changes).await?;
    let kept: Vec<Room> = rooms(changes, |change| &change.kept);
    retotal(connection, &kept).await?;
    remove(connection, &rooms(changes, |change| &change.removed), at).await?;
    leave(connection, changes, at).await?;
    let new: Vec<(ReservationId, i16, Money)> = rooms(changes, |change| &change.new_rooms)
        .into_iter()
        .map(|room| (room.of.id, room.number, room.amount))
        .collect();
    insert_rooms(connection, &new).await?;
    let added: Vec<(ReservationId, i32, &UnitNight)> = changes
        .iter()
        .flat_map(|change| change.added.iter().map(|unit| (change.shift.id, change.shift.to_version, unit)))
        .collect();
    insert_units(connection, &added).await
}

struct Room {
    of: ReservationMove,
    number: i16,
    amount: Money,
}

fn rooms<'c>(changes: &'c [StayReplaced], of: impl Fn(&'c StayReplaced) -> &'c [(i16, Money)]) -> Vec<Room> {
    let rooms = |change: &'c StayReplaced| {
        let number_and_amount = of(change).iter();
        number_and_amount.map(|(number, amount)| Room { of: change.shift, number: *number, amount: *amount })
    };
    changes.iter().flat_map(rooms).collect()
}

async fn heads(connection: &mut PgConnection, changes: &[StayReplaced]) -> Result<(), DbError> {
    let documents = changes.iter().map(|c| json("reservation document", &c.document));
    let guests = changes.iter().map(|c| json("guest", &c.guest));
    sqlx::query!(
        "-- store::stay_changes::heads
        UPDATE reservations AS r
        SET state = u.to_state,
            version = u.to_version,
            check_in = u.check_in,
            check_out = u.check_out,
            total = u.total,
            document = u.document,
            guest = u.guest,
            change_fees = u.change_fees
        FROM unnest($1::int[], $2::uuid[], $3::text[], $4::text[], $5::int[], $6::int[], $7::date[], $8::date[],
                    $9::numeric[], $10::jsonb[], $11::jsonb[], $12::numeric[])
            AS u (hotel_id, reservation_id, from_state, to_state, from_version, to_version, check_in, check_out,
                  total, document, guest, change_fees)
        WHERE r.hotel_id = u.hotel_id
          AND r.reservation_id = u.reservation_id
          AND r.state = u.from_state
          AND r.version = u.from_version",
        &changes.iter().map(|c| c.shift.id.hotel().0).collect::<Vec<i32>>(),
        &changes.iter().map(|c| c.shift.id.uuid()).collect::<Vec<Uuid>>(),
        &changes.iter().map(|c| c.shift.from.as_str().to_owned()).collect::<Vec<String>>(),
        &changes.iter().map(|c| c.shift.to.as_str().to_owned()).collect::<Vec<String>>(),
        &changes.iter().map(|c| c.shift.from_version).collect::<Vec<i32>>(),
        &changes.iter().map(|c| c.shift.to_version).collect::<Vec<i32>>(),
        &changes.iter().map(|c| c.stay.check_in()).collect::<Vec<NaiveDate>>(),
        &changes.iter().map(|c| c.stay.check_out()).collect::<Vec<NaiveDate>>(),
        &changes.iter().map(|c| c.total.amount()).collect::<Vec<Decimal>>(),
        &documents.collect::<Result<Vec<_>, _>>()?,
        &guests.collect::<Result<Vec<_>, _>>()?,
        &changes.iter().map(|c| c.change_fees.amount()).collect::<Vec<Decimal>>()
    )
    .execute(connection)
    .await?
    .exactly(changes.len(), "store::stay_changes::heads")
}

async fn retotal(connection: &mut PgConnection, rooms: &[Room]) -> Result<(), DbError> {
    if rooms.is_empty() {
        return Ok(());
    }
    sqlx::query!(
        "-- store::stay_changes::retotal
        UPDATE reservation_rooms AS m
        SET total = u.total
        FROM unnest($1::int[], $2::uuid[], $3::smallint[], $4::numeric[]) AS u (hotel_id, reservation_id, room, total)
        WHERE m.hotel_id = u.hotel_id
          AND m.reservation_id = u.reservation_id
          AND m.room = u.room
          AND m.cancelled_at IS NULL",
        &rooms.iter().map(|room| room.of.id.hotel().0).collect::<Vec<i32>>(),
        &rooms.iter().map(|room| room.of.id.uuid()).collect::<Vec<Uuid>>(),
        &rooms.iter().map(|room| room.number).collect::<Vec<i16>>(),
        &rooms.iter().map(|room| room.amount.amount()).collect::<Vec<Decimal>>()
    )
    .execute(connection)
    .await?
    .exactly(rooms.len(), "store::stay_changes::retotal")
}

async fn remove(connection: &mut PgConnection, rooms: &[Room], at: Moment) -> Result<(), DbError> {
    if rooms.is_empty() {
        return Ok(());
    }
    sqlx::query!(
        "-- store::stay_changes::remove
        UPDATE reservation_rooms AS m
        SET cancelled_at = $6,
            penalty = u.penalty,
            removed_at_version = u.version
        FROM unnest($1::int[], $2::uuid[], $3::smallint[], $4::numeric[], $5::int[])
            AS u (hotel_id, reservation_id, room, penalty, version)
        WHERE m.hotel_id = u.hotel_id
          AND m.reservation_id = u.reservation_id
          AND m.room = u.room
          AND m.cancelled_at IS NULL",
        &rooms.iter().map(|room| room.of.id.hotel().0).collect::<Vec<i32>>(),
        &rooms.iter().map(|room| room.of.id.uuid()).collect::<Vec<Uuid>>(),
        &rooms.iter().map(|room| room.number).collect::<Vec<i16>>(),
        &rooms.iter().map(|room| room.amount.amount()).collect::<Vec<Decimal>>(),
        &rooms.iter().map(|room| room.of.to_version).collect::<Vec<i32>>(),
        at.0
    )
    .execute(connection)
    .await?
    .exactly(rooms.len(), "store::stay_changes::remove")
}

/// The units that are let go, each exactly once and as the caller knows it.
async fn leave(connection: &mut PgConnection, changes: &[StayReplaced], at: Moment) -> Result<(), DbError> {
    let units: Vec<(ReservationMove, &UnitNight)> =
        changes.iter().flat_map(|change| change.dropped.iter().map(|unit| (change.shift, unit))).collect();
    if units.is_empty() {
        return Ok(());
    }
    sqlx::query!(
        "-- store::stay_changes::leave
        UPDATE reservation_nights AS n
        SET given_back_at = $7,
            left_at_version = u.version
        FROM unnest($1::int[], $2::uuid[], $3::smallint[], $4::date[], $5::int[], $6::int[])
            AS u (hotel_id, reservation_id, room, stay_date, room_type_id, version)
        WHERE n.hotel_id = u.hotel_id
          AND n.reservation_id = u.reservation_id
          AND n.room = u.room
          AND n.stay_date = u.stay_date
          AND n.room_type_id = u.room_type_id
          AND n.given_back_at IS NULL",
        &units.iter().map(|(of, _)| of.id.hotel().0).collect::<Vec<i32>>(),
        &units.iter().map(|(of, _)| of.id.uuid()).collect::<Vec<Uuid>>(),
        &units.iter().map(|(_, unit)| unit.room).collect::<Vec<i16>>(),
        &units.iter().map(|(_, unit)| unit.date).collect::<Vec<NaiveDate>>(),
        &units.iter().map(|(_, unit)| unit.room_type.0).collect::<Vec<i32>>(),
        &units.iter().map(|(of, _)| of.to_version).collect::<Vec<i32>>(),
        at.0
    )
    .execute(connection)
    .await?
    .exactly(units.len(), "store::stay_changes::leave")
}
