//! Booking: the operations on counters and the use cases around them, one file each.
//! An operation reads from top to bottom as its transaction does.

mod amount;
mod availability;
mod drift;
mod ended;
mod entropy;
mod fault;
mod field_error;
mod key;
mod key_claim;
mod measured_provider;
mod pay;
mod repeat;
mod runs;
mod token;

pub mod bookings;
pub mod cancel;
pub mod change;
pub mod confirm;
pub mod create_hotel;
pub mod credentials;
pub mod demo;
pub mod desk;
pub mod edit_inventory;
pub mod expire;
pub mod fail_attempt;
pub mod forget_keys;
pub mod give_up_booking;
pub mod guest_sessions;
pub mod hotel_directory;
pub mod hotel_view;
pub mod inventory_view;
pub mod night_range;
pub mod nights_query;
pub mod operations;
pub mod outbox_age;
pub mod place_hold;
pub mod quote;
pub mod rates;
pub mod reconcile;
pub mod refund;
pub mod release;
pub mod repair;
pub mod reservations;
pub mod restrictions;
pub mod roll_horizon;
pub mod sandbox_clock;
pub mod start_attempt;
pub mod verify;
pub mod views;

pub use desk::{Desk, Settings};
pub use fault::Fault;
pub use field_error::FieldError;
pub use keyrack_ledger::RoomRow;
pub use repeat::{Answered, KeyRefusal};
