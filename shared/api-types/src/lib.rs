//! Requests and responses of the HTTP API, nothing else.
//!
//! A request refuses what it does not know. A response is made from domain types by `From`, so
//! that what is said is decided in one place.

pub mod booking;
pub mod cancellation;
pub mod change;
pub mod channel_booking;
pub mod code;
pub mod credential;
pub mod date;
pub mod explanation;
pub mod figure;
pub mod front_desk;
pub mod guest;
pub mod guest_session;
pub mod health;
pub mod hold;
pub mod hotel;
pub mod instant;
pub mod inventory;
pub mod money;
pub mod notice;
pub mod operation;
pub mod ops;
pub mod page;
pub mod pms;
pub mod policy;
pub mod problem;
pub mod quote;
pub mod quoted;
pub mod rate;
pub mod reference;
pub mod reservation;
pub mod restriction;
pub mod sandbox;
pub mod schedule;
pub mod shortage;
pub mod timeline;
pub mod violation;
pub mod weekday;
