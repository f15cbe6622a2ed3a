use actix_web::{HttpResponse, get, web};
use keyrack_api_types::booking::Booking;
use keyrack_booking::{Desk, bookings};
use keyrack_domain::ids::AttemptId;
use keyrack_http::{Path, Problem, Signed};

use crate::{refusal, wire};

/// How a booking of yours stands. Looking changes nothing.
#[utoipa::path(
    tag = "bookings",
    operation_id = "show_booking",
    params(("attempt" = String, Path)),
    responses(
        (status = 200, body = Booking),
        (status = 404, description = "NOT_FOUND"),
    ),
)]
#[get("/v1/bookings/{attempt}")]
pub(crate) async fn show(
    Signed(caller): Signed,
    Path(attempt): Path<AttemptId>,
    desk: web::Data<Desk>,
) -> Result<HttpResponse, Problem> {
    let found = bookings::find(&desk, &caller, attempt).await.map_err(refusal::fault)?;
    let view = found.ok_or_else(Problem::not_found)?;
    Ok(HttpResponse::Ok().json(wire::booking(&desk, view).await?))
}
