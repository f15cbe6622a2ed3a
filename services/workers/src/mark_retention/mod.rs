//! Removes what is kept of having acted on events that cannot come again.

mod run_once;

pub(crate) use run_once::MarkRetention;
