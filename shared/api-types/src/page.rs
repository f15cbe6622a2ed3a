//! Lists are cursor pages.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, ToSchema)]
pub struct Page<T> {
    pub items: Vec<T>,
    /// Opaque; `null` on the last page.
    #[schema(required = true)]
    pub next_cursor: Option<String>,
}
