//! A payment provider that can be told what to do, over HTTP.
//!
//! It behaves like a provider and not like a mock: its own process or port, its own memory (with a
//! journal, so that a restarted sandbox still knows its charges), its own idea of amounts (minor
//! units, no decimals), and a network in between that loses answers. The payment method says what
//! goes wrong, see [`Method`].
//!
//! ```text
//! PUT  /v1/authorizations/{reference}  {amount, currency, method}
//! PUT  /v1/captures/{reference}        {authorization, amount, currency}
//! PUT  /v1/voids/{reference}           {authorization}
//! PUT  /v1/refunds/{reference}         {capture, amount, currency}
//! GET  /v1/payments/{reference}        what a reference stands for; 404 `nothing`
//! GET  /v1/settlement                  what has moved, line by line (from, cursor, limit)
//!
//! GET  /simulator/charges              everything it was asked (prefix, cursor, limit)
//! GET  /simulator/charges/{reference}  one of them; wait_for=WAITING waits until it is so
//! POST /simulator/release              {reference}: a call that waits takes effect now
//! GET  /simulator/customer/{reference} the customer's page of a `pm_3ds`
//! POST /simulator/customer/{reference}/complete, .../abandon
//! POST /simulator/refunds-by-hand      {capture, amount, currency}: a refund that nobody asked us for
//! POST /simulator/refunds-fail         {reference}: a refund that had succeeded comes to nothing
//! POST /simulator/captures             {reference, authorization, amount, currency}: one that nobody asked for
//! POST /simulator/notices              {lose}: whether notices are lost on their way
//! GET  /simulator/notices              those that nobody took; Prefer: wait-for=told waits for those on their way
//! POST /simulator/faults               {lose_requests, lose_answers, repeat_notices}: in percent, by chance
//! ```
//!
//! Where it has been given an address, it tells by itself what happens: signed notices, each at least once.
//!
//! The reference is the client's, and is the identity of the call: the same reference with the same
//! input is the same charge, with other input it is refused.

mod answer;
mod book;
mod charge;
mod clock;
mod connection;
mod courier;
mod decide;
mod faults;
mod input;
mod journal;
mod ledger;
mod method;
mod notice;
mod routes;
mod server;
mod settings;
mod settlement;
mod simulator;

pub use self::{
    charge::{Charge, Kind, State},
    courier::Webhook,
    faults::Faults,
    input::{Amount, NotAReference, ReferenceName},
    journal::JournalError,
    method::Method,
    notice::{Notice, What},
    routes::control_routes,
    server::{Running, StartError, run},
    settings::Settings,
    settlement::{Movement, Statement},
    simulator::{Decided, Released, Simulator},
};
