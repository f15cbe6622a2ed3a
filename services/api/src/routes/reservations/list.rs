use actix_web::{HttpResponse, get, web};
use keyrack_api_types::reservation::Reservations;
use keyrack_booking::{
    Desk,
    reservations::{self, MAX_PAGE},
};
use keyrack_domain::ids::ReservationId;
use keyrack_http::{Cursor, Problem, Query, Signed, limit};
use serde::Deserialize;

use crate::{refusal, wire};

const USUAL_PAGE: u16 = 50;

#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(crate) struct Wanted {
    /// `next_cursor` of the page before.
    #[param(value_type = Option<String>)]
    cursor: Option<Cursor<ReservationId>>,
    /// 1 to 100; 50 when left out.
    limit: Option<u16>,
}

/// Your own reservations at all hotels, oldest first.
#[utoipa::path(
    tag = "reservations",
    operation_id = "list_reservations",
    params(Wanted),
    responses(
        (status = 200, body = Reservations),
        (status = 422, description = "INVALID"),
    ),
)]
#[get("/v1/reservations")]
pub(crate) async fn list(
    Signed(caller): Signed,
    Query(wanted): Query<Wanted>,
    desk: web::Data<Desk>,
) -> Result<HttpResponse, Problem> {
    let limit = limit(wanted.limit, USUAL_PAGE, MAX_PAGE)?;
    let after = wanted.cursor.map(|cursor| cursor.0);
    let page = reservations::list(&desk, &caller, after, limit).await.map_err(refusal::fault)?;
    let mut items = Vec::with_capacity(page.items.len());
    for view in page.items {
        items.push(wire::reservation(&desk, view).await?);
    }
    let next_cursor = page.next.as_ref().map(Cursor::write);
    Ok(HttpResponse::Ok().json(Reservations { items, next_cursor, as_of: page.as_of.into() }))
}
