use actix_web::{HttpResponse, get};
use keyrack_api_types::code::Code;
use keyrack_http::{Path, Problem, page};

/// What a code means and what to do: the `type` of every problem leads here.
#[utoipa::path(
    tag = "reference",
    operation_id = "problem",
    security(()),
    params(("code" = String, Path, example = "room_night_unavailable")),
    responses(
        (status = 200, content_type = "text/markdown", body = String),
        (status = 404, description = "NOT_FOUND"),
    ),
)]
#[get("/problems/{code}")]
pub(crate) async fn problem(Path(name): Path<String>) -> Result<HttpResponse, Problem> {
    let code = Code::ALL.iter().find(|code| code.page() == name).ok_or_else(Problem::not_found)?;
    Ok(HttpResponse::Ok().content_type("text/markdown; charset=utf-8").body(page(*code)))
}
