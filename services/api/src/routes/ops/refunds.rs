use std::sync::Arc;

use actix_web::{HttpResponse, get, web};
use keyrack_api_types::{ops::OpsRefund, page::Page};
use keyrack_booking::{
    Desk, RefundRow,
    ops::{self, MAX_PAGE},
};
use keyrack_domain::{hotel::HotelRef, ids::RefundId};
use keyrack_http::{Cursor, Problem, Query, Signed, limit};
use serde::Deserialize;

use super::{USUAL_PAGE, page_of, refused};

#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(crate) struct Wanted {
    /// NEEDS_ATTENTION: those that are not sent any more until somebody has looked.
    #[serde(rename = "state")]
    _state: Option<Listed>,
    /// `next_cursor` of the page before.
    #[param(value_type = Option<String>)]
    cursor: Option<Cursor<RefundId>>,
    /// 1 to 100; 50 when left out.
    limit: Option<u16>,
}

#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[schema(as = OpsRefundState)]
pub(crate) enum Listed {
    NeedsAttention,
}

/// Refunds that wait for an operator, of all hotels, oldest first. For operators.
#[utoipa::path(
    tag = "operators",
    operation_id = "list_refunds_to_look_at",
    params(Wanted),
    responses(
        (status = 200, body = Page<OpsRefund>),
        (status = 404, description = "NOT_FOUND: not for you"),
        (status = 422, description = "INVALID"),
        (status = 503, description = "UNAVAILABLE"),
    ),
)]
#[get("/v1/ops/refunds")]
pub(crate) async fn refunds(
    Signed(caller): Signed,
    Query(wanted): Query<Wanted>,
    desk: web::Data<Desk>,
) -> Result<HttpResponse, Problem> {
    let limit = limit(wanted.limit, USUAL_PAGE, MAX_PAGE)?;
    let after = wanted.cursor.map(|cursor| cursor.0);
    let page = ops::refunds(&desk, &caller, after, limit).await.map_err(refused)?;
    let item = |(row, hotel): (RefundRow, Arc<HotelRef>)| OpsRefund {
        id: row.id,
        hotel: hotel.code.to_string(),
        attempt_id: row.attempt,
        state: row.state.into(),
        amount: row.amount.into(),
        reason: row.reason,
        number: row.number,
        r#try: row.try_number,
        requested_at: row.requested_at.into(),
    };
    Ok(page_of(page, item))
}
