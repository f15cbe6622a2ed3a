//! Removes the records of hotel systems' batches that are too old to be asked for.

mod run_once;

pub(crate) use run_once::BatchRetention;
