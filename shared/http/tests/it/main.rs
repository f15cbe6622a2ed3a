//! The boundary and the gate around routes that misbehave.
#![expect(clippy::expect_used, reason = "a test that cannot be set up has failed")]

mod around;
mod boundary;
mod gate;
