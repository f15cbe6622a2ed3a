//! Removes events that were published long ago, and what is kept of having acted on them.

mod run_once;

pub(crate) use run_once::EventRetention;
