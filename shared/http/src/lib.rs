//! Actix pieces that every route uses. A route parses with them, calls a use case, and turns its
//! error into a [`Problem`]; what cannot be decided per route stands here.
//!
//! A request goes through [`boundary`](boundary::boundary) (request id, span, metrics, panics, the
//! one place where problems are written), then [`gate`](gate::gate) (is there such an operation, who
//! is calling, which query parameters does it know), then the extractors of its route.

pub mod authentication;
pub mod boundary;
pub mod contract;
pub mod gate;

mod caller;
mod idempotency;
mod json;
mod objects;
mod paging;
mod path;
mod precondition;
mod prefer;
mod problem;
mod problem_pages;
mod query;
mod raw;
mod request_id;
mod shape;
mod trace_context;

pub use authentication::{Authenticator, Known, NotReachable};
pub use caller::Signed;
pub use contract::Contract;
pub use gate::Gate;
pub use idempotency::{Key, REPLAYED};
pub use json::{BodyLimit, Json, LargeJson, MayJson};
pub use paging::{Cursor, limit};
pub use path::Path;
pub use precondition::{IfMatch, MayMatch, etag};
pub use prefer::Prefer;
pub use problem::Problem;
pub use problem_pages::page;
pub use query::Query;
pub use raw::Raw;
pub use request_id::RequestId;
