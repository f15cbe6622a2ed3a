//! Repeatable calls: one key, one input, one answer.

use std::collections::BTreeMap;

use keyrack_domain::{
    clock::Moment,
    ids::{HoldId, HotelId, PrincipalId, QuoteId},
    operation_key::OperationKey,
};

use crate::{
    inventory::NightEdit,
    outcome::{Answer, Answered, Outcome, Refusal},
    world::World,
};

/// Everything of a call that changes behaviour. Bookings are not here: the attempt is their record.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Input {
    PlaceHold { quote: QuoteId, replaces: Option<HoldId> },
    ReleaseHold { hold: HoldId },
    EditInventory { edits: Vec<NightEdit> },
}

impl Input {
    const fn endpoint(&self) -> &'static str {
        match self {
            Self::PlaceHold { .. } => "POST /v1/holds",
            Self::ReleaseHold { .. } => "DELETE /v1/holds/{id}",
            Self::EditInventory { .. } => "PUT /v1/hotels/{h}/inventory",
        }
    }
}

/// Hotel, principal, endpoint, key: another principal's key shows nothing.
type Scope = (HotelId, PrincipalId, &'static str, OperationKey);

pub(crate) type Keys = BTreeMap<Scope, Record>;

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Record {
    at: Moment,
    input: Input,
    outcome: Outcome,
}

impl World {
    /// The recorded answer of this very call, or a new one. A refused call leaves no record.
    pub(crate) fn once(
        &mut self,
        hotel: HotelId,
        principal: PrincipalId,
        key: &OperationKey,
        input: Input,
        run: impl FnOnce(&mut Self) -> Result<Outcome, Refusal>,
    ) -> Answer {
        let scope = (hotel, principal, input.endpoint(), key.clone());
        let (now, settings) = (self.now, self.settings);
        let known =
            self.keys.get(&scope).filter(|record| !now.is_past(record.at.plus(settings.keys_known_for)));
        if let Some(record) = known {
            return match record {
                record if record.input != input => Err(Refusal::KeyReused),
                record if now.is_past(record.at.plus(settings.keys_repeat_for)) => Err(Refusal::KeyExpired),
                record => Ok(Answered { outcome: record.outcome.clone(), replayed: true }),
            };
        }
        let outcome = run(self)?;
        self.keys.insert(scope, Record { at: now, input, outcome: outcome.clone() });
        Ok(Answered { outcome, replayed: false })
    }
}
