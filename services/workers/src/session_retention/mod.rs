//! Removes guest sessions that ended some time ago.

mod run_once;

pub(crate) use run_once::SessionRetention;
