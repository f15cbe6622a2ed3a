use actix_web::{
    HttpRequest, HttpResponse,
    http::StatusCode,
    post,
    web::{Data, Json},
};
use serde::Deserialize;

use crate::{
    answer::error,
    input::{Amount, ReferenceName},
    simulator::Simulator,
};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Body {
    capture: ReferenceName,
    amount: u64,
    currency: String,
}

/// Somebody gives money back at the provider, and no client has asked for it.
#[post("/refunds-by-hand")]
pub(crate) async fn refund_by_hand(
    simulator: Data<Simulator>,
    request: HttpRequest,
    Json(body): Json<Body>,
) -> HttpResponse {
    let Ok(amount) = Amount::new(body.amount, body.currency) else {
        return error(StatusCode::UNPROCESSABLE_ENTITY, "invalid", Some(&body.capture));
    };
    let (reference, answer) = simulator.give_back_by_hand(body.capture, amount).await;
    answer.into_response(&request, &reference)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Failing {
    reference: ReferenceName,
}

/// A refund that had succeeded comes to nothing: the guest's bank has sent it back.
#[post("/refunds-fail")]
pub(crate) async fn fail_refund(simulator: Data<Simulator>, Json(body): Json<Failing>) -> HttpResponse {
    match simulator.fail_refund(&body.reference).await {
        Some(charge) => HttpResponse::Ok().json(charge),
        None => error(StatusCode::CONFLICT, "not_refunded", Some(&body.reference)),
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Planting {
    reference: ReferenceName,
    authorization: ReferenceName,
    amount: u64,
    currency: String,
}

/// Takes money that no call has asked for.
#[post("/captures")]
pub(crate) async fn plant(simulator: Data<Simulator>, Json(body): Json<Planting>) -> HttpResponse {
    let Ok(amount) = Amount::new(body.amount, body.currency) else {
        return error(StatusCode::UNPROCESSABLE_ENTITY, "invalid", Some(&body.reference));
    };
    match simulator.plant(&body.reference, body.authorization, amount).await {
        Some(charge) => HttpResponse::Ok().json(charge),
        None => error(StatusCode::CONFLICT, "reference_in_use", Some(&body.reference)),
    }
}
