use actix_web::{
    HttpResponse,
    http::StatusCode,
    post,
    web::{Data, Json},
};
use serde::Deserialize;

use crate::{
    answer::error,
    input::ReferenceName,
    simulator::{Released, Simulator},
};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Body {
    reference: ReferenceName,
}

/// A call that waits takes effect now: a `pm_slow` captures, a `pm_timeout` authorizes.
#[post("/release")]
pub(crate) async fn release(simulator: Data<Simulator>, Json(body): Json<Body>) -> HttpResponse {
    match simulator.release(&body.reference).await {
        Released::Now(charge) => HttpResponse::Ok().json(charge),
        Released::NotWaiting(_) => error(StatusCode::CONFLICT, "not_waiting", Some(&body.reference)),
        Released::NeverAsked => error(StatusCode::NOT_FOUND, "nothing", Some(&body.reference)),
    }
}
