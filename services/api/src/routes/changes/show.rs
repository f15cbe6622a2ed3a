use actix_web::{HttpResponse, get, web};
use keyrack_api_types::change::Change;
use keyrack_booking::{Desk, change_stay};
use keyrack_domain::ids::{ChangeId, ReservationId};
use keyrack_http::{Path, Problem, Signed};

use crate::{refusal, wire};

/// A change of a reservation, and how far it has come.
#[utoipa::path(
    tag = "reservations",
    operation_id = "show_change",
    params(("id" = String, Path), ("change" = String, Path)),
    responses((status = 200, body = Change), (status = 404, description = "NOT_FOUND")),
)]
#[get("/v1/reservations/{id}/changes/{change}")]
pub(crate) async fn show(
    Signed(caller): Signed,
    Path((id, change)): Path<(ReservationId, ChangeId)>,
    desk: web::Data<Desk>,
) -> Result<HttpResponse, Problem> {
    let found = change_stay::find(&desk, &caller, id, change).await.map_err(refusal::fault)?;
    let view = found.ok_or_else(Problem::not_found)?;
    Ok(HttpResponse::Ok().json(wire::change(&view, None)))
}
