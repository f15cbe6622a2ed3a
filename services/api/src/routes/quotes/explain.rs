use actix_web::{HttpResponse, get, web};
use keyrack_api_types::explanation::QuoteExplanation;
use keyrack_booking::{Desk, quote};
use keyrack_domain::ids::QuoteId;
use keyrack_http::{Path, Problem, Signed};

use crate::{refusal, wire};

/// Why a quote costs what it does: every line with the rule that it follows, in the edition that was used. Of your
/// own quotes; for staff those of their hotel, for operators all.
#[utoipa::path(
    tag = "quotes",
    operation_id = "explain_quote",
    params(("id" = String, Path)),
    responses(
        (status = 200, body = QuoteExplanation),
        (status = 404, description = "NOT_FOUND"),
        (status = 503, description = "UNAVAILABLE"),
    ),
)]
#[get("/v1/quotes/{id}/explain")]
pub(crate) async fn explain(
    Signed(caller): Signed,
    Path(id): Path<QuoteId>,
    desk: web::Data<Desk>,
) -> Result<HttpResponse, Problem> {
    let found = quote::explain(desk.hotels(), &caller, id).await.map_err(refusal::fault)?;
    let explained = found.ok_or_else(Problem::not_found)?;
    Ok(HttpResponse::Ok().json(wire::explanation(&explained)))
}
