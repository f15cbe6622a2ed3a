//! Counters. A unit is taken only where all of a stay fits, and what is given back was there.

use std::collections::{BTreeMap, BTreeSet};

use chrono::NaiveDate;
use keyrack_domain::{
    ids::{HotelId, RoomTypeId},
    quote::{QuoteDocument, QuotedRoom},
};

use crate::{
    outcome::{Refusal, Shortage},
    world::World,
};

/// A room-night. Ordered by date before room type: the order in which a shortage is told.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct NightKey {
    pub hotel: HotelId,
    pub date: NaiveDate,
    pub room_type: RoomTypeId,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Night {
    pub sellable: u32,
    pub held: u32,
    pub confirmed: u32,
}

impl Night {
    pub const fn new(sellable: u32) -> Self {
        Self { sellable, held: 0, confirmed: 0 }
    }

    pub const fn available(self) -> u32 {
        self.sellable - self.held - self.confirmed
    }
}

pub(crate) type Units = BTreeMap<(NaiveDate, RoomTypeId), u32>;

/// Two entries of one type need two units of each night.
pub(crate) fn units_of(document: &QuoteDocument) -> Units {
    let mut units = Units::new();
    for (room_type, rooms) in document.units_by_room_type() {
        units.extend(document.stay.nights().map(|night| ((night, room_type), rooms)));
    }
    units
}

/// Room number, date, type: a room has one unit a night.
pub type RoomNights = BTreeSet<(usize, NaiveDate, RoomTypeId)>;

/// Of these rooms, by their numbers.
pub(crate) fn room_nights(document: &QuoteDocument, stands: impl Fn(usize) -> bool) -> RoomNights {
    let standing = (1..).zip(&document.rooms).filter(|(number, _)| stands(*number));
    let nights = |(number, room): (usize, &QuotedRoom)| {
        let room_type = room.room_type_id;
        document.stay.nights().map(move |date| (number, date, room_type))
    };
    standing.flat_map(nights).collect()
}

pub(crate) fn count<'a>(nights: impl IntoIterator<Item = &'a (usize, NaiveDate, RoomTypeId)>) -> Units {
    let mut units = Units::new();
    for (_, date, room_type) in nights {
        *units.entry((*date, *room_type)).or_insert(0) += 1;
    }
    units
}

/// What `these` have more of than `those`.
pub(crate) fn beyond(these: &Units, those: &Units) -> Units {
    let more = |(unit, count): (&(NaiveDate, RoomTypeId), &u32)| {
        let more = count.saturating_sub(those.get(unit).copied().unwrap_or(0));
        (more > 0).then_some((*unit, more))
    };
    these.iter().filter_map(more).collect()
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Move {
    /// Into `held`.
    Hold,
    /// Out of `held`, back on sale.
    GiveBack,
    /// From `held` to `confirmed`.
    Confirm,
    /// From sale straight to `confirmed`: a late capture that still found room, a channel's booking.
    Allocate,
    /// Out of `confirmed`, back on sale.
    GiveUp,
}

impl World {
    /// The first night, in date order, that has fewer units than wanted. Units of `given_back` are
    /// counted as free: they return in the same transaction, before the new ones are taken.
    pub(crate) fn must_fit(&self, hotel: HotelId, units: &Units, given_back: &Units) -> Result<(), Refusal> {
        for (&(date, room_type), &requested) in units {
            let night = self.nights.get(&NightKey { hotel, date, room_type });
            // A night without a row is not for sale.
            let returning = given_back.get(&(date, room_type)).copied().unwrap_or(0);
            let available = night.map_or(0, |night| night.available() + returning);
            if available < requested {
                return Err(Refusal::RoomNightUnavailable(Shortage {
                    room_type,
                    night: date,
                    requested,
                    available,
                }));
            }
        }
        Ok(())
    }

    /// The caller has made sure that it fits; a counter that would go below zero is a defect of this
    /// model and stops it.
    pub(crate) fn change(&mut self, hotel: HotelId, units: &Units, change: Move) {
        for (&(date, room_type), &k) in units {
            let night = self.nights.entry(NightKey { hotel, date, room_type }).or_default();
            match change {
                Move::Hold => night.held += k,
                Move::GiveBack => night.held -= k,
                Move::Confirm => (night.held, night.confirmed) = (night.held - k, night.confirmed + k),
                Move::Allocate => night.confirmed += k,
                Move::GiveUp => night.confirmed -= k,
            }
        }
    }
}
