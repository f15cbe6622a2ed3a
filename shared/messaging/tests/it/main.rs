//! The port's promises, kept by both brokers: by JetStream on a real server.
#![expect(clippy::expect_used, reason = "a test that cannot be set up has failed")]

mod in_process;
mod jet_stream;
