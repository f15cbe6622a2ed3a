use actix_web::{HttpResponse, http::StatusCode, post, web};
use keyrack_api_types::pms::{PmsBatch, PmsBatchRequest, PmsLine, PmsWindow};
use keyrack_booking::{
    Desk,
    apply_pms_batch::{self, BatchInput, LineInput, Window},
};
use keyrack_domain::code::HotelCode;
use keyrack_http::{Key, LargeJson, Path, Problem, Signed};

use super::refused;
use crate::{reply, wire};

/// Tell the units of a hotel's nights, from its own system, in the order of its sequence. What is sent again changes
/// nothing, with whatever key: the sequence is the key of this call.
#[utoipa::path(
    tag = "hotel systems",
    operation_id = "send_pms_batch",
    params(
        ("hotel" = String, Path),
        ("Idempotency-Key" = String, Header, description = "1 to 255 visible ASCII characters"),
    ),
    request_body = PmsBatchRequest,
    responses(
        (status = 200, description = "What each line came to", body = PmsBatch),
        (status = 404, description = "NOT_FOUND: no such hotel of yours"),
        (status = 409, description = "SEQUENCE_GAP, with `expected`: nothing was applied"),
        (status = 413, description = "PAYLOAD_TOO_LARGE"),
        (status = 422, description = "INVALID, IDEMPOTENCY_KEY_REUSED (the sequence, for another batch): nothing was applied, and the sequence is as it was"),
        (status = 503, description = "HOT_NIGHT_BUSY, UNAVAILABLE"),
    ),
)]
#[post("/v1/hotels/{hotel}/pms/batches")]
pub(crate) async fn put_batch(
    Signed(caller): Signed,
    Path(hotel): Path<HotelCode>,
    _key: Key,
    desk: web::Data<Desk>,
    LargeJson(body): LargeJson<PmsBatchRequest>,
) -> Result<HttpResponse, Problem> {
    let window = |PmsWindow { first_night, last_night }| Window {
        first_night: first_night.0,
        last_night: last_night.0,
    };
    let batch = BatchInput {
        sequence: body.sequence,
        mode: body.mode.into(),
        window: body.window.map(window),
        lines: body.nights.into_iter().map(line).collect(),
    };
    let taken = apply_pms_batch::run(&desk, &caller, &hotel, batch).await.map_err(refused::batch)?;
    let batch = wire::pms_batch(taken.batch, taken.replayed);
    Ok(reply::written(StatusCode::OK, taken.replayed).json(batch))
}

fn line(line: PmsLine) -> LineInput {
    LineInput {
        room_type: line.room_type,
        night: line.night.map(|date| date.0),
        first_night: line.first_night.map(|date| date.0),
        last_night: line.last_night.map(|date| date.0),
        weekdays: line.weekdays.map(|days| days.into_iter().map(Into::into).collect()),
        sellable: line.sellable,
        change: line.change,
    }
}
