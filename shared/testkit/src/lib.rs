//! For tests only: a database per test, gates that step interleavings, a chaos proxy, the invariants.
//!
//! Everything here fails by panicking, since a test that cannot be set up has failed.
#![expect(clippy::expect_used, reason = "a test that cannot be set up has failed")]

mod chaos_proxy;
mod database;
mod gates;
mod local_stripe;
mod look;
mod nats;
mod pooler;
mod server;
mod template;

pub use chaos_proxy::{ChaosProxy, Fault, Fired};
pub use database::TestDatabase;
pub use gates::{Gate, Gates};
pub use local_stripe::LocalStripe;
pub use nats::NatsServer;
pub use pooler::Pooler;
