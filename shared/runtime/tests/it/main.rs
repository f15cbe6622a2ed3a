#![expect(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]

mod private_postgres;
mod settings;
mod with_postgres;
mod worker;
