//! The staff's edit of what can be sold: all of it, or nothing.

use std::collections::BTreeMap;

use chrono::NaiveDate;
use keyrack_domain::{
    ids::{HotelId, PrincipalId, RoomTypeId},
    operation_key::OperationKey,
    restriction::RatePlanScope,
};

use crate::{
    keys::Input,
    nights::{Night, NightKey},
    outcome::{Answer, Outcome, Refusal},
    world::World,
};

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct EditInventory {
    pub principal: PrincipalId,
    pub key: OperationKey,
    pub hotel: HotelId,
    /// A later edit of the same night wins.
    pub edits: Vec<NightEdit>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NightEdit {
    pub room_type: RoomTypeId,
    pub night: NaiveDate,
    /// In total, what is held and confirmed included.
    pub sellable: u32,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct EditRules {
    pub principal: PrincipalId,
    pub key: OperationKey,
    pub hotel: HotelId,
    pub edits: Vec<StopSell>,
}

/// Under every plan.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct StopSell {
    pub room_type: RoomTypeId,
    pub night: NaiveDate,
    pub stops: bool,
}

impl World {
    /// For new sales: what is held or booked stays.
    pub fn edit_rules(&mut self, call: &EditRules) -> Answer {
        self.hotels.get(&call.hotel).ok_or(Refusal::NotFound)?;
        let input = Input::EditRules { edits: call.edits.clone() };
        self.once(call.hotel, call.principal, &call.key, input, |world| {
            let today = world.today(call.hotel);
            if call.edits.iter().any(|edit| edit.night < today) {
                return Err(Refusal::Invalid);
            }
            let hotel = world.hotels.get_mut(&call.hotel).ok_or(Refusal::NotFound)?;
            for StopSell { room_type, night, stops } in call.edits.iter().copied() {
                let row = hotel.restrictions.entry((room_type, RatePlanScope::Every, night)).or_default();
                row.stop_sell = stops;
            }
            Ok(Outcome::RulesEdited)
        })
    }

    /// As the rolling horizon opens it; a night that is open keeps its number.
    pub fn open_night(&mut self, key: NightKey, sellable: u32) {
        self.nights.entry(key).or_insert_with(|| Night::new(sellable));
    }

    pub fn edit_inventory(&mut self, call: &EditInventory) -> Answer {
        self.hotels.get(&call.hotel).ok_or(Refusal::NotFound)?;
        let input = Input::EditInventory { edits: call.edits.clone() };
        self.once(call.hotel, call.principal, &call.key, input, |world| {
            let today = world.today(call.hotel);
            if call.edits.iter().any(|edit| edit.night < today) {
                return Err(Refusal::Invalid);
            }
            world.apply_edits(call)
        })
    }

    fn apply_edits(&mut self, call: &EditInventory) -> Result<Outcome, Refusal> {
        let key =
            |edit: &NightEdit| NightKey { hotel: call.hotel, date: edit.night, room_type: edit.room_type };
        let wanted: BTreeMap<_, _> = call.edits.iter().map(|edit| (key(edit), edit.sellable)).collect();
        let mut below = Vec::new();
        for (key, sellable) in &wanted {
            let night = self.nights.get(key).ok_or(Refusal::OutOfHorizon)?;
            if *sellable < night.held + night.confirmed {
                below.push((*key, *night));
            }
        }
        if !below.is_empty() {
            return Err(Refusal::BelowCommitted(below));
        }
        for (key, sellable) in wanted {
            self.nights.entry(key).or_default().sellable = sellable;
        }
        Ok(Outcome::InventoryEdited)
    }
}
