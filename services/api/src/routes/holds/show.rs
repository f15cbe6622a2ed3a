use actix_web::{HttpResponse, get, web};
use keyrack_api_types::hold::Hold;
use keyrack_booking::{Desk, place_hold};
use keyrack_domain::ids::HoldId;
use keyrack_http::{Path, Problem, Signed};

use crate::{refusal, wire};

/// One of your own holds.
#[utoipa::path(
    tag = "holds",
    operation_id = "show_hold",
    params(("id" = String, Path)),
    responses(
        (status = 200, body = Hold),
        (status = 404, description = "NOT_FOUND"),
    ),
)]
#[get("/v1/holds/{id}")]
pub(crate) async fn show(
    Signed(caller): Signed,
    Path(id): Path<HoldId>,
    desk: web::Data<Desk>,
) -> Result<HttpResponse, Problem> {
    let found = place_hold::find(&desk, &caller, id).await.map_err(refusal::fault)?;
    Ok(HttpResponse::Ok().json(wire::hold(found.ok_or_else(Problem::not_found)?)))
}
