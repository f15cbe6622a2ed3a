//! Members of `ROOM_NIGHT_UNAVAILABLE`.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::date::Date;

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, ToSchema)]
pub struct ShortNight {
    pub room_type: String,
    pub night: Date,
    pub requested: u32,
    pub available: u32,
}

/// Where the same number of rooms would fit now. Advisory.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, ToSchema)]
pub struct Alternative {
    pub room_type: String,
    pub check_in: Date,
    pub check_out: Date,
    pub available: u32,
}
