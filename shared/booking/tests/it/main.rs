//! Use cases on a real PostgreSQL.
#![expect(clippy::expect_used, reason = "a test that cannot be set up has failed")]

mod adjacent;
mod amounts;
mod authorized;
mod batches;
mod contention;
mod create_hotel;
mod credentials;
mod demo;
mod desk_world;
mod disconnects;
mod edges;
mod holds;
mod horizon;
mod keys;
mod late_captures;
mod lost_commits;
mod model;
mod payments;
mod quotes;
mod races;
mod rates;
mod repair;
mod repeats;
mod restrictions;
mod season;
mod stop_sell;
mod time_zones;
mod timings;
mod two_instants;
mod two_processes;
mod two_shards;
mod types;
mod verify;
mod violations;
mod world;
