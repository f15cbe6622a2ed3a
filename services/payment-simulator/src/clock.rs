//! Real time. This provider is another party: the clock of the client's sandbox is none of its business.

use std::time::{Duration, SystemTime};

#[expect(
    clippy::disallowed_methods,
    reason = "signatures and settlement lines carry real time and decide nothing"
)]
fn since_1970() -> Duration {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default()
}

pub(crate) fn seconds() -> i64 {
    i64::try_from(since_1970().as_secs()).unwrap_or(i64::MAX)
}

pub(crate) fn milliseconds() -> i64 {
    i64::try_from(since_1970().as_millis()).unwrap_or(i64::MAX)
}
