//! How events leave a shard's outbox and come to whoever acts on them. The port has two sides: a [`Broker`]
//! takes what the relay publishes, a [`Handler`] gives it its effect. Two brokers: [`InProcess`] hands messages
//! to the handlers of this process, [`JetStream`] keeps them for those of any process.
//!
//! What both promise: a message that was published comes to every handler at least once. It may come twice,
//! and after one that was written later: a handler's effect has to bear both.

mod broker;
pub mod conformance;
mod handler;
mod in_process;
mod jet_stream;
mod message;

pub use broker::{Broker, NotPublished};
pub use handler::{Handler, NotNow};
pub use in_process::InProcess;
pub use jet_stream::{JetStream, JetStreamError, JetStreamSettings};
pub use message::Message;
