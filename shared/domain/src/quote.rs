//! What a quote promises: the document that is stored, copied into the hold and kept with the reservation.

use chrono::NaiveDate;
use serde::{Deserialize, Serialize};

use crate::{
    code::{RatePlanCode, RoomTypeCode},
    ids::{RatePlanId, RoomTypeId},
    money::Money,
    policy::{CancellationPolicy, DepositTerms, PaymentPolicy},
    rule_version::RuleVersion,
    schedule::Due,
    stay::Stay,
    tax::Tax,
};

/// At most so many rooms in one quote.
pub const MAX_ROOMS: usize = 10;

/// How long a quoted price is promised, and how long a hold lasts.
pub const VALID_FOR: std::time::Duration = std::time::Duration::from_secs(600);

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct QuoteDocument {
    pub stay: Stay,
    /// In the order asked; a room's number is its place, from 1.
    pub rooms: Vec<QuotedRoom>,
    pub charges: Vec<Charge>,
    pub total: Money,
    /// When what of the total is paid; sums exactly to it. Empty: all of it at booking.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub schedule: Vec<Due>,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct QuotedRoom {
    pub room_type_id: RoomTypeId,
    pub room_type: RoomTypeCode,
    pub rate_plan_id: RatePlanId,
    pub rate_plan: RatePlanCode,
    pub adults: u16,
    pub children_ages: Vec<u8>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// One entry per night of the stay, in date order.
    pub nights: Vec<QuotedNight>,
    /// Its nights with the taxes and fees that come on top: its share of the quote's total.
    pub total: Money,
    /// Its first night with the taxes of that night.
    pub first_night: Money,
    pub cancellation: CancellationPolicy,
    pub payment: PaymentPolicy,
    /// Where a deposit is paid at booking.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deposit: Option<DepositTerms>,
    /// Of the plan whose terms these are.
    #[serde(default, skip_serializing_if = "RuleVersion::is_first")]
    pub terms_version: RuleVersion,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct QuotedNight {
    pub date: NaiveDate,
    /// For this room's occupancy, before taxes that come on top.
    pub amount: Money,
    /// Of the daily rate that was used.
    pub price_version: i32,
}

/// One line of the bill. The lines that are not `included` sum exactly to the total;
/// an included tax is a share of the room lines, shown and not added.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Charge {
    pub kind: ChargeKind,
    pub label: String,
    pub amount: Money,
    pub included: bool,
    /// By which a tax or fee was worked out. None of a room's line, whose nights name their rates, and of a fee
    /// that a change of the stay cost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<TaxRule>,
}

/// A tax or fee of the hotel, as it was.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct TaxRule {
    /// Its place among the hotel's, from 1.
    pub number: u16,
    pub tax: Tax,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChargeKind {
    Room,
    Tax,
    Fee,
}

impl QuoteDocument {
    /// How it is paid: its rooms are all paid in one way.
    pub fn payment(&self) -> PaymentPolicy {
        self.rooms.first().map_or(PaymentPolicy::Prepay, |room| room.payment)
    }

    /// What is paid when it is booked.
    pub fn due_at_booking(&self) -> Money {
        if self.schedule.is_empty() {
            return self.total;
        }
        let now = self.schedule.iter().filter(|due| due.at.is_none());
        // Parts of a total that is within range.
        now.fold(Money::zero(self.total.currency()), |sum, due| sum.plus(due.amount).unwrap_or(sum))
    }

    /// What a room type of this quote is called.
    pub fn code_of(&self, room_type: RoomTypeId) -> Option<&RoomTypeCode> {
        self.rooms.iter().find(|room| room.room_type_id == room_type).map(|room| &room.room_type)
    }

    /// Units this quote needs of each room type, every night of the stay alike, in lock order.
    pub fn units_by_room_type(&self) -> std::collections::BTreeMap<RoomTypeId, u32> {
        let mut units = std::collections::BTreeMap::new();
        for room in &self.rooms {
            *units.entry(room.room_type_id).or_insert(0) += 1;
        }
        units
    }
}
