//! What events tell of nights: the availability after a change, absolute.

use std::collections::BTreeSet;

use keyrack_domain::{event::NightAvailability, ids::HotelId};
use keyrack_ledger::{Changes, Facts, NightKey, UnitNight};

pub(crate) const fn night_of(hotel: HotelId, unit: &UnitNight) -> NightKey {
    NightKey { hotel, room_type: unit.room_type, date: unit.date }
}

/// Of the units' nights, in their order, each once.
pub(crate) fn after(
    facts: &Facts,
    changes: &Changes,
    hotel: HotelId,
    units: &[UnitNight],
) -> Vec<NightAvailability> {
    let nights: BTreeSet<NightKey> = units.iter().map(|unit| night_of(hotel, unit)).collect();
    nights.into_iter().filter_map(|key| changes.availability_after(facts, key)).collect()
}
