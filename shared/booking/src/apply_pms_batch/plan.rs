//! Which number a batch gives to which night, and what becomes of each on a day. Pure.

use std::collections::BTreeMap;

use chrono::NaiveDate;
use keyrack_domain::{
    code::RoomTypeCode,
    hotel::RoomType,
    ids::{HotelId, RoomTypeId},
    pms::BatchMode,
};
use keyrack_ledger::{Night, NightKey};

use super::{
    effect::Effect,
    input::{self, Batch, MAX_NIGHTS, Window},
    verdict::Reason,
};
use crate::{FieldError, edit_inventory::MAX_SELLABLE, runs};

#[derive(Debug)]
pub struct Wanted {
    lines: Vec<Line>,
    nights: BTreeMap<NightKey, Named>,
    codes: BTreeMap<RoomTypeId, RoomTypeCode>,
    window: Option<Window>,
}

#[derive(Debug)]
struct Line {
    code: String,
    /// The hotel has none of that code.
    is_unknown: bool,
    first: NaiveDate,
    last: NaiveDate,
    number: i64,
}

#[derive(Clone, Copy, Debug)]
struct Named {
    /// None: a night of the window that no line names.
    line: Option<usize>,
    number: i64,
}

/// The day on which a batch is judged, and the last night that can be sold then.
#[derive(Clone, Copy, Debug)]
pub(super) struct Day {
    pub(super) today: NaiveDate,
    pub(super) last: NaiveDate,
}

#[derive(Debug)]
pub(super) struct Judged {
    /// By line: why nothing of it is applied.
    pub(super) invalid: Vec<Option<Reason>>,
    /// In lock order, of the lines that are applied and of what a window closes.
    pub(super) effects: Vec<(NightKey, Option<usize>, Effect)>,
}

impl Wanted {
    /// Codes are compared as they are written: nothing is guessed.
    pub(super) fn of(
        hotel: HotelId,
        batch: Batch,
        room_types: Vec<RoomType>,
    ) -> Result<Self, Vec<FieldError>> {
        let mut nights = BTreeMap::new();
        let mut lines = Vec::with_capacity(batch.lines.len());
        for (place, line) in batch.lines.into_iter().enumerate() {
            let input::Line { room_type: code, nights: dates, number } = line;
            let room_type = room_types.iter().find(|room_type| room_type.code.as_str() == code);
            let named = Named { line: Some(place), number };
            if let Some(room_type) = room_type.map(|room_type| room_type.id) {
                nights.extend(dates.iter().map(|date| (NightKey { hotel, room_type, date: *date }, named)));
            }
            if let (Some(first), Some(last)) = (dates.first().copied(), dates.last().copied()) {
                lines.push(Line { code, is_unknown: room_type.is_none(), first, last, number });
            }
        }
        if let Some(Window { first_night, last_night }) = batch.window {
            for date in runs::nights(first_night, last_night) {
                for room_type in room_types.iter().map(|room_type| room_type.id) {
                    let closed = Named { line: None, number: 0 };
                    nights.entry(NightKey { hotel, room_type, date }).or_insert(closed);
                }
                if nights.len() > MAX_NIGHTS {
                    return Err(vec![input::too_many()]);
                }
            }
        }
        let codes = room_types.into_iter().map(|room_type| (room_type.id, room_type.code)).collect();
        Ok(Self { lines, nights, codes, window: batch.window })
    }

    pub(super) fn nights(&self) -> impl Iterator<Item = NightKey> {
        self.nights.keys().copied()
    }

    pub(super) const fn count(&self) -> usize {
        self.lines.len()
    }

    pub(super) fn code(&self, room_type: RoomTypeId) -> &str {
        self.codes.get(&room_type).map_or("", RoomTypeCode::as_str)
    }

    /// A line is applied to all its nights, or to none.
    pub(super) fn judge(&self, mode: BatchMode, day: Day, known: &BTreeMap<NightKey, Night>) -> Judged {
        let mut invalid: Vec<Option<Reason>> =
            self.lines.iter().map(|line| self.wrong(line, mode, day)).collect();
        let mut effects = Vec::with_capacity(self.nights.len());
        for (key, named) in &self.nights {
            let night = known.get(key);
            let Some(line) = named.line else {
                // What has passed or was never opened needs no closing.
                effects.extend(
                    night
                        .filter(|_| key.date >= day.today)
                        .map(|night| (*key, None, Effect::of(mode, named.number, *night))),
                );
                continue;
            };
            if invalid[line].is_some() {
                continue;
            }
            let effect = night.map(|night| Effect::of(mode, named.number, *night));
            match effect {
                None => invalid[line] = Some(not_open(key.date)),
                Some(effect) if !effect.number().is_none_or(fits) => {
                    invalid[line] = Some(out_of_range(key.date));
                }
                Some(effect) => effects.push((*key, Some(line), effect)),
            }
        }
        effects.retain(|(_, line, _)| line.is_none_or(|line| invalid[line].is_none()));
        Judged { invalid, effects }
    }

    /// What is wrong with a line whatever its nights carry.
    fn wrong(&self, line: &Line, mode: BatchMode, day: Day) -> Option<Reason> {
        let Line { code, is_unknown, first, last, number } = line;
        if *is_unknown {
            let code: String = code.chars().take(64).collect();
            return Some(Reason::new("UNKNOWN_ROOM_TYPE", format!("the hotel has no room type {code}")));
        }
        let most = i64::from(MAX_SELLABLE);
        if mode == BatchMode::Delta && !(-most..=most).contains(number) {
            return Some(Reason::new("OUT_OF_RANGE", format!("change must be -{most} to {most}")));
        }
        if mode != BatchMode::Delta && !fits(*number) {
            return Some(Reason::new("OUT_OF_RANGE", format!("sellable must be 0 to {most}")));
        }
        if *first < day.today {
            let rule = format!("{first} is past: the hotel's today is {}", day.today);
            return Some(Reason::new("PAST_DATE", rule));
        }
        if *last > day.last {
            let rule = format!("{last} is beyond the horizon, which ends with {}", day.last);
            return Some(Reason::new("OUT_OF_HORIZON", rule));
        }
        let window = self.window?;
        let outside = *first < window.first_night || *last > window.last_night;
        outside.then(|| Reason::new("OUT_OF_WINDOW", "is not within the window of the batch".to_owned()))
    }
}

fn fits(number: i64) -> bool {
    (0..=i64::from(MAX_SELLABLE)).contains(&number)
}

fn not_open(night: NaiveDate) -> Reason {
    Reason::new("OUT_OF_HORIZON", format!("{night} has not been opened for sale"))
}

fn out_of_range(night: NaiveDate) -> Reason {
    Reason::new("OUT_OF_RANGE", format!("{night} would have other than 0 to {MAX_SELLABLE} units"))
}
