//! `quotes`: price promises. Written once, never changed.

use keyrack_db::{DbError, ExactRows, PgConnection};
use keyrack_domain::{
    clock::Moment,
    ids::{HotelId, PrincipalId, QuoteId},
    quote::QuoteDocument,
};
use uuid::Uuid;

use crate::read::{document, json};

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct QuoteRow {
    pub id: QuoteId,
    pub principal: PrincipalId,
    pub document: QuoteDocument,
    pub created_at: Moment,
    pub expires_at: Moment,
}

pub async fn insert(connection: &mut PgConnection, quote: &QuoteRow) -> Result<(), DbError> {
    sqlx::query!(
        "-- store::quotes::insert
        INSERT INTO quotes (hotel_id, quote_id, principal_id, document, created_at, expires_at)
        VALUES ($1, $2, $3, $4, $5, $6)",
        quote.id.hotel().0,
        quote.id.uuid(),
        quote.principal.0,
        json("quote", &quote.document)?,
        quote.created_at.0,
        quote.expires_at.0
    )
    .execute(connection)
    .await?
    .exactly(1, "store::quotes::insert")
}

/// Those that exist, in no order.
pub async fn read(
    connection: &mut PgConnection,
    ids: impl IntoIterator<Item = &QuoteId>,
) -> Result<Vec<QuoteRow>, DbError> {
    let (hotels, quotes): (Vec<i32>, Vec<Uuid>) = ids.into_iter().map(|id| (id.hotel().0, id.uuid())).unzip();
    let rows = sqlx::query!(
        "-- store::quotes::read
        SELECT q.hotel_id, q.quote_id, q.principal_id, q.document, q.created_at, q.expires_at
        FROM unnest($1::int[], $2::uuid[]) AS w (hotel_id, quote_id)
        CROSS JOIN LATERAL (
            SELECT o.hotel_id, o.quote_id, o.principal_id, o.document, o.created_at, o.expires_at
            FROM quotes o
            WHERE o.hotel_id = w.hotel_id
              AND o.quote_id = w.quote_id
        ) AS q",
        &hotels,
        &quotes
    )
    .fetch_all(connection)
    .await?;
    let quotes = rows.into_iter().map(|row| {
        Ok(QuoteRow {
            id: QuoteId::new(HotelId(row.hotel_id), row.quote_id),
            principal: PrincipalId(row.principal_id),
            document: document("quote", row.document)?,
            created_at: Moment(row.created_at),
            expires_at: Moment(row.expires_at),
        })
    });
    quotes.collect()
}
