//! Gives the units of overdue holds back.

mod run_once;

pub(crate) use run_once::Expiry;
