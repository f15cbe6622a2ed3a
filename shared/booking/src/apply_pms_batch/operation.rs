//! A batch as an operation of the ledger: its turn by the cursor; then each night by its number. Nights whose number
//! does not change are looked at and not locked.

use std::{collections::BTreeSet, sync::Arc};

use keyrack_db::DbError;
use keyrack_domain::{
    actor::Actor,
    horizon::Horizon,
    hotel::HotelRef,
    ids::ConflictId,
    operation_key::Fingerprint,
    pms::{BatchMode, BatchOutcome, ConflictState, LineOutcome, Turn},
    principal::Caller,
};
use keyrack_ledger::{
    BatchFacts, BatchKey, BatchRow, Changes, ConflictMove, ConflictRow, CursorMove, Decision, Facts, Found,
    Grounds, KeyClaim, Needs, Night, NightDelta, NightKey, Operation, Write,
};
use keyrack_store::audit::NewAudit;
use uuid::Uuid;

use super::{
    effect::Effect,
    lines::Lines,
    plan::{Day, Judged, Wanted},
    verdict::{BatchView, LineVerdict, Verdicts},
};
use crate::{availability, runs::runs};

#[derive(Clone, Debug)]
pub struct PmsBatchOp {
    pub hotel: HotelRef,
    pub caller: Caller,
    pub key: BatchKey,
    pub mode: BatchMode,
    pub wanted: Arc<Wanted>,
    pub fingerprint: Fingerprint,
    pub horizon: Horizon,
    pub try_id: Uuid,
    /// The first id that a conflict gets; the others follow it.
    pub first_conflict: ConflictId,
}

#[derive(Clone, Debug)]
pub enum BatchAnswer {
    /// By this call.
    Taken(BatchView),
    /// By an earlier one: nothing was done.
    Known(BatchView),
    Gap {
        expected: i64,
    },
    /// By an earlier one, which said something else.
    Reused,
}

impl Operation for PmsBatchOp {
    type Answer = BatchAnswer;

    fn name(&self) -> &'static str {
        "pms_batch"
    }

    /// The sequence is its key.
    fn key(&self) -> Option<&KeyClaim> {
        None
    }

    fn runs_alone(&self) -> bool {
        true
    }

    fn needs(&self, facts: &Facts) -> Needs {
        let mut needs = Needs { pms_batches: BTreeSet::from([self.key]), ..Needs::default() };
        let is_next = facts.pms_batches.get(&self.key).is_some_and(|batch| self.is_next(batch));
        if is_next {
            needs.looked_at = self.wanted.nights().collect();
            let changes = |(key, _, effect): (NightKey, _, Effect)| effect.number().map(|_| key);
            needs.nights = self.judge(facts).effects.into_iter().filter_map(changes).collect();
        }
        needs
    }

    fn decide(&self, facts: &Facts) -> Decision<BatchAnswer> {
        let none = BatchFacts::default();
        let batch = facts.pms_batches.get(&self.key).unwrap_or(&none);
        if let Some(known) = &batch.known {
            return Decision::refuse(self.meet(known));
        }
        match self.turn(batch) {
            // Only under the lock of the connector: the one that is missing may be on its way.
            Turn::Gap { expected } => {
                Decision::Refuse { answer: BatchAnswer::Gap { expected }, grounds: Grounds::Locks }
            }
            Turn::Superseded => {
                let verdict = LineVerdict { outcome: LineOutcome::Superseded, reason: None };
                let lines = std::iter::repeat_n(verdict, self.wanted.count());
                let verdicts = Verdicts::new(lines, Vec::new(), 0);
                self.take(Changes::default(), BatchOutcome::Superseded, verdicts, None, facts)
            }
            Turn::Apply => self.apply(batch.cursor, facts),
        }
    }

    fn replay(&self, _found: &Found) -> Result<BatchAnswer, DbError> {
        Err(DbError::unreadable("key of a batch", &"it has none"))
    }
}

impl PmsBatchOp {
    fn turn(&self, batch: &BatchFacts) -> Turn {
        Turn::of(self.mode, self.key.sequence, batch.cursor.unwrap_or(0))
    }

    fn is_next(&self, batch: &BatchFacts) -> bool {
        batch.known.is_none() && self.turn(batch) == Turn::Apply
    }

    fn judge(&self, facts: &Facts) -> Judged {
        let today = facts.now.date_in(self.hotel.zone);
        let day = Day { today, last: self.horizon.last_night(today) };
        self.wanted.judge(self.mode, day, &facts.nights)
    }

    /// This sequence was taken before, perhaps by this very try, whose commit had been in doubt.
    fn meet(&self, known: &BatchRow) -> BatchAnswer {
        match BatchView::of(known) {
            Ok(view) if known.try_id == self.try_id => BatchAnswer::Taken(view),
            Ok(view) if known.fingerprint == self.fingerprint => BatchAnswer::Known(view),
            // What cannot be read any more is not repeated.
            Ok(_) | Err(_) => BatchAnswer::Reused,
        }
    }

    fn apply(&self, cursor: Option<i64>, facts: &Facts) -> Decision<BatchAnswer> {
        let Judged { invalid, effects } = self.judge(facts);
        let mut changes = Changes::default();
        let mut lines = Lines::of(invalid);
        let mut conflicts = Vec::new();
        for (key, line, effect) in &effects {
            let Some(night) = facts.nights.get(key) else { continue };
            lines.add(*line, key.date, *night, *effect);
            let before = facts.conflicts.get(key);
            match effect {
                Effect::Unchanged => {}
                Effect::StillConflict => conflicts.extend(before.map(|row| row.id)),
                Effect::Sell(number) => {
                    let sellable = narrow(*number) - night.sellable;
                    changes.nights.insert(*key, NightDelta { sellable, ..NightDelta::default() });
                    if night.reported.is_some() {
                        changes.reported.insert(*key, None);
                    }
                    replace(&mut changes, before);
                }
                Effect::Conflict(number) => {
                    let row = self.conflict(conflicts.len(), *key, narrow(*number), *night, facts);
                    changes.reported.insert(*key, Some(row.reported));
                    replace(&mut changes, before);
                    changes.writes.push(Write::OpenConflict(row));
                    conflicts.push(row.id);
                }
            }
        }
        let verdicts = Verdicts::new(
            lines.verdicts(),
            conflicts,
            u32::try_from(changes.nights.len()).unwrap_or(u32::MAX),
        );
        self.tell(&mut changes, facts);
        self.take(changes, BatchOutcome::Applied, verdicts, Some(CursorMove { from: cursor }), facts)
    }

    fn conflict(
        &self,
        number: usize,
        night: NightKey,
        reported: i32,
        counters: Night,
        facts: &Facts,
    ) -> ConflictRow {
        let uuid = Uuid::from_u128(self.first_conflict.uuid().as_u128().wrapping_add(number as u128));
        ConflictRow {
            id: ConflictId::new(self.hotel.id, uuid),
            night,
            state: ConflictState::Open,
            reported,
            held: counters.held,
            confirmed: counters.confirmed,
            connector: self.key.connector,
            sequence: self.key.sequence,
            created_at: facts.now,
            ended_at: None,
        }
    }

    fn take(
        &self,
        mut changes: Changes,
        outcome: BatchOutcome,
        verdicts: Verdicts,
        cursor: Option<CursorMove>,
        facts: &Facts,
    ) -> Decision<BatchAnswer> {
        let (key, mode, received_at) = (self.key, self.mode, facts.now);
        let row = BatchRow {
            key,
            mode,
            outcome,
            fingerprint: self.fingerprint,
            verdicts: serde_json::json!(verdicts),
            try_id: self.try_id,
            received_at,
        };
        changes.writes.push(Write::TakeBatch(Box::new(row), cursor));
        Decision::Commit(changes, BatchAnswer::Taken(BatchView { key, mode, outcome, received_at, verdicts }))
    }

    fn tell(&self, changes: &mut Changes, facts: &Facts) {
        let touched: BTreeSet<NightKey> =
            changes.nights.keys().chain(changes.reported.keys()).copied().collect();
        if touched.is_empty() {
            return;
        }
        let told: Vec<_> = touched.iter().filter_map(|key| changes.availability_after(facts, *key)).collect();
        changes.events.extend(availability::told(self.hotel.id, &told));
        let before = self.counted(&touched, |key| facts.nights.get(&key).copied());
        let after = self.counted(&touched, |key| changes.night_after(facts, key));
        changes.audit.push(NewAudit {
            hotel: self.hotel.id,
            actor: Actor::Caller(self.caller.clone()),
            action: "pms.batch",
            subject: format!("{}/{}", self.key.connector, self.key.sequence),
            before: Some(before),
            after: Some(after),
        });
    }

    /// A run of equal nights to a line.
    fn counted(
        &self,
        nights: &BTreeSet<NightKey>,
        night: impl Fn(NightKey) -> Option<Night>,
    ) -> serde_json::Value {
        let counted = nights.iter().filter_map(|key| {
            let Night { sellable, reported, .. } = night(*key)?;
            Some((key.room_type, key.date, (sellable, reported)))
        });
        let lines = runs(counted).into_iter().map(|run| {
            let mut line = serde_json::json!({
                "room_type": self.wanted.code(run.key),
                "first_night": run.first_night,
                "last_night": run.last_night,
                "sellable": run.value.0,
            });
            if let Some(reported) = run.value.1 {
                line["reported"] = reported.into();
            }
            line
        });
        lines.collect()
    }
}

/// The conflict that waited there has ended with this batch.
fn replace(changes: &mut Changes, before: Option<&ConflictRow>) {
    if let Some(ConflictRow { id, night, state: from, .. }) = before.copied() {
        let to = ConflictState::Replaced;
        changes.writes.push(Write::ShiftConflict(ConflictMove { id, night, from, to }));
    }
}

/// Every number was asked to fit.
fn narrow(number: i64) -> i32 {
    i32::try_from(number).unwrap_or(i32::MAX)
}
