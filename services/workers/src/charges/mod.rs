//! Collects the later charges of stays that are not prepaid.

mod run_once;

pub(crate) use run_once::Charges;
