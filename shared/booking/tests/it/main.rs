//! Use cases on a real PostgreSQL.
#![expect(clippy::expect_used, reason = "a test that cannot be set up has failed")]

mod batches;
mod create_hotel;
mod credentials;
mod demo;
mod desk_world;
mod disconnects;
mod holds;
mod horizon;
mod model;
mod payments;
mod quotes;
mod races;
mod rates;
mod repair;
mod restrictions;
mod season;
mod timings;
mod two_processes;
mod two_shards;
mod verify;
mod violations;
mod world;
