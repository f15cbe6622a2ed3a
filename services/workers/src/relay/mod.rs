//! Publishes what is committed in the outbox.

mod run_once;

pub(crate) use run_once::Relay;
