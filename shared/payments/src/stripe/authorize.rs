//! Creating and confirming an attempt's intent, in one call.

use keyrack_domain::{ids::AttemptId, method_token::MethodToken, money::Money, page_url::PageUrl};

use super::{
    StripeProvider,
    amount::Amount,
    answer::{Complaint, Failed, Heard, not_asked_for},
    client::Fields,
    find::key_holds,
    intent::{Intent, Status},
};
use crate::{
    deadline::Deadline,
    outcome::{Authorization, Doubt, NotSent, Refusal},
    reference::Reference,
};

impl StripeProvider {
    pub(super) async fn create_intent(
        &self,
        attempt: AttemptId,
        amount: Money,
        method: &MethodToken,
        deadline: Deadline,
    ) -> Result<Authorization, Failed> {
        let amount = Amount::try_from(amount).map_err(Failed::NotSent)?;
        if !key_holds(attempt, (self.now)()) {
            let found = self.find(attempt, deadline).await?;
            return found.ok_or(Failed::NotSent(NotSent::KeyForgotten))?.authorization(attempt, amount);
        }
        let reference = Reference::Authorization(attempt);
        let form = self.create_form(attempt, amount, method);
        match self
            .client
            .post::<Intent>("payment_intents", Some(reference.to_string()), &form, deadline)
            .await?
        {
            Heard::Done(intent) => {
                self.keep(reference, &intent.id, deadline).await;
                // A repeat hears the first answer, whatever the customer has done since.
                let is_asking = intent.status == Status::RequiresAction;
                let intent =
                    if is_asking { self.retrieve(attempt, &intent.id, deadline).await? } else { intent };
                intent.authorization(attempt, amount)
            }
            Heard::Declined(complaint) => {
                if let Some(intent) = &complaint.payment_intent {
                    self.keep(reference, &intent.id, deadline).await;
                }
                Ok(Authorization::Declined(complaint.reason()))
            }
            Heard::KeyTaken => self.behind_the_key(attempt, deadline).await,
            Heard::NotAccepted(complaint) => Err(Failed::Refused(not_accepted(&complaint))),
        }
    }

    fn create_form(&self, attempt: AttemptId, amount: Amount, method: &MethodToken) -> Fields {
        let mut form = vec![
            ("amount", amount.units.to_string()),
            ("currency", amount.code()),
            ("capture_method", "manual".to_owned()),
            ("confirm", "true".to_owned()),
            ("payment_method", method.expose().to_owned()),
            // Named, so that no method which sends customers away is offered without a place to return to.
            ("payment_method_types[]", "card".to_owned()),
            ("metadata[keyrack_attempt]", attempt.to_string()),
        ];
        form.extend(self.return_url.as_ref().map(|url| ("return_url", url.clone())));
        form
    }

    /// Another create has used the key: a void that came first, or this attempt with other parameters.
    async fn behind_the_key(&self, attempt: AttemptId, deadline: Deadline) -> Result<Authorization, Failed> {
        let found = self.find(attempt, deadline).await?;
        let is_canceled = found.is_some_and(|intent| intent.status == Status::Canceled);
        Err(Failed::Refused(if is_canceled { Refusal::Voided } else { Refusal::ReferenceTaken }))
    }
}

/// The payment method is all that a create names.
fn not_accepted(complaint: &Complaint) -> Refusal {
    let names_it = complaint.param.as_deref() == Some("payment_method");
    if complaint.missing || (names_it && complaint.says("resource_missing")) {
        Refusal::UnknownMethod
    } else {
        Refusal::Invalid
    }
}

impl Intent {
    /// What it says of the authorization that was asked for.
    fn authorization(self, attempt: AttemptId, amount: Amount) -> Result<Authorization, Failed> {
        let intent = self.of(attempt)?;
        if intent.status == Status::Canceled {
            return Err(Failed::Refused(Refusal::Voided));
        }
        if !intent.is_for(amount) {
            return Err(Failed::Refused(Refusal::ReferenceTaken));
        }
        match intent.status {
            Status::RequiresCapture if intent.amount_capturable == amount.units => {
                Ok(Authorization::Authorized)
            }
            Status::Succeeded => Ok(Authorization::Authorized),
            Status::RequiresPaymentMethod => match &intent.last_payment_error {
                Some(error) => Ok(Authorization::Declined(error.reason())),
                None => Err(not_asked_for()),
            },
            Status::RequiresAction => Ok(acting(intent.action_url())),
            Status::RequiresConfirmation | Status::Processing => Err(Failed::Unknown(Doubt::Undecided)),
            Status::RequiresCapture | Status::Canceled | Status::New => Err(not_asked_for()),
        }
    }
}

/// The customer must act before anything is set aside. Without a page nobody can be told where, as where no
/// `return_url` is set: the attempt stays open until its time has passed, and is cancelled then.
fn acting(page: Option<PageUrl>) -> Authorization {
    match page {
        Some(url) => Authorization::ActionRequired { url },
        None => Authorization::Unknown(Doubt::CustomerMustAct),
    }
}
