//! What the nights of each line came to. Pure.

use chrono::NaiveDate;
use keyrack_domain::pms::LineOutcome;
use keyrack_ledger::Night;

use super::{
    effect::Effect,
    verdict::{LineVerdict, Reason},
};

pub(super) struct Lines(Vec<Tally>);

#[derive(Clone, Default)]
struct Tally {
    invalid: Option<Reason>,
    applied: bool,
    conflicts: usize,
    /// Of the first night that is one.
    conflict: Option<String>,
}

impl Lines {
    pub(super) fn of(invalid: Vec<Option<Reason>>) -> Self {
        Self(invalid.into_iter().map(|invalid| Tally { invalid, ..Tally::default() }).collect())
    }

    pub(super) fn add(&mut self, line: Option<usize>, date: NaiveDate, night: Night, effect: Effect) {
        let Some(tally) = line.and_then(|line| self.0.get_mut(line)) else { return };
        let reported = match effect {
            Effect::Unchanged => return,
            Effect::Sell(_) => {
                tally.applied = true;
                return;
            }
            Effect::Conflict(number) => number,
            Effect::StillConflict => night.reported.unwrap_or(0).into(),
        };
        tally.conflicts += 1;
        let committed = night.committed();
        tally
            .conflict
            .get_or_insert_with(|| format!("{date}: {reported} reported, {committed} held and confirmed"));
    }

    pub(super) fn verdicts(self) -> impl Iterator<Item = LineVerdict> {
        self.0.into_iter().map(|Tally { invalid, applied, conflicts, conflict }| {
            let more = |first: String| match conflicts {
                1 => first,
                more => format!("{first}; {more} nights in all"),
            };
            let (outcome, reason) = match (invalid, conflict) {
                (Some(reason), _) => (LineOutcome::Invalid, Some(reason)),
                (None, Some(first)) => {
                    (LineOutcome::Conflict, Some(Reason::new("BELOW_COMMITTED", more(first))))
                }
                (None, None) if applied => (LineOutcome::Applied, None),
                (None, None) => (LineOutcome::Unchanged, None),
            };
            LineVerdict { outcome, reason }
        })
    }
}
