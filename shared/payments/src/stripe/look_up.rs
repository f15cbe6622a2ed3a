//! What a reference stands for at Stripe.

use super::{
    StripeProvider, amount,
    answer::{Failed, unreadable},
    intent::Status,
    refund::RefundStatus,
};
use crate::{
    deadline::Deadline,
    outcome::{Doubt, Standing},
    reference::{Reference, RefundTry},
};

impl StripeProvider {
    pub(super) async fn standing_of(
        &self,
        reference: Reference,
        deadline: Deadline,
    ) -> Result<Standing, Failed> {
        if let Reference::Refund(refund) = reference {
            return self.standing_of_refund(refund, deadline).await;
        }
        let Some(intent) = self.find(reference.attempt(), deadline).await? else {
            return Ok(Standing::Nothing);
        };
        match reference {
            Reference::Capture(_) => match intent.status {
                Status::Succeeded => intent.captured(),
                Status::Processing | Status::New => Err(Failed::Unknown(Doubt::Undecided)),
                _ => Ok(Standing::Nothing),
            },
            Reference::Void(_) if intent.status != Status::Canceled => Ok(Standing::Nothing),
            Reference::Authorization(_) | Reference::Void(_) | Reference::Refund(_) => intent.standing(),
        }
    }

    async fn standing_of_refund(&self, refund: RefundTry, deadline: Deadline) -> Result<Standing, Failed> {
        let Some(found) = self.refund_named(refund, deadline).await? else {
            return Ok(Standing::Nothing);
        };
        match found.status {
            RefundStatus::Succeeded => {
                let amount = amount::read(found.amount, &found.currency).map_err(unreadable)?;
                Ok(Standing::Refunded { amount })
            }
            RefundStatus::Failed | RefundStatus::Canceled => Ok(Standing::Nothing),
            RefundStatus::Pending | RefundStatus::RequiresAction | RefundStatus::New => {
                Err(Failed::Unknown(Doubt::Undecided))
            }
        }
    }
}
