use actix_web::{
    HttpRequest, HttpResponse, put,
    web::{Data, Json, Path},
};
use serde::Deserialize;

use crate::{
    input::{Amount, Input, ReferenceName},
    simulator::Simulator,
};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Body {
    capture: ReferenceName,
    amount: u64,
    currency: String,
}

/// Gives back of a capture, all refunds together at most what was captured.
#[put("/refunds/{reference}")]
pub(crate) async fn refund(
    simulator: Data<Simulator>,
    request: HttpRequest,
    reference: Path<ReferenceName>,
    Json(body): Json<Body>,
) -> HttpResponse {
    let amount = Amount::new(body.amount, body.currency);
    let input = amount.map(|amount| Input::Refund { capture: body.capture, amount });
    super::ask(&simulator, &request, reference.into_inner(), input).await
}
