//! A batch as it came, and everything that is wrong with it whatever the hotel has and whatever the day.

use std::collections::HashMap;

use chrono::{NaiveDate, Weekday};
use keyrack_domain::pms::BatchMode;
use serde::Serialize;

use crate::{FieldError, night_range::NightRange};

/// Lines of a batch, and nights in all of them; of a full one the nights that it closes count too.
pub const MAX_LINES: usize = 10_000;
pub const MAX_NIGHTS: usize = 10_000;

/// More of the same would tell nothing new.
const MAX_FAULTS: usize = 100;

/// Both ends are nights.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct Window {
    pub first_night: NaiveDate,
    pub last_night: NaiveDate,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct BatchInput {
    pub sequence: i64,
    pub mode: BatchMode,
    pub window: Option<Window>,
    pub lines: Vec<LineInput>,
}

/// One night, or a range of them.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct LineInput {
    pub room_type: String,
    pub night: Option<NaiveDate>,
    pub first_night: Option<NaiveDate>,
    pub last_night: Option<NaiveDate>,
    pub weekdays: Option<Vec<Weekday>>,
    pub sellable: Option<i64>,
    pub change: Option<i64>,
}

/// A batch that can only be meant in one way.
#[derive(Debug)]
pub(super) struct Batch {
    pub(super) sequence: i64,
    pub(super) mode: BatchMode,
    pub(super) window: Option<Window>,
    pub(super) lines: Vec<Line>,
}

#[derive(Debug)]
pub(super) struct Line {
    pub(super) room_type: String,
    pub(super) nights: Vec<NaiveDate>,
    /// Units in total, or what is added to them.
    pub(super) number: i64,
}

pub(super) fn read(input: BatchInput) -> Result<Batch, Vec<FieldError>> {
    let BatchInput { sequence, mode, window, lines } = input;
    let mut faults = around(sequence, mode, window, lines.len());
    if !faults.is_empty() {
        return Err(faults);
    }
    let mut read = Vec::with_capacity(lines.len());
    let mut left = MAX_NIGHTS;
    for (place, line) in lines.into_iter().enumerate() {
        match line_of(&format!("/nights/{place}"), mode, line, left) {
            Ok(line) => {
                left = match left.checked_sub(line.nights.len()) {
                    Some(left) => left,
                    None => return Err(vec![too_many()]),
                };
                read.push(line);
            }
            Err(wrong) => faults.extend(wrong),
        }
        if faults.len() >= MAX_FAULTS {
            break;
        }
    }
    if faults.is_empty() {
        faults = named_twice(&read);
    }
    if faults.is_empty() { Ok(Batch { sequence, mode, window, lines: read }) } else { Err(faults) }
}

fn around(sequence: i64, mode: BatchMode, window: Option<Window>, lines: usize) -> Vec<FieldError> {
    let mut faults = Vec::new();
    if sequence < 1 {
        faults.push(FieldError::new("/sequence", "OUT_OF_RANGE", "must be at least 1"));
    }
    let least = usize::from(mode != BatchMode::Full);
    if !(least..=MAX_LINES).contains(&lines) {
        let rule = format!("must have {least} to {MAX_LINES} lines");
        faults.push(FieldError::new("/nights", "OUT_OF_RANGE", rule));
    }
    match (mode, window) {
        (BatchMode::Full, None) => {
            let rule = "a full batch says which nights it is complete for";
            faults.push(FieldError::new("/window", "REQUIRED", rule));
        }
        (BatchMode::Full, Some(window)) if window.last_night < window.first_night => {
            let rule = "must not be before first_night; both are nights";
            faults.push(FieldError::new("/window/last_night", "INVALID_RANGE", rule));
        }
        (BatchMode::Absolute | BatchMode::Delta, Some(_)) => {
            faults.push(FieldError::new("/window", "NOT_ALLOWED", "belongs to a full batch"));
        }
        (BatchMode::Full, Some(_)) | (BatchMode::Absolute | BatchMode::Delta, None) => {}
    }
    faults
}

/// With at most one night more than `most`: a range may be endless.
fn line_of(pointer: &str, mode: BatchMode, line: LineInput, most: usize) -> Result<Line, Vec<FieldError>> {
    let mut faults = Vec::new();
    let (field, number, other) = match mode {
        BatchMode::Delta => ("change", line.change, line.sellable.map(|_| "sellable")),
        BatchMode::Absolute | BatchMode::Full => ("sellable", line.sellable, line.change.map(|_| "change")),
    };
    if number.is_none() {
        let rule = format!("a line of a batch of mode {} has it", mode.as_str());
        faults.push(FieldError::new(format!("{pointer}/{field}"), "REQUIRED", rule));
    }
    if let Some(other) = other {
        let rule = format!("a line of a batch of mode {} has {field} instead", mode.as_str());
        faults.push(FieldError::new(format!("{pointer}/{other}"), "NOT_ALLOWED", rule));
    }
    let range = match (line.night, line.first_night, line.last_night, line.weekdays) {
        (Some(night), None, None, None) => Some(NightRange::new(night, night, None)),
        (None, Some(first), Some(last), weekdays) => Some(NightRange::new(first, last, weekdays)),
        _ => {
            let rule = "has night, or first_night and last_night with weekdays where they narrow it";
            faults.push(FieldError::new(pointer, "INVALID_RANGE", rule));
            None
        }
    };
    let wrong = range.iter().flat_map(|range| range.faults(pointer));
    faults.extend(wrong);
    match (range, number) {
        (Some(range), Some(number)) if faults.is_empty() => {
            let nights: Vec<NaiveDate> = range.nights().take(most + 1).collect();
            if nights.is_empty() {
                let rule = "none of these days lies in the range";
                return Err(vec![FieldError::new(format!("{pointer}/weekdays"), "NO_NIGHT", rule)]);
            }
            Ok(Line { room_type: line.room_type, nights, number })
        }
        _ => Err(faults),
    }
}

pub(super) fn too_many() -> FieldError {
    let rule = format!("name more than {MAX_NIGHTS} nights together; send several batches");
    FieldError::new("/nights", "TOO_MANY_NIGHTS", rule)
}

/// Which of two numbers is meant would depend on their order: the whole batch is refused.
fn named_twice(lines: &[Line]) -> Vec<FieldError> {
    let mut seen: HashMap<(&str, NaiveDate), usize> = HashMap::new();
    let mut faults = Vec::new();
    for (place, line) in lines.iter().enumerate() {
        let again = line.nights.iter().find_map(|night| {
            let earlier = seen.insert((line.room_type.as_str(), *night), place)?;
            Some((night, earlier))
        });
        if let Some((night, earlier)) = again {
            let rule = format!("{night} of this room type stands in /nights/{earlier} already");
            faults.push(FieldError::new(format!("/nights/{place}"), "DUPLICATE_NIGHT", rule));
        }
        if faults.len() >= MAX_FAULTS {
            break;
        }
    }
    faults
}

#[cfg(test)]
#[path = "input_tests.rs"]
mod tests;
