use actix_web::{HttpResponse, get, web};
use keyrack_api_types::quote::Quote;
use keyrack_booking::{Desk, quote};
use keyrack_domain::ids::QuoteId;
use keyrack_http::{Path, Problem, Signed};

use crate::{refusal, wire};

/// One of your own quotes, expired or not, with what is to be had now.
#[utoipa::path(
    tag = "quotes",
    operation_id = "show_quote",
    params(("id" = String, Path)),
    responses(
        (status = 200, body = Quote),
        (status = 404, description = "NOT_FOUND"),
    ),
)]
#[get("/v1/quotes/{id}")]
pub(crate) async fn show(
    Signed(caller): Signed,
    Path(id): Path<QuoteId>,
    desk: web::Data<Desk>,
) -> Result<HttpResponse, Problem> {
    let found = quote::find(desk.hotels(), &caller, id).await.map_err(refusal::fault)?;
    Ok(HttpResponse::Ok().json(wire::quote(found.ok_or_else(Problem::not_found)?)))
}
