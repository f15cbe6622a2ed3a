//! What the staff does: edits of inventory and restrictions.

use keyrack_booking::{
    KeyRefusal,
    edit_inventory::{self, EditInventory, EditInventoryError, InventoryChange},
    night_range::NightRange,
    restrictions::{self, Patch, RestrictionChange, RestrictionPatch, SetRestrictions},
};
use keyrack_domain::{ids::RatePlanId, restriction::RatePlanScope};
use keyrack_model::{EditInventory as ModelEdit, NightEdit, Refusal};

use super::{NIGHTS, Player, TYPES};
use crate::world::{HORIZON, day, fresh_key, key};

impl Player {
    pub(super) async fn edit(&mut self) {
        let (code, room_type, _) = TYPES[self.draw(2)];
        let (first, last) = self.some_nights();
        let sellable = 1 + u32::try_from(self.draw(10)).unwrap_or(0);
        let key = key(&format!("E{}", self.draw(12)));
        self.log.push(format!("edit {code} {first}..={last} {sellable} {}", key.as_str()));
        let nights = NightRange::new(day(NIGHTS[first]), day(NIGHTS[last]), None);
        let change = InventoryChange { room_type: code.parse().expect("a code"), nights, sellable };
        let hotel = self.at.hotel.clone();
        let request = EditInventory { hotel, changes: vec![change], key: key.clone() };
        let product = edit_inventory::run(&self.at.desk, &self.at.world.operator, request).await;
        let edits =
            NIGHTS[first..=last].iter().map(|night| NightEdit { room_type, night: day(night), sellable });
        let principal = self.at.world.operator.principal;
        let call = ModelEdit { principal, key, hotel: self.hotel, edits: edits.collect() };
        let model = self.model.edit_inventory(&call);
        let same = match (&product, &model) {
            (Ok(ours), Ok(theirs)) => ours.replayed == theirs.replayed,
            (Err(EditInventoryError::BelowCommitted(ours)), Err(Refusal::BelowCommitted(theirs))) => {
                let ours =
                    ours.iter().map(|night| (night.night, night.sellable, night.held, night.confirmed));
                let theirs =
                    theirs.iter().map(|(at, night)| (at.date, night.sellable, night.held, night.confirmed));
                ours.eq(theirs)
            }
            (Err(EditInventoryError::Key(KeyRefusal::Reused)), Err(Refusal::KeyReused)) => true,
            _ => false,
        };
        assert!(same, "{product:?} {model:?} {}", self.history());
    }

    /// One rule more for some nights, or no rule at all any more.
    pub(super) async fn restrict(&mut self) {
        let rule = self.draw(6);
        let none = RestrictionPatch::default();
        let patch = match rule {
            0 => RestrictionPatch { stop_sell: Patch::Set(true), ..none },
            1 => RestrictionPatch { closed_to_arrival: Patch::Set(true), ..none },
            2 => RestrictionPatch { min_stay_through: Patch::Set(3), ..none },
            _ => return self.allow_everything().await,
        };
        let (code, room_type, _) = TYPES[self.draw(2)];
        let plan = (self.draw(2) == 0).then_some(RatePlanId(1));
        let (first, last) = self.some_nights();
        self.log.push(format!("restrict {code} {plan:?} {first}..={last} rule {rule}"));
        self.set_rules(vec![change(code, plan, (first, last), patch)]).await;
        let scope = plan.map_or(RatePlanScope::Every, RatePlanScope::Plan);
        let rules = &mut self.model.hotels.get_mut(&self.hotel).expect("the hotel").restrictions;
        for night in &NIGHTS[first..=last] {
            let row = rules.entry((room_type, scope, day(night))).or_default();
            match rule {
                0 => row.stop_sell = true,
                1 => row.closed_to_arrival = true,
                _ => row.min_stay_through = Some(3),
            }
        }
    }

    async fn allow_everything(&mut self) {
        self.log.push("restrict nothing".to_owned());
        let patch = RestrictionPatch {
            stop_sell: Patch::Clear,
            closed_to_arrival: Patch::Clear,
            min_stay_through: Patch::Clear,
            ..RestrictionPatch::default()
        };
        let plans = [None, Some(RatePlanId(1))];
        let changes = TYPES
            .iter()
            .flat_map(|(code, ..)| plans.map(|plan| change(code, plan, (0, NIGHTS.len() - 1), patch)));
        self.set_rules(changes.collect()).await;
        self.model.hotels.get_mut(&self.hotel).expect("the hotel").restrictions.clear();
    }

    async fn set_rules(&self, changes: Vec<RestrictionChange>) {
        let request = SetRestrictions { hotel: self.at.hotel.clone(), changes, key: fresh_key() };
        let world = &self.at.world;
        restrictions::set(&world.hotels, HORIZON, &world.operator, request).await.expect("rules are set");
    }

    fn some_nights(&mut self) -> (usize, usize) {
        let first = self.draw(NIGHTS.len());
        (first, first + self.draw(NIGHTS.len() - first))
    }
}

fn change(
    code: &str,
    plan: Option<RatePlanId>,
    (first, last): (usize, usize),
    patch: RestrictionPatch,
) -> RestrictionChange {
    RestrictionChange {
        room_type: code.parse().expect("a code"),
        rate_plan: plan.map(|_| "FLEX".parse().expect("a code")),
        range: NightRange::new(day(NIGHTS[first]), day(NIGHTS[last]), None),
        patch,
    }
}
