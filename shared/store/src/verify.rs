//! The invariants of booking, asked of one hotel. Ask them in one snapshot: counters, holds and events of
//! different instants would disagree on a live database though nothing is wrong. Reads only.

mod at_most_one;
mod channel_bookings;
mod charges;
mod counters;
mod events;
mod hotels;
mod money;
mod pms;
mod refunds;

use std::fmt;

use chrono::NaiveDate;
use keyrack_domain::{
    code::RoomTypeCode,
    ids::{AttemptId, HoldId, RefundId, ReservationId, RoomTypeId},
};
use uuid::Uuid;

pub use at_most_one::at_most_one;
pub use counters::counters;
pub use events::events;
pub use hotels::{Listed, is_there, listed};
pub use money::money;
pub use refunds::refunds;

/// In the order of their numbers.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Invariant {
    Counters,
    Money,
    AtMostOne,
    Events,
    Projection,
    Refunds,
}

impl Invariant {
    pub const ALL: [Self; 6] =
        [Self::Counters, Self::Money, Self::AtMostOne, Self::Events, Self::Projection, Self::Refunds];

    pub const fn number(self) -> u8 {
        match self {
            Self::Counters => 1,
            Self::Money => 2,
            Self::AtMostOne => 3,
            Self::Events => 4,
            Self::Projection => 5,
            Self::Refunds => 6,
        }
    }

    pub const fn sentence(self) -> &'static str {
        match self {
            Self::Counters => "the counters of every room-night are the sums of its holds and reservations",
            Self::Money => "what was captured is kept, refunded, due back, or in an open case",
            Self::AtMostOne => {
                "a hold has at most one reservation and one open attempt, a channel's booking one reservation"
            }
            Self::Events => "every committed change has its event",
            Self::Projection => "the projection equals the counters",
            Self::Refunds => "no refunds exceed what was captured",
        }
    }
}

impl fmt::Display for Invariant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "invariant {}", self.number())
    }
}

/// What a violation was found on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Subject {
    Night {
        room_type: RoomTypeId,
        code: Option<RoomTypeCode>,
        night: NaiveDate,
    },
    Hold(HoldId),
    Attempt(AttemptId),
    Refund(RefundId),
    Reservation(ReservationId),
    /// By the identifier that its channel gave it.
    ChannelBooking {
        channel: String,
        booking: String,
    },
    /// Of a hotel's system, by its principal.
    Connector {
        connector: String,
    },
    /// An event's type, and the text of the id that it is about.
    Event {
        name: String,
        about: String,
    },
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Night { code: Some(code), night, .. } => write!(f, "{code} {night}"),
            Self::Night { room_type, code: None, night } => {
                write!(f, "room type number {room_type} {night}")
            }
            Self::Hold(id) => id.fmt(f),
            Self::Attempt(id) => id.fmt(f),
            Self::Refund(id) => id.fmt(f),
            Self::Reservation(id) => id.fmt(f),
            Self::ChannelBooking { channel, booking } => write!(f, "booking {booking} of {channel}"),
            Self::Connector { connector } => write!(f, "connector {connector}"),
            Self::Event { name, about } => write!(f, "{name} of {about}"),
        }
    }
}

/// A sentence that is not true of its subject.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Violation {
    pub subject: Subject,
    /// What must be so.
    pub rule: String,
    pub expected: String,
    pub found: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { subject, rule, expected, found } = self;
        write!(f, "{subject}: {rule}; expected {expected}, found {found}")
    }
}

/// The first of them, so that a thoroughly broken hotel still gives a report that can be read.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Violations {
    pub total: i64,
    pub first: Vec<Violation>,
}

/// A violation as a statement tells it of one kind of row.
struct Broken {
    id: Uuid,
    rule: String,
    expected: String,
    found: String,
    /// Of all, those beyond the limit included.
    total: i64,
}

impl Violations {
    fn of(rows: Vec<Broken>, subject: impl Fn(Uuid) -> Subject) -> Self {
        let total = rows.first().map_or(0, |row| row.total);
        let violation = |row: Broken| Violation {
            subject: subject(row.id),
            rule: row.rule,
            expected: row.expected,
            found: row.found,
        };
        Self { total, first: rows.into_iter().map(violation).collect() }
    }

    fn and(mut self, other: Self, shown: i64) -> Self {
        self.total += other.total;
        self.first.extend(other.first);
        self.first.truncate(usize::try_from(shown).unwrap_or(usize::MAX));
        self
    }
}
