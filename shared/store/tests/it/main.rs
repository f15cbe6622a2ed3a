//! Statements on a real PostgreSQL.
#![expect(clippy::expect_used, reason = "a test that cannot be set up has failed")]

mod configuration;
mod migrations;
mod old_snapshots;
mod plans;
mod schema;
