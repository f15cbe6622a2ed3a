use actix_web::{HttpResponse, get, http::StatusCode, web};
use keyrack_api_types::{
    inventory::InventoryNights,
    operation::{Operation, Operations},
};
use keyrack_booking::{
    Desk,
    edit_inventory::{self, InventoryEdited},
    operations::{self, Filter, OperationResult, OperationView},
    place_hold, release,
    views::{BookingView, HoldView, Standing},
};
use keyrack_domain::{code::HotelCode, operation_key::OperationKey};
use keyrack_http::{Path, Problem, Query, Signed};
use serde::{Deserialize, de::DeserializeOwned};

use crate::{refusal, wire};

#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(crate) struct Wanted {
    /// Only calls of this endpoint: `POST /v1/holds`.
    endpoint: Option<String>,
    /// Only calls at this hotel.
    #[param(value_type = Option<String>)]
    hotel: Option<HotelCode>,
}

/// What became of your earlier calls with a key, at any endpoint and hotel.
#[utoipa::path(
    tag = "operations",
    operation_id = "show_operations",
    params(("idempotency_key" = String, Path), Wanted),
    responses(
        (status = 200, description = "No items: no such call left a record", body = Operations),
        (status = 422, description = "INVALID"),
    ),
)]
#[get("/v1/operations/{idempotency_key}")]
pub(crate) async fn show(
    Signed(caller): Signed,
    Path(key): Path<OperationKey>,
    Query(wanted): Query<Wanted>,
    desk: web::Data<Desk>,
) -> Result<HttpResponse, Problem> {
    let filter = Filter { endpoint: wanted.endpoint, hotel: wanted.hotel };
    let found = operations::find(&desk, &caller, &key, &filter).await.map_err(refusal::fault)?;
    let mut items = Vec::with_capacity(found.len());
    for view in found {
        items.push(operation(&desk, view).await?);
    }
    Ok(HttpResponse::Ok().json(Operations { items }))
}

async fn operation(desk: &Desk, view: OperationView) -> Result<Operation, Problem> {
    let OperationView { endpoint, hotel, at, result } = view;
    let told = Operation {
        status: if endpoint.starts_with("POST ") { StatusCode::CREATED } else { StatusCode::OK }.as_u16(),
        endpoint,
        hotel: hotel.into(),
        at: at.into(),
        hold: None,
        booking: None,
        inventory: None,
    };
    match result {
        OperationResult::Booking(view) => {
            let status = status(&view).as_u16();
            Ok(Operation { status, booking: Some(wire::booking(desk, *view).await?), ..told })
        }
        OperationResult::Completed(answer) => completed(told, answer),
    }
}

/// What the answer was is told for the calls on counters; of the others, that they were done.
fn completed(told: Operation, answer: serde_json::Value) -> Result<Operation, Problem> {
    let endpoint = told.endpoint.as_str();
    if endpoint == place_hold::ENDPOINT.0 || endpoint == release::ENDPOINT.0 {
        let hold = wire::hold(recorded::<HoldView>(answer)?);
        Ok(Operation { hold: Some(hold), ..told })
    } else if endpoint == edit_inventory::ENDPOINT.0 {
        let edited = recorded::<InventoryEdited>(answer)?;
        let items = edited.nights.into_iter().map(wire::inventory_night).collect();
        Ok(Operation { inventory: Some(InventoryNights { items }), ..told })
    } else {
        Ok(told)
    }
}

fn recorded<T: DeserializeOwned>(answer: serde_json::Value) -> Result<T, Problem> {
    serde_json::from_value(answer).map_err(Problem::internal)
}

fn status(view: &BookingView) -> StatusCode {
    match view.standing {
        Standing::Pending { .. } => StatusCode::ACCEPTED,
        Standing::Confirmed(_) => StatusCode::CREATED,
        Standing::Declined { .. } => StatusCode::PAYMENT_REQUIRED,
        Standing::NoRoom { .. } => StatusCode::CONFLICT,
    }
}
