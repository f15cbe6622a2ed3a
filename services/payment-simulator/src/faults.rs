//! A network that loses and repeats, by chance: a share of the requests never arrives, a share of the answers
//! never comes back, a share of the notices is sent again.

use std::sync::atomic::{AtomicU8, Ordering};

use actix_web::{
    Error,
    body::MessageBody,
    dev::{ServiceRequest, ServiceResponse},
    middleware::Next,
    web::Data,
};
use rand::RngExt as _;
use serde::{Deserialize, Serialize};

use crate::{connection, simulator::Simulator};

/// Each in percent, from 0 to 100.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Faults {
    #[serde(default)]
    pub lose_requests: u8,
    #[serde(default)]
    pub lose_answers: u8,
    #[serde(default)]
    pub repeat_notices: u8,
}

/// As they are set now.
#[derive(Debug, Default)]
pub(crate) struct Chance {
    lose_requests: AtomicU8,
    lose_answers: AtomicU8,
    repeat_notices: AtomicU8,
}

impl Chance {
    pub(crate) fn set(&self, faults: Faults) {
        self.lose_requests.store(faults.lose_requests, Ordering::Relaxed);
        self.lose_answers.store(faults.lose_answers, Ordering::Relaxed);
        self.repeat_notices.store(faults.repeat_notices, Ordering::Relaxed);
    }

    pub(crate) fn repeats_a_notice(&self) -> bool {
        happens(&self.repeat_notices)
    }
}

fn happens(percent: &AtomicU8) -> bool {
    let percent = percent.load(Ordering::Relaxed);
    percent > 0 && rand::rng().random_range(0..100) < percent
}

/// Around the calls of the provider, and not around those that steer it.
pub(crate) async fn lossy<B: MessageBody + 'static>(
    request: ServiceRequest,
    next: Next<B>,
) -> Result<ServiceResponse<actix_web::body::EitherBody<B>>, Error> {
    let chance = request.app_data::<Data<Simulator>>().cloned();
    let chance = chance.as_ref().map(|simulator| simulator.chance());
    if chance.is_some_and(|chance| happens(&chance.lose_requests)) {
        let response = connection::cut(request.request());
        return Ok(request.into_response(response).map_into_right_body());
    }
    let response = next.call(request).await?;
    if chance.is_some_and(|chance| happens(&chance.lose_answers)) {
        let cut = connection::cut(response.request());
        return Ok(ServiceResponse::new(response.request().clone(), cut).map_into_right_body());
    }
    Ok(response.map_into_left_body())
}
