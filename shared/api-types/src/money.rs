//! Money as the API writes it: major units as a string, with exactly the currency's decimals.

use keyrack_domain::money;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Money {
    #[schema(example = "14560.00")]
    pub amount: String,
    #[schema(example = "INR")]
    pub currency: String,
}

impl From<money::Money> for Money {
    fn from(money: money::Money) -> Self {
        Self { amount: money.to_string(), currency: money.currency().to_string() }
    }
}
