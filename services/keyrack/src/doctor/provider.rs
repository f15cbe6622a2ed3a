//! The payment provider: asked for something that it cannot know, which changes nothing.

use std::time::Duration;

use keyrack_domain::ids::{AttemptId, HotelId};
use keyrack_payments::{Deadline, LookUp, PaymentProvider, Reference, SimulatorProvider};
use keyrack_runtime::settings::Settings;
use uuid::Uuid;

use super::Finding;

const PATIENCE: Duration = Duration::from_secs(5);

pub(super) async fn look_at(settings: &Settings) -> Finding {
    let url = settings.provider.base_url.as_str();
    if url.is_empty() {
        return Finding::Note("provider.base_url is not set; serve and work need it".to_owned());
    }
    let provider = match SimulatorProvider::new(url) {
        Ok(provider) => provider,
        Err(error) => return Finding::Bad(format!("provider.base_url cannot be used: {error}")),
    };
    let reference = Reference::Authorization(AttemptId::new(HotelId(1), Uuid::new_v4()));
    match provider.look_up(reference, Deadline::after(PATIENCE)).await {
        LookUp::Stands(_) => Finding::Good("the payment provider answers".to_owned()),
        LookUp::Unknown(doubt) => Finding::Bad(format!(
            "the payment provider gives no answer that we understand ({doubt:?}); check provider.base_url and that it runs"
        )),
    }
}
