#![expect(clippy::expect_used, reason = "a test that cannot be set up has failed")]

mod hostile_answers;
mod simulator;
mod stripe;
