//! Keeps inventory open over the horizon as days go by.

mod run_once;

pub(crate) use run_once::RollingHorizon;
