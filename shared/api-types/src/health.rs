//! Liveness and readiness.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, ToSchema)]
pub struct Health {
    /// Each check, and whether it passed.
    pub checks: BTreeMap<String, bool>,
}
