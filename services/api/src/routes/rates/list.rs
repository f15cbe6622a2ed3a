use actix_web::{HttpResponse, get, web};
use keyrack_api_types::{page::Page, rate::RateNight};
use keyrack_booking::{Desk, rates};
use keyrack_domain::code::HotelCode;
use keyrack_http::{Path, Problem, Query, Signed};

use crate::{
    routes::nights_wanted::{PlanNightsWanted, refused},
    wire,
};

/// Prices of a room type, night by night. A night without a price is left out.
#[utoipa::path(
    tag = "rates",
    operation_id = "list_rates",
    params(("hotel" = String, Path), PlanNightsWanted),
    responses(
        (status = 200, description = "All of them: there is one page", body = Page<RateNight>),
        (status = 404, description = "NOT_FOUND: no such hotel of yours"),
        (status = 422, description = "INVALID"),
    ),
)]
#[get("/v1/hotels/{hotel}/rates")]
pub(crate) async fn list(
    Signed(caller): Signed,
    Path(hotel): Path<HotelCode>,
    Query(wanted): Query<PlanNightsWanted>,
    desk: web::Data<Desk>,
) -> Result<HttpResponse, Problem> {
    let found = rates::read(desk.hotels(), &caller, &hotel, &wanted.into()).await.map_err(refused)?;
    let items: Vec<RateNight> = found.into_iter().map(wire::rate_night).collect();
    Ok(HttpResponse::Ok().json(Page { items, next_cursor: None }))
}
