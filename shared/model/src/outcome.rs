//! Answers, named as the HTTP contract names them.

use chrono::NaiveDate;
use keyrack_domain::{
    clock::Moment,
    hold::HoldState,
    ids::{AttemptId, ChangeId, HoldId, RefundId, ReservationId, RoomTypeId},
    money::Money,
    refund::RefundState,
    reservation::ReservationState,
    restriction::Violation,
};

use crate::{
    channel::Delivery,
    nights::{Night, NightKey},
};

pub type Answer = Result<Answered, Refusal>;

/// An answer, and whether it is that of an earlier call with the same key.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Answered {
    pub outcome: Outcome,
    pub replayed: bool,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// 201 when placed, 200 when released.
    Hold { id: HoldId, state: HoldState, expires_at: Moment, total: Money },
    /// 202 `PENDING_PAYMENT`
    Pending { attempt: AttemptId, reconciling: bool },
    /// 201 `CONFIRMED`
    Confirmed { attempt: AttemptId, reservation: ReservationId },
    /// 402 `PAYMENT_DECLINED`
    Declined { attempt: AttemptId },
    /// 409 `BOOKING_FAILED`
    BookingFailed { attempt: AttemptId, refund: RefundId, state: RefundState },
    /// 200
    InventoryEdited,
    /// 200
    RulesEdited,
    /// 201
    Quoted { total: Money },
    /// 200
    Cancelled {
        reservation: ReservationId,
        state: ReservationState,
        version: i32,
        penalty: Money,
        refund: Money,
    },
    /// 200
    Stepped { reservation: ReservationId, state: ReservationState, version: i32 },
    /// 201
    RefundRequested { reservation: ReservationId, amount: Money },
    /// 201
    ChangePriced { change: ChangeId, difference: Money, penalty: Money, total: Money, charge: Money },
    /// 200
    Changed { change: ChangeId, version: Option<i32> },
    /// 202
    ChangePending { change: ChangeId, attempt: AttemptId },
    /// 402 `PAYMENT_DECLINED`
    ChangeDeclined { change: ChangeId, attempt: AttemptId },
    /// 409 `CHANGE_FAILED`
    ChangeFailed { change: ChangeId, amount: Money },
    /// 201 where it is new, else 200
    Delivered { reservation: ReservationId, delivery: Delivery, version: i32 },
    /// 200
    Withdrawn { reservation: Option<ReservationId>, before: bool },
}

/// A call that changed nothing and left no key behind.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Refusal {
    /// Also for what belongs to somebody else.
    NotFound,
    QuoteExpired,
    HoldExpired,
    HoldNotActive(HoldState),
    AttemptInProgress(AttemptId),
    RoomNightUnavailable(Shortage),
    RestrictionViolated(Vec<Violation>),
    HoldLimit,
    KeyReused,
    KeyExpired,
    /// The nights that carry more than the wanted number, in order.
    BelowCommitted(Vec<(NightKey, Night)>),
    OutOfHorizon,
    /// Somebody has changed it since the caller looked: the version that it has.
    VersionConflict(i32),
    /// The reservation's state, or its day, does not allow it.
    Conflict(ReservationState),
    /// The step's day has not come, or has passed.
    NotToday,
    Invalid,
    /// A channel's reservation is changed at the channel.
    OfChannel,
    ChangeExpired,
    /// It was carried out, or is being carried out, under another key.
    NotPriced,
    ChangeInProgress(ChangeId),
    BookingInactive,
    /// The revision that is known and says something else.
    StaleRevision(i64),
}

/// The first night, in date order, that did not fit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Shortage {
    pub room_type: RoomTypeId,
    pub night: NaiveDate,
    pub requested: u32,
    pub available: u32,
}

impl Refusal {
    /// Status and code of the HTTP answer.
    pub const fn http(&self) -> (u16, &'static str) {
        match self {
            Self::NotFound => (404, "NOT_FOUND"),
            Self::QuoteExpired => (410, "QUOTE_EXPIRED"),
            Self::HoldExpired => (410, "HOLD_EXPIRED"),
            Self::HoldNotActive(_) => (409, "HOLD_NOT_ACTIVE"),
            Self::AttemptInProgress(_) => (409, "ATTEMPT_IN_PROGRESS"),
            Self::RoomNightUnavailable(_) => (409, "ROOM_NIGHT_UNAVAILABLE"),
            Self::RestrictionViolated(_) => (409, "RESTRICTION_VIOLATED"),
            Self::HoldLimit => (429, "HOLD_LIMIT"),
            Self::KeyReused => (422, "IDEMPOTENCY_KEY_REUSED"),
            Self::KeyExpired => (409, "IDEMPOTENCY_KEY_EXPIRED"),
            Self::BelowCommitted(_) => (409, "BELOW_COMMITTED"),
            Self::OutOfHorizon | Self::Invalid => (422, "INVALID"),
            Self::VersionConflict(_) => (412, "VERSION_CONFLICT"),
            Self::Conflict(_) | Self::NotToday | Self::OfChannel | Self::NotPriced => (409, "CONFLICT"),
            Self::ChangeExpired => (410, "CHANGE_EXPIRED"),
            Self::ChangeInProgress(_) => (409, "CHANGE_IN_PROGRESS"),
            Self::BookingInactive => (409, "BOOKING_INACTIVE"),
            Self::StaleRevision(_) => (409, "STALE_REVISION"),
        }
    }
}
