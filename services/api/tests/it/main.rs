//! Black-box tests: the real server on a port of its own, the real database, the real simulator.

#![expect(clippy::expect_used, reason = "a test that cannot be set up has failed")]

mod answer;
mod authorization;
mod bodies;
mod bookings;
mod cancellation;
mod changes;
mod channel_bookings;
mod compatibility;
mod explanations;
mod findings;
mod front_desk;
mod guest_sessions;
mod health;
mod holds;
mod hotels;
mod inputs;
mod inventory;
mod later_payments;
mod openapi;
mod operations;
mod payments;
mod pms;
mod problems;
mod quotes;
mod races;
mod rates;
mod reservations;
mod sandbox;
mod timeline;
mod waiting_payments;
mod webhooks;
mod world;
