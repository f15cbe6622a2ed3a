//! Hands what waits at the broker to one that acts on it.

mod run_once;

pub(crate) use run_once::Delivery;
