//! Why a quote costs what it does.

use keyrack_domain::ids::QuoteId;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::{
    date::Date,
    hotel::Tax,
    money::Money,
    policy::{CancellationRung, PaymentPolicy},
    quoted::ChargeKind,
    schedule::ScheduledCharge,
};

/// `GET /v1/quotes/{id}/explain`
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, ToSchema)]
pub struct QuoteExplanation {
    #[schema(value_type = String)]
    pub quote_id: QuoteId,
    #[schema(example = "HTL-204")]
    pub hotel: String,
    /// Room by room and night by night, then taxes and fees. Those that are not included sum exactly to the total.
    pub lines: Vec<ExplainedLine>,
    pub total: Money,
    /// What each plan's rooms are sold under, in the order of the rooms.
    pub terms: Vec<ExplainedTerms>,
    /// When what of the total is paid, by the terms above; sums exactly to it.
    pub schedule: Vec<ScheduledCharge>,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, ToSchema)]
pub struct ExplainedLine {
    pub kind: ChargeKind,
    pub label: String,
    #[schema(example = "6500.00")]
    pub amount: String,
    /// A share of the nights, shown and not added.
    pub included: bool,
    /// Of a night: whose it is, from 1, and which.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub room: Option<u16>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub night: Option<Date>,
    /// `null` for what follows none of the hotel's rules: the fee of a change, or what was quoted before rules were
    /// kept with quotes.
    #[schema(required = true)]
    pub rule: Option<LineRule>,
}

/// The rule that a line follows, in the edition that was used.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, ToSchema)]
#[serde(tag = "source", rename_all = "snake_case")]
pub enum LineRule {
    /// The daily rate of the room type and plan on that night. Version 0: a price that a channel had named.
    Rate { room_type: String, rate_plan: String, version: i32 },
    /// One of the hotel's taxes and fees, as it was. `number` is its place among them, from 1.
    Tax { number: u16, version: i32, tax: Tax },
}

/// A rate plan's terms, as they were.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, ToSchema)]
pub struct ExplainedTerms {
    pub rate_plan: String,
    pub version: i32,
    /// First to last; none: non-refundable.
    pub cancellation: Vec<CancellationRung>,
    pub payment: PaymentPolicy,
}
