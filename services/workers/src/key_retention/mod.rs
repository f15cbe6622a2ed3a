//! Removes the records of calls that are too old to be asked for.

mod run_once;

pub(crate) use run_once::KeyRetention;
