//! A quote promises a price, never sellability: whoever allocates asks the rules again.

use std::collections::BTreeSet;

use keyrack_domain::{
    hotel::HotelRef,
    quote::QuoteDocument,
    restriction::{Rule, Violation, violations},
};
use keyrack_ledger::{Facts, NightKey};

/// The dates whose restrictions [`in_the_way`] looks at: the nights and the day of departure, of every type.
pub(crate) fn dates(hotel: &HotelRef, wanted: &QuoteDocument) -> BTreeSet<NightKey> {
    let stay = wanted.stay;
    let of = |room_type| {
        let dates = stay.nights().chain([stay.check_out()]);
        dates.map(move |date| NightKey { hotel: hotel.id, room_type, date })
    };
    wanted.units_by_room_type().into_keys().flat_map(of).collect()
}

/// What forbids the stay now, by the hotel's date.
pub(crate) fn in_the_way(hotel: &HotelRef, wanted: &QuoteDocument, facts: &Facts) -> Vec<Violation> {
    let today = facts.now.date_in(hotel.zone);
    let mut broken: Vec<Violation> = Vec::new();
    if wanted.stay.check_in() < today {
        broken.extend(wanted.units_by_room_type().into_keys().map(|room_type| Violation {
            night: wanted.stay.check_in(),
            rule: Rule::PastDate,
            room_type,
            required: None,
            given: None,
        }));
    }
    if let Some(rows) = facts.restrictions.get(&hotel.id) {
        let rooms = wanted.rooms.iter().map(|room| (room.room_type_id, room.rate_plan_id));
        broken.extend(violations(wanted.stay, today, rooms, rows));
    }
    broken
}
