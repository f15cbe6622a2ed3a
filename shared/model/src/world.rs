//! What exists: the tables of the product as maps.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use chrono_tz::Tz;
use keyrack_domain::{
    attempt::AttemptState,
    clock::Moment,
    guest::Guest,
    hold::HoldState,
    ids::{AttemptId, ChangeId, HoldId, HotelId, PrincipalId, QuoteId, RefundId, ReservationId},
    method_token::MethodToken,
    money::Money,
    operation_key::OperationKey,
    quote::QuoteDocument,
    refund::RefundState,
    reservation::ReservationState,
    restriction::Restrictions,
    tax::Tax,
};

use crate::{
    change::Change,
    channel::{ChannelBooking, ChannelKey},
    keys::Keys,
    nights::{Night, NightKey, RoomNights, Units},
};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Settings {
    /// ACTIVE holds that one principal may have at one hotel.
    pub holds_per_principal: usize,
    pub hold_valid_for: Duration,
    /// How long an attempt in flight keeps its hold from expiring, and after which the sweep asks.
    pub auth_timeout: Duration,
    /// After the deadline, before "nothing there" is believed: a request may still be travelling.
    pub travelling: Duration,
    pub late_capture: LateCapture,
    /// Definite failures after which a refund waits for an operator.
    pub refund_tries: u32,
    /// How long a recorded answer is repeated blindly, and how long its key is known.
    pub keys_repeat_for: Duration,
    pub keys_known_for: Duration,
}

/// What becomes of money that came after its hold was gone.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LateCapture {
    /// One fresh allocation is tried; a refund if it does not fit.
    Reallocate,
    Refund,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            holds_per_principal: 5,
            hold_valid_for: Duration::from_secs(600),
            auth_timeout: Duration::from_secs(120),
            travelling: Duration::from_secs(60),
            late_capture: LateCapture::Refund,
            refund_tries: 5,
            keys_repeat_for: Duration::from_secs(24 * 3600),
            keys_known_for: Duration::from_secs(7 * 24 * 3600),
        }
    }
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Hotel {
    pub zone: Tz,
    pub restrictions: Restrictions,
    pub taxes: Vec<Tax>,
    /// Who works there.
    pub staff: BTreeSet<PrincipalId>,
}

impl Hotel {
    pub const fn new(zone: Tz) -> Self {
        Self { zone, restrictions: BTreeMap::new(), taxes: Vec::new(), staff: BTreeSet::new() }
    }
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Quote {
    pub principal: PrincipalId,
    pub document: QuoteDocument,
    pub expires_at: Moment,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Hold {
    pub principal: PrincipalId,
    pub document: QuoteDocument,
    pub state: HoldState,
    pub expires_at: Moment,
    pub deferred_until: Option<Moment>,
    /// What it has of the counters: of a change only what the new stay adds.
    pub(crate) units: Units,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Attempt {
    pub principal: PrincipalId,
    pub key: OperationKey,
    pub hold: HoldId,
    /// What it pays for, where that is no booking.
    pub change: Option<ChangeId>,
    pub method: MethodToken,
    pub guest: Guest,
    pub amount: Money,
    pub state: AttemptState,
    pub deadline: Moment,
    /// What the provider is known to have taken.
    pub captured: Money,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Reservation {
    /// The guest, or the channel.
    pub principal: PrincipalId,
    /// None where a channel has booked.
    pub hold: Option<HoldId>,
    pub state: ReservationState,
    pub version: i32,
    /// As it stands, and with the rooms that were cancelled: a room's number is its place, from 1.
    pub document: QuoteDocument,
    /// The rooms that do not stand any more, and what that cost.
    pub cancelled: BTreeMap<usize, Money>,
    /// What the cancellation of a room gave back of the payments.
    pub gave: BTreeMap<usize, Money>,
    pub nights: RoomNights,
    /// By a no-show or an early departure.
    pub given_back: RoomNights,
    /// For the nights that changes gave up.
    pub fees: Money,
    /// The attempts, first to last.
    pub paid_by: Vec<AttemptId>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Refund {
    pub attempt: AttemptId,
    pub amount: Money,
    pub state: RefundState,
    /// Rises only after a definite failure.
    pub tries: u32,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct World {
    pub settings: Settings,
    pub now: Moment,
    pub hotels: BTreeMap<HotelId, Hotel>,
    pub nights: BTreeMap<NightKey, Night>,
    pub quotes: BTreeMap<QuoteId, Quote>,
    pub holds: BTreeMap<HoldId, Hold>,
    pub attempts: BTreeMap<AttemptId, Attempt>,
    pub reservations: BTreeMap<ReservationId, Reservation>,
    pub refunds: BTreeMap<RefundId, Refund>,
    pub changes: BTreeMap<ChangeId, Change>,
    pub channel_bookings: BTreeMap<ChannelKey, ChannelBooking>,
    pub(crate) keys: Keys,
}

impl World {
    pub fn new(settings: Settings, now: Moment) -> Self {
        Self {
            settings,
            now,
            hotels: BTreeMap::new(),
            nights: BTreeMap::new(),
            quotes: BTreeMap::new(),
            holds: BTreeMap::new(),
            attempts: BTreeMap::new(),
            reservations: BTreeMap::new(),
            refunds: BTreeMap::new(),
            changes: BTreeMap::new(),
            channel_bookings: BTreeMap::new(),
            keys: Keys::default(),
        }
    }

    /// Forward only; an earlier instant changes nothing.
    pub fn advance_to(&mut self, now: Moment) {
        self.now = self.now.max(now);
    }

    pub fn open_attempt_of(&self, hold: HoldId) -> Option<AttemptId> {
        let mut open =
            self.attempts.iter().filter(|(_, attempt)| attempt.hold == hold && attempt.state.is_open());
        open.next().map(|(id, _)| *id)
    }
}
