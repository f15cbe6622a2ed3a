//! What a reported number does to a night. Pure.

use keyrack_domain::pms::BatchMode;
use keyrack_ledger::Night;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Effect {
    /// It has that number already, and nothing waits.
    Unchanged,
    /// So many can be sold; a conflict that waited has ended.
    Sell(i64),
    /// Below what is held and confirmed: sold no more, and somebody has to decide.
    Conflict(i64),
    /// As the conflict that waits says.
    StillConflict,
}

impl Effect {
    /// A delta counts from what the hotel's system knows: its own number, where that was not applied.
    pub(super) fn of(mode: BatchMode, number: i64, night: Night) -> Self {
        let known = i64::from(night.reported.unwrap_or(night.sellable));
        let number = if mode == BatchMode::Delta { known.saturating_add(number) } else { number };
        if number < i64::from(night.committed()) {
            return if night.reported.map(i64::from) == Some(number) {
                Self::StillConflict
            } else {
                Self::Conflict(number)
            };
        }
        if night.reported.is_none() && number == i64::from(night.sellable) {
            return Self::Unchanged;
        }
        Self::Sell(number)
    }

    pub(super) const fn number(self) -> Option<i64> {
        match self {
            Self::Sell(number) | Self::Conflict(number) => Some(number),
            Self::Unchanged | Self::StillConflict => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_night_takes_a_number_keeps_it_or_contradicts_it() {
        use BatchMode::{Absolute, Delta, Full};
        // Sellable, committed, reported; mode and number.
        let cases = [
            ((5, 0, None), Absolute, 4, Effect::Sell(4)),
            ((5, 0, None), Absolute, 5, Effect::Unchanged),
            ((5, 4, None), Absolute, 4, Effect::Sell(4)),
            ((5, 4, None), Absolute, 2, Effect::Conflict(2)),
            ((5, 4, Some(2)), Absolute, 2, Effect::StillConflict),
            ((5, 4, Some(2)), Absolute, 3, Effect::Conflict(3)),
            ((5, 4, Some(2)), Absolute, 5, Effect::Sell(5)),
            ((5, 4, None), Full, 0, Effect::Conflict(0)),
            ((5, 0, None), Delta, -2, Effect::Sell(3)),
            ((5, 0, None), Delta, 0, Effect::Unchanged),
            ((5, 4, None), Delta, -2, Effect::Conflict(3)),
            ((5, 4, Some(3)), Delta, -1, Effect::Conflict(2)),
            ((5, 4, Some(3)), Delta, 0, Effect::StillConflict),
            ((5, 4, Some(3)), Delta, 1, Effect::Sell(4)),
            ((5, 0, None), Delta, i64::MAX, Effect::Sell(i64::MAX)),
        ];
        for ((sellable, confirmed, reported), mode, number, effect) in cases {
            let night = Night { sellable, held: 0, confirmed, reported };
            assert_eq!(Effect::of(mode, number, night), effect, "{night:?} {mode:?} {number}");
        }
    }
}
