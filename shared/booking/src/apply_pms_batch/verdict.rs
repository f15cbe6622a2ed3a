//! What the lines of a batch came to, as it is kept and told.

use std::borrow::Cow;

use keyrack_db::DbError;
use keyrack_domain::{
    clock::Moment,
    ids::ConflictId,
    pms::{BatchMode, BatchOutcome, LineOutcome},
};
use keyrack_ledger::{BatchKey, BatchRow};
use serde::{Deserialize, Serialize};

/// Why a line was not applied, or not on all its nights.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Reason {
    /// Stable, upper snake case: `UNKNOWN_ROOM_TYPE`.
    pub code: Cow<'static, str>,
    /// For a person.
    pub detail: String,
}

impl Reason {
    pub(super) const fn new(code: &'static str, detail: String) -> Self {
        Self { code: Cow::Borrowed(code), detail }
    }
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct LineVerdict {
    pub outcome: LineOutcome,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<Reason>,
}

/// Lines in a row that are alike.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
struct Run {
    lines: usize,
    #[serde(flatten)]
    verdict: LineVerdict,
}

#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Verdicts {
    runs: Vec<Run>,
    /// Those that wait on nights of the batch.
    pub conflicts: Vec<ConflictId>,
    /// Nights whose number of units is another one than before.
    pub nights_changed: u32,
}

impl Verdicts {
    pub(super) fn new(
        lines: impl IntoIterator<Item = LineVerdict>,
        conflicts: Vec<ConflictId>,
        nights_changed: u32,
    ) -> Self {
        let mut runs: Vec<Run> = Vec::new();
        for verdict in lines {
            match runs.last_mut() {
                Some(run) if run.verdict == verdict => run.lines += 1,
                _ => runs.push(Run { lines: 1, verdict }),
            }
        }
        Self { runs, conflicts, nights_changed }
    }

    /// In the order of the batch.
    pub fn lines(&self) -> impl Iterator<Item = &LineVerdict> {
        self.runs.iter().flat_map(|run| std::iter::repeat_n(&run.verdict, run.lines))
    }

    pub fn count(&self, outcome: LineOutcome) -> u64 {
        let runs = self.runs.iter().filter(|run| run.verdict.outcome == outcome);
        runs.map(|run| run.lines as u64).sum()
    }
}

/// A batch that was taken.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BatchView {
    pub key: BatchKey,
    pub mode: BatchMode,
    pub outcome: BatchOutcome,
    pub received_at: Moment,
    pub verdicts: Verdicts,
}

impl BatchView {
    pub(super) fn of(row: &BatchRow) -> Result<Self, DbError> {
        let verdicts = Verdicts::deserialize(&row.verdicts);
        let verdicts = verdicts.map_err(|error| DbError::unreadable("verdicts of a batch", &error))?;
        let BatchRow { key, mode, outcome, received_at, .. } = *row;
        Ok(Self { key, mode, outcome, received_at, verdicts })
    }
}
