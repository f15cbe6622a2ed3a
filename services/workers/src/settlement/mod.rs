//! Compares the provider's books with what is recorded.

mod run_once;

pub(crate) use run_once::Comparison;
