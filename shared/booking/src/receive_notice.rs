//! What a payment provider tells by itself: `POST /v1/webhooks/payments/{provider}`.
//!
//! A notice has its effect and is recorded in one transaction, or it is not acknowledged and comes again. It may
//! come twice, late, or before what it follows; so it never says what is to be done, it says what is true at the
//! provider, and the state of the attempt or refund decides what that changes here.

mod by_hand;
pub mod payment;
mod refund;
pub mod unmatched;

use std::{fmt, time::SystemTime};

use keyrack_domain::{
    actor::Actor,
    ids::{AttemptId, HotelId, NoticeId, RefundId, ReservationId},
    notice::{NoticeOutcome, ProviderName},
};
use keyrack_ledger::{EventRow, Ledger, Outcome};
use keyrack_payments::{Deadline, Fact, NotAccepted, Notice, NoticeReader};
use keyrack_store::customer_actions;
use keyrack_telemetry::names;
use tokio::task::JoinHandle;

use self::payment::{ApplyNoticeOp, NoticeAnswer, PaymentFact};
use crate::{Desk, Fault, entropy, pay::insist, reconcile, stored_ids::StoredIds};

/// What became of an authentic notice. All of it is durable.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Received {
    /// It has been recorded, with what it has done.
    Recorded(NoticeOutcome),
    /// Recorded before under the same event id.
    Duplicate,
    /// Nothing that we act on; not recorded.
    NotOurs,
    /// About something that is not there: kept until it appears.
    Unmatched,
}

impl Received {
    const fn label(self) -> &'static str {
        match self {
            Self::Recorded(NoticeOutcome::Applied) => "applied",
            Self::Recorded(NoticeOutcome::HandedOver) => "handed_over",
            Self::Recorded(NoticeOutcome::NoOp) => "no_op",
            Self::Duplicate => "duplicate",
            Self::NotOurs => "not_ours",
            Self::Unmatched => "unmatched",
        }
    }
}

/// What a caller is told, and the work that goes on after it.
#[derive(Debug)]
pub struct Receipt {
    pub received: Received,
    /// What is asked of the provider because of it. Nobody needs to wait for it.
    pub follow_up: Option<JoinHandle<()>>,
}

#[derive(Debug, thiserror::Error)]
pub enum ReceiveNoticeError {
    #[error("no such provider is configured")]
    UnknownProvider,
    #[error("the notice is not authentic")]
    NotAuthentic,
    #[error("{at}: {why}")]
    Malformed { at: String, why: String },
    #[error(transparent)]
    Fault(#[from] Fault),
}

impl From<NotAccepted> for ReceiveNoticeError {
    fn from(error: NotAccepted) -> Self {
        match error {
            NotAccepted::NotAuthentic => Self::NotAuthentic,
            NotAccepted::Malformed { at, why } => Self::Malformed { at, why },
        }
    }
}

/// The header that carries the signature of a provider's notices; `None` for one that is not configured.
pub fn signature_header(desk: &Desk, provider: &ProviderName) -> Option<&'static str> {
    desk.reader(provider).map(NoticeReader::signature_header)
}

/// `signature` and `body` as they came.
pub async fn run(
    desk: &Desk,
    provider: &ProviderName,
    signature: Option<&[u8]>,
    body: &[u8],
    request_id: String,
) -> Result<Receipt, ReceiveNoticeError> {
    let reader = desk.reader(provider).ok_or(ReceiveNoticeError::UnknownProvider)?;
    let notice = reader.read(signature, body, real_now()).inspect_err(|refused| {
        let outcome = match refused {
            NotAccepted::NotAuthentic => "not_authentic",
            NotAccepted::Malformed { .. } => "malformed",
        };
        count(provider, outcome);
    })?;
    let told = Told { provider: provider.clone(), notice, actor: Actor::Provider { request_id } };
    let receipt = apply(desk, &told).await.inspect_err(|_| count(provider, "fault"))?;
    let received = match receipt.received {
        Received::Unmatched => {
            unmatched::keep(desk, &told).await.inspect_err(|_| count(provider, "fault"))?
        }
        received => received,
    };
    count(provider, received.label());
    tracing::info!(%provider, event = told.notice.event, kind = told.notice.kind, ?received, "a notice");
    Ok(Receipt { received, ..receipt })
}

fn count(provider: &ProviderName, outcome: &'static str) {
    metrics::counter!(names::NOTICES, "provider" => provider.to_string(), "outcome" => outcome).increment(1);
}

/// Signatures keep real time, also in a sandbox.
#[expect(
    clippy::disallowed_methods,
    reason = "a provider signs by the world's clock, which decides nothing else"
)]
fn real_now() -> SystemTime {
    SystemTime::now()
}

/// A notice, and who has told it.
#[derive(Clone)]
pub(crate) struct Told {
    provider: ProviderName,
    notice: Notice,
    actor: Actor,
}

impl fmt::Debug for Told {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Told({} {})", self.provider, self.notice.event)
    }
}

impl Told {
    pub(crate) const fn new(provider: ProviderName, notice: Notice, actor: Actor) -> Self {
        Self { provider, notice, actor }
    }

    /// Whose payment it is, where the provider names that by an id of its own.
    async fn of_our_attempt(&self, desk: &Desk) -> Self {
        let ids = StoredIds::new(desk.hotels().clone(), self.provider.clone());
        Self { notice: self.notice.clone().with_our_attempt(&ids).await, ..self.clone() }
    }

    /// As it will be recorded, unless the decision says more.
    fn event(&self, attempt: AttemptId) -> EventRow {
        EventRow {
            id: NoticeId::new(attempt.hotel(), entropy::id()),
            provider: self.provider.clone(),
            event: self.notice.event.clone(),
            kind: self.notice.kind.clone(),
            reference: self.notice.fact.reference().unwrap_or_default(),
            amount: self.notice.fact.amount(),
            outcome: NoticeOutcome::NoOp,
            finding: None,
            attempt,
        }
    }
}

/// Gives a notice its effect. `Unmatched`: what it is about is not there, and nothing is written.
pub(crate) async fn apply(desk: &Desk, told: &Told) -> Result<Receipt, Fault> {
    let without_more = |received| Receipt { received, follow_up: None };
    // Here and not where it is read: what is kept for later is asked about again, as it was told.
    let told = &told.of_our_attempt(desk).await;
    let Some(attempt) = told.notice.fact.attempt() else {
        let is_ours = matches!(told.notice.fact, Fact::OfUnknown { .. });
        return Ok(without_more(if is_ours { Received::Unmatched } else { Received::NotOurs }));
    };
    let Some(hotel) = desk.hotel_of(attempt.hotel()).await? else {
        return Ok(without_more(Received::Unmatched));
    };
    let ledger = desk.ledger(&hotel)?;
    let event = told.event(attempt);
    let waits = waits_for_its_customer(ledger, &told.notice.fact).await?;
    let answer = match payment_fact(&told.notice.fact, waits) {
        Some(fact) => {
            let operation = ApplyNoticeOp {
                actor: told.actor.clone(),
                event,
                fact,
                reservation: ReservationId::new(hotel.id, entropy::id()),
                refund: RefundId::new(hotel.id, entropy::id()),
            };
            match insist(ledger, operation).await? {
                Outcome::Answered(answer) => answer,
                // It has no key, and yields to nobody.
                other => return Err(Fault::internal(format!("a notice was answered {other:?}"))),
            }
        }
        None => refund::apply(ledger, event, told.clone(), RefundId::new(hotel.id, entropy::id())).await?,
    };
    Ok(match answer {
        NoticeAnswer::Recorded(outcome, finding) => {
            if let Some(finding) = finding {
                let finding = finding.as_str();
                tracing::error!(%attempt, event = told.notice.event, finding, "a notice that an operator must look at");
            }
            let follow_up = match (outcome, &told.notice.fact) {
                (NoticeOutcome::HandedOver, _) => Some(resolve(desk, attempt)),
                (NoticeOutcome::Applied, Fact::Declined { .. }) => Some(let_go(desk, attempt)),
                (NoticeOutcome::Applied | NoticeOutcome::NoOp, _) => None,
            };
            Receipt { received: Received::Recorded(outcome), follow_up }
        }
        NoticeAnswer::Duplicate => without_more(Received::Duplicate),
        NoticeAnswer::NotThere => without_more(Received::Unmatched),
    })
}

/// Nobody is asking the provider meanwhile: the customer had to act first. Once it was so it stays so.
async fn waits_for_its_customer(ledger: &Ledger, fact: &Fact) -> Result<bool, Fault> {
    let Fact::Authorized { attempt, .. } = fact else { return Ok(false) };
    let mut connection = ledger.database().connection().await?;
    Ok(customer_actions::read(&mut connection, *attempt).await?.is_some())
}

/// What is said of the payment itself; `None` for what is said of refunds.
fn payment_fact(fact: &Fact, waits_for_its_customer: bool) -> Option<PaymentFact> {
    match fact {
        Fact::Authorized { .. } => Some(PaymentFact::Authorized { waits_for_its_customer }),
        Fact::Captured { amount, .. } => Some(PaymentFact::Captured(*amount)),
        Fact::Declined { reason, .. } => Some(PaymentFact::TookNothing { failure: reason.to_string() }),
        Fact::Voided { .. } => Some(PaymentFact::TookNothing { failure: "voided".to_owned() }),
        Fact::Refunded { .. }
        | Fact::RefundFailed { .. }
        | Fact::RefundedByHand { .. }
        | Fact::RefundedByHandOf { .. }
        | Fact::OfUnknown { .. }
        | Fact::NotOurs => None,
    }
}

/// The resolver asks the provider now: the sweep would do it a moment later.
fn resolve(desk: &Desk, attempt: AttemptId) -> JoinHandle<()> {
    let at = desk.clone();
    desk.go_on(async move {
        if let Err(fault) = reconcile::resolve_now(&at, attempt).await {
            tracing::warn!(%attempt, error = %fault, "a case could not be resolved at once; the sweep will");
        }
    })
}

/// The attempt has failed: what is still set aside for it is let go, and nothing more can be taken. An unknown
/// answer takes no money either; should some be taken all the same, it goes back.
fn let_go(desk: &Desk, attempt: AttemptId) -> JoinHandle<()> {
    let at = desk.clone();
    desk.go_on(async move {
        let deadline = Deadline::after(at.settings().provider_deadline);
        let voided = at.provider().void(attempt, deadline).await;
        tracing::debug!(%attempt, ?voided, "void after a notice of failure");
    })
}

/// Of no hotel that we know.
fn of_nobody() -> NoticeId {
    NoticeId::new(HotelId(0), entropy::id())
}
