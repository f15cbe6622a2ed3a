//! A quote promises a price, never sellability: whoever allocates asks the rules again.

use std::collections::{BTreeMap, BTreeSet};

use chrono::NaiveDate;
use keyrack_domain::{
    hotel::HotelRef,
    quote::QuoteDocument,
    restriction::{Restrictions, Rule, Violation, violations},
};
use keyrack_ledger::{Facts, Night, NightKey};

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
    let mut broken = broken(wanted, facts.now.date_in(hotel.zone), facts.restrictions.get(&hotel.id));
    broken.extend(in_conflict(hotel, wanted, &facts.nights));
    broken.sort_unstable();
    broken
}

/// Nights of which the hotel's own system says that fewer units are left than are committed. Where the nights are
/// locked nothing of them is sold from the moment at which that was recorded.
pub(crate) fn in_conflict(
    hotel: &HotelRef,
    wanted: &QuoteDocument,
    nights: &BTreeMap<NightKey, Night>,
) -> Vec<Violation> {
    let stops = |key: &NightKey| nights.get(key).is_some_and(|night| night.is_in_conflict());
    let told = |NightKey { room_type, date: night, .. }| Violation {
        night,
        rule: Rule::PmsConflict,
        room_type,
        required: None,
        given: None,
    };
    let room_types = wanted.units_by_room_type().into_keys();
    let of = |room_type| wanted.stay.nights().map(move |date| NightKey { hotel: hotel.id, room_type, date });
    room_types.flat_map(of).filter(stops).map(told).collect()
}

/// What forbids to make `wanted` of the stay `before`.
pub(crate) fn not_worse(
    hotel: &HotelRef,
    before: &QuoteDocument,
    wanted: &QuoteDocument,
    facts: &Facts,
) -> Vec<Violation> {
    let none = Restrictions::new();
    let rows = facts.restrictions.get(&hotel.id).unwrap_or(&none);
    let mut new = not_worse_by(before, wanted, facts.now.date_in(hotel.zone), rows);
    let sold = in_conflict(hotel, before, &facts.nights);
    new.extend(in_conflict(hotel, wanted, &facts.nights).into_iter().filter(|night| !sold.contains(night)));
    new.sort_unstable();
    new
}

/// What the stay that was sold breaks by now does not forbid keeping it; a stay that breaks a rule by more
/// than before is refused.
pub(crate) fn not_worse_by(
    before: &QuoteDocument,
    wanted: &QuoteDocument,
    today: NaiveDate,
    rows: &Restrictions,
) -> Vec<Violation> {
    let sold = broken(before, today, Some(rows));
    let mut new = broken(wanted, today, Some(rows));
    new.retain(|violation| !sold.contains(violation));
    new
}

fn broken(wanted: &QuoteDocument, today: NaiveDate, rows: Option<&Restrictions>) -> Vec<Violation> {
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
    if let Some(rows) = rows {
        let rooms = wanted.rooms.iter().map(|room| (room.room_type_id, room.rate_plan_id));
        broken.extend(violations(wanted.stay, today, rooms, rows));
    }
    broken
}
