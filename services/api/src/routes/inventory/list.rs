use actix_web::{HttpResponse, get, web};
use keyrack_api_types::{inventory::InventoryNight, page::Page};
use keyrack_booking::{Desk, inventory_view};
use keyrack_domain::code::HotelCode;
use keyrack_http::{Path, Problem, Query, Signed};

use crate::{
    routes::nights_wanted::{NightsWanted, refused},
    wire,
};

/// What of a room type is held, sold and to be had, from the authority. A night that is left out is not for sale.
#[utoipa::path(
    tag = "inventory",
    operation_id = "list_inventory",
    params(("hotel" = String, Path), NightsWanted),
    responses(
        (status = 200, description = "All of them: there is one page", body = Page<InventoryNight>),
        (status = 404, description = "NOT_FOUND: no such hotel of yours"),
        (status = 422, description = "INVALID"),
    ),
)]
#[get("/v1/hotels/{hotel}/inventory")]
pub(crate) async fn list(
    Signed(caller): Signed,
    Path(hotel): Path<HotelCode>,
    Query(wanted): Query<NightsWanted>,
    desk: web::Data<Desk>,
) -> Result<HttpResponse, Problem> {
    let found =
        inventory_view::read(desk.hotels(), &caller, &hotel, &wanted.into()).await.map_err(refused)?;
    let items: Vec<InventoryNight> = found.into_iter().map(wire::inventory_night).collect();
    Ok(HttpResponse::Ok().json(Page { items, next_cursor: None }))
}
