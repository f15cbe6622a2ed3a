//! One line of the provider's books against what is recorded now.

use std::collections::BTreeMap;

use keyrack_db::DbError;
use keyrack_domain::{
    attempt::AttemptState,
    ids::{AttemptId, HotelId},
    money::Money,
    refund::RefundState,
};
use keyrack_ledger::{AttemptRow, RefundRow};
use keyrack_payments::{Moved, RefundTry, SettlementLine};
use keyrack_store::{attempts, refunds, settlement::FindingKind};

use super::missing;
use crate::{
    Desk, Fault,
    reconcile::{give_back, place},
};

/// What a line comes to.
pub(super) enum Judged {
    Agrees,
    /// Whoever has made the call may still be writing it down.
    TooEarly,
    GivenBack,
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
            let row = recorded.refund(*refund);
            if let Some(row) = row
                && let Some(hotel) = desk.hotel_of(row.attempt.hotel()).await?
            {
                missing::no_longer_looked_for(desk.ledger(&hotel)?, row.attempt, row.number, true).await?;
            }
            left(row, *refund, line.amount)
        }
        Moved::RefundFailed { refund } => came_back(recorded.refund(*refund), *refund),
        // Where notices of it are recorded, the record is looked for here, and what is found is recorded so.
        Moved::RefundedByHand { .. } => Judged::Found(FindingKind::RefundByHand),
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
fn left(row: Option<&RefundRow>, refund: RefundTry, amount: Money) -> Judged {
    let Some(row) = row else { return Judged::Found(FindingKind::UnknownRefund) };
    let same_try = u32::try_from(row.try_number) == Ok(refund.try_number);
    let is_told = matches!(row.state, RefundState::Requested | RefundState::Succeeded);
    if same_try && is_told && row.amount == amount {
        Judged::Agrees
    } else {
        Judged::Found(FindingKind::RefundDiffers)
    }
}

/// One that is called a success and is none. A later try than the one that came back stands for itself.
fn came_back(row: Option<&RefundRow>, refund: RefundTry) -> Judged {
    let Some(row) = row else { return Judged::Found(FindingKind::UnknownRefund) };
    let same_try = u32::try_from(row.try_number) == Ok(refund.try_number);
    let stands = same_try && row.state == RefundState::Succeeded;
    if stands { Judged::Found(FindingKind::RefundFailed) } else { Judged::Agrees }
}
