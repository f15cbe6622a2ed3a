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
    authorization: ReferenceName,
    amount: u64,
    currency: String,
}

/// Takes what was authorized, once per authorization.
#[put("/captures/{reference}")]
pub(crate) async fn capture(
    simulator: Data<Simulator>,
    request: HttpRequest,
    reference: Path<ReferenceName>,
    Json(body): Json<Body>,
) -> HttpResponse {
    let amount = Amount::new(body.amount, body.currency);
    let input = amount.map(|amount| Input::Capture { authorization: body.authorization, amount });
    super::ask(&simulator, &request, reference.into_inner(), input).await
}
