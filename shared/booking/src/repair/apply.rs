//! A repair as a transaction. Beside the ledger this is the only code that changes counters, since what it
//! adds is not a delta of one operation but what is missing to the sum of all.

use std::collections::BTreeSet;

use keyrack_db::{DbError, PgConnection, Points};
use keyrack_domain::{
    actor::Actor,
    event::NightAvailability,
    ids::{HoldId, HotelId},
};
use keyrack_ledger::{Night, NightDelta, NightKey};
use keyrack_store::{
    audit::{self, NewAudit},
    drift::{self, NightDrift},
    holds, nights, outbox,
};

use super::Plan;
use crate::availability;

pub(super) const NAME: &str = "repair";

pub(super) struct Application {
    pub(super) hotel: HotelId,
    pub(super) actor: Actor,
    pub(super) points: Points,
}

impl Application {
    /// In the order of all locks: holds, then nights. The sums are read in the statement after the locks:
    /// whoever changes what a night stands for holds its lock until the commit, so they cannot be late.
    ///
    /// Only nights that differ are locked. Counters and facts always move in one transaction, so no traffic
    /// can make a night differ that does not, and the rest of the hotel goes on selling.
    pub(super) async fn run(&self, connection: &mut PgConnection) -> Result<Plan, DbError> {
        let marked = self.lock_marked(connection).await?;
        let (differing, _) = drift::nights(connection, self.hotel, None).await?;
        let locked = nights::lock(connection, differing.iter().map(|drift| &drift.key)).await?;
        self.points.reach(NAME, "after_nights_locked").await;
        let locked: BTreeSet<NightKey> = locked.into_iter().map(|(key, _)| key).collect();
        let (differing, _) = drift::nights(connection, self.hotel, None).await?;
        let known = |drift: &NightDrift| drift.counters.is_none() || locked.contains(&drift.key);
        let units = holds::units(connection, &marked).await?;
        let plan = Plan::new(differing.into_iter().filter(known).collect(), &marked, &units);
        if plan.changes_something() {
            self.write(connection, &plan).await?;
        }
        Ok(plan)
    }

    /// A hold that was confirmed or released meanwhile has no mark any more.
    async fn lock_marked(&self, connection: &mut PgConnection) -> Result<Vec<HoldId>, DbError> {
        let marked = drift::marked(connection, self.hotel).await?;
        let locked = holds::lock(connection, &marked).await?;
        Ok(locked.into_iter().filter(|hold| hold.drifted).map(|hold| hold.id).collect())
    }

    async fn write(&self, connection: &mut PgConnection, plan: &Plan) -> Result<(), DbError> {
        let deltas: Vec<(NightKey, NightDelta)> =
            plan.settable().map(|(drift, _, delta)| (drift.key, delta)).collect();
        nights::apply(connection, &deltas).await?;
        drift::clear_marks(connection, self.hotel, &plan.unmarked).await?;
        audit::append(connection, &[self.audit(plan)]).await?;
        outbox::append(connection, &availability::told(self.hotel, &available(plan))).await
    }

    fn audit(&self, plan: &Plan) -> NewAudit {
        let nights = |of: fn(&NightDrift) -> (i32, i32)| -> Vec<serde_json::Value> {
            let line = |drift: &NightDrift| {
                let (held, confirmed) = of(drift);
                let (room_type, night) = (drift.key.room_type, drift.key.date);
                serde_json::json!({
                    "room_type_id": room_type, "night": night, "held": held, "confirmed": confirmed,
                })
            };
            plan.settable().map(|(drift, ..)| line(drift)).collect()
        };
        let before = nights(|drift| drift.counters.map_or((0, 0), |night| (night.held, night.confirmed)));
        let after = nights(|drift| (drift.facts.held, drift.facts.confirmed));
        NewAudit {
            hotel: self.hotel,
            actor: self.actor.clone(),
            action: "inventory.repaired",
            subject: "inventory".to_owned(),
            before: Some(serde_json::json!({ "nights": before, "drifted_holds": plan.unmarked })),
            after: Some(serde_json::json!({ "nights": after, "drifted_holds": [] })),
        }
    }
}

fn available(plan: &Plan) -> Vec<NightAvailability> {
    let night = |drift: &NightDrift, mut night: Night, delta: NightDelta| {
        night.add(delta);
        NightAvailability {
            room_type_id: drift.key.room_type,
            night: drift.key.date,
            // Only nights that fit are set: below zero it is where a conflict waits, and nothing is to be had.
            available: u32::try_from(night.available()).unwrap_or(0),
        }
    };
    plan.settable().map(|(drift, before, delta)| night(drift, before, delta)).collect()
}
