//! Sends refunds to the provider until it has said yes.

mod run_once;

pub(crate) use run_once::Refunds;
