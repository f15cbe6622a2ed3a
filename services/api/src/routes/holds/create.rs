use actix_web::{HttpResponse, post, web};
use keyrack_api_types::{
    code::Code,
    hold::{Hold, HoldRequest},
    shortage::{Alternative, ShortNight},
    violation::Violation,
};
use keyrack_booking::{
    Desk,
    place_hold::{self, PlaceHold, PlaceHoldError, Shortage},
};
use keyrack_http::{Json, Key, Problem, Signed};

use crate::{refusal, reply, wire};

/// Claim the rooms of a quote for 600 s: all of them over all nights, or none.
#[utoipa::path(
    tag = "holds",
    operation_id = "place_hold",
    params(("Idempotency-Key" = String, Header, description = "1 to 255 visible ASCII characters")),
    request_body = HoldRequest,
    responses(
        (status = 201, body = Hold),
        (status = 404, description = "NOT_FOUND: no such quote or hold of yours"),
        (status = 409, description = "ROOM_NIGHT_UNAVAILABLE, RESTRICTION_VIOLATED, HOLD_NOT_ACTIVE, ATTEMPT_IN_PROGRESS, OPERATION_IN_PROGRESS, IDEMPOTENCY_KEY_EXPIRED"),
        (status = 410, description = "QUOTE_EXPIRED"),
        (status = 422, description = "INVALID, IDEMPOTENCY_KEY_REUSED"),
        (status = 429, description = "HOLD_LIMIT"),
        (status = 503, description = "HOT_NIGHT_BUSY, UNAVAILABLE"),
    ),
)]
#[post("/v1/holds")]
pub(crate) async fn create(
    Signed(caller): Signed,
    Key(key): Key,
    desk: web::Data<Desk>,
    Json(body): Json<HoldRequest>,
) -> Result<HttpResponse, Problem> {
    let quote = body.quote_id.0.ok_or_else(Problem::not_found)?;
    let replaces = body.replaces.map(|hold| hold.0.ok_or_else(Problem::not_found)).transpose()?;
    let request = PlaceHold { quote, replaces, key };
    let placed = place_hold::run(&desk, &caller, request).await.map_err(refused)?;
    let place = wire::hold_path(placed.answer.id);
    Ok(reply::created(place, placed.replayed).json(wire::hold(placed.answer)))
}

fn refused(error: PlaceHoldError) -> Problem {
    match error {
        PlaceHoldError::QuoteNotFound | PlaceHoldError::ReplacedNotFound => Problem::not_found(),
        PlaceHoldError::QuoteExpired(at) => {
            Problem::new(Code::QuoteExpired, format!("The price was promised until {at}."))
                .fact("expired_at", at)
        }
        PlaceHoldError::SoldOut(shortage) => sold_out(*shortage),
        PlaceHoldError::Restricted(violations) => {
            let violations: Vec<_> = violations.into_iter().map(Violation::from).collect();
            Problem::new(Code::RestrictionViolated, "The hotel does not sell this stay now.")
                .fact("violations", violations)
        }
        PlaceHoldError::HoldLimit { limit, retry_after } => {
            Problem::new(Code::HoldLimit, format!("At most {limit} active holds at one hotel."))
                .fact("limit", limit)
                .retry_after(retry_after)
        }
        PlaceHoldError::ReplacedNotActive(state) => {
            refusal::hold_not_active(state, "The hold to replace is not active any more.")
        }
        PlaceHoldError::AttemptInProgress(attempt) => refusal::attempt_in_progress(attempt),
        PlaceHoldError::Key(refused) => refusal::key(refused),
        PlaceHoldError::Fault(fault) => refusal::fault(fault),
    }
}

fn sold_out(shortage: Shortage) -> Problem {
    let Shortage { first, also_short, alternatives, own_hold } = shortage;
    let detail = format!(
        "{} on {}: {} wanted, {} available.",
        first.room_type, first.night, first.requested, first.available
    );
    let also_short: Vec<_> = also_short.into_iter().map(short_night).collect();
    let alternatives: Vec<_> = alternatives
        .into_iter()
        .map(|other| Alternative {
            room_type: other.room_type.into(),
            check_in: other.stay.check_in().into(),
            check_out: other.stay.check_out().into(),
            available: other.available,
        })
        .collect();
    let problem = Problem::new(Code::RoomNightUnavailable, detail)
        .fact("room_type", first.room_type)
        .fact("night", first.night)
        .fact("requested", first.requested)
        .fact("available", first.available)
        .fact("also_short", also_short)
        .fact("alternatives", alternatives);
    match own_hold {
        Some(own) => problem.fact("own_hold_id", own),
        None => problem,
    }
}

fn short_night(short: place_hold::ShortNight) -> ShortNight {
    let place_hold::ShortNight { room_type, night, requested, available } = short;
    ShortNight { room_type: room_type.into(), night: night.into(), requested, available }
}
