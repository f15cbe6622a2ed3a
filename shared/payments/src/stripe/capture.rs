//! Taking what an attempt's intent has set aside.

use keyrack_domain::{ids::AttemptId, money::Money};

use super::{
    StripeProvider,
    amount::Amount,
    answer::{Failed, Heard, not_asked_for},
    client::Fields,
    intent::{Intent, Status},
};
use crate::{
    deadline::Deadline,
    outcome::{DeclineReason, Doubt, Refusal},
    provider_ids::ProviderId,
};

impl StripeProvider {
    /// `None` when the money is taken.
    pub(super) async fn capture_intent(
        &self,
        attempt: AttemptId,
        amount: Money,
        deadline: Deadline,
    ) -> Result<Option<DeclineReason>, Failed> {
        let amount = Amount::try_from(amount).map_err(Failed::NotSent)?;
        let id = self.find_id(attempt, deadline).await?.ok_or(Failed::Refused(Refusal::NothingToActOn))?;
        let form: Fields = vec![("amount_to_capture", amount.units.to_string())];
        let path = format!("payment_intents/{id}/capture");
        match self.client.post::<Intent>(&path, None, &form, deadline).await? {
            Heard::Done(intent) => {
                let intent = intent.of(attempt)?;
                match intent.status {
                    Status::Processing => Err(Failed::Unknown(Doubt::Undecided)),
                    _ if intent.has_taken(amount) => Ok(None),
                    _ => Err(not_asked_for()),
                }
            }
            Heard::Declined(complaint) => Ok(Some(complaint.reason())),
            Heard::KeyTaken | Heard::NotAccepted(_) => {
                self.why_not_captured(attempt, &id, amount, deadline).await
            }
        }
    }

    /// The call was not accepted. The intent itself tells why, also that it was captured before.
    async fn why_not_captured(
        &self,
        attempt: AttemptId,
        id: &ProviderId,
        amount: Amount,
        deadline: Deadline,
    ) -> Result<Option<DeclineReason>, Failed> {
        let intent = self.retrieve(attempt, id, deadline).await?;
        Err(match intent.status {
            Status::Succeeded if intent.has_taken(amount) => return Ok(None),
            Status::Succeeded => Failed::Refused(Refusal::ReferenceTaken),
            Status::Canceled => Failed::Refused(Refusal::Voided),
            Status::RequiresCapture if amount.units > intent.amount_capturable => {
                Failed::Refused(Refusal::ExceedsWhatIsThere)
            }
            Status::RequiresCapture => Failed::Refused(Refusal::Invalid),
            Status::Processing | Status::New => Failed::Unknown(Doubt::Undecided),
            Status::RequiresPaymentMethod | Status::RequiresConfirmation | Status::RequiresAction => {
                Failed::Refused(Refusal::NothingToActOn)
            }
        })
    }
}
