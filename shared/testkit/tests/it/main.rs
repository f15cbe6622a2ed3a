#![expect(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]

mod architecture;
mod chaos_proxy;
mod database;
mod gates;
