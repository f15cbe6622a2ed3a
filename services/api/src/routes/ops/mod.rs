mod cases;
mod discard_letter;
mod letters;
mod notices;
mod refunds;
mod replay_letter;
mod retry_refund;
mod timeline;

use keyrack_booking::ops::OpsError;
use keyrack_http::Problem;
use utoipa_actix_web::service_config::ServiceConfig;

use crate::refusal;

const USUAL_PAGE: u16 = 50;

pub(super) fn configure(routes: &mut ServiceConfig<'_>) {
    routes
        .service(refunds::refunds)
        .service(retry_refund::retry)
        .service(notices::notices)
        .service(cases::cases)
        .service(letters::letters)
        .service(replay_letter::replay)
        .service(discard_letter::discard)
        .service(timeline::show);
}

fn refused(error: OpsError) -> Problem {
    match error {
        OpsError::NotFound => Problem::not_found(),
        OpsError::Fault(fault) => refusal::fault(fault),
    }
}
