//! Findings as operators see them, and how they are closed.

use chrono::{DateTime, Utc};
use keyrack_db::{DbError, PgConnection};
use keyrack_domain::{
    clock::Moment,
    ids::{AttemptId, FindingId, HotelId, PrincipalId},
    money::Money,
    notice::ProviderName,
    operation_key::OperationKey,
};
use uuid::Uuid;

use super::FindingKind;
use crate::read::money;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FindingState {
    /// For an operator.
    Open,
    /// A charge that nobody asked for is being given back.
    Returning,
    Returned,
    /// An operator has looked.
    Closed,
}

impl FindingState {
    pub const ALL: [Self; 4] = [Self::Open, Self::Returning, Self::Returned, Self::Closed];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Open => "OPEN",
            Self::Returning => "RETURNING",
            Self::Returned => "RETURNED",
            Self::Closed => "CLOSED",
        }
    }

    fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.as_str() == name)
    }
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FindingRow {
    pub id: FindingId,
    pub provider: ProviderName,
    /// The provider's name of the line.
    pub entry: String,
    pub kind: FindingKind,
    pub state: FindingState,
    pub attempt: Option<AttemptId>,
    pub reference: String,
    pub amount: Money,
    /// By the provider's clock.
    pub happened_at: DateTime<Utc>,
    pub found_at: Moment,
    /// When it was returned or closed.
    pub settled_at: Option<Moment>,
    pub closing: Option<Closing>,
}

/// Who closed it, why, and by which call.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Closing {
    pub by: PrincipalId,
    pub key: String,
    pub request_id: String,
    pub note: String,
}

macro_rules! finding {
    ($row:expr) => {{
        let row = $row;
        let missing = || DbError::unreadable("closing of a finding", &row.entry);
        let closing = match row.closed_by {
            None => None,
            Some(by) => Some(Closing {
                by: PrincipalId(by),
                key: row.closing_key.ok_or_else(missing)?,
                request_id: row.closing_request.ok_or_else(missing)?,
                note: row.note.ok_or_else(missing)?,
            }),
        };
        let attempt = row.hotel_id.zip(row.attempt_id);
        Ok::<_, DbError>(FindingRow {
            id: FindingId::new(OF_NO_HOTEL, row.finding_id),
            provider: row.provider.parse().map_err(|e| DbError::unreadable("provider", &e))?,
            kind: FindingKind::from_name(&row.kind)
                .ok_or_else(|| DbError::unreadable("kind of finding", &row.kind))?,
            state: FindingState::from_name(&row.state)
                .ok_or_else(|| DbError::unreadable("state of a finding", &row.state))?,
            attempt: attempt.map(|(hotel, attempt)| AttemptId::new(HotelId(hotel), attempt)),
            amount: money(row.amount, &row.currency)?,
            reference: row.reference,
            happened_at: row.happened_at,
            found_at: Moment(row.found_at),
            settled_at: row.settled_at.map(Moment),
            entry: row.entry,
            closing,
        })
    }};
}

/// A provider's books are those of all hotels.
const OF_NO_HOTEL: HotelId = HotelId(0);

/// Those that have not come to an end, or those that have, oldest first, after a place in that order.
pub async fn list(
    connection: &mut PgConnection,
    ended: bool,
    provider: Option<&ProviderName>,
    after: Option<FindingId>,
    limit: i64,
) -> Result<Vec<FindingRow>, DbError> {
    let rows = sqlx::query!(
        "-- store::settlement::list
        SELECT finding_id, provider, entry, kind, state, hotel_id, attempt_id, reference, amount, currency, happened_at,
               found_at, settled_at, closed_by, closing_key, closing_request, note
        FROM directory.settlement_findings
        WHERE (state IN ('RETURNED', 'CLOSED')) = $1
          AND ($2::text IS NULL OR provider = $2)
          AND finding_id > $3
        ORDER BY finding_id
        LIMIT $4",
        ended,
        provider.map(ProviderName::as_str),
        after.map_or(Uuid::nil(), FindingId::uuid),
        limit
    )
    .fetch_all(connection)
    .await?;
    rows.into_iter().map(|row| finding!(row)).collect()
}

pub async fn read(connection: &mut PgConnection, id: FindingId) -> Result<Option<FindingRow>, DbError> {
    if id.hotel() != OF_NO_HOTEL {
        return Ok(None);
    }
    let row = sqlx::query!(
        "-- store::settlement::read
        SELECT finding_id, provider, entry, kind, state, hotel_id, attempt_id, reference, amount, currency, happened_at,
               found_at, settled_at, closed_by, closing_key, closing_request, note
        FROM directory.settlement_findings
        WHERE finding_id = $1",
        id.uuid()
    )
    .fetch_optional(connection)
    .await?;
    row.map(|row| finding!(row)).transpose()
}

#[derive(Clone, Debug)]
pub struct NewClosing {
    pub by: PrincipalId,
    pub key: OperationKey,
    pub request_id: String,
    pub note: String,
}

/// `OPEN -> CLOSED`. False where it is not open. A key that closed another one is refused by
/// `settlement_findings_key_once`.
pub async fn close(
    connection: &mut PgConnection,
    id: FindingId,
    closing: &NewClosing,
    now: Moment,
) -> Result<bool, DbError> {
    let done = sqlx::query!(
        "-- store::settlement::close
        UPDATE directory.settlement_findings
        SET state = 'CLOSED',
            settled_at = $2,
            closed_by = $3,
            closing_key = $4,
            closing_request = $5,
            note = $6
        WHERE finding_id = $1
          AND state = 'OPEN'",
        id.uuid(),
        now.0,
        closing.by.0,
        closing.key.as_str(),
        closing.request_id,
        closing.note
    )
    .execute(connection)
    .await?;
    Ok(done.rows_affected() == 1)
}
