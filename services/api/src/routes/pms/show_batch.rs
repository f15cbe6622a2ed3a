use actix_web::{HttpResponse, get, web};
use keyrack_api_types::pms::PmsBatch;
use keyrack_booking::{Desk, apply_pms_batch};
use keyrack_domain::code::HotelCode;
use keyrack_http::{Path, Problem, Signed};

use super::refused;
use crate::wire;

/// What became of a batch, for the system that sent it and for the hotel's staff; where several systems of the hotel
/// used the sequence, the staff sees the one that came last. Kept for some months.
#[utoipa::path(
    tag = "hotel systems",
    operation_id = "show_pms_batch",
    params(("hotel" = String, Path), ("sequence" = i64, Path)),
    responses(
        (status = 200, body = PmsBatch),
        (status = 404, description = "NOT_FOUND"),
    ),
)]
#[get("/v1/hotels/{hotel}/pms/batches/{sequence}")]
pub(crate) async fn show_batch(
    Signed(caller): Signed,
    Path((hotel, sequence)): Path<(HotelCode, i64)>,
    desk: web::Data<Desk>,
) -> Result<HttpResponse, Problem> {
    let batch = apply_pms_batch::find(&desk, &caller, &hotel, sequence).await.map_err(refused::batch)?;
    Ok(HttpResponse::Ok().json(wire::pms_batch(batch, false)))
}
