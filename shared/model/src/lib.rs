//! The reference model: what a booking system must answer, over maps, one call at a time.
//!
//! It shares the types and the pure rules of `keyrack-domain` and nothing else with the product: no
//! database, no batches, no locks, no retries. Property tests and load runs tell it what they told
//! the product and compare the answers. Like the rules it has no clock and no chance of its own:
//! [`World::advance_to`] moves its time, and every new id is a parameter, so that the product's own
//! ids can be given to it. [`Worlds`] judges what was asked at the same time, or was not answered.

mod booking;
mod call;
mod cancel;
mod change;
mod channel;
mod desk;
mod holds;
mod invariants;
mod inventory;
mod keys;
mod nights;
mod outcome;
mod reservation;
mod world;
mod worlds;

pub use booking::{NewIds, ProviderAnswer, ProviderRecord, StartAttempt};
pub use call::{Call, Pay};
pub use cancel::Cancel;
pub use change::{Change, ConfirmChange, PriceChange};
pub use channel::{ChannelBooking, ChannelKey, Deliver, Delivery, Withdraw};
pub use desk::{GiveMoneyBack, Step, TakeStep};
pub use holds::{MakeQuote, PlaceHold, ReleaseHold};
pub use invariants::{Breach, invariants};
pub use inventory::{EditInventory, EditRules, NightEdit, StopSell};
pub use nights::{Night, NightKey, RoomNights};
pub use outcome::{Answer, Answered, Outcome, Refusal, Shortage};
pub use world::{Attempt, Hold, Hotel, LateCapture, Quote, Refund, Reservation, Settings, World};
pub use worlds::{Happening, Worlds};
