//! Every SQL statement of the product, one file a table or aggregate.

mod read;

pub mod attempts;
pub mod audit;
pub mod bearers;
pub mod clock;
pub mod credentials;
pub mod daily_rates;
pub mod directory;
pub mod drift;
pub mod facts;
pub mod guest_sessions;
pub mod holds;
pub mod horizon;
pub mod hotels;
pub mod inventory_read;
pub mod key_claim;
pub mod keys;
pub mod locks;
pub mod nights;
pub mod outbox;
pub mod provider_ids;
pub mod quotes;
pub mod rate_plans;
pub mod refunds;
pub mod reservation_rooms;
pub mod reservations;
pub mod restrictions;
pub mod room_types;
pub mod server;
pub mod taxes;
pub mod verify;
