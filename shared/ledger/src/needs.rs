//! What an operation must know, and of that lock, before it can decide.

use std::collections::BTreeSet;

use keyrack_domain::{
    channel_booking::ChannelBookingKey,
    ids::{AttemptId, ChangeId, HoldId, HotelId, PrincipalId, QuoteId, ReservationId},
};
use keyrack_store::{nights::NightKey, pms_batches::BatchKey, provider_events::EventKey};

/// Sets, sorted in lock order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Needs {
    /// Immutable: read, never locked.
    pub quotes: BTreeSet<QuoteId>,
    /// Read under the advisory lock of the identifier, which whoever writes them has.
    pub channel_bookings: BTreeSet<ChannelBookingKey>,
    /// Read with the cursor of their connector, under its advisory lock.
    pub pms_batches: BTreeSet<BatchKey>,
    /// Read with their rooms and the units not given back; locked, before everything else.
    pub reservations: BTreeSet<ReservationId>,
    /// Read and locked, after the reservations.
    pub changes: BTreeSet<ChangeId>,
    /// Read with their units and their open attempt; locked.
    pub holds: BTreeSet<HoldId>,
    /// Read and locked, after the holds.
    pub attempts: BTreeSet<AttemptId>,
    /// Notices of providers: whether they are recorded, asked again under the lock of their attempt.
    pub notices: BTreeSet<EventKey>,
    /// The principal's ACTIVE holds at the hotel, under the cap's advisory lock.
    pub caps: BTreeSet<(HotelId, PrincipalId)>,
    /// Rules of these dates: read, never locked. A rule that commits a moment later governs the next sale.
    pub restrictions: BTreeSet<NightKey>,
    /// Counters that only have to be known.
    pub looked_at: BTreeSet<NightKey>,
    /// Counters that will change: locked last, in this order.
    pub nights: BTreeSet<NightKey>,
}

impl Needs {
    /// Also what `other` needs.
    pub fn add(&mut self, other: &Self) {
        self.quotes.extend(&other.quotes);
        self.channel_bookings.extend(other.channel_bookings.iter().cloned());
        self.pms_batches.extend(&other.pms_batches);
        self.reservations.extend(&other.reservations);
        self.changes.extend(&other.changes);
        self.holds.extend(&other.holds);
        self.attempts.extend(&other.attempts);
        self.notices.extend(other.notices.iter().cloned());
        self.caps.extend(&other.caps);
        self.restrictions.extend(&other.restrictions);
        self.looked_at.extend(&other.looked_at);
        self.nights.extend(&other.nights);
    }

    /// What of this is not in `known`.
    pub(crate) fn beyond(&self, known: &Self) -> Self {
        Self {
            quotes: &self.quotes - &known.quotes,
            channel_bookings: &self.channel_bookings - &known.channel_bookings,
            pms_batches: &self.pms_batches - &known.pms_batches,
            reservations: &self.reservations - &known.reservations,
            changes: &self.changes - &known.changes,
            holds: &self.holds - &known.holds,
            attempts: &self.attempts - &known.attempts,
            notices: &self.notices - &known.notices,
            caps: &self.caps - &known.caps,
            restrictions: &self.restrictions - &known.restrictions,
            looked_at: &self.looked_at - &known.looked_at,
            nights: &self.nights - &known.nights,
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Rows, identifiers and caps of `self` that `locked` does not cover; nights are locked later and do not count.
    pub(crate) fn aggregates_within(&self, locked: &Self) -> bool {
        self.channel_bookings.is_subset(&locked.channel_bookings)
            && self.pms_batches.is_subset(&locked.pms_batches)
            && self.reservations.is_subset(&locked.reservations)
            && self.changes.is_subset(&locked.changes)
            && self.holds.is_subset(&locked.holds)
            && self.attempts.is_subset(&locked.attempts)
            && self.caps.is_subset(&locked.caps)
    }
}
