//! What happened to one booking, from everything that keeps a trace of it. Read only.

use keyrack_db::{DbError, PgConnection};
use keyrack_domain::{
    clock::Moment,
    ids::{AttemptId, ChangeId, HoldId, HotelId, QuoteId, RefundId, ReservationId},
};
use serde_json::Value;
use uuid::Uuid;

/// Rows that are looked at for one booking. Declined cards and priced changes have no other bound.
const MAX_MEMBERS: i64 = 1_000;

/// One of a booking's ids.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Asked {
    Reservation(ReservationId),
    Attempt(AttemptId),
    Hold(HoldId),
    Change(ChangeId),
}

impl Asked {
    pub const fn hotel(self) -> HotelId {
        match self {
            Self::Reservation(id) => id.hotel(),
            Self::Attempt(id) => id.hotel(),
            Self::Hold(id) => id.hotel(),
            Self::Change(id) => id.hotel(),
        }
    }
}

/// What belongs to one booking, each in the order of its coming into being.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Members {
    pub reservations: Vec<ReservationId>,
    pub quotes: Vec<QuoteId>,
    pub holds: Vec<HoldId>,
    pub attempts: Vec<AttemptId>,
    pub changes: Vec<ChangeId>,
    pub refunds: Vec<RefundId>,
}

impl Members {
    pub const fn is_empty(&self) -> bool {
        self.reservations.is_empty() && self.holds.is_empty() && self.attempts.is_empty()
    }

    /// As the audit and the events name them.
    fn names(&self) -> Vec<String> {
        let reservations = self.reservations.iter().map(ToString::to_string);
        let holds = self.holds.iter().map(ToString::to_string);
        let attempts = self.attempts.iter().map(ToString::to_string);
        let changes = self.changes.iter().map(ToString::to_string);
        let refunds = self.refunds.iter().map(ToString::to_string);
        reservations.chain(holds).chain(attempts).chain(changes).chain(refunds).collect()
    }
}

/// Everything of the booking to which the id belongs: of its reservation, or of its holds where there is none.
pub async fn members(connection: &mut PgConnection, asked: Asked) -> Result<Members, DbError> {
    let hotel = asked.hotel();
    let (mut reservation, mut attempt, mut hold, mut change) = (None, None, None, None);
    match asked {
        Asked::Reservation(id) => reservation = Some(id.uuid()),
        Asked::Attempt(id) => attempt = Some(id.uuid()),
        Asked::Hold(id) => hold = Some(id.uuid()),
        Asked::Change(id) => change = Some(id.uuid()),
    }
    let rows = sqlx::query!(
        r#"-- store::timeline::members
        WITH asked_attempts AS (
            SELECT a.attempt_id, a.hold_id, a.reservation_id
            FROM payment_attempts a
            WHERE a.hotel_id = $1
              AND (a.attempt_id = $3 OR a.hold_id = $4)
        ),
        stays AS (
            SELECT r.reservation_id, r.hold_id, r.attempt_id
            FROM reservations r
            WHERE r.hotel_id = $1
              AND (r.reservation_id = $2
                   OR r.hold_id = $4
                   OR r.hold_id IN (SELECT hold_id FROM asked_attempts)
                   OR r.attempt_id IN (SELECT attempt_id FROM asked_attempts)
                   OR r.reservation_id IN (SELECT reservation_id FROM asked_attempts)
                   OR r.reservation_id IN (
                       SELECT c.reservation_id
                       FROM reservation_changes c
                       WHERE c.hotel_id = $1
                         AND c.change_id = $5))
        ),
        changes AS (
            SELECT c.change_id, c.quote_id
            FROM reservation_changes c
            WHERE c.hotel_id = $1
              AND c.reservation_id IN (SELECT reservation_id FROM stays)
        ),
        paid AS (
            SELECT a.attempt_id, a.hold_id
            FROM payment_attempts a
            WHERE a.hotel_id = $1
              AND (a.attempt_id IN (SELECT attempt_id FROM stays)
                   OR a.reservation_id IN (SELECT reservation_id FROM stays))
            UNION
            SELECT attempt_id, hold_id
            FROM asked_attempts
        ),
        held AS (
            SELECT h.hold_id, h.quote_id
            FROM holds h
            WHERE h.hotel_id = $1
              AND (h.hold_id = $4
                   OR h.hold_id IN (SELECT hold_id FROM stays)
                   OR h.hold_id IN (SELECT hold_id FROM paid))
        ),
        attempts AS (
            SELECT attempt_id
            FROM paid
            UNION
            SELECT a.attempt_id
            FROM payment_attempts a
            WHERE a.hotel_id = $1
              AND a.hold_id IN (SELECT hold_id FROM held)
        )
        SELECT m.kind AS "kind!", m.id AS "id!"
        FROM (
            SELECT 1 AS kind, reservation_id AS id FROM stays
            UNION SELECT 2, hold_id FROM held
            UNION SELECT 3, attempt_id FROM attempts
            UNION SELECT 4, f.refund_id FROM refunds f
                  WHERE f.hotel_id = $1 AND f.attempt_id IN (SELECT attempt_id FROM attempts)
            UNION SELECT 5, change_id FROM changes
            UNION SELECT 6, quote_id FROM held
            UNION SELECT 6, quote_id FROM changes
        ) AS m
        ORDER BY m.kind, m.id
        LIMIT $6"#,
        hotel.0,
        reservation,
        attempt,
        hold,
        change,
        MAX_MEMBERS
    )
    .fetch_all(connection)
    .await?;
    let mut members = Members::default();
    for row in rows {
        match row.kind {
            1 => members.reservations.push(ReservationId::new(hotel, row.id)),
            2 => members.holds.push(HoldId::new(hotel, row.id)),
            3 => members.attempts.push(AttemptId::new(hotel, row.id)),
            4 => members.refunds.push(RefundId::new(hotel, row.id)),
            5 => members.changes.push(ChangeId::new(hotel, row.id)),
            _ => members.quotes.push(QuoteId::new(hotel, row.id)),
        }
    }
    Ok(members)
}

/// A place in the order of a timeline: first by time.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Place {
    pub at: Moment,
    /// Sorts what came at the same instant; by its bytes.
    pub id: String,
}

#[derive(Clone, PartialEq, Debug)]
pub struct ItemRow {
    pub place: Place,
    /// With its `kind`.
    pub item: Value,
}

/// Of the hotel's own database, after a place, in order. A batch of the ledger commits what belongs to many: of a
/// transaction only what names this booking is told.
pub async fn page(
    connection: &mut PgConnection,
    hotel: HotelId,
    members: &Members,
    after: Option<&Place>,
    limit: i64,
) -> Result<Vec<ItemRow>, DbError> {
    let quotes: Vec<Uuid> = members.quotes.iter().map(|id| id.uuid()).collect();
    let attempts: Vec<Uuid> = members.attempts.iter().map(|id| id.uuid()).collect();
    let rows = sqlx::query!(
        r#"-- store::timeline::page
        WITH entries AS (
            SELECT a.entry_id, a.at, a.transaction_id, a.action, a.subject, a.actor, a.request_id, a.before, a.after
            FROM audit a
            WHERE a.hotel_id = $1
              AND a.subject = ANY($2::text[])
        ),
        transactions AS (
            SELECT min(e.at) AS at,
                   min(e.entry_id) AS first,
                   e.transaction_id,
                   jsonb_agg(
                       jsonb_build_object(
                           'action', e.action, 'subject', e.subject, 'actor', e.actor, 'request_id', e.request_id,
                           'before', e.before, 'after', e.after)
                       ORDER BY e.entry_id) AS entries
            FROM entries e
            WHERE e.action NOT LIKE '%.replayed'
            GROUP BY e.transaction_id, CASE WHEN e.transaction_id IS NULL THEN e.entry_id END
        ),
        items AS (
            SELECT q.created_at AS at,
                   '0' || q.quote_id AS id,
                   jsonb_build_object('kind', 'quote', 'quote', q.quote_id, 'expires_at', q.expires_at) AS item
            FROM quotes q
            WHERE q.hotel_id = $1
              AND q.quote_id = ANY($4::uuid[])
            UNION ALL
            SELECT t.at,
                   '1' || lpad(t.first::text, 20, '0'),
                   jsonb_build_object(
                       'kind', 'transaction',
                       'transaction_id', t.transaction_id::text,
                       'entries', t.entries,
                       'events', coalesce((
                           SELECT jsonb_agg(jsonb_build_object('type', o.type, 'payload', o.payload) ORDER BY o.seq)
                           FROM outbox o
                           WHERE o.hotel_id = $1
                             AND o.transaction_id = t.transaction_id
                             AND (o.payload ->> 'hold_id' = ANY($2::text[])
                                  OR o.payload ->> 'attempt_id' = ANY($2::text[])
                                  OR o.payload ->> 'reservation_id' = ANY($2::text[])
                                  OR o.payload ->> 'refund_id' = ANY($2::text[]))), '[]'),
                       'movements', coalesce((
                           SELECT jsonb_agg(
                               jsonb_build_object(
                                   'kind', m.kind, 'reference', m.reference,
                                   'amount', jsonb_build_object('amount', m.amount::text, 'currency', m.currency))
                               ORDER BY m.entry_id)
                           FROM payment_history m
                           WHERE m.hotel_id = $1
                             AND m.attempt_id = ANY($3::uuid[])
                             AND m.transaction_id = t.transaction_id), '[]'))
            FROM transactions t
            UNION ALL
            SELECT c.asked_at,
                   '2' || c.call_id,
                   jsonb_build_object(
                       'kind', 'provider_call', 'call', c.call, 'reference', c.reference,
                       'answered_at', c.answered_at, 'outcome', c.outcome, 'detail', c.detail)
            FROM provider_calls c
            WHERE c.hotel_id = $1
              AND c.attempt_id = ANY($3::uuid[])
            UNION ALL
            SELECT n.received_at,
                   '3' || n.notice_id,
                   jsonb_build_object(
                       'kind', 'notice', 'provider', n.provider, 'event_id', n.event_id, 'told', n.kind,
                       'reference', n.reference, 'outcome', n.outcome, 'finding', n.finding,
                       'transaction_id', n.transaction_id::text,
                       'amount', CASE WHEN n.amount IS NOT NULL THEN
                           jsonb_build_object('amount', n.amount::text, 'currency', n.currency) END)
            FROM provider_events n
            WHERE n.hotel_id = $1
              AND n.attempt_id = ANY($3::uuid[])
            UNION ALL
            SELECT e.at,
                   '4' || lpad(e.entry_id::text, 20, '0'),
                   jsonb_build_object(
                       'kind', 'replay', 'action', e.action, 'subject', e.subject, 'actor', e.actor,
                       'request_id', e.request_id, 'state', e.after ->> 'state',
                       'picked_up', e.after ->> 'picked_up')
            FROM entries e
            WHERE e.action LIKE '%.replayed'
        )
        SELECT i.at AS "at!", i.id AS "id!", i.item AS "item!"
        FROM items i
        WHERE ($5::timestamptz IS NULL OR (i.at, i.id COLLATE "C") > ($5, $6::text COLLATE "C"))
        ORDER BY i.at, i.id COLLATE "C"
        LIMIT $7"#,
        hotel.0,
        &members.names(),
        &attempts,
        &quotes,
        after.map(|place| place.at.0),
        after.map_or("", |place| place.id.as_str()),
        limit
    )
    .fetch_all(connection)
    .await?;
    Ok(rows
        .into_iter()
        .map(|row| ItemRow { place: Place { at: Moment(row.at), id: row.id }, item: row.item })
        .collect())
}

/// Notices that name an attempt of the booking and could not be applied, of the directory. They were received in
/// real time, which is put on the deciding clock as it goes now.
pub async fn unmatched(
    connection: &mut PgConnection,
    members: &Members,
    after: Option<&Place>,
    limit: i64,
) -> Result<Vec<ItemRow>, DbError> {
    let attempts: Vec<String> = members.attempts.iter().map(ToString::to_string).collect();
    let rows = sqlx::query!(
        r#"-- store::timeline::unmatched
        SELECT i.at AS "at!", i.id AS "id!", i.item AS "item!"
        FROM (
            SELECT u.received_at + (SELECT ahead FROM sandbox_clock WHERE singleton) AS at,
                   '3' || u.notice_id AS id,
                   jsonb_build_object(
                       'kind', 'notice', 'provider', u.provider, 'event_id', u.event_id, 'told', u.kind,
                       'reference', u.reference, 'outcome', 'UNMATCHED') AS item
            FROM directory.unmatched_notices u
            WHERE u.attempt = ANY($1::text[])
        ) AS i
        WHERE ($2::timestamptz IS NULL OR (i.at, i.id COLLATE "C") > ($2, $3::text COLLATE "C"))
        ORDER BY i.at, i.id COLLATE "C"
        LIMIT $4"#,
        &attempts,
        after.map(|place| place.at.0),
        after.map_or("", |place| place.id.as_str()),
        limit
    )
    .fetch_all(connection)
    .await?;
    Ok(rows
        .into_iter()
        .map(|row| ItemRow { place: Place { at: Moment(row.at), id: row.id }, item: row.item })
        .collect())
}
