//! The ledger: one skeleton through which every change of a counter goes.
//!
//! A batch runs many operations of one shard in one transaction. It reads without a lock, refuses what
//! cannot succeed, claims keys, locks aggregates and then nights in one order, decides in order of
//! arrival by pure functions, and writes once. One request is the batch of one. Read `batch.rs` from top
//! to bottom and you know how every transaction runs; the lock order holds by construction.
//!
//! What an operation is, its keys, its rows, its decision, stands with the operation in
//! `keyrack-booking`; nothing here knows what a hold is for.

mod batch;
mod changes;
mod claim;
mod facts;
mod ledger;
mod needs;
mod operation;
mod read;
mod write;

pub use changes::{Changes, Write};
pub use claim::{KeyClaim, KeyHome};
pub use facts::{Facts, HoldFacts, ReservationFacts};
pub use keyrack_store::{
    attempts::{AttemptMove, AttemptRow},
    changes::{ChangeMove, ChangeRow},
    channel_bookings::{ChannelBookingMove, ChannelBookingRow, Delivery},
    holds::{HoldRow, UnitNight},
    keys::KeyScope,
    nights::{Night, NightDelta, NightKey},
    payment_history::{Movement, MovementKind},
    pms_batches::{BatchFacts, BatchKey, BatchRow, CursorMove},
    pms_conflicts::{ConflictMove, ConflictRow},
    provider_events::{EventKey, EventRow},
    refunds::RefundRow,
    reservation_rooms::{Cancelled, NightsFrom, RoomCancelled, RoomRow},
    reservations::{ReservationMove, ReservationRow},
    scheduled_charges::{ChargeMove, ChargeRow},
    stay_changes::StayReplaced,
};
pub use ledger::{Ledger, LedgerError, Settings};
pub use needs::Needs;
pub use operation::{Decision, Found, Grounds, Operation, Outcome};
