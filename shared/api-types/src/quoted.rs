//! What was quoted and sold: rooms night by night, and the bill line by line.

use chrono_tz::Tz;
use keyrack_domain::{quote, stay::Stay};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::{
    date::Date,
    instant::Instant,
    policy::{CancellationRung, PaymentPolicy, rungs},
};

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, ToSchema)]
pub struct ReservedRoom {
    pub room_type: String,
    pub rate_plan: String,
    pub adults: u16,
    pub children_ages: Vec<u8>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// In date order.
    pub nights: Vec<QuotedNight>,
    /// First to last.
    pub cancellation: Vec<CancellationRung>,
    pub payment: PaymentPolicy,
    /// Its share of the total, with taxes and fees.
    #[schema(example = "14560.00")]
    pub total: String,
    /// There once the room is cancelled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cancelled_at: Option<Instant>,
    /// What cancelling it cost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub penalty: Option<String>,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, ToSchema)]
pub struct QuotedNight {
    pub date: Date,
    /// Before taxes that come on top, in the hotel's currency.
    #[schema(example = "6500.00")]
    pub amount: String,
    /// Of the daily rate that was used.
    pub price_version: i32,
}

/// The lines that are not included sum exactly to the total.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, ToSchema)]
pub struct Charge {
    pub kind: ChargeKind,
    pub label: String,
    #[schema(example = "13000.00")]
    pub amount: String,
    /// A share of the room lines, shown and not added.
    pub included: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ChargeKind {
    Room,
    Tax,
    Fee,
}

impl ReservedRoom {
    /// One that stands. `zone` is the hotel's, in which the deadlines are told.
    pub fn new(room: quote::QuotedRoom, stay: Stay, zone: Tz) -> Self {
        Self {
            room_type: room.room_type.into(),
            rate_plan: room.rate_plan.into(),
            adults: room.adults,
            children_ages: room.children_ages,
            note: room.note,
            nights: room.nights.into_iter().map(QuotedNight::from).collect(),
            cancellation: rungs(&room.cancellation, stay.check_in(), zone),
            payment: room.payment.into(),
            total: room.total.to_string(),
            cancelled_at: None,
            penalty: None,
        }
    }
}

impl From<quote::QuotedNight> for QuotedNight {
    fn from(night: quote::QuotedNight) -> Self {
        Self { date: night.date.into(), amount: night.amount.to_string(), price_version: night.price_version }
    }
}

impl From<quote::Charge> for Charge {
    fn from(charge: quote::Charge) -> Self {
        let kind = match charge.kind {
            quote::ChargeKind::Room => ChargeKind::Room,
            quote::ChargeKind::Tax => ChargeKind::Tax,
            quote::ChargeKind::Fee => ChargeKind::Fee,
        };
        Self { kind, label: charge.label, amount: charge.amount.to_string(), included: charge.included }
    }
}
