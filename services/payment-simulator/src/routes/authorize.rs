use actix_web::{
    HttpRequest, HttpResponse, put,
    web::{Data, Json, Path},
};
use serde::Deserialize;

use crate::{
    input::{Amount, Input, ReferenceName},
    method::Method,
    simulator::Simulator,
};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Body {
    amount: u64,
    currency: String,
    method: Method,
}

/// Sets the amount aside, once per reference.
#[put("/authorizations/{reference}")]
pub(crate) async fn authorize(
    simulator: Data<Simulator>,
    request: HttpRequest,
    reference: Path<ReferenceName>,
    Json(body): Json<Body>,
) -> HttpResponse {
    let amount = Amount::new(body.amount, body.currency);
    let input = amount.map(|amount| Input::Authorize { amount, method: body.method });
    super::ask(&simulator, &request, reference.into_inner(), input).await
}
