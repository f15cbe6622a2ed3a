use actix_web::{HttpResponse, http::StatusCode, put, web};
use keyrack_api_types::restriction::{self, Given, RestrictionNights, RestrictionsEdit};
use keyrack_booking::{
    Desk,
    night_range::NightRange,
    restrictions::{self, Patch, RestrictionChange, RestrictionPatch, SetRestrictions, SetRestrictionsError},
};
use keyrack_domain::code::HotelCode;
use keyrack_http::{Json, Key, Path, Problem, Signed};

use crate::{refusal, reply, wire};

/// Set rules for new sales, night by night: all changes, or none. What is held or booked stays.
#[utoipa::path(
    tag = "restrictions",
    operation_id = "edit_restrictions",
    params(
        ("hotel" = String, Path),
        ("Idempotency-Key" = String, Header, description = "1 to 255 visible ASCII characters"),
    ),
    request_body = RestrictionsEdit,
    responses(
        (status = 200, description = "Every night of the call as it is now", body = RestrictionNights),
        (status = 404, description = "NOT_FOUND: no such hotel of yours"),
        (status = 409, description = "OPERATION_IN_PROGRESS, IDEMPOTENCY_KEY_EXPIRED"),
        (status = 422, description = "INVALID, IDEMPOTENCY_KEY_REUSED"),
        (status = 503, description = "HOT_NIGHT_BUSY, UNAVAILABLE"),
    ),
)]
#[put("/v1/hotels/{hotel}/restrictions")]
pub(crate) async fn edit(
    Signed(caller): Signed,
    Path(hotel): Path<HotelCode>,
    Key(key): Key,
    desk: web::Data<Desk>,
    Json(body): Json<RestrictionsEdit>,
) -> Result<HttpResponse, Problem> {
    let changes = body.changes.into_iter().map(change).collect();
    let request = SetRestrictions { hotel, changes, key };
    let horizon = desk.settings().horizon;
    let set = restrictions::set(desk.hotels(), horizon, &caller, request).await.map_err(refused)?;
    let items = set.answer.nights().map(wire::restriction_night).collect();
    Ok(reply::written(StatusCode::OK, set.replayed).json(RestrictionNights { items }))
}

fn change(change: restriction::RestrictionChange) -> RestrictionChange {
    RestrictionChange {
        room_type: change.room_type,
        rate_plan: change.rate_plan,
        range: NightRange::new(
            change.first_night.0,
            change.last_night.0,
            change.weekdays.map(|days| days.into_iter().map(Into::into).collect()),
        ),
        patch: RestrictionPatch {
            stop_sell: patch(change.stop_sell),
            min_stay_arrival: patch(change.min_stay_arrival),
            min_stay_through: patch(change.min_stay_through),
            max_stay: patch(change.max_stay),
            closed_to_arrival: patch(change.closed_to_arrival),
            closed_to_departure: patch(change.closed_to_departure),
            min_advance_days: patch(change.min_advance_days),
            max_advance_days: patch(change.max_advance_days),
        },
    }
}

fn patch<T>(given: Given<T>) -> Patch<T> {
    match given {
        None => Patch::Keep,
        Some(None) => Patch::Clear,
        Some(Some(value)) => Patch::Set(value),
    }
}

fn refused(error: SetRestrictionsError) -> Problem {
    match error {
        SetRestrictionsError::HotelNotFound => Problem::not_found(),
        SetRestrictionsError::Invalid(errors) => refusal::invalid(errors),
        SetRestrictionsError::Key(refused) => refusal::key(refused),
        SetRestrictionsError::Fault(fault) => refusal::fault(fault),
    }
}
