//! What a use case tells of a hold, an attempt and a reservation: facts, not documents.
//! Stored under the call's key too, so that a replay tells exactly what the original told.

use keyrack_domain::{
    change::ChangeState,
    clock::Moment,
    code::HotelCode,
    guest::Guest,
    hold::HoldState,
    ids::{AttemptId, ChangeId, HoldId, QuoteId, RefundId, ReservationId},
    money::Money,
    page_url::PageUrl,
    quote::QuoteDocument,
    refund::RefundState,
    reservation::ReservationState,
    schedule::{ChargeState, DueKind},
    stay::Stay,
};
use keyrack_ledger::{ChangeRow, ChargeRow, HoldRow, RefundRow, ReservationRow, RoomRow};
pub use keyrack_store::customer_actions::WaitingPayment;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HoldView {
    pub id: HoldId,
    pub hotel: HotelCode,
    pub quote: QuoteId,
    pub state: HoldState,
    pub stay: Stay,
    pub total: Money,
    pub created_at: Moment,
    /// Valid while now <= expires_at; never changes.
    pub expires_at: Moment,
}

impl HoldView {
    pub(crate) fn of(row: &HoldRow, hotel: &HotelCode) -> Self {
        Self {
            id: row.id,
            hotel: hotel.clone(),
            quote: row.quote,
            state: row.state,
            stay: row.stay,
            total: row.total,
            created_at: row.created_at,
            expires_at: row.expires_at,
        }
    }
}

/// How a booking stands. It lives on the attempt, so a repeat is told the present, not the past.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BookingView {
    pub attempt: AttemptId,
    pub hotel: HotelCode,
    pub hold: HoldId,
    pub total: Money,
    /// Of the total, what is paid with the booking.
    pub amount: Money,
    pub standing: Standing,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Standing {
    /// 202: the provider's answer is not known yet. It will be settled at the latest some seconds after `deadline`.
    /// `next_action`: nothing happens before the customer has been to that page.
    Pending { reconciling: bool, deadline: Moment, next_action: Option<PageUrl> },
    /// 201
    Confirmed(Box<ReservationView>),
    /// 402 `PAYMENT_DECLINED`: nothing was taken. `reason` is a stable word; `hold` is how the hold is now,
    /// EXPIRED also where its end has passed and nobody has ended it yet.
    Declined { reason: String, hold: HoldState },
    /// 409 `BOOKING_FAILED`: paid, but no room; the money is on its way back.
    NoRoom { refund: RefundView },
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RefundView {
    pub id: RefundId,
    pub state: RefundState,
    pub amount: Money,
}

impl RefundView {
    pub(crate) const fn of(row: &RefundRow) -> Self {
        Self { id: row.id, state: row.state, amount: row.amount }
    }
}

/// One charge of a stay that is not prepaid.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChargeView {
    pub number: i16,
    pub kind: DueKind,
    pub amount: Money,
    pub due_at: Moment,
    pub state: ChargeState,
    /// Of what the desk has taken, what it has to give back. Absent where that is nothing.
    #[serde(default)]
    pub owed_back: Option<Money>,
}

impl ChargeView {
    pub(crate) fn of(row: &ChargeRow) -> Self {
        Self {
            number: row.number,
            kind: row.kind,
            amount: row.amount,
            due_at: row.due_at,
            state: row.state,
            owed_back: Some(row.owed_back).filter(|owed| !owed.is_zero()),
        }
    }
}

/// A priced change of a stay, and how far it has come.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangeView {
    pub id: ChangeId,
    pub reservation: ReservationId,
    pub state: ChangeState,
    /// As it will be.
    pub stay: Stay,
    /// What is owed for it; below zero it goes back.
    pub difference: Money,
    /// Contained in the difference: what the policy that was sold asks for what goes.
    pub penalty: Money,
    /// What the stay costs then.
    pub total: Money,
    /// What is paid before the stay changes.
    pub charge: Money,
    pub created_at: Moment,
    /// May be confirmed while now <= expires_at.
    pub expires_at: Moment,
    /// The reservation's version that it made.
    pub version: Option<i32>,
    /// That pays the charge, once there is one.
    pub attempt: Option<AttemptId>,
}

impl ChangeView {
    pub(crate) const fn of(row: &ChangeRow, stay: Stay) -> Self {
        Self {
            id: row.id,
            reservation: row.reservation,
            state: row.state,
            stay,
            difference: row.difference,
            penalty: row.penalty,
            total: row.total,
            charge: row.charge,
            created_at: row.created_at,
            expires_at: row.expires_at,
            version: row.to_version,
            attempt: row.attempt,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReservationView {
    pub id: ReservationId,
    pub hotel: HotelCode,
    /// Neither of a channel's booking.
    pub hold: Option<HoldId>,
    pub attempt: Option<AttemptId>,
    pub state: ReservationState,
    /// The `ETag`.
    pub version: i32,
    pub document: QuoteDocument,
    /// What of each room still stands, in the order of the document.
    pub rooms: Vec<RoomRow>,
    /// Oldest first.
    pub refunds: Vec<RefundView>,
    /// First to last; none of a stay that was paid at booking.
    pub schedule: Vec<ChargeView>,
    /// Payments of it that wait for whoever is told: nothing happens before they have been to the page.
    pub waiting: Vec<WaitingPayment>,
    pub guest: Guest,
    pub created_at: Moment,
}

/// What is told of a reservation beside its row.
pub(crate) struct Parts {
    pub(crate) rooms: Vec<RoomRow>,
    pub(crate) refunds: Vec<RefundView>,
    pub(crate) schedule: Vec<ChargeView>,
    pub(crate) waiting: Vec<WaitingPayment>,
}

impl ReservationView {
    pub(crate) fn of(row: ReservationRow, hotel: &HotelCode, parts: Parts) -> Self {
        let Parts { rooms, refunds, schedule, waiting } = parts;
        Self {
            id: row.id,
            hotel: hotel.clone(),
            rooms,
            refunds,
            schedule,
            waiting,
            hold: row.hold,
            attempt: row.attempt,
            state: row.state,
            version: row.version,
            document: row.document,
            guest: row.guest,
            created_at: row.created_at,
        }
    }
}
