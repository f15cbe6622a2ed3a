//! Tracing, Prometheus, and every metric and span name in one file.
//!
//! What is logged: identifiers, states, durations, outcomes. Never a guest's name or address, a token,
//! a key, a card or the text of a request body; types that carry them do not show them in `Debug`.

mod describe;
pub mod log;
pub mod names;
mod prometheus;

pub use prometheus::{InstallError, Metrics};
