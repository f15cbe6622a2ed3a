use actix_web::{HttpResponse, post, web};
use keyrack_api_types::{
    change::{Change, ChangeRequest},
    code::Code,
    reservation::ReservationState,
    violation::Violation,
};
use keyrack_booking::{
    Answered, Desk,
    change_stay::priced::{self, PriceChange, PriceChangeError},
};
use keyrack_domain::{ids::ReservationId, principal::Caller};
use keyrack_http::{IfMatch, Json, Key, Path, Problem, Signed};

use crate::{
    refusal, reply,
    routes::{quotes::room, reservations::stale},
    wire,
};

/// Ask what another stay would cost: other dates, room types, guests, more or fewer rooms. The price is promised
/// for 600 s and claims nothing.
#[utoipa::path(
    tag = "reservations",
    operation_id = "price_change",
    params(
        ("id" = String, Path),
        ("If-Match" = String, Header, description = "The version that was last seen"),
        ("Idempotency-Key" = String, Header, description = "1 to 255 visible ASCII characters"),
    ),
    request_body = ChangeRequest,
    responses(
        (status = 201, body = Change),
        (status = 404, description = "NOT_FOUND"),
        (status = 409, description = "RESTRICTION_VIOLATED, CONFLICT, OPERATION_IN_PROGRESS, IDEMPOTENCY_KEY_EXPIRED"),
        (status = 412, description = "VERSION_CONFLICT, with the reservation as it is"),
        (status = 422, description = "INVALID, IDEMPOTENCY_KEY_REUSED"),
        (status = 428, description = "PRECONDITION_REQUIRED"),
        (status = 503, description = "HOT_NIGHT_BUSY, UNAVAILABLE"),
    ),
)]
#[post("/v1/reservations/{id}/changes")]
pub(crate) async fn price(
    Signed(caller): Signed,
    Path(id): Path<ReservationId>,
    Key(key): Key,
    IfMatch(if_match): IfMatch,
    desk: web::Data<Desk>,
    Json(body): Json<ChangeRequest>,
) -> Result<HttpResponse, Problem> {
    let request = PriceChange {
        reservation: id,
        check_in: body.check_in.map(|date| date.0),
        check_out: body.check_out.map(|date| date.0),
        rooms: body.rooms.map(|rooms| rooms.into_iter().map(room).collect()),
        if_match,
        key,
    };
    match priced::run(&desk, &caller, request).await {
        Ok(Answered { answer, replayed }) => {
            let place = wire::change_path(&answer);
            Ok(reply::created(place, replayed).json(wire::change(&answer, None)))
        }
        Err(error) => refused(&desk, &caller, id, error).await,
    }
}

async fn refused(
    desk: &Desk,
    caller: &Caller,
    id: ReservationId,
    error: PriceChangeError,
) -> Result<HttpResponse, Problem> {
    Err(match error {
        PriceChangeError::NotFound => Problem::not_found(),
        PriceChangeError::Stale(version, _) => return stale(desk, caller, id, version).await,
        PriceChangeError::NotChangeable(state) => not_changeable(state.into()),
        PriceChangeError::OfChannel => Problem::new(
            Code::Conflict,
            "A channel has made this reservation; it is changed there, under its own identifier.",
        ),
        PriceChangeError::Invalid(errors) => refusal::invalid(errors),
        PriceChangeError::Restricted(violations) => restricted(violations),
        PriceChangeError::Key(refused) => refusal::key(refused),
        PriceChangeError::Fault(fault) => refusal::fault(fault),
    })
}

pub(super) fn not_changeable(state: ReservationState) -> Problem {
    let detail = "Only a stay that is CONFIRMED or CHECKED_IN can be changed.";
    Problem::new(Code::Conflict, detail).fact("state", state)
}

pub(super) fn restricted(
    violations: Vec<keyrack_domain::restriction::Violation<keyrack_domain::code::RoomTypeCode>>,
) -> Problem {
    let violations: Vec<_> = violations.into_iter().map(Violation::from).collect();
    Problem::new(Code::RestrictionViolated, "The hotel does not sell this stay now.")
        .fact("violations", violations)
}
