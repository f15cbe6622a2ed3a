//! The HTTP API: `routes/<resource>/<verb>.rs`, one endpoint a file.
//!
//! A route parses, calls one use case of `keyrack-booking`, and says its answer in one exhaustive
//! match. What is the same for all of them stands in `keyrack-http`.

mod authenticator;
mod document;
mod health_only;
mod refusal;
mod reply;
mod routes;
mod server;
mod wire;

pub mod sandbox;

pub use document::{document, document_as_json};
pub use server::{Api, Beside, Parts};
