//! A notice about a refund. Its transaction takes the attempt's lock before the refund's, as the sender of
//! refunds does: whichever of the two comes second finds what the first has written.

use keyrack_db::{DbError, PgConnection};
use keyrack_domain::{
    clock::Moment,
    ids::RefundId,
    money::Money,
    notice::{Finding, NoticeOutcome},
    refund::RefundState,
};
use keyrack_ledger::{AttemptRow, EventRow, Ledger};
use keyrack_payments::{Fact, Reference, RefundTry};
use keyrack_store::{
    attempts, clock, provider_events,
    refunds::{self, KnownRefund},
};

use super::{Told, by_hand, payment::NoticeAnswer};
use crate::{
    Fault,
    refund_steps::{self, Arrival},
};

/// `None`: the refund is not there, or not yet.
pub(super) type Verdict = Option<(NoticeOutcome, Option<Finding>)>;

const NOTHING_NEW: Verdict = Some((NoticeOutcome::NoOp, None));

/// What a notice finds.
pub(super) struct At<'c> {
    pub(super) connection: &'c mut PgConnection,
    pub(super) attempt: AttemptRow,
    pub(super) refunds: Vec<KnownRefund>,
    pub(super) now: Moment,
}

/// `id` is what a refund gets that was made by hand.
pub(super) async fn apply(
    ledger: &Ledger,
    event: EventRow,
    told: Told,
    id: RefundId,
) -> Result<NoticeAnswer, Fault> {
    ledger
        .database()
        .transaction("apply_refund_notice", move |connection| {
            let (event, told) = (event.clone(), told.clone());
            Box::pin(async move { take(connection, event, &told, id).await })
        })
        .await
        .map_err(|error: DbError| Fault::from(error))
}

async fn take(
    connection: &mut PgConnection,
    event: EventRow,
    told: &Told,
    id: RefundId,
) -> Result<NoticeAnswer, DbError> {
    let Some(attempt) = attempts::lock(connection, [&event.attempt]).await?.pop() else {
        return Ok(NoticeAnswer::NotThere);
    };
    if !provider_events::recorded(connection, [&event.key()]).await?.is_empty() {
        return Ok(NoticeAnswer::Duplicate);
    }
    let refunds = refunds::lock_of_attempt(connection, attempt.id).await?;
    let now = clock::now(connection).await?;
    let at = At { connection: &mut *connection, attempt, refunds, now };
    let Some((outcome, finding)) = at.decide(told, id).await? else { return Ok(NoticeAnswer::NotThere) };
    // After the outbox, whose order matters for nights alone: a refund's events are of none.
    provider_events::insert(connection, &[EventRow { outcome, finding, ..event }], now).await?;
    Ok(NoticeAnswer::Recorded(outcome, finding))
}

impl At<'_> {
    async fn decide(self, told: &Told, id: RefundId) -> Result<Verdict, DbError> {
        match &told.notice.fact {
            Fact::Refunded { refund, amount, provider_id } => {
                self.refunded(told, *refund, *amount, provider_id.clone()).await
            }
            Fact::RefundFailed { refund, .. } => self.failed(told, *refund).await,
            Fact::RefundedByHand { amount, provider_id, .. } => {
                by_hand::record(self, told, id, *amount, provider_id).await
            }
            Fact::Authorized { .. }
            | Fact::Captured { .. }
            | Fact::Declined { .. }
            | Fact::Voided { .. }
            | Fact::RefundedByHandOf { .. }
            | Fact::OfUnknown { .. }
            | Fact::NotOurs => Ok(NOTHING_NEW),
        }
    }

    fn known(&self, refund: RefundTry) -> Option<KnownRefund> {
        let of_ours =
            |known: &&KnownRefund| !known.by_hand && u32::try_from(known.row.number) == Ok(refund.number);
        self.refunds.iter().find(of_ours).cloned()
    }

    async fn refunded(
        self,
        told: &Told,
        name: RefundTry,
        amount: Money,
        provider_id: Option<String>,
    ) -> Result<Verdict, DbError> {
        let Some(KnownRefund { row, provider_id: known_id, .. }) = self.known(name) else { return Ok(None) };
        let Self { connection, attempt, now, .. } = self;
        let is_this_try = is_try(name, row.try_number);
        if row.state == RefundState::Succeeded {
            let same = is_this_try || (known_id.is_some() && known_id == provider_id);
            if let Some(provider_id) = provider_id.filter(|_| known_id.is_none() && is_this_try) {
                refunds::name(connection, row.id, &provider_id).await?;
            }
            let finding = (amount != row.amount).then_some(Finding::AnotherAmount);
            let finding = finding.or((!same).then_some(Finding::AnotherTryArrived));
            return Ok(Some((NoticeOutcome::NoOp, finding)));
        }
        if amount != row.amount {
            // The name is spent on another amount: what is still owed would go by the next one.
            let next_try = row.try_number + i32::from(is_this_try);
            refund_steps::park(connection, &row, next_try, told.actor.clone()).await?;
            return Ok(Some((NoticeOutcome::Applied, Some(Finding::AnotherAmount))));
        }
        let reference = Reference::from(name).to_string();
        let arrival = Arrival { reference, provider_id, actor: told.actor.clone() };
        refund_steps::arrive(connection, &attempt, &row, arrival, now).await?;
        let finding = (!is_this_try).then_some(Finding::AnotherTryArrived);
        Ok(Some((NoticeOutcome::Applied, finding)))
    }

    async fn failed(self, told: &Told, name: RefundTry) -> Result<Verdict, DbError> {
        let Some(KnownRefund { row, .. }) = self.known(name) else { return Ok(None) };
        if !is_try(name, row.try_number) {
            // An earlier try, which is known to have failed.
            return Ok(NOTHING_NEW);
        }
        let Self { connection, attempt, now, .. } = self;
        let (reference, actor) = (Reference::from(name).to_string(), told.actor.clone());
        match row.state {
            RefundState::Requested => {
                refund_steps::fail_try(connection, &row, reference, actor, now).await?;
            }
            RefundState::Succeeded => {
                refund_steps::fail_after_all(connection, &attempt, &row, reference, actor, now).await?;
            }
            RefundState::NeedsAttention => return Ok(NOTHING_NEW),
        }
        Ok(Some((NoticeOutcome::Applied, None)))
    }
}

fn is_try(name: RefundTry, try_number: i32) -> bool {
    u32::try_from(try_number) == Ok(name.try_number)
}
