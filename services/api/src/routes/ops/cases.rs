use actix_web::{HttpResponse, get, web};
use keyrack_api_types::{ops::OpsCase, page::Page};
use keyrack_booking::{
    Desk,
    ops::{self, CaseView, MAX_PAGE},
};
use keyrack_domain::ids::AttemptId;
use keyrack_http::{Cursor, Problem, Query, Signed, limit};
use serde::Deserialize;

use super::{USUAL_PAGE, page_of, refused};

#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(crate) struct Wanted {
    /// `next_cursor` of the page before.
    #[param(value_type = Option<String>)]
    cursor: Option<Cursor<AttemptId>>,
    /// 1 to 100; 50 when left out.
    limit: Option<u16>,
}

/// Attempts of which nobody knows yet how they ended, of all hotels, oldest first. For operators.
#[utoipa::path(
    tag = "operators",
    operation_id = "list_cases",
    params(Wanted),
    responses(
        (status = 200, body = Page<OpsCase>),
        (status = 404, description = "NOT_FOUND: not for you"),
        (status = 422, description = "INVALID"),
        (status = 503, description = "UNAVAILABLE"),
    ),
)]
#[get("/v1/ops/cases")]
pub(crate) async fn cases(
    Signed(caller): Signed,
    Query(wanted): Query<Wanted>,
    desk: web::Data<Desk>,
) -> Result<HttpResponse, Problem> {
    let limit = limit(wanted.limit, USUAL_PAGE, MAX_PAGE)?;
    let after = wanted.cursor.map(|cursor| cursor.0);
    let page = ops::cases(&desk, &caller, after, limit).await.map_err(refused)?;
    let item = |CaseView { row, hotel, open_for }: CaseView| OpsCase {
        attempt_id: row.attempt,
        hotel: hotel.code.to_string(),
        hold_id: row.hold,
        amount: row.amount.into(),
        captured: row.captured.into(),
        started_at: row.started_at.into(),
        open_s: open_for.as_secs(),
    };
    Ok(page_of(page, item))
}
