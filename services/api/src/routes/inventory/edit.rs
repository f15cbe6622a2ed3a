use actix_web::{HttpResponse, http::StatusCode, put, web};
use keyrack_api_types::{
    code::Code,
    inventory::{InventoryEdit, InventoryNight, InventoryNights},
};
use keyrack_booking::{
    Desk,
    edit_inventory::{self, EditInventory, EditInventoryError, InventoryChange},
    night_range::NightRange,
};
use keyrack_domain::code::HotelCode;
use keyrack_http::{Json, Key, Path, Problem, Signed};

use crate::{refusal, reply, wire};

/// Set how many units may be sold, night by night: all changes, or none.
#[utoipa::path(
    tag = "inventory",
    operation_id = "edit_inventory",
    params(
        ("hotel" = String, Path),
        ("Idempotency-Key" = String, Header, description = "1 to 255 visible ASCII characters"),
    ),
    request_body = InventoryEdit,
    responses(
        (status = 200, description = "Every night of the call as it is now", body = InventoryNights),
        (status = 404, description = "NOT_FOUND: no such hotel of yours"),
        (status = 409, description = "BELOW_COMMITTED, OPERATION_IN_PROGRESS, IDEMPOTENCY_KEY_EXPIRED"),
        (status = 422, description = "INVALID, IDEMPOTENCY_KEY_REUSED"),
        (status = 503, description = "HOT_NIGHT_BUSY, UNAVAILABLE"),
    ),
)]
#[put("/v1/hotels/{hotel}/inventory")]
pub(crate) async fn edit(
    Signed(caller): Signed,
    Path(hotel): Path<HotelCode>,
    Key(key): Key,
    desk: web::Data<Desk>,
    Json(body): Json<InventoryEdit>,
) -> Result<HttpResponse, Problem> {
    let changes = body.changes.into_iter().map(|change| InventoryChange {
        room_type: change.room_type,
        nights: NightRange::new(
            change.first_night.0,
            change.last_night.0,
            change.weekdays.map(|days| days.into_iter().map(Into::into).collect()),
        ),
        sellable: change.sellable,
    });
    let request = EditInventory { hotel, changes: changes.collect(), key };
    let edited = edit_inventory::run(&desk, &caller, request).await.map_err(refused)?;
    let items = edited.answer.nights.into_iter().map(wire::inventory_night).collect();
    Ok(reply::written(StatusCode::OK, edited.replayed).json(InventoryNights { items }))
}

fn refused(error: EditInventoryError) -> Problem {
    match error {
        EditInventoryError::HotelNotFound => Problem::not_found(),
        EditInventoryError::Invalid(errors) => refusal::invalid(errors),
        EditInventoryError::BelowCommitted(nights) => {
            let nights: Vec<InventoryNight> = nights.into_iter().map(wire::inventory_night).collect();
            Problem::new(
                Code::BelowCommitted,
                "Nothing was applied: more is held and confirmed on some nights.",
            )
            .fact("nights", nights)
        }
        EditInventoryError::Key(refused) => refusal::key(refused),
        EditInventoryError::Fault(fault) => refusal::fault(fault),
    }
}
