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

    fn with(mut self, hotel: HotelId, kind: i32, id: Uuid) -> Self {
        match kind {
            1 => self.reservations.push(ReservationId::new(hotel, id)),
            2 => self.holds.push(HoldId::new(hotel, id)),
            3 => self.attempts.push(AttemptId::new(hotel, id)),
            4 => self.refunds.push(RefundId::new(hotel, id)),
            5 => self.changes.push(ChangeId::new(hotel, id)),
            _ => self.quotes.push(QuoteId::new(hotel, id)),
        }
        self
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

/// The four kinds of ids as parameters of a statement.
struct Keys {
    reservation: Option<Uuid>,
    attempt: Option<Uuid>,
    hold: Option<Uuid>,
    change: Option<Uuid>,
}

impl Keys {
    const fn of(asked: Asked) -> Self {
        let none = Self { reservation: None, attempt: None, hold: None, change: None };
        match asked {
            Asked::Reservation(id) => Self { reservation: Some(id.uuid()), ..none },
            Asked::Attempt(id) => Self { attempt: Some(id.uuid()), ..none },
            Asked::Hold(id) => Self { hold: Some(id.uuid()), ..none },
            Asked::Change(id) => Self { change: Some(id.uuid()), ..none },
        }
    }
}

/// The reservation that the id leads to, where there is one: a hold's attempt may have got it other rooms.
async fn reservation_of(
    connection: &mut PgConnection,
    hotel: HotelId,
    keys: &Keys,
) -> Result<Option<Uuid>, DbError> {
    let row = sqlx::query!(
        "-- store::timeline::reservation_of
        WITH asked AS (
            SELECT a.attempt_id, a.hold_id, a.reservation_id
            FROM payment_attempts a
            WHERE a.hotel_id = $1
              AND (a.attempt_id = $3 OR a.hold_id = $4)
        )
        SELECT r.reservation_id
        FROM reservations r
        WHERE r.hotel_id = $1
          AND (r.reservation_id = $2
               OR r.hold_id = $4
               OR r.hold_id IN (SELECT hold_id FROM asked)
               OR r.attempt_id IN (SELECT attempt_id FROM asked)
               OR r.reservation_id IN (SELECT reservation_id FROM asked)
               OR r.reservation_id IN (
                   SELECT c.reservation_id
                   FROM reservation_changes c
                   WHERE c.hotel_id = $1
                     AND c.change_id = $5))
        ORDER BY r.reservation_id
        LIMIT 1",
        hotel.0,
        keys.reservation,
        keys.attempt,
        keys.hold,
        keys.change
    )
    .fetch_optional(connection)
    .await?;
    Ok(row.map(|row| row.reservation_id))
}

/// Everything of the booking to which the id belongs: of its reservation, or of its holds where there is none.
pub async fn members(connection: &mut PgConnection, asked: Asked) -> Result<Members, DbError> {
    let (hotel, keys) = (asked.hotel(), Keys::of(asked));
    let reservation = reservation_of(&mut *connection, hotel, &keys).await?;
    let rows = sqlx::query!(
        r#"-- store::timeline::members
        WITH paid AS (
            SELECT a.attempt_id, a.hold_id
            FROM payment_attempts a
            WHERE a.hotel_id = $1
              AND (a.reservation_id = $2
                   OR a.attempt_id = $3
                   OR a.hold_id = $4
                   OR a.attempt_id IN (
                       SELECT r.attempt_id
                       FROM reservations r
                       WHERE r.hotel_id = $1
                         AND r.reservation_id = $2))
        ),
        held AS (
            SELECT h.hold_id, h.quote_id
            FROM holds h
            WHERE h.hotel_id = $1
              AND (h.hold_id = $4
                   OR h.hold_id IN (SELECT hold_id FROM paid)
                   OR h.hold_id IN (
                       SELECT r.hold_id
                       FROM reservations r
                       WHERE r.hotel_id = $1
                         AND r.reservation_id = $2))
        ),
        attempts AS (
            SELECT attempt_id FROM paid
            UNION SELECT a.attempt_id FROM payment_attempts a
                  WHERE a.hotel_id = $1 AND a.hold_id IN (SELECT hold_id FROM held)
        ),
        changes AS (
            SELECT c.change_id, c.quote_id FROM reservation_changes c
            WHERE c.hotel_id = $1 AND c.reservation_id = $2
        )
        SELECT m.kind AS "kind!", m.id AS "id!"
        FROM (
            SELECT 1 AS kind, $2::uuid AS id WHERE $2 IS NOT NULL
            UNION SELECT 2, hold_id FROM held
            UNION SELECT 3, attempt_id FROM attempts
            UNION SELECT 4, f.refund_id FROM refunds f
                  WHERE f.hotel_id = $1 AND f.attempt_id IN (SELECT attempt_id FROM attempts)
            UNION SELECT 5, change_id FROM changes
            UNION SELECT 6, quote_id FROM held
            UNION SELECT 6, quote_id FROM changes
        ) AS m
        ORDER BY m.kind, m.id
        LIMIT $5"#,
        hotel.0,
        reservation,
        keys.attempt,
        keys.hold,
        MAX_MEMBERS
    )
    .fetch_all(connection)
    .await?;
    Ok(rows.into_iter().fold(Members::default(), |members, row| members.with(hotel, row.kind, row.id)))
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

impl ItemRow {
    const fn new(at: chrono::DateTime<chrono::Utc>, id: String, item: Value) -> Self {
        Self { place: Place { at: Moment(at), id }, item }
    }
}

/// Commits, after a place, in order. A batch of the ledger commits what belongs to many bookings: of a transaction
/// only what names this one is told.
pub async fn transactions(
    connection: &mut PgConnection,
    hotel: HotelId,
    members: &Members,
    after: Option<&Place>,
    limit: i64,
) -> Result<Vec<ItemRow>, DbError> {
    let attempts: Vec<Uuid> = members.attempts.iter().map(|id| id.uuid()).collect();
    let rows = sqlx::query!(
        r#"-- store::timeline::transactions
        SELECT t.at AS "at!",
               t.id AS "id!",
               jsonb_build_object(
                   'kind', 'transaction', 'transaction_id', t.transaction_id::text, 'entries', t.entries,
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
                       SELECT jsonb_agg(jsonb_build_object(
                           'kind', m.kind, 'reference', m.reference,
                           'amount', jsonb_build_object('amount', m.amount::text, 'currency', m.currency))
                           ORDER BY m.entry_id)
                       FROM payment_history m
                       WHERE m.hotel_id = $1
                         AND m.attempt_id = ANY($3::uuid[])
                         AND m.transaction_id = t.transaction_id), '[]')) AS "item!"
        FROM (
            SELECT min(a.at) AS at,
                   '1' || lpad(min(a.entry_id)::text, 20, '0') AS id,
                   a.transaction_id,
                   jsonb_agg(jsonb_build_object(
                       'action', a.action, 'subject', a.subject, 'actor', a.actor, 'request_id', a.request_id,
                       'before', a.before, 'after', a.after) ORDER BY a.entry_id) AS entries
            FROM audit a
            WHERE a.hotel_id = $1
              AND a.subject = ANY($2::text[])
              AND a.action NOT LIKE '%.replayed'
            GROUP BY a.transaction_id, CASE WHEN a.transaction_id IS NULL THEN a.entry_id END
        ) AS t
        WHERE ($4::timestamptz IS NULL OR (t.at, t.id COLLATE "C") > ($4, $5::text COLLATE "C"))
        ORDER BY t.at, t.id COLLATE "C"
        LIMIT $6"#,
        hotel.0,
        &members.names(),
        &attempts,
        after.map(|place| place.at.0),
        after.map_or("", |place| place.id.as_str()),
        limit
    )
    .fetch_all(connection)
    .await?;
    Ok(rows.into_iter().map(|row| ItemRow::new(row.at, row.id, row.item)).collect())
}

/// Everything else of the hotel's own database, after a place, in order: quotes, provider calls, notices, repeats.
pub async fn others(
    connection: &mut PgConnection,
    hotel: HotelId,
    members: &Members,
    after: Option<&Place>,
    limit: i64,
) -> Result<Vec<ItemRow>, DbError> {
    let quotes: Vec<Uuid> = members.quotes.iter().map(|id| id.uuid()).collect();
    let attempts: Vec<Uuid> = members.attempts.iter().map(|id| id.uuid()).collect();
    let rows = sqlx::query!(
        r#"-- store::timeline::others
        SELECT i.at AS "at!", i.id AS "id!", i.item AS "item!"
        FROM (
            SELECT q.created_at AS at, '0' || q.quote_id AS id, jsonb_build_object(
                       'kind', 'quote', 'quote', q.quote_id, 'expires_at', q.expires_at) AS item
            FROM quotes q
            WHERE q.hotel_id = $1 AND q.quote_id = ANY($4::uuid[])
            UNION ALL
            SELECT c.asked_at, '2' || c.call_id, jsonb_build_object(
                       'kind', 'provider_call', 'call', c.call, 'reference', c.reference,
                       'answered_at', c.answered_at, 'outcome', c.outcome, 'detail', c.detail)
            FROM provider_calls c
            WHERE c.hotel_id = $1 AND c.attempt_id = ANY($3::uuid[])
            UNION ALL
            SELECT n.received_at, '3' || n.notice_id, jsonb_build_object(
                       'kind', 'notice', 'provider', n.provider, 'event_id', n.event_id, 'told', n.kind,
                       'reference', n.reference, 'outcome', n.outcome, 'finding', n.finding,
                       'transaction_id', n.transaction_id::text,
                       'amount', CASE WHEN n.amount IS NOT NULL THEN
                           jsonb_build_object('amount', n.amount::text, 'currency', n.currency) END)
            FROM provider_events n
            WHERE n.hotel_id = $1 AND n.attempt_id = ANY($3::uuid[])
            UNION ALL
            SELECT a.at, '4' || lpad(a.entry_id::text, 20, '0'), jsonb_build_object(
                       'kind', 'replay', 'action', a.action, 'subject', a.subject, 'actor', a.actor,
                       'request_id', a.request_id, 'state', a.after ->> 'state',
                       'picked_up', a.after ->> 'picked_up')
            FROM audit a
            WHERE a.hotel_id = $1 AND a.subject = ANY($2::text[]) AND a.action LIKE '%.replayed'
        ) AS i
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
    Ok(rows.into_iter().map(|row| ItemRow::new(row.at, row.id, row.item)).collect())
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
    Ok(rows.into_iter().map(|row| ItemRow::new(row.at, row.id, row.item)).collect())
}
