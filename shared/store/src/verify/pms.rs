//! Invariant 1 of hotel systems: a night that sells no more than was reported has the one conflict that says why, and
//! every conflict that waits has its night. No batch was applied that its connector's cursor has not passed.

use keyrack_db::{DbError, PgConnection};
use keyrack_domain::ids::{HotelId, RoomTypeId};

use super::{Subject, Violation, Violations};

pub(super) async fn pms(
    connection: &mut PgConnection,
    hotel: HotelId,
    shown: i64,
) -> Result<Violations, DbError> {
    let nights = nights(connection, hotel, shown).await?;
    Ok(nights.and(cursors(connection, hotel, shown).await?, shown))
}

async fn nights(connection: &mut PgConnection, hotel: HotelId, shown: i64) -> Result<Violations, DbError> {
    let rows = sqlx::query!(
        r#"-- store::verify::pms::nights
        SELECT coalesce(i.room_type_id, c.room_type_id) AS "room_type_id!",
               coalesce(i.stay_date, c.stay_date) AS "stay_date!",
               t.code AS "code?",
               coalesce(c.reported::text, 'none') AS "expected!",
               coalesce(i.reported::text, 'none') AS "found!",
               count(*) OVER () AS "total!"
        FROM (
            SELECT n.room_type_id, n.stay_date, n.reported
            FROM room_night_inventory n
            WHERE n.hotel_id = $1
              AND n.reported IS NOT NULL
        ) AS i
        FULL JOIN (
            SELECT x.room_type_id, x.stay_date, x.reported
            FROM pms_conflicts x
            WHERE x.hotel_id = $1
              AND x.state IN ('OPEN', 'WALKING')
        ) AS c ON c.room_type_id = i.room_type_id AND c.stay_date = i.stay_date
        LEFT JOIN room_types t
          ON t.hotel_id = $1
         AND t.room_type_id = coalesce(i.room_type_id, c.room_type_id)
        WHERE i.reported IS DISTINCT FROM c.reported
        ORDER BY 1, 2
        LIMIT $2"#,
        hotel.0,
        shown
    )
    .fetch_all(connection)
    .await?;
    let total = rows.first().map_or(0, |row| row.total);
    let first = rows.into_iter().map(|row| {
        let code = row.code.map(|code| code.parse()).transpose();
        let code = code.map_err(|e| DbError::unreadable("room type code", &e))?;
        Ok(Violation {
            subject: Subject::Night { room_type: RoomTypeId(row.room_type_id), code, night: row.stay_date },
            rule: "a night's reported number is that of the conflict that waits there".to_owned(),
            expected: row.expected,
            found: row.found,
        })
    });
    Ok(Violations { total, first: first.collect::<Result<_, DbError>>()? })
}

async fn cursors(connection: &mut PgConnection, hotel: HotelId, shown: i64) -> Result<Violations, DbError> {
    let rows = sqlx::query!(
        r#"-- store::verify::pms::cursors
        SELECT concat('prn_', replace(b.connector::text, '-', '')) AS "connector!",
               max(b.sequence)::text AS "expected!",
               coalesce(max(c.sequence)::text, 'none') AS "found!",
               count(*) OVER () AS "total!"
        FROM pms_batches b
        LEFT JOIN pms_cursors c ON c.hotel_id = b.hotel_id AND c.connector = b.connector
        WHERE b.hotel_id = $1
        GROUP BY b.connector
        HAVING max(b.sequence) > coalesce(max(c.sequence), 0)
        ORDER BY b.connector
        LIMIT $2"#,
        hotel.0,
        shown
    )
    .fetch_all(connection)
    .await?;
    let total = rows.first().map_or(0, |row| row.total);
    let first = rows.into_iter().map(|row| Violation {
        subject: Subject::Connector { connector: row.connector },
        rule: "a connector's cursor is at no lower sequence than its batches".to_owned(),
        expected: row.expected,
        found: row.found,
    });
    Ok(Violations { total, first: first.collect() })
}
