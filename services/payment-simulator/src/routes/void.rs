use actix_web::{
    HttpRequest, HttpResponse, put,
    web::{Data, Json, Path},
};
use serde::Deserialize;

use crate::{
    input::{Input, ReferenceName},
    simulator::Simulator,
};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Body {
    authorization: ReferenceName,
}

/// After this the authorization takes nothing, even if it arrives only later.
#[put("/voids/{reference}")]
pub(crate) async fn void(
    simulator: Data<Simulator>,
    request: HttpRequest,
    reference: Path<ReferenceName>,
    Json(body): Json<Body>,
) -> HttpResponse {
    let input = Input::Void { authorization: body.authorization };
    super::ask(&simulator, &request, reference.into_inner(), Ok(input)).await
}
