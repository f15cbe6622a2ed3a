//! The simulator as its clients see it: over HTTP.

#![expect(clippy::expect_used, reason = "a test that cannot be set up has failed")]

mod calls;
mod control;
mod lost_answers;
mod refunds;
mod restart;
mod voids;
mod world;
