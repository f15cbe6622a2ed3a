//! At the end: the product's counters against what the guests were told.

use std::collections::BTreeMap;

use chrono::{Days, NaiveDate};
use keyrack_api_types::inventory::{InventoryNight, InventoryNights};
use keyrack_domain::code::RoomTypeCode;
use reqwest::{Method, StatusCode};
use secrecy::SecretString;

use crate::{
    api::{Api, Call, CallError},
    hotels::Hotels,
    row::Hotel,
    tally::{Nights, Tally},
    timings::Step,
};

/// Of one room type in one answer, at most.
const NIGHTS_PER_CALL: u64 = 500;

/// Differences that are kept to be shown; all of them are counted.
const SHOWN: usize = 10;

#[derive(Debug, Default)]
pub(crate) struct Compared {
    pub(crate) nights: usize,
    pub(crate) differences: usize,
    pub(crate) shown: Vec<String>,
}

impl Compared {
    fn differs(&mut self, what: String) {
        self.differences += 1;
        if self.shown.len() < SHOWN {
            self.shown.push(what);
        }
    }
}

/// Every night from the first that was booked to the last, of every room type: as many confirmed as
/// guests were told and have not given back, none held any more, none sold beyond the units.
pub(crate) async fn compare(
    api: &Api,
    operator: &SecretString,
    hotels: &Hotels,
    tally: &Tally,
) -> Result<Compared, CallError> {
    let mut compared = Compared::default();
    let Some((first, last)) = range(tally) else { return Ok(compared) };
    for (hotel, room_types) in &hotels.0 {
        for (code, room_type) in room_types {
            let found = read(api, operator, *hotel, code, (first, last)).await?;
            let booked = tally.confirmed.get(&(*hotel, code.clone()));
            for night in first.iter_days().take_while(|night| *night <= last) {
                let expected = Expected {
                    units: room_type.units,
                    booked: booked.and_then(|nights| nights.get(&night)).copied().unwrap_or(0),
                };
                compared.nights += 1;
                if let Err(why) = expected.matches(found.get(&night)) {
                    compared.differs(format!("{} {code} {night}: {why}", hotel.code()));
                }
            }
        }
    }
    Ok(compared)
}

struct Expected {
    units: u32,
    booked: u32,
}

impl Expected {
    fn matches(&self, night: Option<&InventoryNight>) -> Result<(), String> {
        let Some(night) = night else { return Err("is not in the inventory".to_owned()) };
        let InventoryNight { sellable, held, confirmed, .. } = *night;
        let Self { units, booked } = *self;
        if (sellable, held, confirmed) != (units, 0, booked) {
            return Err(format!(
                "sellable {sellable}, held {held}, confirmed {confirmed}; expected {units}, 0, {booked}"
            ));
        }
        Ok(())
    }
}

/// Over both hotels.
fn range(tally: &Tally) -> Option<(NaiveDate, NaiveDate)> {
    let ends = |nights: &Nights| Some((*nights.first_key_value()?.0, *nights.last_key_value()?.0));
    let ends = tally.confirmed.values().filter_map(ends);
    ends.reduce(|(first, last), (other_first, other_last)| (first.min(other_first), last.max(other_last)))
}

async fn read(
    api: &Api,
    operator: &SecretString,
    hotel: Hotel,
    room_type: &RoomTypeCode,
    (first, last): (NaiveDate, NaiveDate),
) -> Result<BTreeMap<NaiveDate, InventoryNight>, CallError> {
    let mut found = BTreeMap::new();
    let mut from = first;
    while from <= last {
        let until = from.checked_add_days(Days::new(NIGHTS_PER_CALL - 1)).unwrap_or(last).min(last);
        let path = format!(
            "/v1/hotels/{}/inventory?room_type={room_type}&first_night={from}&last_night={until}",
            hotel.code()
        );
        let call = Call::new(Step::SetUp, Method::GET, &path, Some(operator));
        let nights: InventoryNights = api.send(call).await?.expect(StatusCode::OK)?;
        found.extend(nights.items.into_iter().map(|night| (night.night.0, night)));
        let Some(next) = until.succ_opt() else { break };
        from = next;
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use keyrack_api_types::date::Date;

    use super::*;
    use crate::sample::day;

    fn night(sellable: u32, held: u32, confirmed: u32) -> InventoryNight {
        InventoryNight {
            room_type: "A".to_owned(),
            night: Date(day("2031-05-01")),
            sellable,
            held,
            confirmed,
            available: 0,
            reported: None,
        }
    }

    #[test]
    fn a_night_matches_only_when_every_counter_does() {
        let matches = |booked, found: Option<InventoryNight>| {
            Expected { units: 3, booked }.matches(found.as_ref()).is_ok()
        };
        assert!(matches(2, Some(night(3, 0, 2))));
        assert!(!matches(2, None));
        assert!(!matches(2, Some(night(3, 1, 2))));
        assert!(!matches(2, Some(night(3, 0, 1))));
        assert!(!matches(2, Some(night(3, 0, 3))));
        assert!(!matches(2, Some(night(4, 0, 2))));
    }
}
