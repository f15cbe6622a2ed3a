//! The payment provider: asked for something that it cannot know, which changes nothing.

use std::{sync::Arc, time::Duration};

use keyrack_domain::ids::{AttemptId, HotelId};
use keyrack_payments::{Deadline, ForgetfulIds, LookUp, PaymentProvider, Reference};
use keyrack_runtime::settings::{ProviderKind, Settings};
use uuid::Uuid;

use super::Finding;
use crate::{
    failure::{Failure, reason},
    installation,
};

const PATIENCE: Duration = Duration::from_secs(5);

pub(super) async fn look_at(settings: &Settings) -> Finding {
    let kind = settings.payments.provider;
    if kind == ProviderKind::Simulator && settings.provider.base_url.is_empty() {
        return Finding::Note("provider.base_url is not set; serve and work need it".to_owned());
    }
    let place = match kind {
        ProviderKind::Simulator => "provider.base_url",
        ProviderKind::Stripe => "payments.stripe",
    };
    match provider(settings) {
        Ok(provider) => ask(provider.as_ref(), place).await,
        Err(failure) => Finding::Bad(format!("{place} cannot be used: {}", reason(&failure))),
    }
}

fn provider(settings: &Settings) -> Result<Arc<dyn PaymentProvider>, Failure> {
    Ok(match settings.payments.provider {
        ProviderKind::Simulator => Arc::new(installation::simulator(settings)?),
        ProviderKind::Stripe => Arc::new(installation::stripe(settings, Arc::new(ForgetfulIds::default()))?),
    })
}

async fn ask(provider: &dyn PaymentProvider, place: &str) -> Finding {
    // An attempt of just now: a list of payments is short where it would be.
    let reference = Reference::Authorization(AttemptId::new(HotelId(1), Uuid::now_v7()));
    match provider.look_up(reference, Deadline::after(PATIENCE)).await {
        LookUp::Stands(_) => Finding::Good("the payment provider answers".to_owned()),
        LookUp::Unknown(doubt) => Finding::Bad(format!(
            "the payment provider gives no answer that we understand ({doubt:?}); check {place} and that it runs"
        )),
    }
}
