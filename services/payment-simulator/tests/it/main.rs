//! The simulator as its clients see it: over HTTP.

#![expect(clippy::expect_used, reason = "a test that cannot be set up has failed")]

mod calls;
mod control;
mod customer;
mod lost_answers;
mod notices;
mod receiver;
mod refunds;
mod restart;
mod settlement;
mod voids;
mod world;
