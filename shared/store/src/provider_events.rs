//! `provider_events`: notices of payment providers, each written in the transaction of its effect.

use std::collections::HashSet;

use keyrack_db::{DbError, ExactRows, PgConnection};
use keyrack_domain::{
    clock::Moment,
    ids::{AttemptId, HotelId, NoticeId},
    money::Money,
    notice::{Finding, NoticeOutcome, ProviderName},
};
use rust_decimal::Decimal;
use uuid::Uuid;

use crate::read::money;

/// What a repeat of the notice has again.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct EventKey {
    pub hotel: HotelId,
    pub provider: ProviderName,
    /// The provider's id of the event.
    pub event: String,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct EventRow {
    pub id: NoticeId,
    pub provider: ProviderName,
    pub event: String,
    pub kind: String,
    pub reference: String,
    pub amount: Option<Money>,
    pub outcome: NoticeOutcome,
    pub finding: Option<Finding>,
    pub attempt: AttemptId,
}

impl EventRow {
    pub fn key(&self) -> EventKey {
        EventKey { hotel: self.id.hotel(), provider: self.provider.clone(), event: self.event.clone() }
    }
}

/// Those of `keys` that are recorded. Asked under the lock of their attempt, the answer stays true.
pub async fn recorded(
    connection: &mut PgConnection,
    keys: impl IntoIterator<Item = &EventKey>,
) -> Result<HashSet<EventKey>, DbError> {
    let keys: Vec<&EventKey> = keys.into_iter().collect();
    let rows = sqlx::query!(
        r#"-- store::provider_events::recorded
        SELECT w.place AS "place!"
        FROM unnest($1::int[], $2::text[], $3::text[]) WITH ORDINALITY AS w (hotel_id, provider, event_id, place)
        JOIN provider_events e
          ON e.hotel_id = w.hotel_id
         AND e.provider = w.provider
         AND e.event_id = w.event_id"#,
        &keys.iter().map(|k| k.hotel.0).collect::<Vec<i32>>(),
        &keys.iter().map(|k| k.provider.as_str().to_owned()).collect::<Vec<String>>(),
        &keys.iter().map(|k| k.event.clone()).collect::<Vec<String>>()
    )
    .fetch_all(connection)
    .await?;
    let known = rows.into_iter().filter_map(|row| usize::try_from(row.place).ok()?.checked_sub(1));
    Ok(known.filter_map(|place| keys.get(place).map(|key| (*key).clone())).collect())
}

/// Whether a notice of the attempt that is recorded was about `reference`. Asked under the attempt's lock.
pub async fn tells_of(
    connection: &mut PgConnection,
    attempt: AttemptId,
    provider: &ProviderName,
    reference: &str,
) -> Result<bool, DbError> {
    Ok(sqlx::query_scalar!(
        r#"-- store::provider_events::tells_of
        SELECT EXISTS (
            SELECT
            FROM provider_events
            WHERE hotel_id = $1
              AND attempt_id = $2
              AND provider = $3
              AND reference = $4) AS "known!""#,
        attempt.hotel().0,
        attempt.uuid(),
        provider.as_str(),
        reference
    )
    .fetch_one(connection)
    .await?)
}

pub async fn insert(connection: &mut PgConnection, events: &[EventRow], at: Moment) -> Result<(), DbError> {
    if events.is_empty() {
        return Ok(());
    }
    let amounts: Vec<Option<Decimal>> = events.iter().map(|e| e.amount.map(Money::amount)).collect();
    let currencies: Vec<Option<String>> =
        events.iter().map(|e| e.amount.map(|amount| amount.currency().code().to_owned())).collect();
    let findings: Vec<Option<String>> =
        events.iter().map(|e| e.finding.map(|finding| finding.as_str().to_owned())).collect();
    sqlx::query!(
        "-- store::provider_events::insert
        INSERT INTO provider_events (
            hotel_id, notice_id, provider, event_id, kind, reference, amount, currency, received_at, outcome, finding,
            attempt_id)
        SELECT u.hotel_id, u.notice_id, u.provider, u.event_id, u.kind, u.reference, u.amount, u.currency, $11,
               u.outcome, u.finding, u.attempt_id
        FROM unnest($1::int[], $2::uuid[], $3::text[], $4::text[], $5::text[], $6::text[], $7::numeric[], $8::text[],
                    $9::text[], $10::text[], $12::uuid[])
            AS u (hotel_id, notice_id, provider, event_id, kind, reference, amount, currency, outcome, finding,
                  attempt_id)",
        &events.iter().map(|e| e.id.hotel().0).collect::<Vec<i32>>(),
        &events.iter().map(|e| e.id.uuid()).collect::<Vec<Uuid>>(),
        &events.iter().map(|e| e.provider.as_str().to_owned()).collect::<Vec<String>>(),
        &events.iter().map(|e| e.event.clone()).collect::<Vec<String>>(),
        &events.iter().map(|e| e.kind.clone()).collect::<Vec<String>>(),
        &events.iter().map(|e| e.reference.clone()).collect::<Vec<String>>(),
        &amounts as &[Option<Decimal>],
        &currencies as &[Option<String>],
        &events.iter().map(|e| e.outcome.as_str().to_owned()).collect::<Vec<String>>(),
        &findings as &[Option<String>],
        at.0,
        &events.iter().map(|e| e.attempt.uuid()).collect::<Vec<Uuid>>()
    )
    .execute(connection)
    .await?
    .exactly(events.len(), "store::provider_events::insert")
}

/// Notices with a finding, oldest first, after a place in that order.
pub async fn found(
    connection: &mut PgConnection,
    after: Option<NoticeId>,
    limit: i64,
) -> Result<Vec<(EventRow, Moment)>, DbError> {
    let rows = sqlx::query!(
        "-- store::provider_events::found
        SELECT hotel_id, notice_id, provider, event_id, kind, reference, amount, currency, received_at, outcome,
               finding, attempt_id
        FROM provider_events
        WHERE finding IS NOT NULL
          AND (notice_id, hotel_id) > ($1, $2)
        ORDER BY notice_id, hotel_id
        LIMIT $3",
        after.map_or(Uuid::nil(), NoticeId::uuid),
        after.map_or(0, |id| id.hotel().0),
        limit
    )
    .fetch_all(connection)
    .await?;
    let read = |row: Option<(Decimal, String)>| row.map(|(amount, code)| money(amount, &code)).transpose();
    rows.into_iter()
        .map(|row| {
            let hotel = HotelId(row.hotel_id);
            let event = EventRow {
                id: NoticeId::new(hotel, row.notice_id),
                provider: row.provider.parse().map_err(|e| DbError::unreadable("provider", &e))?,
                event: row.event_id,
                kind: row.kind,
                reference: row.reference,
                amount: read(row.amount.zip(row.currency))?,
                outcome: NoticeOutcome::from_name(&row.outcome)
                    .ok_or_else(|| DbError::unreadable("outcome of a notice", &row.outcome))?,
                finding: row.finding.as_deref().and_then(Finding::from_name),
                attempt: AttemptId::new(hotel, row.attempt_id),
            };
            Ok((event, Moment(row.received_at)))
        })
        .collect()
}
