//! The staff's decision as an operation of the ledger, under the night's lock.

use std::collections::BTreeSet;

use keyrack_db::DbError;
use keyrack_domain::{actor::Actor, code::RoomTypeCode, hotel::HotelRef, pms::Resolution};
use keyrack_ledger::{
    Changes, ConflictMove, ConflictRow, Decision, Facts, Found, Grounds, KeyClaim, Needs, Night, NightDelta,
    Operation, Write,
};
use keyrack_store::audit::NewAudit;

use super::ConflictView;
use crate::{availability, key};

#[derive(Clone, Debug)]
pub struct ResolveOp {
    pub hotel: HotelRef,
    pub claim: KeyClaim,
    pub actor: Actor,
    /// As it was read; whether it waits still is decided under the lock.
    pub conflict: ConflictRow,
    pub room_type: RoomTypeCode,
    pub resolution: Resolution,
}

#[derive(Clone, Debug)]
pub enum ResolveAnswer {
    Resolved(ConflictView),
    Ended,
}

impl Operation for ResolveOp {
    type Answer = ResolveAnswer;

    fn name(&self) -> &'static str {
        "resolve_conflict"
    }

    fn key(&self) -> Option<&KeyClaim> {
        Some(&self.claim)
    }

    fn needs(&self, _facts: &Facts) -> Needs {
        Needs { nights: BTreeSet::from([self.conflict.night]), ..Needs::default() }
    }

    fn decide(&self, facts: &Facts) -> Decision<ResolveAnswer> {
        let key = self.conflict.night;
        let row = facts.conflicts.get(&key).filter(|row| row.id == self.conflict.id);
        let to = row.and_then(|row| row.state.resolve(self.resolution));
        let (Some(night), Some(row), Some(to)) = (facts.nights.get(&key), row, to) else {
            return Decision::Refuse { answer: ResolveAnswer::Ended, grounds: Grounds::Locks };
        };
        let mut changes = Changes::default();
        let (id, from) = (row.id, row.state);
        if to != from {
            changes.writes.push(Write::ShiftConflict(ConflictMove { id, night: key, from, to }));
        }
        if !to.waits() {
            changes.reported.insert(key, None);
        }
        if self.resolution == Resolution::Accept {
            let sellable = night.committed() - night.sellable;
            changes.nights.insert(key, NightDelta { sellable, ..NightDelta::default() });
        }
        self.tell(*night, &mut changes, facts);
        let ended_at = (!to.waits()).then_some(facts.now);
        let view = ConflictView::of(&ConflictRow { state: to, ended_at, ..*row }, self.room_type.clone());
        changes.answer = key::answer(&view);
        Decision::Commit(changes, ResolveAnswer::Resolved(view))
    }

    fn replay(&self, found: &Found) -> Result<ResolveAnswer, DbError> {
        key::recorded(found).map(ResolveAnswer::Resolved)
    }
}

impl ResolveOp {
    fn tell(&self, before: Night, changes: &mut Changes, facts: &Facts) {
        let key = self.conflict.night;
        if changes.reported.contains_key(&key) {
            let told: Vec<_> = changes.availability_after(facts, key).into_iter().collect();
            changes.events.extend(availability::told(self.hotel.id, &told));
        }
        let after = changes.night_after(facts, key).unwrap_or(before);
        let counted = |night: Night| {
            let Night { sellable, held, confirmed, reported } = night;
            serde_json::json!({
                "room_type": self.room_type,
                "night": key.date,
                "sellable": sellable,
                "held": held,
                "confirmed": confirmed,
                "reported": reported,
            })
        };
        let mut after = counted(after);
        after["resolution"] = serde_json::json!(self.resolution);
        changes.audit.push(NewAudit {
            hotel: self.hotel.id,
            actor: self.actor.clone(),
            action: "pms.conflict_resolved",
            subject: self.conflict.id.to_string(),
            before: Some(counted(before)),
            after: Some(after),
        });
    }
}
