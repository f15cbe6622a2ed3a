//! The pure part of Keyrack: what a hotel booking is and which rules it obeys.
//!
//! No IO, no async, no clock and no randomness of its own: time and chance are parameters.
//! Everything here can be tested without a database, and is.

pub mod actor;
pub mod attempt;
pub mod cancellation;
pub mod change;
pub mod channel_booking;
pub mod clock;
pub mod code;
pub mod event;
pub mod explanation;
pub mod guest;
pub mod hold;
pub mod horizon;
pub mod hotel;
pub mod hotel_profile;
pub mod ids;
pub mod local_time;
pub mod method_token;
pub mod money;
pub mod notice;
pub mod occupancy;
pub mod operation_key;
pub mod page_url;
pub mod pms;
pub mod policy;
pub mod pricing;
pub mod principal;
pub mod quote;
pub mod refund;
pub mod reservation;
pub mod restriction;
pub mod rule_version;
pub mod schedule;
pub mod spread;
pub mod stay;
pub mod tax;
pub mod text;
pub mod token;

#[cfg(test)]
mod sample;
