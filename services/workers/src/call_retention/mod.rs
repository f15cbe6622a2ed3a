//! Removes the records of provider calls that are too old to be looked at.

mod run_once;

pub(crate) use run_once::CallRetention;
