use std::fmt;

use async_trait::async_trait;
use keyrack_domain::{ids::AttemptId, method_token::MethodToken, money::Money, notice::ProviderName};

use crate::{
    deadline::Deadline,
    outcome::{Authorization, Capture, LookUp, Refund, Void},
    reference::{Reference, RefundTry},
    settlement::{ChargeName, Settlement, SettlementFrom},
};

/// A payment provider.
///
/// Calls take the attempt, and the adapter names the call by its [`Reference`]: a repeated call is
/// the same call at the provider, whoever makes it. Amounts are more than zero. No call is made
/// again by an adapter itself, and none outlasts its deadline. A dropped future is an `Unknown`
/// that nobody was told.
#[async_trait]
pub trait PaymentProvider: fmt::Debug + Send + Sync {
    /// As it is named in the address of its notices, and beside what is kept of it.
    fn name(&self) -> ProviderName;

    /// Sets the amount aside.
    async fn authorize(
        &self,
        attempt: AttemptId,
        amount: Money,
        method: &MethodToken,
        deadline: Deadline,
    ) -> Authorization;

    /// Takes the amount that the attempt's authorization has set aside.
    async fn capture(&self, attempt: AttemptId, amount: Money, deadline: Deadline) -> Capture;

    /// Cancels the attempt's authorization, also one that has not arrived yet: after `Voided` no
    /// money can be taken for this attempt.
    async fn void(&self, attempt: AttemptId, deadline: Deadline) -> Void;

    /// Ends the session in which the provider waits for its customer: whoever comes back to the page then is
    /// told that it is over, and after `Voided` no money can be taken for this attempt.
    async fn expire_session(&self, attempt: AttemptId, deadline: Deadline) -> Void {
        self.void(attempt, deadline).await
    }

    /// Gives back of the attempt's capture. All refunds together never exceed it.
    async fn refund(&self, refund: RefundTry, amount: Money, deadline: Deadline) -> Refund;

    /// What a reference stands for. Changes nothing.
    async fn look_up(&self, reference: Reference, deadline: Deadline) -> LookUp;

    /// One page of what has moved, oldest first, at most `limit` lines. Changes nothing.
    async fn settlement(&self, from: &SettlementFrom, limit: u16, deadline: Deadline) -> Settlement;

    /// Gives all of a charge back that none of our references names, once: the name of the refund derives
    /// from the charge's.
    async fn return_charge(&self, charge: &ChargeName, amount: Money, deadline: Deadline) -> Refund;
}
