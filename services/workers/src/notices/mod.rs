//! Applies notices of payment providers whose subject has appeared since they came.

mod run_once;

pub(crate) use run_once::Notices;
