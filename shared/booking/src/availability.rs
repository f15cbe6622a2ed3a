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

/// The first night, in lock order, whose counter does not carry these held units: drift. The release
/// would drive it negative, so nothing is done and somebody is told. Never a clamp.
pub(crate) fn drift(facts: &Facts, hotel: HotelId, units: &[UnitNight]) -> Option<NightKey> {
    let mut wanted = std::collections::BTreeMap::new();
    for unit in units {
        *wanted.entry(night_of(hotel, unit)).or_insert(0) += 1;
    }
    wanted
        .into_iter()
        .find(|(key, count)| facts.nights.get(key).is_none_or(|night| night.held < *count))
        .map(|(key, _)| key)
}
