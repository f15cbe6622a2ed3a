//! `directory.settlement_positions` and `directory.settlement_findings`: how far a provider's books have been
//! compared, and what did not agree.

mod findings;

use chrono::{DateTime, Utc};
use keyrack_db::{DbError, PgConnection};
use keyrack_domain::{
    clock::Moment,
    ids::{AttemptId, FindingId},
    money::Money,
    notice::ProviderName,
};
use rust_decimal::Decimal;
use uuid::Uuid;

pub use self::findings::{Closing, FindingRow, FindingState, NewClosing, close, list, read};
use crate::read::money;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FindingKind {
    /// A capture that names an attempt which is not there.
    UnknownAttempt,
    /// Another amount was captured than is recorded.
    AmountDiffers,
    /// A charge that is no attempt's capture.
    OtherCharge,
    /// A refund that names none of ours.
    UnknownRefund,
    /// A refund that left under another try or amount than is recorded.
    RefundDiffers,
    /// A refund that had left has come back: of before such lines took the way of their notices.
    RefundFailed,
    /// Made by hand at the provider.
    RefundByHand,
    /// Called a success, and not in the books.
    RefundMissing,
    Unreadable,
}

impl FindingKind {
    pub const ALL: [Self; 9] = [
        Self::UnknownAttempt,
        Self::AmountDiffers,
        Self::OtherCharge,
        Self::UnknownRefund,
        Self::RefundDiffers,
        Self::RefundFailed,
        Self::RefundByHand,
        Self::RefundMissing,
        Self::Unreadable,
    ];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::UnknownAttempt => "unknown_attempt",
            Self::AmountDiffers => "amount_differs",
            Self::OtherCharge => "other_charge",
            Self::UnknownRefund => "unknown_refund",
            Self::RefundDiffers => "refund_differs",
            Self::RefundFailed => "refund_failed",
            Self::RefundByHand => "refund_by_hand",
            Self::RefundMissing => "refund_missing",
            Self::Unreadable => "unreadable",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == name)
    }
}

/// A line that does not agree with what is recorded.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Finding {
    pub id: FindingId,
    pub provider: ProviderName,
    pub entry: String,
    pub kind: FindingKind,
    /// A charge that goes back; every other one is for an operator.
    pub returning: bool,
    pub attempt: Option<AttemptId>,
    pub reference: String,
    pub amount: Money,
    pub happened_at: DateTime<Utc>,
}

/// A charge that is to go back.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Stray {
    pub entry: String,
    pub reference: String,
    pub amount: Money,
}

pub async fn position(
    connection: &mut PgConnection,
    provider: &ProviderName,
) -> Result<Option<String>, DbError> {
    Ok(sqlx::query_scalar!(
        "-- store::settlement::position
        SELECT position
        FROM directory.settlement_positions
        WHERE provider = $1",
        provider.as_str()
    )
    .fetch_optional(connection)
    .await?)
}

/// From the place that was compared last to the next; another comparison that was faster wins.
pub async fn advance(
    connection: &mut PgConnection,
    provider: &ProviderName,
    from: Option<&str>,
    to: &str,
    now: Moment,
) -> Result<bool, DbError> {
    let done = sqlx::query!(
        "-- store::settlement::advance
        INSERT INTO directory.settlement_positions AS p (provider, position, compared_at)
        VALUES ($1, $3, $4)
        ON CONFLICT (provider) DO UPDATE
        SET position = excluded.position,
            compared_at = excluded.compared_at
        WHERE p.position IS NOT DISTINCT FROM $2",
        provider.as_str(),
        from,
        to,
        now.0
    )
    .execute(connection)
    .await?;
    Ok(done.rows_affected() == 1)
}

/// Each line once, whoever finds it first. True when it was new.
pub async fn enter(connection: &mut PgConnection, finding: &Finding, now: Moment) -> Result<bool, DbError> {
    let state = if finding.returning { "RETURNING" } else { "OPEN" };
    let done = sqlx::query!(
        "-- store::settlement::enter
        INSERT INTO directory.settlement_findings (
            provider, entry, kind, state, hotel_id, attempt_id, reference, amount, currency, happened_at, found_at,
            retry_at, finding_id)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)
        ON CONFLICT (provider, entry) DO NOTHING",
        finding.provider.as_str(),
        finding.entry,
        finding.kind.as_str(),
        state,
        finding.attempt.map(|attempt| attempt.hotel().0) as Option<i32>,
        finding.attempt.map(AttemptId::uuid) as Option<Uuid>,
        finding.reference,
        finding.amount.amount(),
        finding.amount.currency().code(),
        finding.happened_at,
        now.0,
        finding.returning.then_some(now.0) as Option<DateTime<Utc>>,
        finding.id.uuid()
    )
    .execute(connection)
    .await?;
    Ok(done.rows_affected() == 1)
}

/// Takes charges that are due to go back, and puts their next turn off. Their refund's name is stable: a
/// second one that takes them could not give back twice.
pub async fn take_due(
    connection: &mut PgConnection,
    provider: &ProviderName,
    now: Moment,
    again_at: Moment,
    limit: i64,
) -> Result<Vec<Stray>, DbError> {
    let rows = sqlx::query!(
        "-- store::settlement::take_due
        UPDATE directory.settlement_findings AS f
        SET retry_at = $3
        FROM (
            SELECT d.provider, d.entry
            FROM directory.settlement_findings d
            WHERE d.provider = $1
              AND d.state = 'RETURNING'
              AND d.retry_at <= $2
            ORDER BY d.retry_at
            LIMIT $4
            FOR NO KEY UPDATE SKIP LOCKED
        ) AS due
        WHERE f.provider = due.provider
          AND f.entry = due.entry
        RETURNING f.entry, f.reference, f.amount, f.currency",
        provider.as_str(),
        now.0,
        again_at.0,
        limit
    )
    .fetch_all(connection)
    .await?;
    let stray = |entry, reference, amount: Decimal, currency: &str| {
        Ok(Stray { entry, reference, amount: money(amount, currency)? })
    };
    rows.into_iter().map(|row| stray(row.entry, row.reference, row.amount, &row.currency)).collect()
}

/// What became of a charge that was to go back: it has, or an operator must look. False when another one
/// has written it before.
pub async fn settle(
    connection: &mut PgConnection,
    provider: &ProviderName,
    entry: &str,
    returned: bool,
    now: Moment,
) -> Result<bool, DbError> {
    let done = sqlx::query!(
        "-- store::settlement::settle
        UPDATE directory.settlement_findings
        SET state = CASE WHEN $3 THEN 'RETURNED' ELSE 'OPEN' END,
            settled_at = CASE WHEN $3 THEN $4::timestamptz END,
            retry_at = NULL
        WHERE provider = $1
          AND entry = $2
          AND state = 'RETURNING'",
        provider.as_str(),
        entry,
        returned,
        now.0
    )
    .execute(connection)
    .await?;
    Ok(done.rows_affected() == 1)
}

/// Findings that have not come to an end.
pub async fn open_count(connection: &mut PgConnection) -> Result<i64, DbError> {
    Ok(sqlx::query_scalar!(
        r#"-- store::settlement::open_count
        SELECT count(*) AS "count!"
        FROM directory.settlement_findings
        WHERE state IN ('OPEN', 'RETURNING')"#
    )
    .fetch_one(connection)
    .await?)
}
