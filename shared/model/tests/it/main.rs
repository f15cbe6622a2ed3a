#![expect(clippy::expect_used, reason = "a test whose set-up fails must stop there")]

mod exhaustive;
mod protocol;
mod random;
mod rules;
mod sample;
mod stays;
