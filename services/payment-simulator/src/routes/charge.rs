use actix_web::{
    HttpResponse, get,
    http::StatusCode,
    web::{Data, Path, Query},
};
use serde::Deserialize;

use crate::{
    answer::error,
    charge::{Charge, State},
    input::ReferenceName,
    simulator::Simulator,
};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Ask {
    wait_for: Option<State>,
    #[serde(default)]
    calls: u32,
}

/// One reference. With `wait_for` (and `calls`, at least so many) a test learns that its call has
/// arrived, or has had its effect.
#[get("/charges/{reference}")]
pub(crate) async fn charge(
    simulator: Data<Simulator>,
    reference: Path<ReferenceName>,
    Query(ask): Query<Ask>,
) -> HttpResponse {
    let charge = match ask.wait_for {
        Some(state) => simulator.wait_for(&reference, state, ask.calls).await,
        None => simulator.charge(&reference),
    };
    let as_asked =
        |charge: &Charge| charge.calls >= ask.calls && ask.wait_for.is_none_or(|state| charge.state == state);
    match charge {
        Some(charge) if as_asked(&charge) => HttpResponse::Ok().json(charge),
        Some(_) => error(StatusCode::CONFLICT, "not_in_that_state", Some(&reference)),
        None => error(StatusCode::NOT_FOUND, "nothing", Some(&reference)),
    }
}
