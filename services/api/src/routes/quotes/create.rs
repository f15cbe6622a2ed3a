use actix_web::{HttpResponse, post, web};
use keyrack_api_types::{
    code::Code,
    quote::{Quote, QuoteRequest, RoomRequest},
    violation::Violation,
};
use keyrack_booking::{
    Desk,
    quote::{self, QuoteError, QuoteInput},
};
use keyrack_domain::occupancy;
use keyrack_http::{Json, Key, Problem, Signed};

use crate::{refusal, reply, wire};

/// Ask for a price: promised for 600 s, night by night and line by line. Claims nothing.
#[utoipa::path(
    tag = "quotes",
    operation_id = "make_quote",
    params(("Idempotency-Key" = String, Header, description = "1 to 255 visible ASCII characters")),
    request_body = QuoteRequest,
    responses(
        (status = 201, description = "Also where units are short: `available` is advisory, the hold decides", body = Quote),
        (status = 404, description = "NOT_FOUND: no such hotel"),
        (status = 409, description = "RESTRICTION_VIOLATED, OPERATION_IN_PROGRESS, IDEMPOTENCY_KEY_EXPIRED"),
        (status = 422, description = "INVALID, IDEMPOTENCY_KEY_REUSED"),
        (status = 503, description = "HOT_NIGHT_BUSY, UNAVAILABLE"),
    ),
)]
#[post("/v1/quotes")]
pub(crate) async fn create(
    Signed(caller): Signed,
    Key(key): Key,
    desk: web::Data<Desk>,
    Json(body): Json<QuoteRequest>,
) -> Result<HttpResponse, Problem> {
    let input = QuoteInput {
        hotel: body.hotel,
        check_in: body.check_in.0,
        check_out: body.check_out.0,
        rooms: body.rooms.into_iter().map(room).collect(),
    };
    let horizon = desk.settings().horizon;
    let made = quote::make(desk.hotels(), horizon, &caller, input, key).await.map_err(refused)?;
    let place = wire::quote_path(made.answer.id);
    Ok(reply::created(place, made.replayed).json(wire::quote(made.answer)))
}

pub(crate) fn room(room: RoomRequest) -> occupancy::RoomRequest {
    let RoomRequest { room_type, rate_plan, adults, children_ages, note } = room;
    occupancy::RoomRequest { room_type, rate_plan, adults, children_ages, note }
}

fn refused(error: QuoteError) -> Problem {
    match error {
        QuoteError::HotelNotFound => Problem::not_found(),
        QuoteError::Invalid(errors) => refusal::invalid(errors),
        QuoteError::Restricted(violations) => {
            let violations: Vec<_> = violations.into_iter().map(Violation::from).collect();
            Problem::new(Code::RestrictionViolated, "The hotel does not sell this stay now.")
                .fact("violations", violations)
        }
        QuoteError::Key(refused) => refusal::key(refused),
        QuoteError::Fault(fault) => refusal::fault(fault),
    }
}
