//! One endpoint a file.

mod authorize;
mod by_hand;
mod capture;
mod charge;
mod charges;
mod customer;
mod faults;
mod look_up;
mod notices;
mod refund;
mod release;
mod settlement;
mod void;

use actix_web::{
    HttpRequest, HttpResponse,
    error::InternalError,
    http::StatusCode,
    middleware::from_fn,
    web::{self, Data, JsonConfig, PathConfig, QueryConfig, ServiceConfig},
};

use crate::{
    answer::error,
    faults::lossy,
    input::{Input, NotAnAmount, ReferenceName},
    simulator::Simulator,
};

const BODY_BYTES: usize = 16 * 1024;

/// `/simulator/...`: to look and to steer. The sandbox can mount them on its own address too.
pub fn control_routes(simulator: Simulator) -> impl FnOnce(&mut ServiceConfig) {
    move |config| {
        let control = web::scope("/simulator")
            .app_data(Data::new(simulator))
            .app_data(json_config())
            .app_data(PathConfig::default().error_handler(|fault, _| refused(fault)))
            .app_data(QueryConfig::default().error_handler(|fault, _| refused(fault)))
            .service(charges::charges)
            .service(charge::charge)
            .service(release::release)
            .service(customer::show)
            .service(customer::complete)
            .service(customer::abandon)
            .service(by_hand::refund_by_hand)
            .service(by_hand::fail_refund)
            .service(by_hand::plant)
            .service(notices::lose)
            .service(faults::set)
            .service(notices::undelivered);
        config.service(control);
    }
}

/// `/v1/...`: the provider.
pub(crate) fn provider_routes(simulator: Simulator) -> impl FnOnce(&mut ServiceConfig) {
    move |config| {
        let provider = web::scope("/v1")
            .wrap(from_fn(lossy))
            .app_data(Data::new(simulator))
            .app_data(json_config())
            .app_data(PathConfig::default().error_handler(|fault, _| refused(fault)))
            .app_data(QueryConfig::default().error_handler(|fault, _| refused(fault)))
            .service(authorize::authorize)
            .service(capture::capture)
            .service(void::void)
            .service(refund::refund)
            .service(look_up::look_up)
            .service(settlement::settlement);
        config.service(provider);
    }
}

fn json_config() -> JsonConfig {
    JsonConfig::default().limit(BODY_BYTES).error_handler(|fault, _| refused(fault))
}

fn refused(fault: impl std::fmt::Debug + std::fmt::Display + 'static) -> actix_web::Error {
    let response = error(StatusCode::UNPROCESSABLE_ENTITY, "invalid", None);
    InternalError::from_response(fault, response).into()
}

/// The answer to a call. An amount that is none makes no input.
async fn ask(
    simulator: &Simulator,
    request: &HttpRequest,
    reference: ReferenceName,
    input: Result<Input, NotAnAmount>,
) -> HttpResponse {
    match input {
        Ok(input) => simulator.ask(reference.clone(), input).await.into_response(request, &reference),
        Err(NotAnAmount) => error(StatusCode::UNPROCESSABLE_ENTITY, "invalid", Some(&reference)),
    }
}
