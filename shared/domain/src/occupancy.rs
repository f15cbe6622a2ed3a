//! Who may sleep in a room. What does not fit is refused and told, never clamped.

use serde::{Deserialize, Serialize};

use crate::{
    code::{RatePlanCode, RoomTypeCode},
    hotel::RoomType,
    text::{TextFault, check_text},
};

/// Below this age a guest counts as a child.
pub const ADULT_FROM_AGE: u8 = 18;

/// The longest wish that can be noted on a room, in code points.
pub const MAX_NOTE: usize = 2_000;

/// One room as it is asked for.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct RoomRequest {
    pub room_type: RoomTypeCode,
    pub rate_plan: RatePlanCode,
    pub adults: u16,
    pub children_ages: Vec<u8>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// Why these guests do not fit this room.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum OccupancyFault {
    #[error("a room needs at least one adult")]
    NoAdult,
    #[error("the room takes at most {max} adults, {given} were asked for")]
    TooManyAdults { max: u16, given: usize },
    #[error("the room takes at most {max} children, {given} were asked for")]
    TooManyChildren { max: u16, given: usize },
    #[error("the room takes at most {max} guests, {given} were asked for")]
    TooManyGuests { max: u16, given: usize },
    /// `child` is the place in the list of ages, from 0.
    #[error("a child's age is 0 to 17, {given} was given")]
    ChildAge { child: usize, given: u8 },
    #[error("the note {0}")]
    Note(TextFault),
}

impl OccupancyFault {
    /// Stable name, for the `code` of an error in a request.
    pub const fn code(self) -> &'static str {
        match self {
            Self::NoAdult
            | Self::TooManyAdults { .. }
            | Self::TooManyChildren { .. }
            | Self::TooManyGuests { .. } => "OCCUPANCY",
            Self::ChildAge { .. } => "CHILD_AGE",
            Self::Note(fault) => fault.code(),
        }
    }
}

impl RoomRequest {
    pub fn guests(&self) -> usize {
        usize::from(self.adults) + self.children_ages.len()
    }

    /// Everything about this request that the room does not allow; empty when it fits.
    pub fn faults(&self, room: &RoomType) -> Vec<OccupancyFault> {
        let (adults, children) = (usize::from(self.adults), self.children_ages.len());
        let mut faults = Vec::new();
        if adults == 0 {
            faults.push(OccupancyFault::NoAdult);
        }
        if adults > usize::from(room.max_adults) {
            faults.push(OccupancyFault::TooManyAdults { max: room.max_adults, given: adults });
        }
        if children > usize::from(room.max_children) {
            faults.push(OccupancyFault::TooManyChildren { max: room.max_children, given: children });
        }
        if self.guests() > usize::from(room.max_occupancy) {
            faults.push(OccupancyFault::TooManyGuests { max: room.max_occupancy, given: self.guests() });
        }
        let too_old = self.children_ages.iter().enumerate().filter(|(_, age)| **age >= ADULT_FROM_AGE);
        faults.extend(too_old.map(|(child, age)| OccupancyFault::ChildAge { child, given: *age }));
        let note = self.note.as_deref().map_or(Ok(()), |note| check_text(note, MAX_NOTE));
        faults.extend(note.err().map(OccupancyFault::Note));
        faults
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    fn faults(adults: u16, children_ages: &[u8]) -> Vec<OccupancyFault> {
        // At most 2 adults, 2 children, 3 guests.
        sample::request(adults, children_ages).faults(&sample::room_type())
    }

    /// B107: no adult is refused, like everything beyond the room's limits.
    #[test]
    fn b107_what_does_not_fit_is_told_completely_and_never_clamped() {
        use OccupancyFault::{ChildAge, NoAdult, TooManyAdults, TooManyChildren, TooManyGuests};
        let cases: [(u16, &[u8], &[OccupancyFault]); 9] = [
            (1, &[], &[]),
            (2, &[17], &[]),
            (1, &[0, 17], &[]),
            (0, &[], &[NoAdult]),
            (0, &[4], &[NoAdult]),
            (3, &[], &[TooManyAdults { max: 2, given: 3 }]),
            (2, &[1, 2], &[TooManyGuests { max: 3, given: 4 }]),
            (1, &[18], &[ChildAge { child: 0, given: 18 }]),
            (
                u16::MAX,
                &[1, 255, 3],
                &[
                    TooManyAdults { max: 2, given: 65_535 },
                    TooManyChildren { max: 2, given: 3 },
                    TooManyGuests { max: 3, given: 65_538 },
                    ChildAge { child: 1, given: 255 },
                ],
            ),
        ];
        for (adults, ages, expected) in cases {
            assert_eq!(faults(adults, ages), expected, "{adults} adults, children {ages:?}");
        }
    }

    #[test]
    fn b132_a_note_that_cannot_be_stored_is_refused() {
        let mut request = sample::request(2, &[]);
        request.note = Some("high\0floor".to_owned());
        let faults = request.faults(&sample::room_type());
        assert_eq!(faults, [OccupancyFault::Note(TextFault::ControlCharacter)]);
        assert_eq!(faults[0].code(), "CONTROL_CHARACTER");
    }
}
