//! Invariant 3 of channels: a booking that stands has its one reservation, for the stay that was delivered last. What
//! was delivered is told by the audit, which nobody can rewrite.

use keyrack_db::{DbError, PgConnection};
use keyrack_domain::ids::HotelId;

use super::{Subject, Violation, Violations};

struct Told {
    channel: String,
    booking: String,
    rule: String,
    expected: String,
    found: String,
    total: i64,
}

/// A reservation stands until it is CANCELLED: what the desk makes of the stay does not end it. One that the hotel
/// has cancelled leaves its booking ACTIVE until the channel hears of it.
pub(super) async fn channel_bookings(
    connection: &mut PgConnection,
    hotel: HotelId,
    shown: i64,
) -> Result<Violations, DbError> {
    let rows = sqlx::query_as!(
        Told,
        r#"-- store::verify::channel_bookings
        SELECT p.channel AS "channel!",
               p.booking_id AS "booking!",
               c.rule AS "rule!",
               c.expected AS "expected!",
               c.found AS "found!",
               count(*) OVER () AS "total!"
        FROM (
            SELECT b.channel, b.booking_id, b.state, b.revision,
                   coalesce(r.state <> 'CANCELLED', false)::int AS own,
                   coalesce(d.standing, 0) AS standing,
                   d.revision AS told_revision,
                   concat(r.check_in, ' to ', r.check_out) AS stay,
                   concat(d.stay ->> 'check_in', ' to ', d.stay ->> 'check_out') AS told_stay
            FROM channel_bookings b
            LEFT JOIN reservations r ON r.hotel_id = b.hotel_id AND r.reservation_id = b.reservation_id
            LEFT JOIN (
                SELECT a.after ->> 'channel' AS channel,
                       a.after ->> 'booking_id' AS booking_id,
                       max((a.after ->> 'revision')::bigint) AS revision,
                       (array_agg(a.after -> 'stay' ORDER BY a.entry_id DESC))[1] AS stay,
                       count(DISTINCT x.reservation_id) FILTER (WHERE x.state <> 'CANCELLED') AS standing
                FROM audit a
                LEFT JOIN reservations x
                  ON x.hotel_id = a.hotel_id
                 AND concat('res_', lpad(to_hex(x.hotel_id), 8, '0'), replace(x.reservation_id::text, '-', ''))
                     = a.subject
                WHERE a.hotel_id = $1
                  AND a.action IN ('reservation.confirmed', 'reservation.changed')
                  AND a.after ->> 'booking_id' IS NOT NULL
                GROUP BY 1, 2
            ) AS d ON d.channel = b.channel AND d.booking_id = b.booking_id
            WHERE b.hotel_id = $1
        ) AS p
        CROSS JOIN LATERAL (
            VALUES
                ('a channel''s booking that stands has the one reservation that it made',
                 p.state = 'ACTIVE' AND p.standing <> p.own,
                 p.own::text,
                 p.standing::text),
                ('a channel''s booking that was cancelled has no reservation that stands',
                 p.state = 'CANCELLED' AND greatest(p.standing, p.own) > 0,
                 '0',
                 greatest(p.standing, p.own)::text),
                ('the reservation of a channel''s booking has the stay that was delivered last',
                 p.own = 1 AND p.told_revision IS NOT NULL AND p.stay <> p.told_stay,
                 p.told_stay,
                 p.stay),
                ('a channel''s booking is at no lower revision than was delivered',
                 coalesce(p.revision, -1) < p.told_revision,
                 p.told_revision::text,
                 coalesce(p.revision::text, 'none'))
        ) AS c (rule, broken, expected, found)
        WHERE c.broken
        ORDER BY p.channel, p.booking_id, c.rule
        LIMIT $2"#,
        hotel.0,
        shown
    )
    .fetch_all(connection)
    .await?;
    Ok(violations(rows))
}

fn violations(rows: Vec<Told>) -> Violations {
    let total = rows.first().map_or(0, |row| row.total);
    let first = rows.into_iter().map(|row| Violation {
        subject: Subject::ChannelBooking { channel: row.channel, booking: row.booking },
        rule: row.rule,
        expected: row.expected,
        found: row.found,
    });
    Violations { total, first: first.collect() }
}
