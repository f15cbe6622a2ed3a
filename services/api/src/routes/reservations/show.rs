use actix_web::{HttpResponse, get, web};
use keyrack_api_types::reservation::Reservation;
use keyrack_booking::{Desk, reservations};
use keyrack_domain::ids::ReservationId;
use keyrack_http::{Path, Problem, Signed, etag};

use crate::{refusal, wire};

/// One reservation, from the authority: its guest's own, or one of the hotel whose staff is asking.
#[utoipa::path(
    tag = "reservations",
    operation_id = "show_reservation",
    params(("id" = String, Path)),
    responses(
        (status = 200, body = Reservation, headers(("ETag" = String, description = "The version, quoted"))),
        (status = 404, description = "NOT_FOUND"),
    ),
)]
#[get("/v1/reservations/{id}")]
pub(crate) async fn show(
    Signed(caller): Signed,
    Path(id): Path<ReservationId>,
    desk: web::Data<Desk>,
) -> Result<HttpResponse, Problem> {
    let found = reservations::find(&desk, &caller, id).await.map_err(refusal::fault)?;
    let view = found.ok_or_else(Problem::not_found)?;
    let tag = etag(view.version);
    Ok(HttpResponse::Ok().insert_header(tag).json(wire::reservation(&desk, view).await?))
}
