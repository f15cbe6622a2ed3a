//! Hotels: what they sell and under which terms.

use keyrack_domain::{policy, tax};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::{
    figure::Figure,
    policy::{PaymentPolicy, Penalty, PenaltyKind},
};

/// `POST /v1/hotels`. Everything that is wrong with it is told at once.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct HotelRequest {
    /// How the hotel is addressed; case-sensitive.
    #[schema(pattern = "^[A-Za-z0-9_-]{1,32}$", example = "HTL-204")]
    pub code: String,
    #[schema(min_length = 1, max_length = 255)]
    pub name: String,
    /// Of the IANA database. It decides the hotel's today, its cut-offs and deadlines.
    #[schema(example = "Asia/Kolkata")]
    pub time_zone: String,
    /// ISO 4217. All prices of the hotel are in it.
    #[schema(example = "INR")]
    pub currency: String,
    #[schema(min_length = 1, max_length = 255)]
    pub city: String,
    /// Degrees north; together with longitude.
    #[serde(default)]
    pub latitude: Option<f64>,
    /// Degrees east.
    #[serde(default)]
    pub longitude: Option<f64>,
    /// What becomes of money that was taken when the hold had ended; `allocate` when left out.
    #[serde(default)]
    pub late_capture: Option<LateCapture>,
    /// In the order in which they are shown.
    #[serde(default)]
    #[schema(max_items = 20)]
    pub taxes: Vec<TaxRequest>,
    #[schema(min_items = 1, max_items = 50)]
    pub room_types: Vec<RoomTypeRequest>,
    #[schema(min_items = 1, max_items = 20)]
    pub rate_plans: Vec<RatePlanRequest>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum LateCapture {
    /// The rooms are taken again where they are still free and the hotel still sells them; else as `refund`.
    Allocate,
    /// It goes back.
    Refund,
}

impl From<LateCapture> for policy::LateCapture {
    fn from(policy: LateCapture) -> Self {
        match policy {
            LateCapture::Allocate => Self::Allocate,
            LateCapture::Refund => Self::Refund,
        }
    }
}

#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct TaxRequest {
    pub kind: TaxKind,
    #[schema(example = "GST")]
    pub label: String,
    /// A percentage, or an amount in the hotel's currency.
    #[schema(value_type = String, example = "12")]
    pub value: Figure,
    /// Already in the prices: shown and not added.
    pub included: bool,
    /// Applies from this nightly price on.
    #[serde(default)]
    pub from_amount: Option<String>,
    /// Applies below this nightly price.
    #[serde(default)]
    pub to_amount: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum TaxKind {
    /// Of the room's nightly price.
    Percent,
    /// Once per room and night.
    PerNight,
    /// Once per guest and night.
    PerPersonNight,
    /// Once per room and stay.
    PerStay,
}

#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct RoomTypeRequest {
    #[schema(pattern = "^[A-Za-z0-9_-]{1,32}$", example = "RT-DLX")]
    pub code: String,
    #[schema(min_length = 1, max_length = 255)]
    pub name: String,
    /// Guests whose price is the night's amount.
    #[serde(default = "two")]
    #[schema(minimum = 1, maximum = 100)]
    pub base_occupancy: u16,
    #[schema(minimum = 1, maximum = 100)]
    pub max_adults: u16,
    #[schema(maximum = 100)]
    pub max_children: u16,
    pub max_occupancy: u16,
    /// With which every night is opened.
    #[schema(maximum = 100_000)]
    pub units: u32,
}

const fn two() -> u16 {
    2
}

#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct RatePlanRequest {
    #[schema(pattern = "^[A-Za-z0-9_-]{1,32}$", example = "FLEX")]
    pub code: String,
    #[schema(min_length = 1, max_length = 255)]
    pub name: String,
    /// First to last; none: non-refundable.
    pub cancellation: Vec<CancellationRuleRequest>,
    pub payment: PaymentPolicy,
    /// Of `deposit`, and of no other; what is left out is 30 percent and 7 days.
    #[serde(default)]
    pub deposit: Option<DepositRequest>,
}

/// A percentage or an amount at booking, not both; the balance is due later.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct DepositRequest {
    /// Of the total with taxes.
    #[serde(default)]
    #[schema(value_type = Option<String>, example = "30")]
    pub percent: Option<Figure>,
    /// For each room, in the hotel's currency; never more than the total.
    #[serde(default)]
    pub amount: Option<String>,
    /// The balance is due so many days before the arrival, when that day begins at the hotel. Where that has
    /// passed, everything is due at booking.
    #[serde(default)]
    #[schema(maximum = 750)]
    pub balance_due_days_before: Option<u16>,
}

#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct CancellationRuleRequest {
    #[schema(maximum = 750)]
    pub until_days_before: u16,
    /// On the hotel's wall, that minute included.
    #[schema(example = "18:00")]
    pub until_time: String,
    pub penalty: PenaltyRequest,
}

#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct PenaltyRequest {
    pub kind: PenaltyKind,
    /// Of `percent`, and of no other.
    #[serde(default)]
    #[schema(value_type = Option<String>)]
    pub value: Option<Figure>,
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, ToSchema)]
pub struct Hotel {
    #[schema(example = "HTL-204")]
    pub code: String,
    pub name: String,
    #[schema(example = "Asia/Kolkata")]
    pub time_zone: String,
    #[schema(example = "INR")]
    pub currency: String,
    pub city: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latitude: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub longitude: Option<f64>,
    pub taxes: Vec<Tax>,
    /// In order of creation.
    pub room_types: Vec<RoomType>,
    /// In order of creation.
    pub rate_plans: Vec<RatePlan>,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, ToSchema)]
pub struct Tax {
    pub kind: TaxKind,
    pub label: String,
    /// A percentage, or an amount in the hotel's currency.
    pub value: String,
    pub included: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from_amount: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to_amount: Option<String>,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, ToSchema)]
pub struct RoomType {
    pub code: String,
    pub name: String,
    pub base_occupancy: u16,
    pub max_adults: u16,
    pub max_children: u16,
    pub max_occupancy: u16,
    pub units: u32,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, ToSchema)]
pub struct RatePlan {
    pub code: String,
    pub name: String,
    /// First to last; none: non-refundable.
    pub cancellation: Vec<CancellationRule>,
    pub payment: PaymentPolicy,
    /// Of `deposit`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deposit: Option<Deposit>,
}

/// What is due at booking, and when the balance is.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, ToSchema)]
pub struct Deposit {
    /// Of the total with taxes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub percent: Option<String>,
    /// For each room, in the hotel's currency.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub amount: Option<String>,
    pub balance_due_days_before: u16,
}

/// Until then, counted from any arrival, cancelling costs `penalty`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, ToSchema)]
pub struct CancellationRule {
    pub until_days_before: u16,
    #[schema(example = "18:00")]
    pub until_time: String,
    pub penalty: Penalty,
}

impl From<TaxKind> for tax::TaxKind {
    fn from(kind: TaxKind) -> Self {
        match kind {
            TaxKind::Percent => Self::Percent,
            TaxKind::PerNight => Self::PerNight,
            TaxKind::PerPersonNight => Self::PerPersonNight,
            TaxKind::PerStay => Self::PerStay,
        }
    }
}

impl From<tax::TaxKind> for TaxKind {
    fn from(kind: tax::TaxKind) -> Self {
        match kind {
            tax::TaxKind::Percent => Self::Percent,
            tax::TaxKind::PerNight => Self::PerNight,
            tax::TaxKind::PerPersonNight => Self::PerPersonNight,
            tax::TaxKind::PerStay => Self::PerStay,
        }
    }
}
