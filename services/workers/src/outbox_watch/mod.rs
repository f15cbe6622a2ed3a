//! Shows how much of the outbox waits to be published, and for how long.

mod run_once;

pub(crate) use run_once::OutboxWatch;
