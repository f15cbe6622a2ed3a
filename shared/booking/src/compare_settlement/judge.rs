//! One line of the provider's books against what is recorded now.

use std::collections::BTreeMap;

use keyrack_db::DbError;
use keyrack_domain::{
    actor::Actor,
    attempt::AttemptState,
    ids::{AttemptId, HotelId},
    money::Money,
    notice::NoticeOutcome,
    refund::RefundState,
};
use keyrack_ledger::{AttemptRow, RefundRow};
use keyrack_payments::{Fact, Moved, Notice, Reference, RefundTry, SettlementLine};
use keyrack_store::{attempts, payment_history, refunds, settlement::FindingKind};

use super::missing;
use crate::{
    Desk, Fault,
    receive_notice::{self, Received, Told},
    reconcile::{give_back, place},
};

/// What a line comes to.
pub(super) enum Judged {
    Agrees,
    /// Whoever has made the call may still be writing it down.
    TooEarly,
    GivenBack,
    /// Nobody had told it before, and it is recorded now as a notice of it would have been.
    Applied,
    Found(FindingKind),
}

/// What the attempts of a page are recorded with.
#[derive(Default)]
pub(super) struct Recorded {
    attempts: BTreeMap<AttemptId, AttemptRow>,
    refunds: BTreeMap<(AttemptId, i32), RefundRow>,
}

impl Recorded {
    pub(super) async fn of(desk: &Desk, lines: &[SettlementLine]) -> Result<Self, Fault> {
        let mut by_hotel: BTreeMap<HotelId, Vec<AttemptId>> = BTreeMap::new();
        for attempt in lines.iter().filter_map(named) {
            by_hotel.entry(attempt.hotel()).or_default().push(attempt);
        }
        let mut recorded = Self::default();
        for (hotel, ids) in by_hotel {
            let Some(hotel) = desk.hotel_of(hotel).await? else { continue };
            let mut connection = desk.hotels().database(&hotel)?.connection().await?;
            let rows = attempts::read(&mut connection, &ids).await?;
            recorded.attempts.extend(rows.into_iter().map(|row| (row.id, row)));
            let rows = refunds::of_attempts(&mut connection, &ids).await?;
            recorded.refunds.extend(rows.into_iter().map(|row| ((row.attempt, row.number), row)));
        }
        Ok(recorded)
    }

    fn refund(&self, refund: RefundTry) -> Option<&RefundRow> {
        self.refunds.get(&(refund.attempt, i32::try_from(refund.number).ok()?))
    }
}

/// Whom a line speaks of.
pub(super) fn named(line: &SettlementLine) -> Option<AttemptId> {
    match &line.moved {
        Moved::Captured { attempt, .. } | Moved::RefundedByHand { attempt, .. } => Some(*attempt),
        Moved::Refunded { refund } | Moved::RefundFailed { refund } => Some(refund.attempt),
        Moved::Charged { attempt, .. } => *attempt,
        Moved::Returned { .. } | Moved::Other { .. } => None,
    }
}

pub(super) async fn judge(desk: &Desk, recorded: &Recorded, line: &SettlementLine) -> Result<Judged, Fault> {
    Ok(match &line.moved {
        Moved::Captured { attempt, .. } => match recorded.attempts.get(attempt) {
            Some(row) => return captured(desk, row, line.amount).await,
            None => Judged::Found(FindingKind::UnknownAttempt),
        },
        Moved::Charged { .. } => Judged::Found(FindingKind::OtherCharge),
        Moved::Refunded { refund } => {
            return left(desk, recorded.refund(*refund), *refund, line.amount).await;
        }
        Moved::RefundFailed { refund } => {
            let fact = Fact::RefundFailed { refund: *refund, amount: line.amount, provider_id: None };
            return tell(desk, recorded, line, fact, FindingKind::UnknownRefund).await;
        }
        Moved::RefundedByHand { attempt, provider_id } => {
            let (attempt, provider_id) = (*attempt, provider_id.clone());
            let fact = Fact::RefundedByHand { attempt, amount: line.amount, provider_id };
            return tell(desk, recorded, line, fact, FindingKind::RefundByHand).await;
        }
        Moved::Returned { .. } => Judged::Agrees,
        Moved::Other { .. } => Judged::Found(FindingKind::Unreadable),
    })
}

/// An attempt that is pending belongs to its request until its deadline, and then to the sweep; a case of the
/// resolver's that is still open is ended here, by the same guarded steps.
async fn captured(desk: &Desk, row: &AttemptRow, amount: Money) -> Result<Judged, Fault> {
    let hotel = desk.hotel_of(row.id.hotel()).await?;
    let hotel = hotel.ok_or_else(|| Fault::internal(DbError::unreadable("hotel", &row.id)))?;
    let ledger = desk.ledger(&hotel)?;
    match row.state {
        AttemptState::PendingPayment => Ok(Judged::TooEarly),
        AttemptState::Reconciling => {
            let ended = place(ledger, &hotel, row, amount).await?;
            Ok(if ended { Judged::Agrees } else { Judged::TooEarly })
        }
        AttemptState::Failed => {
            give_back(ledger, row.id, amount).await?;
            Ok(Judged::GivenBack)
        }
        AttemptState::Confirmed | AttemptState::PaymentCapturedBookingFailed | AttemptState::Refunded => {
            let agrees = row.captured == amount;
            Ok(if agrees { Judged::Agrees } else { Judged::Found(FindingKind::AmountDiffers) })
        }
    }
}

/// A refund that is still REQUESTED is sent again under its name, and its sender hears that it has left.
async fn left(
    desk: &Desk,
    row: Option<&RefundRow>,
    refund: RefundTry,
    amount: Money,
) -> Result<Judged, Fault> {
    let Some(row) = row else { return Ok(Judged::Found(FindingKind::UnknownRefund)) };
    let hotel = desk.hotel_of(row.attempt.hotel()).await?;
    let hotel = hotel.ok_or_else(|| Fault::internal(DbError::unreadable("hotel", &row.attempt)))?;
    let ledger = desk.ledger(&hotel)?;
    missing::no_longer_looked_for(ledger, row.attempt, row.number, true).await?;
    let same_try = u32::try_from(row.try_number) == Ok(refund.try_number);
    let is_told = if same_try {
        matches!(row.state, RefundState::Requested | RefundState::Succeeded)
    } else {
        // It left, came back, and both were told: what is sent now goes by a later name.
        let mut connection = ledger.database().connection().await?;
        let reference = Reference::from(refund).to_string();
        payment_history::came_back(&mut connection, row.attempt, &reference).await?
    };
    let agrees = is_told && row.amount == amount;
    Ok(if agrees { Judged::Agrees } else { Judged::Found(FindingKind::RefundDiffers) })
}

/// A line that says what a notice says takes the notice's way: under the same locks, known by the same names, so
/// that of the two whichever comes second finds what the first has written. `unmatched` is what it is found as
/// where it is about nothing that is recorded.
async fn tell(
    desk: &Desk,
    recorded: &Recorded,
    line: &SettlementLine,
    fact: Fact,
    unmatched: FindingKind,
) -> Result<Judged, Fault> {
    let attempt = fact.attempt().and_then(|id| recorded.attempts.get(&id));
    let (event, kind) = (format!("settlement:{}", line.entry), "settlement".to_owned());
    let told = Told::new(desk.provider().name(), Notice { event, kind, fact }, Actor::Worker);
    Ok(match receive_notice::apply(desk, &told).await?.received {
        Received::Recorded(NoticeOutcome::Applied) => Judged::Applied,
        // What does not agree in it stands with the notices that an operator must look at.
        Received::Recorded(_) | Received::Duplicate => Judged::Agrees,
        // A capture that is not known yet: whoever has made it may still be writing it down.
        Received::Unmatched if attempt.is_some_and(|row| row.state.is_open()) => Judged::TooEarly,
        Received::Unmatched | Received::NotOurs => Judged::Found(unmatched),
    })
}
