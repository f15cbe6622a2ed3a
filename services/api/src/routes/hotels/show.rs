use actix_web::{HttpResponse, get, web};
use keyrack_api_types::hotel::Hotel;
use keyrack_booking::{Desk, hotel_view};
use keyrack_domain::code::HotelCode;
use keyrack_http::{Path, Problem};

use crate::{refusal, wire};

/// A hotel: its room types and rate plans, in order of creation.
#[utoipa::path(
    tag = "hotels",
    operation_id = "show_hotel",
    security(()),
    params(("hotel" = String, Path)),
    responses(
        (status = 200, body = Hotel),
        (status = 404, description = "NOT_FOUND"),
    ),
)]
#[get("/v1/hotels/{hotel}")]
pub(crate) async fn show(
    Path(hotel): Path<HotelCode>,
    desk: web::Data<Desk>,
) -> Result<HttpResponse, Problem> {
    let found = hotel_view::find(desk.hotels(), &hotel).await.map_err(refusal::no_hotel)?;
    Ok(HttpResponse::Ok().json(wire::hotel(found)))
}
