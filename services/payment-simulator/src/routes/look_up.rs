use actix_web::{
    HttpRequest, HttpResponse, get,
    web::{Data, Path},
};

use crate::{input::ReferenceName, simulator::Simulator};

/// What a reference stands for. `nothing` also while its call waits: it may still happen.
#[get("/payments/{reference}")]
pub(crate) async fn look_up(
    simulator: Data<Simulator>,
    request: HttpRequest,
    reference: Path<ReferenceName>,
) -> HttpResponse {
    simulator.look_up(&reference).await.into_response(&request, &reference)
}
