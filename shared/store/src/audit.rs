//! `audit`: who did what, before and after. Append-only; the database refuses anything else.

use keyrack_db::{DbError, ExactRows, PgConnection};
use keyrack_domain::{actor::Actor, ids::HotelId};
use uuid::Uuid;

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NewAudit {
    pub hotel: HotelId,
    pub actor: Actor,
    /// A stable word with a dot: `rates.set`.
    pub action: &'static str,
    /// What it was done to: an id or a code.
    pub subject: String,
    pub before: Option<serde_json::Value>,
    pub after: Option<serde_json::Value>,
}

pub async fn append(connection: &mut PgConnection, entries: &[NewAudit]) -> Result<(), DbError> {
    if entries.is_empty() {
        return Ok(());
    }
    let hotels: Vec<i32> = entries.iter().map(|e| e.hotel.0).collect();
    let principals: Vec<Option<Uuid>> = entries.iter().map(|e| e.actor.principal().map(|p| p.0)).collect();
    let actors: Vec<String> = entries.iter().map(|e| e.actor.as_str().to_owned()).collect();
    let actions: Vec<String> = entries.iter().map(|e| e.action.to_owned()).collect();
    let subjects: Vec<String> = entries.iter().map(|e| e.subject.clone()).collect();
    let before: Vec<Option<serde_json::Value>> = entries.iter().map(|e| e.before.clone()).collect();
    let after: Vec<Option<serde_json::Value>> = entries.iter().map(|e| e.after.clone()).collect();
    let requests: Vec<Option<String>> =
        entries.iter().map(|e| e.actor.request_id().map(str::to_owned)).collect();
    sqlx::query!(
        "-- store::audit::append
        INSERT INTO audit (hotel_id, at, principal_id, actor, action, subject, before, after, request_id)
        SELECT u.hotel_id, (SELECT keyrack_now()), u.principal_id, u.actor, u.action, u.subject, u.before, u.after,
               u.request_id
        FROM unnest($1::int[], $2::uuid[], $3::text[], $4::text[], $5::text[], $6::jsonb[], $7::jsonb[], $8::text[])
            WITH ORDINALITY
            AS u (hotel_id, principal_id, actor, action, subject, before, after, request_id, place)
        ORDER BY u.place",
        &hotels,
        &principals as &[Option<Uuid>],
        &actors,
        &actions,
        &subjects,
        &before as &[Option<serde_json::Value>],
        &after as &[Option<serde_json::Value>],
        &requests as &[Option<String>]
    )
    .execute(connection)
    .await?
    .exactly(entries.len(), "store::audit::append")
}

/// Appends one entry, while its subject has fewer than `most` of that action. Several at
/// once may pass the bound by as many as they are. False: it has enough.
pub async fn append_up_to(
    connection: &mut PgConnection,
    entry: &NewAudit,
    most: i64,
) -> Result<bool, DbError> {
    let done = sqlx::query!(
        "-- store::audit::append_up_to
        INSERT INTO audit (hotel_id, at, principal_id, actor, action, subject, before, after, request_id)
        SELECT $1, keyrack_now(), $2::uuid, $3, $4, $5, $6::jsonb, $7::jsonb, $8
        WHERE (SELECT count(*) FROM audit a WHERE a.hotel_id = $1 AND a.subject = $5 AND a.action = $4) < $9",
        entry.hotel.0,
        entry.actor.principal().map(|p| p.0),
        entry.actor.as_str(),
        entry.action,
        entry.subject,
        entry.before,
        entry.after,
        entry.actor.request_id(),
        most
    )
    .execute(connection)
    .await?;
    Ok(done.rows_affected() == 1)
}
