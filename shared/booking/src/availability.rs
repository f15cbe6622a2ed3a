//! What events tell of nights: the availability after a change, absolute.

use std::collections::BTreeSet;

use keyrack_domain::{
    event::{Event, InventoryChanged, NightAvailability},
    ids::HotelId,
};
use keyrack_ledger::{Changes, Facts, NightKey, UnitNight};
use keyrack_store::outbox::NewEvent;

/// Nights told in one event; a message has a bounded size.
const NIGHTS_PER_EVENT: usize = 1_000;

pub(crate) const fn night_of(hotel: HotelId, unit: &UnitNight) -> NightKey {
    NightKey { hotel, room_type: unit.room_type, date: unit.date }
}

/// Of the units' nights, in their order, each once.
pub(crate) fn after<'u>(
    facts: &Facts,
    changes: &Changes,
    hotel: HotelId,
    units: impl IntoIterator<Item = &'u UnitNight>,
) -> Vec<NightAvailability> {
    let nights: BTreeSet<NightKey> = units.into_iter().map(|unit| night_of(hotel, unit)).collect();
    nights.into_iter().filter_map(|key| changes.availability_after(facts, key)).collect()
}

/// Nights that were opened or repaired, as events.
pub(crate) fn told(hotel: HotelId, nights: &[NightAvailability]) -> Vec<NewEvent> {
    let event = |nights: &[NightAvailability]| NewEvent {
        hotel,
        event: Event::InventoryChanged(InventoryChanged { nights: nights.to_vec() }),
    };
    nights.chunks(NIGHTS_PER_EVENT).map(event).collect()
}
