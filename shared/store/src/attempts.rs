//! `payment_attempts`: tries to pay. An attempt is also the record of its key, for ever.

mod leases;

use keyrack_db::{DbError, ExactRows, PgConnection};
use keyrack_domain::{
    attempt::{AttemptState, Purpose},
    clock::Moment,
    guest::Guest,
    ids::{AttemptId, ChangeId, HoldId, HotelId, PrincipalId, ReservationId},
    method_token::MethodToken,
    money::Money,
    operation_key::{CONTRACT_VERSION, Endpoint, Fingerprint, OperationKey},
};
use rust_decimal::Decimal;
use uuid::Uuid;

use crate::{
    keys::{KeyScope, fingerprint},
    read::{document, json, money},
};

pub use self::leases::{LeasedCase, lease_one, lease_unknown, open_count};

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AttemptRow {
    pub id: AttemptId,
    pub purpose: Purpose,
    /// Whose units it claims, where its purpose is to claim some.
    pub hold: Option<HoldId>,
    /// What it pays for, where that exists already: not for a booking, which makes it.
    pub reservation: Option<ReservationId>,
    pub change: Option<ChangeId>,
    pub principal: PrincipalId,
    pub endpoint: Endpoint,
    pub key: OperationKey,
    pub try_id: Uuid,
    pub fingerprint: Fingerprint,
    pub state: AttemptState,
    pub amount: Money,
    pub method: MethodToken,
    pub guest: Guest,
    /// After this the sweep asks the provider.
    pub deadline_at: Moment,
    pub created_at: Moment,
    /// Stable word; there exactly in the states that mean failure.
    pub failure: Option<String>,
    pub captured: Money,
    pub refund_committed: Money,
    /// How many refunds it has.
    pub refunds: i32,
}

impl AttemptRow {
    /// To `to`, with everything else as it is.
    pub fn moved(&self, to: AttemptState) -> AttemptMove {
        AttemptMove {
            id: self.id,
            from: self.state,
            to,
            failure: self.failure.clone(),
            captured: self.captured,
            refund_committed: self.refund_committed,
            refunds: self.refunds,
        }
    }
}

/// A guarded move of an attempt's state.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AttemptMove {
    pub id: AttemptId,
    pub from: AttemptState,
    pub to: AttemptState,
    pub failure: Option<String>,
    /// What is known to be captured after it.
    pub captured: Money,
    /// What is promised back after it, and in how many refunds.
    pub refund_committed: Money,
    pub refunds: i32,
}

struct Raw {
    hotel_id: i32,
    attempt_id: Uuid,
    purpose: String,
    hold_id: Option<Uuid>,
    reservation_id: Option<Uuid>,
    change_id: Option<Uuid>,
    principal_id: Uuid,
    endpoint: String,
    idempotency_key: String,
    try_id: Uuid,
    fingerprint: Vec<u8>,
    state: String,
    amount: Decimal,
    currency: String,
    method_token: String,
    guest: serde_json::Value,
    deadline_at: chrono::DateTime<chrono::Utc>,
    created_at: chrono::DateTime<chrono::Utc>,
    failure: Option<String>,
    captured: Decimal,
    refund_committed: Decimal,
    refunds: i32,
}

impl TryFrom<Raw> for AttemptRow {
    type Error = DbError;

    fn try_from(r: Raw) -> Result<Self, DbError> {
        let hotel = HotelId(r.hotel_id);
        Ok(Self {
            id: AttemptId::new(hotel, r.attempt_id),
            purpose: Purpose::from_name(&r.purpose)
                .ok_or_else(|| DbError::unreadable("purpose of an attempt", &r.purpose))?,
            hold: r.hold_id.map(|id| HoldId::new(hotel, id)),
            reservation: r.reservation_id.map(|id| ReservationId::new(hotel, id)),
            change: r.change_id.map(|id| ChangeId::new(hotel, id)),
            principal: PrincipalId(r.principal_id),
            endpoint: Endpoint::of_attempts(&r.endpoint)
                .ok_or_else(|| DbError::unreadable("endpoint of an attempt", &r.endpoint))?,
            key: r.idempotency_key.parse().map_err(|e| DbError::unreadable("operation key", &e))?,
            try_id: r.try_id,
            fingerprint: fingerprint(&r.fingerprint)?,
            state: AttemptState::from_name(&r.state)
                .ok_or_else(|| DbError::unreadable("attempt state", &r.state))?,
            amount: money(r.amount, &r.currency)?,
            method: r.method_token.parse().map_err(|e| DbError::unreadable("method token", &e))?,
            guest: document::<Guest>("guest", r.guest)?,
            deadline_at: Moment(r.deadline_at),
            created_at: Moment(r.created_at),
            failure: r.failure,
            captured: money(r.captured, &r.currency)?,
            refund_committed: money(r.refund_committed, &r.currency)?,
            refunds: r.refunds,
        })
    }
}

fn columns<'i>(ids: impl IntoIterator<Item = &'i AttemptId>) -> (Vec<i32>, Vec<Uuid>) {
    ids.into_iter().map(|id| (id.hotel().0, id.uuid())).unzip()
}

pub async fn read(
    connection: &mut PgConnection,
    ids: impl IntoIterator<Item = &AttemptId>,
) -> Result<Vec<AttemptRow>, DbError> {
    let (hotels, attempts) = columns(ids);
    let rows = sqlx::query_as!(
        Raw,
        "-- store::attempts::read
        SELECT a.hotel_id, a.attempt_id, a.purpose, a.hold_id, a.reservation_id, a.change_id, a.principal_id, a.endpoint, a.idempotency_key,
               a.try_id, a.fingerprint, a.state, a.amount, a.currency, a.method_token, a.guest, a.deadline_at, a.created_at,
               a.failure, a.captured, a.refund_committed, a.refunds
        FROM unnest($1::int[], $2::uuid[]) AS w (hotel_id, attempt_id)
        JOIN payment_attempts a ON a.hotel_id = w.hotel_id AND a.attempt_id = w.attempt_id",
        &hotels,
        &attempts
    )
    .fetch_all(connection)
    .await?;
    rows.into_iter().map(TryInto::try_into).collect()
}

/// Waits for each attempt's lock in the order of their ids, after the locks of their holds.
pub async fn lock(
    connection: &mut PgConnection,
    ids: impl IntoIterator<Item = &AttemptId>,
) -> Result<Vec<AttemptRow>, DbError> {
    let (hotels, attempts) = columns(ids);
    let rows = sqlx::query_as!(
        Raw,
        "-- store::attempts::lock
        SELECT l.hotel_id, l.attempt_id, l.purpose, l.hold_id, l.reservation_id, l.change_id, l.principal_id, l.endpoint, l.idempotency_key,
               l.try_id, l.fingerprint, l.state, l.amount, l.currency, l.method_token, l.guest, l.deadline_at, l.created_at,
               l.failure, l.captured, l.refund_committed, l.refunds
        FROM (
            SELECT u.hotel_id, u.attempt_id
            FROM unnest($1::int[], $2::uuid[]) AS u (hotel_id, attempt_id)
            ORDER BY u.hotel_id, u.attempt_id
        ) AS w
        CROSS JOIN LATERAL (
            SELECT a.hotel_id, a.attempt_id, a.purpose, a.hold_id, a.reservation_id, a.change_id, a.principal_id, a.endpoint, a.idempotency_key, a.try_id,
                   a.fingerprint, a.state, a.amount, a.currency, a.method_token, a.guest, a.deadline_at, a.created_at, a.failure,
                   a.captured, a.refund_committed, a.refunds
            FROM payment_attempts a
            WHERE a.hotel_id = w.hotel_id
              AND a.attempt_id = w.attempt_id
            FOR NO KEY UPDATE
        ) AS l",
        &hotels,
        &attempts
    )
    .fetch_all(connection)
    .await?;
    rows.into_iter().map(TryInto::try_into).collect()
}

/// The attempts that carry these keys, in the order of `scopes`.
pub async fn look_up(
    connection: &mut PgConnection,
    scopes: &[KeyScope],
) -> Result<Vec<Option<AttemptRow>>, DbError> {
    if scopes.is_empty() {
        return Ok(Vec::new());
    }
    let rows = sqlx::query_as!(
        Raw,
        "-- store::attempts::look_up
        SELECT k.hotel_id, k.attempt_id, k.purpose, k.hold_id, k.reservation_id, k.change_id, k.principal_id, k.endpoint, k.idempotency_key,
               k.try_id, k.fingerprint, k.state, k.amount, k.currency, k.method_token, k.guest, k.deadline_at, k.created_at,
               k.failure, k.captured, k.refund_committed, k.refunds
        FROM unnest($1::int[], $2::uuid[], $3::text[], $4::text[]) AS w (hotel_id, principal_id, endpoint, key)
        CROSS JOIN LATERAL (
            SELECT a.hotel_id, a.attempt_id, a.purpose, a.hold_id, a.reservation_id, a.change_id, a.principal_id, a.endpoint, a.idempotency_key, a.try_id,
                   a.fingerprint, a.state, a.amount, a.currency, a.method_token, a.guest, a.deadline_at, a.created_at, a.failure,
                   a.captured, a.refund_committed, a.refunds
            FROM payment_attempts a
            WHERE a.hotel_id = w.hotel_id
              AND a.principal_id = w.principal_id
              AND a.endpoint = w.endpoint
              AND a.idempotency_key = w.key
            LIMIT 1
        ) AS k",
        &scopes.iter().map(|s| s.hotel.0).collect::<Vec<i32>>(),
        &scopes.iter().map(|s| s.principal.0).collect::<Vec<Uuid>>(),
        &scopes.iter().map(|s| s.endpoint.0.to_owned()).collect::<Vec<String>>(),
        &scopes.iter().map(|s| s.key.as_str().to_owned()).collect::<Vec<String>>()
    )
    .fetch_all(connection)
    .await?;
    let mut rows: Vec<AttemptRow> =
        rows.into_iter().map(TryInto::try_into).collect::<Result<_, DbError>>()?;
    Ok(scopes
        .iter()
        .map(|scope| {
            let place = rows.iter().position(|row| {
                let of = (row.id.hotel(), row.principal, row.endpoint, &row.key);
                of == (scope.hotel, scope.principal, scope.endpoint, &scope.key)
            })?;
            Some(rows.swap_remove(place))
        })
        .collect())
}

/// Own attempts with that key on this shard.
pub async fn of_principal(
    connection: &mut PgConnection,
    principal: PrincipalId,
    key: &OperationKey,
) -> Result<Vec<AttemptRow>, DbError> {
    let rows = sqlx::query_as!(
        Raw,
        "-- store::attempts::of_principal
        SELECT a.hotel_id, a.attempt_id, a.purpose, a.hold_id, a.reservation_id, a.change_id, a.principal_id, a.endpoint, a.idempotency_key,
               a.try_id, a.fingerprint, a.state, a.amount, a.currency, a.method_token, a.guest, a.deadline_at, a.created_at,
               a.failure, a.captured, a.refund_committed, a.refunds
        FROM payment_attempts a
        WHERE a.principal_id = $1
          AND a.idempotency_key = $2
          AND a.purpose = 'booking'
        ORDER BY a.created_at, a.hotel_id
        LIMIT 100",
        principal.0,
        key.as_str()
    )
    .fetch_all(connection)
    .await?;
    rows.into_iter().map(TryInto::try_into).collect()
}

/// Opens attempts. Their holds are locked by the caller; the partial unique index is the backstop.
pub async fn insert(connection: &mut PgConnection, attempts: &[AttemptRow]) -> Result<(), DbError> {
    if attempts.is_empty() {
        return Ok(());
    }
    let (hotels, ids) = columns(attempts.iter().map(|a| &a.id));
    let guests = attempts.iter().map(|a| json("guest", &a.guest)).collect::<Result<Vec<_>, _>>()?;
    sqlx::query!(
        "-- store::attempts::insert
        INSERT INTO payment_attempts (
            hotel_id, attempt_id, purpose, hold_id, reservation_id, change_id, principal_id, endpoint, idempotency_key,
            try_id, fingerprint, contract_version, state, amount, currency, method_token, guest, deadline_at, created_at)
        SELECT u.hotel_id, u.attempt_id, u.purpose, u.hold_id, u.reservation_id, u.change_id, u.principal_id, u.endpoint, u.idempotency_key, u.try_id,
               u.fingerprint, $15, 'PENDING_PAYMENT', u.amount, u.currency, u.method_token, u.guest, u.deadline_at,
               u.created_at
        FROM unnest($1::int[], $2::uuid[], $3::uuid[], $4::uuid[], $5::text[], $6::text[], $7::uuid[], $8::bytea[],
                    $9::numeric[], $10::text[], $11::text[], $12::jsonb[], $13::timestamptz[], $16::timestamptz[],
                    $14::text[], $17::uuid[], $18::uuid[])
            AS u (hotel_id, attempt_id, hold_id, principal_id, endpoint, idempotency_key, try_id, fingerprint,
                  amount, currency, method_token, guest, deadline_at, created_at, purpose, reservation_id, change_id)",
        &hotels,
        &ids,
        &attempts.iter().map(|a| a.hold.map(HoldId::uuid)).collect::<Vec<Option<Uuid>>>() as &[Option<Uuid>],
        &attempts.iter().map(|a| a.principal.0).collect::<Vec<Uuid>>(),
        &attempts.iter().map(|a| a.endpoint.0.to_owned()).collect::<Vec<String>>(),
        &attempts.iter().map(|a| a.key.as_str().to_owned()).collect::<Vec<String>>(),
        &attempts.iter().map(|a| a.try_id).collect::<Vec<Uuid>>(),
        &attempts.iter().map(|a| a.fingerprint.0.to_vec()).collect::<Vec<Vec<u8>>>(),
        &attempts.iter().map(|a| a.amount.amount()).collect::<Vec<Decimal>>(),
        &attempts.iter().map(|a| a.amount.currency().code().to_owned()).collect::<Vec<String>>(),
        &attempts.iter().map(|a| a.method.expose().to_owned()).collect::<Vec<String>>(),
        &guests,
        &attempts.iter().map(|a| a.deadline_at.0).collect::<Vec<chrono::DateTime<chrono::Utc>>>(),
        &attempts.iter().map(|a| a.purpose.as_str().to_owned()).collect::<Vec<String>>(),
        CONTRACT_VERSION,
        &attempts.iter().map(|a| a.created_at.0).collect::<Vec<chrono::DateTime<chrono::Utc>>>(),
        &attempts.iter().map(|a| a.reservation.map(ReservationId::uuid)).collect::<Vec<Option<Uuid>>>()
            as &[Option<Uuid>],
        &attempts.iter().map(|a| a.change.map(ChangeId::uuid)).collect::<Vec<Option<Uuid>>>() as &[Option<Uuid>]
    )
    .execute(connection)
    .await?
    .exactly(attempts.len(), "store::attempts::insert")
}

/// Moves attempts, each from its stated state and no other; ends any lease.
pub async fn shift(connection: &mut PgConnection, moves: &[AttemptMove], at: Moment) -> Result<(), DbError> {
    if moves.is_empty() {
        return Ok(());
    }
    let (hotels, ids) = columns(moves.iter().map(|m| &m.id));
    sqlx::query!(
        "-- store::attempts::shift
        UPDATE payment_attempts AS a
        SET state = u.to_state,
            failure = u.failure,
            captured = u.captured,
            refund_committed = u.refund_committed,
            refunds = u.refunds,
            decided_at = CASE WHEN u.to_state = 'RECONCILING' THEN NULL
                              ELSE coalesce(a.decided_at, $8::timestamptz) END,
            lease_id = NULL,
            leased_until = NULL
        FROM unnest($1::int[], $2::uuid[], $3::text[], $4::text[], $5::text[], $6::numeric[], $7::numeric[],
                    $9::int[])
            AS u (hotel_id, attempt_id, from_state, to_state, failure, captured, refund_committed, refunds)
        WHERE a.hotel_id = u.hotel_id
          AND a.attempt_id = u.attempt_id
          AND a.state = u.from_state",
        &hotels,
        &ids,
        &moves.iter().map(|m| m.from.as_str().to_owned()).collect::<Vec<String>>(),
        &moves.iter().map(|m| m.to.as_str().to_owned()).collect::<Vec<String>>(),
        &moves.iter().map(|m| m.failure.clone()).collect::<Vec<Option<String>>>() as &[Option<String>],
        &moves.iter().map(|m| m.captured.amount()).collect::<Vec<Decimal>>(),
        &moves.iter().map(|m| m.refund_committed.amount()).collect::<Vec<Decimal>>(),
        at.0,
        &moves.iter().map(|m| m.refunds).collect::<Vec<i32>>()
    )
    .execute(connection)
    .await?
    .exactly(moves.len(), "store::attempts::shift")
}

/// The attempts that have paid for each of these reservations, first to last.
pub async fn that_paid(
    connection: &mut PgConnection,
    reservations: &[ReservationId],
) -> Result<Vec<(ReservationId, AttemptId)>, DbError> {
    let rows = sqlx::query!(
        r#"-- store::attempts::that_paid
        SELECT w.hotel_id AS "hotel_id!", w.reservation_id AS "reservation_id!", p.attempt_id AS "attempt_id!"
        FROM unnest($1::int[], $2::uuid[]) AS w (hotel_id, reservation_id)
        CROSS JOIN LATERAL (
            SELECT r.attempt_id
            FROM reservations r
            WHERE r.hotel_id = w.hotel_id
              AND r.reservation_id = w.reservation_id
              AND r.attempt_id IS NOT NULL
            UNION ALL
            SELECT a.attempt_id
            FROM payment_attempts a
            WHERE a.hotel_id = w.hotel_id
              AND a.reservation_id = w.reservation_id
              AND a.state = 'CONFIRMED'
        ) AS p
        ORDER BY w.hotel_id, w.reservation_id, p.attempt_id"#,
        &reservations.iter().map(|id| id.hotel().0).collect::<Vec<i32>>(),
        &reservations.iter().map(|id| id.uuid()).collect::<Vec<Uuid>>()
    )
    .fetch_all(connection)
    .await?;
    let pair = |hotel, reservation, attempt| {
        (ReservationId::new(hotel, reservation), AttemptId::new(hotel, attempt))
    };
    Ok(rows.into_iter().map(|r| pair(HotelId(r.hotel_id), r.reservation_id, r.attempt_id)).collect())
}
