//! Everything that a client can ask.

use crate::{
    booking::{NewIds, StartAttempt},
    cancel::Cancel,
    change::{ConfirmChange, PriceChange},
    channel::{Deliver, Withdraw},
    desk::{GiveMoneyBack, TakeStep},
    holds::{MakeQuote, PlaceHold, ReleaseHold},
    inventory::{EditInventory, EditRules},
    outcome::Answer,
    world::World,
};

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Call {
    Quote(MakeQuote),
    Place(PlaceHold),
    Release(ReleaseHold),
    Pay(Pay),
    Cancel(Cancel),
    Step(TakeStep),
    GiveMoneyBack(GiveMoneyBack),
    Price(PriceChange),
    Confirm(ConfirmChange),
    Deliver(Deliver),
    Withdraw(Withdraw),
    Inventory(EditInventory),
    Rules(EditRules),
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Pay {
    pub start: StartAttempt,
    /// Of what may come of it.
    pub new: NewIds,
}

impl Call {
    /// How it begins: what comes of a payment comes later, by [`World::settle`] or [`World::reconcile`].
    pub fn ask(&self, world: &mut World) -> Answer {
        match self {
            Self::Quote(call) => world.make_quote(call),
            Self::Place(call) => world.place_hold(call),
            Self::Release(call) => world.release_hold(call),
            Self::Pay(call) => world.start_attempt(&call.start),
            Self::Cancel(call) => world.cancel(call),
            Self::Step(call) => world.take_step(call),
            Self::GiveMoneyBack(call) => world.give_money_back(call),
            Self::Price(call) => world.price_change(call),
            Self::Confirm(call) => world.confirm_change(call),
            Self::Deliver(call) => world.deliver(call),
            Self::Withdraw(call) => world.withdraw(call),
            Self::Inventory(call) => world.edit_inventory(call),
            Self::Rules(call) => world.edit_rules(call),
        }
    }
}
