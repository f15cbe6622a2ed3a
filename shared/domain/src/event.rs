//! What a committed change tells the world, through the outbox. Payloads are part of the contract:
//! a change of meaning raises [`Event::version`].

use chrono::NaiveDate;
use serde::{Deserialize, Serialize};

use crate::{
    clock::Moment,
    ids::{AttemptId, HoldId, PrincipalId, QuoteId, RatePlanId, RefundId, ReservationId, RoomTypeId},
    money::Money,
    reservation::ReservationState,
    restriction::{NightRestriction, RatePlanScope},
    schedule::DueKind,
    stay::Stay,
};

/// Units that can still be sold on a night, absolute, after the change: a repeated or reordered
/// event does no harm, and a lost one is healed by the next.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct NightAvailability {
    pub room_type_id: RoomTypeId,
    pub night: NaiveDate,
    pub available: u32,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct HoldPlaced {
    pub hold_id: HoldId,
    pub quote_id: QuoteId,
    pub principal_id: PrincipalId,
    pub stay: Stay,
    pub total: Money,
    pub expires_at: Moment,
    pub nights: Vec<NightAvailability>,
}

/// Units of a hold went back.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct HoldEnded {
    pub hold_id: HoldId,
    pub nights: Vec<NightAvailability>,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct AttemptStarted {
    pub attempt_id: AttemptId,
    /// Where it claims units.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hold_id: Option<HoldId>,
    pub amount: Money,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct AttemptFailed {
    pub attempt_id: AttemptId,
    /// Where it claims units.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hold_id: Option<HoldId>,
    /// Stable name of the reason, such as `DECLINED`.
    pub failure: String,
}

/// Nobody knows how the attempt ended, or it took money that has no room: a case of the resolver.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct AttemptReconciling {
    pub attempt_id: AttemptId,
    /// Where it claims units.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hold_id: Option<HoldId>,
    /// Stable name of the reason: `no_answer` or `no_room`.
    pub why: String,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ReservationConfirmed {
    pub reservation_id: ReservationId,
    /// What it was made of and what paid for it; neither of a channel's booking.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hold_id: Option<HoldId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attempt_id: Option<AttemptId>,
    pub principal_id: PrincipalId,
    pub stay: Stay,
    pub total: Money,
    /// Unchanged where the units came from a hold, and told all the same.
    pub nights: Vec<NightAvailability>,
}

/// Rooms were cancelled, all that stood or some of them.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ReservationCancelled {
    pub reservation_id: ReservationId,
    /// By their place in the reservation, from 1.
    pub rooms: Vec<i16>,
    /// Of the reservation after it: CANCELLED once no room stands.
    pub state: ReservationState,
    pub version: i32,
    pub penalty: Money,
    pub refund: Money,
    pub nights: Vec<NightAvailability>,
}

/// Another stay took the place of the one it had: other dates, room types, rooms or prices.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ReservationChanged {
    pub reservation_id: ReservationId,
    pub version: i32,
    pub stay: Stay,
    pub total: Money,
    /// What went back and what was taken, also where both cancel out.
    pub nights: Vec<NightAvailability>,
}

/// The front desk moved a reservation on: the guest came, left, never came, or came after all.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ReservationMoved {
    pub reservation_id: ReservationId,
    pub state: ReservationState,
    pub version: i32,
    /// Nights whose units went back, or were taken again.
    pub nights: Vec<NightAvailability>,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct RefundChanged {
    pub refund_id: RefundId,
    pub attempt_id: AttemptId,
    pub amount: Money,
    /// Stable name of the reason, such as `BOOKING_FAILED`.
    pub reason: String,
}

/// A charge of a reservation's schedule was paid, or could not be collected.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ChargeMoved {
    pub reservation_id: ReservationId,
    /// Its place in the schedule, from 1.
    pub number: i16,
    pub kind: DueKind,
    pub amount: Money,
    /// Absent where the hotel took the money at the desk.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attempt_id: Option<AttemptId>,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct InventoryChanged {
    pub nights: Vec<NightAvailability>,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct RatesChanged {
    pub nights: Vec<NightRate>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct NightRate {
    pub room_type_id: RoomTypeId,
    pub rate_plan_id: RatePlanId,
    pub night: NaiveDate,
    pub amount: Money,
    pub price_version: i32,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct RestrictionsChanged {
    pub nights: Vec<NightRules>,
}

/// The whole row after the change.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct NightRules {
    pub room_type_id: RoomTypeId,
    /// 0: every plan.
    pub rate_plan_id: RatePlanScope,
    pub night: NaiveDate,
    #[serde(flatten)]
    pub restriction: NightRestriction,
}

/// One outbox row. Serializes as its payload alone; the type stands in a column of its own.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[serde(untagged)]
pub enum Event {
    HoldPlaced(HoldPlaced),
    HoldReleased(HoldEnded),
    HoldExpired(HoldEnded),
    AttemptStarted(AttemptStarted),
    AttemptReconciling(AttemptReconciling),
    AttemptFailed(AttemptFailed),
    ReservationConfirmed(ReservationConfirmed),
    ReservationCancelled(ReservationCancelled),
    ReservationChanged(ReservationChanged),
    ReservationCheckedIn(ReservationMoved),
    ReservationCheckedOut(ReservationMoved),
    ReservationNoShow(ReservationMoved),
    ReservationNoShowUndone(ReservationMoved),
    RefundRequested(RefundChanged),
    RefundSucceeded(RefundChanged),
    /// Called a success before, and failed after all: it is sent again.
    RefundFailed(RefundChanged),
    /// Refused as often as we try by ourselves: an operator must look.
    RefundNeedsAttention(RefundChanged),
    ChargePaid(ChargeMoved),
    /// Nothing was taken. It is owed, and tried again on another day, or left to the hotel.
    ChargeFailed(ChargeMoved),
    InventoryChanged(InventoryChanged),
    RatesChanged(RatesChanged),
    RestrictionsChanged(RestrictionsChanged),
}

impl Event {
    pub const fn type_name(&self) -> &'static str {
        match self {
            Self::HoldPlaced(_) => "hold.placed",
            Self::HoldReleased(_) => "hold.released",
            Self::HoldExpired(_) => "hold.expired",
            Self::AttemptStarted(_) => "attempt.started",
            Self::AttemptReconciling(_) => "attempt.reconciling",
            Self::AttemptFailed(_) => "attempt.failed",
            Self::ReservationConfirmed(_) => "reservation.confirmed",
            Self::ReservationCancelled(_) => "reservation.cancelled",
            Self::ReservationChanged(_) => "reservation.changed",
            Self::ReservationCheckedIn(_) => "reservation.checked_in",
            Self::ReservationCheckedOut(_) => "reservation.checked_out",
            Self::ReservationNoShow(_) => "reservation.no_show",
            Self::ReservationNoShowUndone(_) => "reservation.no_show_undone",
            Self::RefundRequested(_) => "refund.requested",
            Self::RefundSucceeded(_) => "refund.succeeded",
            Self::RefundFailed(_) => "refund.failed",
            Self::RefundNeedsAttention(_) => "refund.needs_attention",
            Self::ChargePaid(_) => "charge.paid",
            Self::ChargeFailed(_) => "charge.failed",
            Self::InventoryChanged(_) => "inventory.changed",
            Self::RatesChanged(_) => "rates.changed",
            Self::RestrictionsChanged(_) => "restrictions.changed",
        }
    }

    /// Of the payload's meaning. All events are at their first.
    pub const fn version(&self) -> i16 {
        1
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;
    use crate::{ids::HotelId, sample::day};

    #[test]
    fn an_event_is_stored_as_its_payload_with_absolute_availability() {
        let nights =
            vec![NightAvailability { room_type_id: RoomTypeId(1), night: day("2026-11-14"), available: 4 }];
        let hold_id = HoldId::new(HotelId(204), Uuid::from_u128(7));
        let event = Event::HoldExpired(HoldEnded { hold_id, nights });
        assert_eq!((event.type_name(), event.version()), ("hold.expired", 1));
        let expected = serde_json::json!({
            "hold_id": "hld_000000cc00000000000000000000000000000007",
            "nights": [{ "room_type_id": 1, "night": "2026-11-14", "available": 4 }],
        });
        assert_eq!(serde_json::to_value(&event).expect("json"), expected);
    }

    #[test]
    fn a_restriction_event_carries_the_whole_row() {
        let rules = NightRules {
            room_type_id: RoomTypeId(1),
            rate_plan_id: RatePlanScope::Every,
            night: day("2026-11-14"),
            restriction: NightRestriction { stop_sell: true, ..NightRestriction::default() },
        };
        let json = serde_json::to_value(rules).expect("json");
        assert_eq!((&json["rate_plan_id"], &json["stop_sell"]), (&0.into(), &true.into()));
        assert_eq!(serde_json::from_value::<NightRules>(json).expect("rules"), rules);
    }
}
