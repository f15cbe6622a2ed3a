use actix_web::{HttpResponse, http::StatusCode, put, web};
use keyrack_api_types::rate::{RateNights, RatesEdit};
use keyrack_booking::{
    Desk,
    night_range::NightRange,
    rates::{self, RateChange, SetRates, SetRatesError},
};
use keyrack_domain::code::HotelCode;
use keyrack_http::{Json, Key, Path, Problem, Signed};

use crate::{refusal, reply, wire};

/// Set prices, night by night: all changes, or none. Every edit of a night raises its `price_version`.
#[utoipa::path(
    tag = "rates",
    operation_id = "edit_rates",
    params(
        ("hotel" = String, Path),
        ("Idempotency-Key" = String, Header, description = "1 to 255 visible ASCII characters"),
    ),
    request_body = RatesEdit,
    responses(
        (status = 200, description = "Every night of the call as it is now", body = RateNights),
        (status = 404, description = "NOT_FOUND: no such hotel of yours"),
        (status = 409, description = "OPERATION_IN_PROGRESS, IDEMPOTENCY_KEY_EXPIRED"),
        (status = 422, description = "INVALID, IDEMPOTENCY_KEY_REUSED"),
        (status = 503, description = "HOT_NIGHT_BUSY, UNAVAILABLE"),
    ),
)]
#[put("/v1/hotels/{hotel}/rates")]
pub(crate) async fn edit(
    Signed(caller): Signed,
    Path(hotel): Path<HotelCode>,
    Key(key): Key,
    desk: web::Data<Desk>,
    Json(body): Json<RatesEdit>,
) -> Result<HttpResponse, Problem> {
    let changes = body.changes.into_iter().map(|change| RateChange {
        room_type: change.room_type,
        rate_plan: change.rate_plan,
        range: NightRange::new(
            change.first_night.0,
            change.last_night.0,
            change.weekdays.map(|days| days.into_iter().map(Into::into).collect()),
        ),
        amount: change.amount,
        extra_adult: change.extra_adult,
        extra_child: change.extra_child,
    });
    let request = SetRates { hotel, changes: changes.collect(), key };
    let horizon = desk.settings().horizon;
    let set = rates::set(desk.hotels(), horizon, &caller, request).await.map_err(refused)?;
    let items = set.answer.nights().map(wire::rate_night).collect();
    Ok(reply::written(StatusCode::OK, set.replayed).json(RateNights { items }))
}

fn refused(error: SetRatesError) -> Problem {
    match error {
        SetRatesError::HotelNotFound => Problem::not_found(),
        SetRatesError::Invalid(errors) => refusal::invalid(errors),
        SetRatesError::Key(refused) => refusal::key(refused),
        SetRatesError::Fault(fault) => refusal::fault(fault),
    }
}
