//! Repeatable calls: one key, one input, one answer.

use std::collections::BTreeMap;

use keyrack_domain::{
    clock::Moment,
    ids::{ChangeId, HoldId, HotelId, PrincipalId, QuoteId, ReservationId},
    method_token::MethodToken,
    money::Money,
    operation_key::OperationKey,
    quote::QuoteDocument,
};

use crate::{
    desk::Step,
    inventory::{NightEdit, StopSell},
    outcome::{Answer, Answered, Outcome, Refusal},
    world::World,
};

/// Everything of a call that changes behaviour. Bookings are not here: the attempt is their record.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Input {
    PlaceHold { quote: QuoteId, replaces: Option<HoldId> },
    ReleaseHold { hold: HoldId },
    EditInventory { edits: Vec<NightEdit> },
    EditRules { edits: Vec<StopSell> },
    Quote { document: QuoteDocument },
    Cancel { reservation: ReservationId, room: Option<usize>, if_match: i32 },
    Step { reservation: ReservationId, step: Step, if_match: Option<i32> },
    GiveMoneyBack { reservation: ReservationId, amount: Money },
    PriceChange { reservation: ReservationId, wanted: QuoteDocument, if_match: i32 },
    ConfirmChange { change: ChangeId, method: Option<MethodToken>, if_match: i32 },
}

impl Input {
    const fn endpoint(&self) -> &'static str {
        match self {
            Self::PlaceHold { .. } => "POST /v1/holds",
            Self::ReleaseHold { .. } => "DELETE /v1/holds/{id}",
            Self::EditInventory { .. } => "PUT /v1/hotels/{h}/inventory",
            Self::EditRules { .. } => "PUT /v1/hotels/{h}/restrictions",
            Self::Quote { .. } => "POST /v1/quotes",
            Self::Cancel { room: None, .. } => "POST /v1/reservations/{id}/cancel",
            Self::Cancel { .. } => "POST /v1/reservations/{id}/rooms/{n}/cancel",
            Self::Step { step: Step::CheckIn, .. } => "POST .../check-in",
            Self::Step { step: Step::CheckOut(_), .. } => "POST .../check-out",
            Self::Step { step: Step::NoShow, .. } => "POST .../no-show",
            Self::Step { step: Step::UndoNoShow, .. } => "POST .../no-show/undo",
            Self::GiveMoneyBack { .. } => "POST .../refunds",
            Self::PriceChange { .. } => "POST /v1/reservations/{id}/changes",
            Self::ConfirmChange { .. } => "POST .../changes/{id}/confirm",
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
