//! What the rules need to know of a hotel.

use chrono_tz::Tz;
use serde::{Deserialize, Serialize};

use crate::{
    code::{HotelCode, RatePlanCode, RoomTypeCode},
    ids::{HotelId, RatePlanId, RoomTypeId, ShardId},
    money::Currency,
    policy::{CancellationPolicy, DepositTerms, PaymentPolicy},
    rule_version::RuleVersion,
};

/// Who a hotel is: enough to route, to tell its local date and to write its money.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HotelRef {
    pub id: HotelId,
    pub shard: ShardId,
    pub code: HotelCode,
    pub zone: Tz,
    pub currency: Currency,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct RoomType {
    pub id: RoomTypeId,
    pub code: RoomTypeCode,
    pub name: String,
    /// Guests whose price is the base amount of a night.
    pub base_occupancy: u16,
    pub max_adults: u16,
    pub max_children: u16,
    pub max_occupancy: u16,
    /// With which the horizon opens a new night.
    pub units: u32,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct RatePlan {
    pub id: RatePlanId,
    pub code: RatePlanCode,
    pub name: String,
    pub cancellation: CancellationPolicy,
    pub payment: PaymentPolicy,
    /// Of a deposit plan, and of no other.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deposit: Option<DepositTerms>,
    /// Of its terms.
    #[serde(default, skip_serializing_if = "RuleVersion::is_first")]
    pub version: RuleVersion,
}
