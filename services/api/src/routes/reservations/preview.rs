use actix_web::{HttpResponse, get, web};
use keyrack_api_types::cancellation::CancellationPreview;
use keyrack_booking::{Desk, cancel};
use keyrack_domain::ids::ReservationId;
use keyrack_http::{Path, Problem, Signed, etag};

use crate::{refusal, wire};

/// What cancelling would cost now, room by room.
#[utoipa::path(
    tag = "reservations",
    operation_id = "preview_cancellation",
    params(("id" = String, Path)),
    responses(
        (status = 200, body = CancellationPreview, headers(("ETag" = String, description = "The version, quoted"))),
        (status = 404, description = "NOT_FOUND"),
    ),
)]
#[get("/v1/reservations/{id}/cancellation-preview")]
pub(crate) async fn preview(
    Signed(caller): Signed,
    Path(id): Path<ReservationId>,
    desk: web::Data<Desk>,
) -> Result<HttpResponse, Problem> {
    let found = cancel::preview(&desk, &caller, id).await.map_err(refusal::fault)?;
    let cancel::Preview { reservation, state, version, rooms, penalty, refund, due, as_of } =
        found.ok_or_else(Problem::not_found)?;
    Ok(HttpResponse::Ok().insert_header(etag(version)).json(CancellationPreview {
        reservation_id: reservation,
        state: state.into(),
        version,
        rooms: wire::cancelled_rooms(rooms),
        penalty: penalty.into(),
        refund: refund.into(),
        due: due.into(),
        as_of: as_of.into(),
    }))
}
