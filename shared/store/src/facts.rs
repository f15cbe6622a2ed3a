//! What decisions read for many operations at once: restrictions, and who holds how much.

use std::collections::BTreeSet;

use chrono::NaiveDate;
use keyrack_db::{DbError, PgConnection};
use keyrack_domain::{
    clock::Moment,
    ids::{HoldId, HotelId, PrincipalId, RoomTypeId},
    restriction::{NightRestriction, RatePlanScope},
};
use uuid::Uuid;

use crate::nights::NightKey;

/// An ACTIVE hold of a principal.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OwnHold {
    pub id: HoldId,
    pub principal: PrincipalId,
    pub expires_at: Moment,
    pub deferred_until: Option<Moment>,
    /// It holds for a change of a stay, and cannot be swapped for another one.
    pub is_of_a_change: bool,
    /// Which nights it claims: every one of these types from check-in up to check-out.
    pub room_types: BTreeSet<RoomTypeId>,
    pub check_in: NaiveDate,
    pub check_out: NaiveDate,
}

/// Every rule of the given dates, under whatever plan.
pub async fn restrictions(
    connection: &mut PgConnection,
    keys: impl IntoIterator<Item = &NightKey>,
) -> Result<Vec<(NightKey, RatePlanScope, NightRestriction)>, DbError> {
    let (mut hotels, mut room_types, mut dates) = (Vec::new(), Vec::new(), Vec::new());
    for key in keys {
        hotels.push(key.hotel.0);
        room_types.push(key.room_type.0);
        dates.push(key.date);
    }
    let rows = sqlx::query!(
        "-- store::facts::restrictions
        SELECT r.hotel_id, r.room_type_id, r.rate_plan_id, r.stay_date, r.stop_sell, r.min_stay_arrival,
               r.min_stay_through, r.max_stay, r.closed_to_arrival, r.closed_to_departure, r.min_advance_days,
               r.max_advance_days
        FROM unnest($1::int[], $2::int[], $3::date[]) AS w (hotel_id, room_type_id, stay_date)
        CROSS JOIN LATERAL (
            SELECT x.hotel_id, x.room_type_id, x.rate_plan_id, x.stay_date, x.stop_sell, x.min_stay_arrival,
                   x.min_stay_through, x.max_stay, x.closed_to_arrival, x.closed_to_departure, x.min_advance_days,
                   x.max_advance_days
            FROM restrictions x
            WHERE x.hotel_id = w.hotel_id
              AND x.room_type_id = w.room_type_id
              AND x.stay_date = w.stay_date
        ) AS r",
        &hotels,
        &room_types,
        &dates
    )
    .fetch_all(connection)
    .await?;
    rows.into_iter()
        .map(|r| {
            let key = NightKey {
                hotel: HotelId(r.hotel_id),
                room_type: RoomTypeId(r.room_type_id),
                date: r.stay_date,
            };
            let limit = |column: Option<i32>| {
                column.map(u16::try_from).transpose().map_err(|e| DbError::unreadable("restriction", &e))
            };
            let rule = NightRestriction {
                stop_sell: r.stop_sell,
                min_stay_arrival: limit(r.min_stay_arrival)?,
                min_stay_through: limit(r.min_stay_through)?,
                max_stay: limit(r.max_stay)?,
                closed_to_arrival: r.closed_to_arrival,
                closed_to_departure: r.closed_to_departure,
                min_advance_days: limit(r.min_advance_days)?,
                max_advance_days: limit(r.max_advance_days)?,
            };
            Ok((key, RatePlanScope::from(r.rate_plan_id), rule))
        })
        .collect()
}

/// ACTIVE holds of the given principals at the given hotels; stable only under the caps' locks.
pub async fn own_holds(
    connection: &mut PgConnection,
    caps: impl IntoIterator<Item = &(HotelId, PrincipalId)>,
) -> Result<Vec<OwnHold>, DbError> {
    let (hotels, principals): (Vec<i32>, Vec<Uuid>) = caps.into_iter().map(|(h, p)| (h.0, p.0)).unzip();
    let rows = sqlx::query!(
        r#"-- store::facts::own_holds
        SELECT h.hotel_id, h.hold_id, h.principal_id, h.expires_at, h.deferred_until, h.check_in, h.check_out,
               h.change_id IS NOT NULL AS "is_of_a_change!", n.room_types AS "room_types!"
        FROM unnest($1::int[], $2::uuid[]) AS w (hotel_id, principal_id)
        JOIN holds h ON h.hotel_id = w.hotel_id AND h.principal_id = w.principal_id AND h.state = 'ACTIVE'
        CROSS JOIN LATERAL (
            SELECT array_agg(DISTINCT x.room_type_id) AS room_types
            FROM hold_nights x
            WHERE x.hotel_id = h.hotel_id
              AND x.hold_id = h.hold_id
        ) AS n
        ORDER BY h.hotel_id, h.expires_at, h.hold_id"#,
        &hotels,
        &principals
    )
    .fetch_all(connection)
    .await?;
    Ok(rows
        .into_iter()
        .map(|r| OwnHold {
            id: HoldId::new(HotelId(r.hotel_id), r.hold_id),
            principal: PrincipalId(r.principal_id),
            expires_at: Moment(r.expires_at),
            deferred_until: r.deferred_until.map(Moment),
            is_of_a_change: r.is_of_a_change,
            room_types: r.room_types.into_iter().map(RoomTypeId).collect(),
            check_in: r.check_in,
            check_out: r.check_out,
        })
        .collect())
}
