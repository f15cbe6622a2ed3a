//! Between T2 and T3: asking the provider, with no transaction open.

use std::time::Duration;

use backon::{ExponentialBuilder, Retryable};
use keyrack_domain::{
    actor::Actor,
    attempt::AttemptState,
    hotel::HotelRef,
    ids::{AttemptId, ReservationId},
    page_url::PageUrl,
};
use keyrack_ledger::{AttemptRow, Ledger, Operation, Outcome};
use keyrack_payments::{Authorization, Capture, Deadline, NotSent, Refusal};
use keyrack_telemetry::names;

use crate::{
    Desk, Fault, await_customer,
    confirm::{ConfirmAnswer, ConfirmOp},
    entropy,
    fail_attempt::FailAttemptOp,
    reconcile::give_back,
};

/// New tries to write down what the provider has answered, where a night is busy.
const TRIES: usize = 8;

/// What the provider's answers come to.
#[derive(Debug)]
enum Paid {
    Captured,
    /// Nothing was taken, and this attempt will take nothing.
    Nothing {
        why: String,
    },
    /// Nothing was taken, and the customer decides whether it will be.
    ActionRequired(PageUrl),
    /// Nobody knows. The attempt stays PENDING_PAYMENT, and the sweep asks by reference.
    Unknown,
}

impl Paid {
    const fn label(&self) -> &'static str {
        match self {
            Self::Captured => "captured",
            Self::Nothing { .. } => "nothing",
            Self::ActionRequired(_) => "action_required",
            Self::Unknown => "unknown",
        }
    }
}

/// Asks the provider to pay for an attempt that is PENDING_PAYMENT, and settles what is definite.
pub(crate) async fn pay(
    desk: &Desk,
    hotel: &HotelRef,
    attempt: &AttemptRow,
    actor: Actor,
) -> Result<(), Fault> {
    // What is paid later, or at the property, is nobody's business but ours yet.
    if attempt.amount.is_zero() {
        return confirm(desk, hotel, attempt, actor).await;
    }
    let points = desk.ledger(hotel)?.database().points().clone();
    points.reach("pay", "before_provider").await;
    let paid = ask(desk, attempt).await;
    points.reach("pay", "after_provider").await;
    metrics::counter!(names::ATTEMPTS, "outcome" => paid.label()).increment(1);
    match paid {
        Paid::Captured => confirm(desk, hotel, attempt, actor).await,
        Paid::Nothing { why } => fail(desk, hotel, attempt.id, why, actor).await,
        Paid::ActionRequired(url) => await_customer::run(desk, hotel, attempt, url, actor).await,
        Paid::Unknown => {
            tracing::warn!(attempt = %attempt.id, "the provider's answer is unknown; the sweep will ask");
            Ok(())
        }
    }
}

async fn ask(desk: &Desk, attempt: &AttemptRow) -> Paid {
    let deadline = Deadline::after(desk.settings().provider_deadline);
    let authorized = desk.provider().authorize(attempt.id, attempt.amount, &attempt.method, deadline).await;
    tracing::debug!(attempt = %attempt.id, ?authorized, "authorize");
    match authorized {
        Authorization::Authorized => capture(desk, attempt, deadline).await,
        Authorization::ActionRequired { url } => Paid::ActionRequired(url),
        Authorization::Declined(reason) => Paid::Nothing { why: reason.to_string() },
        Authorization::Refused(Refusal::ReferenceTaken) | Authorization::Unknown(_) => Paid::Unknown,
        Authorization::Refused(Refusal::UnknownMethod) => Paid::Nothing { why: "unknown_method".to_owned() },
        Authorization::Refused(_) => Paid::Nothing { why: "refused".to_owned() },
        Authorization::NotSent(NotSent::NotChargeable) => {
            Paid::Nothing { why: "amount_not_chargeable".to_owned() }
        }
        Authorization::NotSent(_) => Paid::Nothing { why: "provider_unreachable".to_owned() },
    }
}

async fn capture(desk: &Desk, attempt: &AttemptRow, deadline: Deadline) -> Paid {
    let captured = desk.provider().capture(attempt.id, attempt.amount, deadline).await;
    tracing::debug!(attempt = %attempt.id, ?captured, "capture");
    match captured {
        Capture::Captured => Paid::Captured,
        Capture::Declined(reason) => {
            // What was set aside must not wait for the guest's bank to let it go. An unknown answer
            // takes no money either: an authorization that nobody captures ends by itself.
            let voided = desk.provider().void(attempt.id, deadline).await;
            tracing::debug!(attempt = %attempt.id, ?voided, "void after a declined capture");
            Paid::Nothing { why: reason.to_string() }
        }
        Capture::Refused(_) | Capture::NotSent(_) | Capture::Unknown(_) => Paid::Unknown,
    }
}

async fn confirm(desk: &Desk, hotel: &HotelRef, attempt: &AttemptRow, actor: Actor) -> Result<(), Fault> {
    let operation = ConfirmOp {
        actor,
        attempt: attempt.id,
        guard: AttemptState::PendingPayment,
        captured: attempt.amount,
        reservation: ReservationId::new(hotel.id, entropy::id()),
    };
    let ledger = desk.ledger(hotel)?;
    let outcome = insist(ledger, operation).await?;
    tracing::info!(attempt = %attempt.id, ?outcome, "captured");
    match outcome {
        Outcome::Answered(ConfirmAnswer::Stale(Some(AttemptState::Failed))) => {
            give_back(ledger, attempt.id, attempt.amount).await
        }
        _ => Ok(()),
    }
}

async fn fail(
    desk: &Desk,
    hotel: &HotelRef,
    attempt: AttemptId,
    failure: String,
    actor: Actor,
) -> Result<(), Fault> {
    let operation = FailAttemptOp { actor, attempt, guard: AttemptState::PendingPayment, failure };
    let outcome = insist(desk.ledger(hotel)?, operation).await?;
    tracing::info!(%attempt, ?outcome, "nothing was taken");
    Ok(())
}

/// The provider has answered, so this is worth more than one try: until it is written down, the guest waits
/// for the sweep. Bounded, since the guest waits for this too.
pub(crate) async fn insist<O: Operation>(ledger: &Ledger, operation: O) -> Result<Outcome<O::Answer>, Fault> {
    let backoff = ExponentialBuilder::default()
        .with_min_delay(Duration::from_millis(100))
        .with_max_delay(Duration::from_secs(1))
        .with_max_times(TRIES)
        .with_jitter();
    let tried = || async { ledger.run(operation.clone()).await.map_err(Fault::from) };
    tried.retry(backoff).when(|fault| matches!(fault, Fault::Busy { .. })).await
}
