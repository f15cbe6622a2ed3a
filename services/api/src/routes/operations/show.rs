use actix_web::{HttpResponse, get, http::StatusCode, web};
use keyrack_api_types::{
    inventory::InventoryNights,
    operation::{Operation, Operations},
};
use keyrack_booking::{
    Desk,
    cancel::{self, operation::Cancellation as Cancelled},
    create_hotel, credentials,
    edit_inventory::{self, InventoryEdited},
    operations::{self, Filter, OperationResult, OperationView},
    place_hold,
    quote::{self, QuoteView},
    release,
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
    let OperationView { endpoint, hotel, at, expired, result } = view;
    let told = Operation {
        status: if expired { StatusCode::CONFLICT } else { usual_status(&endpoint) }.as_u16(),
        endpoint,
        hotel: hotel.into(),
        at: at.into(),
        path: None,
        quote: None,
        hold: None,
        booking: None,
        inventory: None,
        cancellation: None,
        credential_id: None,
    };
    match result {
        OperationResult::Booking(view) => {
            let (status, path) = (status(&view).as_u16(), Some(wire::attempt_path(view.attempt)));
            Ok(Operation { status, path, booking: Some(wire::booking(desk, *view).await?), ..told })
        }
        OperationResult::Completed(answer) => completed(told, answer),
    }
}

fn usual_status(endpoint: &str) -> StatusCode {
    let steps = ["/cancel", "/confirm", "/check-in", "/check-out", "/no-show", "/undo", "/resolve"];
    let makes = endpoint.starts_with("POST ") && !steps.iter().any(|step| endpoint.ends_with(step));
    if makes { StatusCode::CREATED } else { StatusCode::OK }
}

/// What was made is told, or where it is; of edits of rates and restrictions, that they were done.
fn completed(told: Operation, answer: serde_json::Value) -> Result<Operation, Problem> {
    let endpoint = told.endpoint.as_str();
    if endpoint == quote::ENDPOINT.0 {
        let view = recorded::<QuoteView>(answer)?;
        let path = Some(wire::quote_path(view.id));
        Ok(Operation { path, quote: Some(wire::quote(view)), ..told })
    } else if endpoint == place_hold::ENDPOINT.0 || endpoint == release::ENDPOINT.0 {
        let view = recorded::<HoldView>(answer)?;
        let path = Some(wire::hold_path(view.id));
        Ok(Operation { path, hold: Some(wire::hold(view)), ..told })
    } else if endpoint == edit_inventory::ENDPOINT.0 {
        let edited = recorded::<InventoryEdited>(answer)?;
        let items = edited.nights.into_iter().map(wire::inventory_night).collect();
        Ok(Operation { inventory: Some(InventoryNights { items }), ..told })
    } else if endpoint == cancel::CANCEL.0 || endpoint == cancel::CANCEL_ROOM.0 {
        let view = recorded::<Cancelled>(answer)?;
        let path = Some(wire::reservation_path(view.reservation));
        Ok(Operation { path, cancellation: Some(wire::cancellation(view)), ..told })
    } else if let Some(reservation) = answer.get("reservation").and_then(serde_json::Value::as_str) {
        // A step of the stay: where its reservation is now.
        Ok(Operation { path: Some(format!("/v1/reservations/{reservation}")), ..told })
    } else if endpoint == create_hotel::ENDPOINT.0 {
        Ok(Operation { path: Some(format!("/v1/hotels/{}", told.hotel)), ..told })
    } else if endpoint == credentials::ENDPOINT.0 {
        let made = credentials::made_by(&answer).map_err(Problem::internal)?;
        Ok(Operation { credential_id: Some(made), ..told })
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
