//! What became of earlier calls: `GET /v1/operations/{key}`. For their own principal only.

use keyrack_domain::{clock::Moment, code::HotelCode, operation_key::OperationKey, principal::Caller};

use keyrack_store::{attempts, clock, keys};

use crate::{Desk, Fault, bookings, start_attempt, views::BookingView};

/// A call that left a record. A refused call leaves none.
#[derive(Clone, Debug)]
pub struct OperationView {
    /// `POST /v1/holds`
    pub endpoint: String,
    pub hotel: HotelCode,
    pub at: Moment,
    /// A repeat would not be answered any more: 409 `IDEMPOTENCY_KEY_EXPIRED`. Never of a booking, whose key
    /// lives on its attempt.
    pub expired: bool,
    pub result: OperationResult,
}

#[derive(Clone, Debug)]
pub enum OperationResult {
    /// As it was answered: a view of this crate, as JSON.
    Completed(serde_json::Value),
    /// As it stands now.
    Booking(Box<BookingView>),
}

#[derive(Clone, Debug, Default)]
pub struct Filter {
    pub endpoint: Option<String>,
    pub hotel: Option<HotelCode>,
}

/// At most so many records of one key are told.
const MAX_ITEMS: usize = 100;

/// Oldest first.
pub async fn find(
    desk: &Desk,
    caller: &Caller,
    key: &OperationKey,
    filter: &Filter,
) -> Result<Vec<OperationView>, Fault> {
    let mut found = Vec::new();
    for (_, database) in desk.shards().all() {
        let mut connection = database.connection().await?;
        let records = keys::of_principal(&mut connection, caller.principal, key).await?;
        let attempts = attempts::of_principal(&mut connection, caller.principal, key).await?;
        let now = clock::now(&mut connection).await?;
        drop(connection);
        for record in records {
            let Some(hotel) = desk.hotel_of(record.hotel).await? else { continue };
            found.push(OperationView {
                endpoint: record.endpoint,
                hotel: hotel.code.clone(),
                at: record.created_at,
                expired: now.is_past(record.created_at.plus(desk.settings().ledger.replay_window)),
                result: OperationResult::Completed(record.answer),
            });
        }
        for attempt in attempts {
            let Some(hotel) = desk.hotel_of(attempt.id.hotel()).await? else { continue };
            let at = attempt.created_at;
            let booking = bookings::of_row(desk, &hotel, attempt).await?;
            found.push(OperationView {
                endpoint: start_attempt::ENDPOINT.0.to_owned(),
                hotel: hotel.code.clone(),
                at,
                expired: false,
                result: OperationResult::Booking(Box::new(booking)),
            });
        }
    }
    found.retain(|operation| {
        filter.endpoint.as_ref().is_none_or(|endpoint| *endpoint == operation.endpoint)
            && filter.hotel.as_ref().is_none_or(|hotel| *hotel == operation.hotel)
    });
    found.sort_by_key(|operation| operation.at);
    found.truncate(MAX_ITEMS);
    Ok(found)
}
