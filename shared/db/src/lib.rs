//! How Keyrack talks to PostgreSQL: pools with bounds, one runner through which every transaction
//! goes, row counts that are checked, errors that say what may be done about them, and the shards.

mod connection;
mod database;
mod error;
mod migrate;
mod points;
mod probe;
mod rows;
mod schema;
mod shards;
mod snapshot;
mod transaction;

pub use connection::Connection;
pub use database::{Database, Limits};
pub use error::DbError;
pub use migrate::{MIGRATIONS, migrate};
pub use points::Points;
pub use rows::ExactRows;
pub use schema::Schema;
pub use shards::{NoSuchShard, Shards};
pub use sqlx::PgConnection;
pub use transaction::{RetriedAs, Work};
