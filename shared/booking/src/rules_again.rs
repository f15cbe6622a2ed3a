//! A quote promises a price, never sellability: whoever allocates asks the rules again.

use std::collections::BTreeSet;

use chrono::NaiveDate;
use keyrack_domain::{
    hotel::HotelRef,
    quote::QuoteDocument,
    restriction::{Restrictions, Rule, Violation, violations},
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
    broken(wanted, facts.now.date_in(hotel.zone), facts.restrictions.get(&hotel.id))
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
    not_worse_by(before, wanted, facts.now.date_in(hotel.zone), rows)
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
