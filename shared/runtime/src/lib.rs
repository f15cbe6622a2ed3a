//! How a Keyrack process lives: configuration, signals, two-stage stop, health, the worker loop, and a
//! PostgreSQL of its own.

pub mod health;
pub mod private_postgres;
pub mod settings;
mod stop;
pub mod worker;

pub use stop::{Drained, Stop};
