//! Giving all of a charge back that is no attempt's own. It is named in the refund's metadata, so that a repeat
//! finds it, and whoever reads the books knows who made it.

use super::{
    StripeProvider,
    amount::Amount,
    answer::{Failed, Heard, not_asked_for},
    client::Fields,
    intent::{ATTEMPT, RETURN},
    moved::ChargeObject,
    refund::{RefundObject, fits, never_chargeable, refused},
};
use crate::{
    deadline::Deadline,
    outcome::Refusal,
    provider_ids::{NotAProviderId, ProviderId},
    settlement::ChargeName,
};
use keyrack_domain::money::Money;

impl StripeProvider {
    pub(super) async fn give_charge_back(
        &self,
        charge: &ChargeName,
        amount: Money,
        deadline: Deadline,
    ) -> Result<(), Failed> {
        let amount = Amount::try_from(amount).map_err(never_chargeable)?;
        let no_charge = |_: NotAProviderId| Failed::Refused(Refusal::NothingToActOn);
        let id: ProviderId = charge.as_str().parse().map_err(no_charge)?;
        let there = self.charge(&id, deadline).await?;
        let attempt = there.metadata.get(ATTEMPT).and_then(|text| text.parse().ok());
        if let Some(attempt) = attempt
            && self.is_own(attempt, &there, deadline).await
        {
            // What an attempt has taken goes back by the attempt's refunds alone.
            return Err(Failed::Refused(Refusal::ReferenceTaken));
        }
        let earlier = self.refunds("charge", &id, deadline).await?;
        if let Some(found) = earlier.iter().find(|earlier| earlier.returns(&id)) {
            return found.outcome(amount);
        }
        if there.currency != amount.code() || there.amount_captured == 0 {
            return Err(Failed::Refused(Refusal::NothingToActOn));
        }
        fits(&earlier, amount, there.amount_captured)?;
        self.send_return(&id, amount, deadline).await
    }

    async fn charge(&self, id: &ProviderId, deadline: Deadline) -> Result<ChargeObject, Failed> {
        match self.client.get::<ChargeObject>(&format!("charges/{id}"), &Fields::new(), deadline).await? {
            Heard::Done(charge) if charge.id == *id => Ok(charge),
            // It stood in the books, so this is another account, or not Stripe.
            _ => Err(not_asked_for()),
        }
    }

    async fn send_return(
        &self,
        charge: &ProviderId,
        amount: Amount,
        deadline: Deadline,
    ) -> Result<(), Failed> {
        let form: Fields = vec![
            ("charge", charge.to_string()),
            ("amount", amount.units.to_string()),
            ("metadata[keyrack_return]", charge.to_string()),
        ];
        let key = Some(format!("{charge}-return"));
        match self.client.post::<RefundObject>("refunds", key, &form, deadline).await? {
            Heard::Done(made) if made.returns(charge) => made.outcome(amount),
            Heard::Done(_) | Heard::KeyTaken => Err(not_asked_for()),
            Heard::Declined(_) => Err(Failed::Refused(Refusal::RefundFailed)),
            Heard::NotAccepted(complaint) => Err(Failed::Refused(refused(&complaint))),
        }
    }
}

impl RefundObject {
    fn returns(&self, charge: &ProviderId) -> bool {
        self.metadata.get(RETURN).is_some_and(|said| said == charge.as_str())
    }
}
