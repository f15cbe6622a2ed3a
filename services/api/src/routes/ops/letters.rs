use actix_web::{HttpResponse, get, web};
use keyrack_api_types::{ops::OpsLetter, page::Page};
use keyrack_booking::{
    Desk,
    consume::{self, Letter},
    ops::MAX_PAGE,
};
use keyrack_domain::ids::LetterId;
use keyrack_http::{Cursor, Problem, Query, Signed, limit};
use serde::Deserialize;

use super::{USUAL_PAGE, page_of, refused};

#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(crate) struct Wanted {
    /// `next_cursor` of the page before.
    #[param(value_type = Option<String>)]
    cursor: Option<Cursor<LetterId>>,
    /// 1 to 100; 50 when left out.
    limit: Option<u16>,
}

/// Events on which a handler could not act, and those that wait behind them, of all hotels, oldest first. For
/// operators.
#[utoipa::path(
    tag = "operators",
    operation_id = "list_dead_letters",
    params(Wanted),
    responses(
        (status = 200, body = Page<OpsLetter>),
        (status = 404, description = "NOT_FOUND: not for you"),
        (status = 422, description = "INVALID"),
        (status = 503, description = "UNAVAILABLE"),
    ),
)]
#[get("/v1/ops/dead-letters")]
pub(crate) async fn letters(
    Signed(caller): Signed,
    Query(wanted): Query<Wanted>,
    desk: web::Data<Desk>,
) -> Result<HttpResponse, Problem> {
    let limit = limit(wanted.limit, USUAL_PAGE, MAX_PAGE)?;
    let after = wanted.cursor.map(|cursor| cursor.0);
    let page = consume::list(&desk, &caller, after, limit).await.map_err(refused)?;
    let item = |Letter { row, hotel }: Letter| OpsLetter {
        id: row.id,
        hotel: hotel.code.to_string(),
        handler: row.handler,
        event_id: row.event.event_id,
        r#type: row.event.kind,
        created_at: row.event.created_at.into(),
        died_at: row.died_at.into(),
        error: row.error,
        key: row.key,
    };
    Ok(page_of(page, item))
}
