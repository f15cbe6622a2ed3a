use actix_web::{
    HttpResponse,
    http::StatusCode,
    post,
    web::{Data, Json},
};

use crate::{answer::error, faults::Faults, simulator::Simulator};

/// What is lost and repeated by chance from now on, in percent.
#[post("/faults")]
pub(crate) async fn set(simulator: Data<Simulator>, Json(faults): Json<Faults>) -> HttpResponse {
    let Faults { lose_requests, lose_answers, repeat_notices } = faults;
    if [lose_requests, lose_answers, repeat_notices].iter().any(|percent| *percent > 100) {
        return error(StatusCode::UNPROCESSABLE_ENTITY, "invalid", None);
    }
    simulator.set_faults(faults);
    HttpResponse::Ok().json(faults)
}
