use actix_web::{HttpResponse, get, web};
use keyrack_api_types::pms::PmsCursor;
use keyrack_booking::{Desk, apply_pms_batch};
use keyrack_domain::code::HotelCode;
use keyrack_http::{Path, Problem, Signed};

use super::refused;

/// How far the calling system has been followed.
#[utoipa::path(
    tag = "hotel systems",
    operation_id = "show_pms_cursor",
    params(("hotel" = String, Path)),
    responses(
        (status = 200, body = PmsCursor),
        (status = 404, description = "NOT_FOUND: no such hotel of yours"),
    ),
)]
#[get("/v1/hotels/{hotel}/pms/cursor")]
pub(crate) async fn cursor(
    Signed(caller): Signed,
    Path(hotel): Path<HotelCode>,
    desk: web::Data<Desk>,
) -> Result<HttpResponse, Problem> {
    let sequence = apply_pms_batch::cursor(&desk, &caller, &hotel).await.map_err(refused::batch)?;
    Ok(HttpResponse::Ok().json(PmsCursor { sequence }))
}
