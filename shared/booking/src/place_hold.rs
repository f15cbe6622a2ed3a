//! T1, the hold: `POST /v1/holds`.

mod alternatives;
pub mod operation;

use std::time::Duration;

use chrono::NaiveDate;
use keyrack_domain::{
    actor::Actor,
    clock::Moment,
    code::RoomTypeCode,
    hold::HoldState,
    ids::{AttemptId, HoldId, QuoteId},
    operation_key::{Endpoint, OperationKey},
    principal::Caller,
    restriction::Violation,
    stay::Stay,
};

use keyrack_store::holds;

use self::operation::{HoldAnswer, PlaceHoldOp};
use crate::{
    Answered, Desk, Fault, KeyRefusal, drift, entropy, key,
    replays::{self, Replay},
    views::HoldView,
};

#[derive(Clone, Debug)]
pub struct PlaceHold {
    pub quote: QuoteId,
    /// Swap: this hold of the same principal is released before the new one exists.
    pub replaces: Option<HoldId>,
    pub key: OperationKey,
}

#[derive(Debug, thiserror::Error)]
pub enum PlaceHoldError {
    #[error("no such quote")]
    QuoteNotFound,
    #[error("the quote ended at {0}")]
    QuoteExpired(Moment),
    #[error("a night is sold out")]
    SoldOut(Box<Shortage>),
    #[error("a restriction is in the way")]
    Restricted(Vec<Violation<RoomTypeCode>>),
    #[error("too many open holds")]
    HoldLimit { limit: u32, retry_after: Duration },
    #[error("no such hold to replace")]
    ReplacedNotFound,
    #[error("the hold to replace is {0:?}")]
    ReplacedNotActive(HoldState),
    #[error("the hold to replace is being paid for")]
    AttemptInProgress(AttemptId),
    #[error(transparent)]
    Key(#[from] KeyRefusal),
    #[error(transparent)]
    Fault(#[from] Fault),
}

/// The first night that did not fit, in date order, then what else is known. All but the first
/// night was read after the rollback and is advisory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shortage {
    pub first: ShortNight,
    pub also_short: Vec<ShortNight>,
    pub alternatives: Vec<Alternative>,
    /// The caller's own hold that claims the first night, if there is one.
    pub own_hold: Option<HoldId>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShortNight {
    pub room_type: RoomTypeCode,
    pub night: NaiveDate,
    pub requested: u32,
    pub available: u32,
}

/// Where the same number of rooms would fit now: another type, or other dates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Alternative {
    pub room_type: RoomTypeCode,
    pub stay: Stay,
    pub available: u32,
}

pub const ENDPOINT: Endpoint = Endpoint("POST /v1/holds");

pub async fn run(
    desk: &Desk,
    caller: &Caller,
    request: PlaceHold,
) -> Result<Answered<HoldView>, PlaceHoldError> {
    let Some(hotel) = desk.hotel_of(request.quote.hotel()).await? else {
        return Err(PlaceHoldError::QuoteNotFound);
    };
    if request.replaces.is_some_and(|replaced| replaced.hotel() != hotel.id) {
        return Err(PlaceHoldError::ReplacedNotFound);
    }
    let fingerprint = key::fingerprint(ENDPOINT, &(request.quote, request.replaces))?;
    let operation = PlaceHoldOp {
        hotel: hotel.as_ref().clone(),
        claim: key::claim(hotel.id, caller.principal, ENDPOINT, request.key, fingerprint),
        actor: Actor::Caller(caller.clone()),
        principal: caller.principal,
        quote: request.quote,
        replaces: request.replaces,
        hold: HoldId::new(hotel.id, entropy::id()),
        cap: desk.settings().hold_cap,
    };
    let outcome = desk.ledger(&hotel)?.run(operation).await.map_err(Fault::from)?;
    let Answered { answer, replayed } = key::answered(outcome)?;
    match answer {
        HoldAnswer::Placed(view) => {
            if replayed {
                let told = serde_json::json!({ "state": view.state, "picked_up": "the_hold" });
                let (action, subject) = ("hold.replayed", view.id.to_string());
                replays::note(desk, &hotel, caller.clone(), Replay { action, subject, told }).await;
            }
            Ok(Answered { answer: view, replayed })
        }
        HoldAnswer::QuoteNotFound => Err(PlaceHoldError::QuoteNotFound),
        HoldAnswer::QuoteExpired(at) => Err(PlaceHoldError::QuoteExpired(at)),
        HoldAnswer::Restricted(violations) => Err(PlaceHoldError::Restricted(violations)),
        HoldAnswer::HoldLimit { retry_after } => {
            Err(PlaceHoldError::HoldLimit { limit: desk.settings().hold_cap, retry_after })
        }
        HoldAnswer::ReplacedNotFound => Err(PlaceHoldError::ReplacedNotFound),
        HoldAnswer::ReplacedNotActive(state) => Err(PlaceHoldError::ReplacedNotActive(state)),
        HoldAnswer::AttemptInProgress(attempt) => Err(PlaceHoldError::AttemptInProgress(attempt)),
        HoldAnswer::Drift(hold, night) => Err(drift::fault(hold, night).into()),
        HoldAnswer::SoldOut { short, own_hold, wanted } => {
            let shortage = alternatives::shortage(desk, &hotel, &short, own_hold, &wanted).await?;
            Err(PlaceHoldError::SoldOut(Box::new(shortage)))
        }
    }
}

/// Anybody else's hold is not found, and neither is a change's.
pub async fn find(desk: &Desk, caller: &Caller, hold: HoldId) -> Result<Option<HoldView>, Fault> {
    let Some(hotel) = desk.hotel_of(hold.hotel()).await? else { return Ok(None) };
    let mut connection = desk.hotels().database(&hotel)?.connection().await?;
    let row = holds::read(&mut connection, [&hold]).await?.pop();
    Ok(row.filter(|row| row.is_of_guest(caller.principal)).map(|row| HoldView::of(&row, &hotel.code)))
}
