//! The staff's edit as an operation of the ledger.

use std::collections::BTreeMap;

use chrono::NaiveDate;
use keyrack_domain::{
    actor::Actor,
    code::RoomTypeCode,
    event::{Event, InventoryChanged},
    ids::{HotelId, RoomTypeId},
};
use keyrack_ledger::{
    Changes, Decision, Facts, Found, Grounds, KeyClaim, Needs, Night, NightDelta, NightKey, Operation,
};
use keyrack_store::{audit::NewAudit, outbox::NewEvent};

use super::{InventoryEdited, NightView};
use crate::{FieldError, key, runs::runs};

/// An edit of more nights than this does not share its transaction with others.
const SMALL: usize = 100;

#[derive(Clone, Debug)]
pub struct EditInventoryOp {
    pub hotel: HotelId,
    pub claim: KeyClaim,
    pub actor: Actor,
    pub codes: BTreeMap<RoomTypeId, RoomTypeCode>,
    /// What is wrong with it today. Whoever repeats what was done before the night had passed is told what was
    /// done; so the key comes first.
    pub faults: Vec<FieldError>,
    /// `sellable` of each night afterwards.
    pub wanted: BTreeMap<NightKey, i32>,
}

#[derive(Clone, Debug)]
pub enum EditAnswer {
    Edited(InventoryEdited),
    Invalid(Vec<FieldError>),
    /// These carry more than was wanted.
    BelowCommitted(Vec<NightView>),
    /// These have no row.
    NotOpen(Vec<(RoomTypeCode, NaiveDate)>),
}

impl Operation for EditInventoryOp {
    type Answer = EditAnswer;

    fn name(&self) -> &'static str {
        "edit_inventory"
    }

    fn key(&self) -> Option<&KeyClaim> {
        Some(&self.claim)
    }

    fn runs_alone(&self) -> bool {
        self.wanted.len() > SMALL
    }

    /// A night whose number does not change is looked at and not locked.
    fn needs(&self, facts: &Facts) -> Needs {
        let changes = |(key, wanted): &(&NightKey, &i32)| {
            facts.nights.get(key).is_some_and(|night| night.sellable != **wanted)
        };
        Needs {
            looked_at: self.wanted.keys().copied().collect(),
            nights: self.wanted.iter().filter(changes).map(|(key, _)| *key).collect(),
            ..Needs::default()
        }
    }

    fn decide(&self, facts: &Facts) -> Decision<EditAnswer> {
        if !self.faults.is_empty() {
            return Decision::refuse(EditAnswer::Invalid(self.faults.clone()));
        }
        let not_open: Vec<_> = self.wanted.keys().filter(|key| !facts.nights.contains_key(key)).collect();
        if !not_open.is_empty() {
            let nights = not_open.into_iter().map(|key| (self.code(key.room_type), key.date)).collect();
            return Decision::refuse(EditAnswer::NotOpen(nights));
        }
        let below: Vec<(NightKey, Night)> = self
            .nights(facts)
            .filter(|(_, night, wanted)| night.held + night.confirmed > *wanted)
            .map(|(key, night, _)| (key, night))
            .collect();
        if !below.is_empty() {
            let short_of = below.iter().map(|(key, _)| *key).collect();
            let nights = below.into_iter().map(|(key, night)| self.view(key, night)).collect();
            let grounds = Grounds::Units(short_of);
            return Decision::Refuse { answer: EditAnswer::BelowCommitted(nights), grounds };
        }
        self.edit(facts)
    }

    fn replay(&self, found: &Found) -> Result<EditAnswer, keyrack_db::DbError> {
        key::recorded(found).map(EditAnswer::Edited)
    }
}

impl EditInventoryOp {
    fn edit(&self, facts: &Facts) -> Decision<EditAnswer> {
        let mut changes = Changes::default();
        for (key, night, wanted) in self.nights(facts) {
            if night.sellable != wanted {
                let delta = NightDelta { sellable: wanted - night.sellable, ..NightDelta::default() };
                changes.nights.insert(key, delta);
            }
        }
        let nights: Vec<_> =
            changes.nights.keys().filter_map(|key| changes.availability_after(facts, *key)).collect();
        if !nights.is_empty() {
            let event = Event::InventoryChanged(InventoryChanged { nights });
            changes.events.push(NewEvent { hotel: self.hotel, event });
            changes.audit.push(self.audit(facts, &changes));
        }
        let after = self
            .nights(facts)
            .map(|(key, night, wanted)| self.view(key, Night { sellable: wanted, ..night }));
        let edited = InventoryEdited { nights: after.collect() };
        changes.answer = key::answer(&edited);
        Decision::Commit(changes, EditAnswer::Edited(edited))
    }

    fn nights<'a>(&'a self, facts: &'a Facts) -> impl Iterator<Item = (NightKey, Night, i32)> + 'a {
        self.wanted.iter().filter_map(|(key, wanted)| Some((*key, *facts.nights.get(key)?, *wanted)))
    }

    /// What was and what is, a run of equal nights to a line.
    fn audit(&self, facts: &Facts, changes: &Changes) -> NewAudit {
        let told = |after: bool| {
            let nights = changes.nights.iter().filter_map(|(key, delta)| {
                let before = facts.nights.get(key)?.sellable;
                Some((key.room_type, key.date, if after { before + delta.sellable } else { before }))
            });
            let lines = runs(nights).into_iter().map(|run| {
                serde_json::json!({
                    "room_type": self.code(run.key),
                    "first_night": run.first_night,
                    "last_night": run.last_night,
                    "sellable": run.value,
                })
            });
            Some(serde_json::Value::Array(lines.collect()))
        };
        NewAudit {
            hotel: self.hotel,
            actor: self.actor.clone(),
            action: "inventory.set",
            subject: "inventory".to_owned(),
            before: told(false),
            after: told(true),
        }
    }

    fn view(&self, key: NightKey, night: Night) -> NightView {
        let count = |counter: i32| u32::try_from(counter).unwrap_or(0);
        NightView {
            room_type: self.code(key.room_type),
            night: key.date,
            sellable: count(night.sellable),
            held: count(night.held),
            confirmed: count(night.confirmed),
            reported: night.reported.map(count),
        }
    }

    #[expect(clippy::expect_used, reason = "see the line above it")]
    fn code(&self, room_type: RoomTypeId) -> RoomTypeCode {
        // Safety of unwrap: every wanted night was made from one of these room types.
        self.codes.get(&room_type).expect("a room type of the hotel").clone()
    }
}
