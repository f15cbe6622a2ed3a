//! Invariant 4: every committed change has its event in the outbox, pending or published.
//!
//! Rows tell which events they must have. Edits of inventory leave no such row; they are seen by what was
//! told last of a night, which must be what is available there now. Edits of rates and restrictions
//! leave nothing to compare with. Nothing is removed from the outbox yet, so all changes are within
//! retention.

mod nights;
mod rows;

use keyrack_db::{DbError, PgConnection};
use keyrack_domain::ids::{HotelId, ReservationId};

use super::{Broken, Subject, Violation, Violations};

pub async fn events(
    connection: &mut PgConnection,
    hotel: HotelId,
    shown: i64,
) -> Result<Violations, DbError> {
    let by_row = rows::told(connection, hotel, shown).await?;
    let by_night = nights::told(connection, hotel, shown).await?;
    let twice = told_twice(connection, hotel, shown).await?;
    let steps = steps(connection, hotel, shown).await?;
    Ok(by_row.and(by_night, shown).and(twice, shown).and(steps, shown))
}

/// A reservation's version rises by one with each change, and each change is one event.
async fn steps(connection: &mut PgConnection, hotel: HotelId, shown: i64) -> Result<Violations, DbError> {
    let rows = sqlx::query_as!(
        Broken,
        r#"-- store::verify::events::steps
        SELECT r.reservation_id AS "id!",
               'a reservation has one event for each of its versions' AS "rule!",
               r.version::text AS "expected!",
               coalesce(e.events, 0)::text AS "found!",
               count(*) OVER () AS "total!"
        FROM reservations r
        LEFT JOIN (
            SELECT o.payload ->> 'reservation_id' AS about, count(*) AS events
            FROM outbox o
            WHERE o.hotel_id = $1
              AND o.type LIKE 'reservation.%'
            GROUP BY 1
        ) AS e ON e.about = concat('res_', lpad(to_hex($1::int), 8, '0'), replace(r.reservation_id::text, '-', ''))
        WHERE r.hotel_id = $1
          AND r.version <> coalesce(e.events, 0)
        ORDER BY r.reservation_id
        LIMIT $2"#,
        hotel.0,
        shown
    )
    .fetch_all(connection)
    .await?;
    Ok(Violations::of(rows, |id| Subject::Reservation(ReservationId::new(hotel, id))))
}

/// Consumers drop what carries an id that they have seen: the second event would be lost.
async fn told_twice(
    connection: &mut PgConnection,
    hotel: HotelId,
    shown: i64,
) -> Result<Violations, DbError> {
    let rows = sqlx::query!(
        r#"-- store::verify::events::told_twice
        SELECT min(type) AS "name!",
               event_id,
               count(*)::text AS "found!",
               count(*) OVER () AS "total!"
        FROM outbox
        WHERE hotel_id = $1
        GROUP BY event_id
        HAVING count(*) > 1
        ORDER BY event_id
        LIMIT $2"#,
        hotel.0,
        shown
    )
    .fetch_all(connection)
    .await?;
    let total = rows.first().map_or(0, |row| row.total);
    let first = rows.into_iter().map(|row| Violation {
        subject: Subject::Event { name: row.name, about: row.event_id.to_string() },
        rule: "an event's id stands once".to_owned(),
        expected: "1".to_owned(),
        found: row.found,
    });
    Ok(Violations { total, first: first.collect() })
}
