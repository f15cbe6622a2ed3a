use actix_web::{HttpResponse, get, web};
use keyrack_api_types::timeline::Timeline;
use keyrack_booking::{
    Desk,
    ops::MAX_PAGE,
    timeline::{self, AnyId, Place},
};
use keyrack_http::{Cursor, Path, Problem, Query, Signed, limit};
use serde::Deserialize;

use super::{USUAL_PAGE, refused};
use crate::wire;

#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(crate) struct Wanted {
    /// `next_cursor` of the page before.
    #[param(value_type = Option<String>)]
    cursor: Option<Cursor<Place>>,
    /// 1 to 100; 50 when left out.
    limit: Option<u16>,
}

/// What happened to a booking: each transaction with what it committed, each call to the payment provider and its
/// answer, each notice, each repeat and where it picked up. For operators.
#[utoipa::path(
    tag = "operators",
    operation_id = "show_timeline",
    params(("id" = String, Path, description = "Of the reservation, or of one of its attempts, holds or changes"), Wanted),
    responses(
        (status = 200, body = Timeline),
        (status = 404, description = "NOT_FOUND: no such booking, or not for you"),
        (status = 422, description = "INVALID"),
        (status = 503, description = "UNAVAILABLE"),
    ),
)]
#[get("/v1/ops/bookings/{id}/timeline")]
pub(crate) async fn show(
    Signed(caller): Signed,
    Path(id): Path<AnyId>,
    Query(wanted): Query<Wanted>,
    desk: web::Data<Desk>,
) -> Result<HttpResponse, Problem> {
    let limit = limit(wanted.limit, USUAL_PAGE, MAX_PAGE)?;
    let after = wanted.cursor.map(|cursor| cursor.0);
    let found = timeline::find(&desk, &caller, id, after, limit).await.map_err(refused)?;
    let next_cursor = found.next.as_ref().map(Cursor::write);
    Ok(HttpResponse::Ok().json(Timeline {
        booking: wire::belongings(found.booking),
        items: found.items.into_iter().map(wire::timeline_item).collect(),
        next_cursor,
    }))
}
