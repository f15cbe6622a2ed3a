use actix_web::{HttpResponse, get, web};
use keyrack_api_types::{
    page::Page,
    pms::{PmsConflict, PmsConflictState},
};
use keyrack_booking::{Desk, pms_conflicts, reservations::MAX_PAGE};
use keyrack_domain::{code::HotelCode, ids::ConflictId};
use keyrack_http::{Cursor, Path, Problem, Query, Signed, limit};
use serde::Deserialize;

use super::refused;
use crate::wire;

const USUAL_PAGE: u16 = 50;

#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(crate) struct Wanted {
    /// Left out: those that wait, OPEN or WALKING.
    state: Option<PmsConflictState>,
    /// `next_cursor` of the page before.
    #[param(value_type = Option<String>)]
    cursor: Option<Cursor<ConflictId>>,
    /// 1 to 100; 50 when left out.
    limit: Option<u16>,
}

/// Nights that the hotel's system reported below what is held and confirmed, for the hotel's staff, in the order in
/// which they came.
#[utoipa::path(
    tag = "hotel systems",
    operation_id = "list_pms_conflicts",
    params(("hotel" = String, Path), Wanted),
    responses(
        (status = 200, body = Page<PmsConflict>),
        (status = 404, description = "NOT_FOUND: no such hotel of yours"),
        (status = 422, description = "INVALID"),
    ),
)]
#[get("/v1/hotels/{hotel}/pms/conflicts")]
pub(crate) async fn conflicts(
    Signed(caller): Signed,
    Path(hotel): Path<HotelCode>,
    Query(wanted): Query<Wanted>,
    desk: web::Data<Desk>,
) -> Result<HttpResponse, Problem> {
    let limit = limit(wanted.limit, USUAL_PAGE, MAX_PAGE)?;
    let after = wanted.cursor.map(|Cursor(id)| id);
    let state = wanted.state.map(Into::into);
    let listing = pms_conflicts::list(&desk, &caller, &hotel, state, after, limit);
    let page = listing.await.map_err(refused::conflict)?;
    let next_cursor = page.next.map(|id| Cursor::write(&id));
    let items: Vec<PmsConflict> = page.items.into_iter().map(wire::pms_conflict).collect();
    Ok(HttpResponse::Ok().json(Page { items, next_cursor }))
}
