//! What a hotel's own system says of its nights: `POST /v1/hotels/{h}/pms/batches`.
//!
//! The sequence is the key of this call. A batch that was taken is told as it was, for as long as its record is kept.

mod effect;
mod input;
mod lines;
mod look;
pub mod operation;
mod plan;
mod verdict;

use std::sync::Arc;

use keyrack_domain::{
    code::HotelCode,
    hotel::HotelRef,
    ids::ConflictId,
    operation_key::Endpoint,
    pms::{BatchMode, LineOutcome},
    principal::{Caller, Role},
};
use keyrack_ledger::{BatchKey, Outcome};
use keyrack_store::room_types;
use keyrack_telemetry::names;

use self::operation::{BatchAnswer, PmsBatchOp};
pub use self::{
    input::{BatchInput, LineInput, MAX_LINES, MAX_NIGHTS, Window},
    look::{cursor, find},
    verdict::{BatchView, LineVerdict, Reason, Verdicts},
};
use crate::{Desk, Fault, FieldError, entropy, hotel_directory::NoHotel, key};

pub const ENDPOINT: Endpoint = Endpoint("POST /v1/hotels/{hotel}/pms/batches");

#[derive(Debug, thiserror::Error)]
pub enum PmsBatchError {
    /// Also for everybody but the hotel's own system.
    #[error("no such hotel")]
    NotFound,
    /// The batch cannot be read as it is meant: nothing of it was applied, and the cursor stays.
    #[error("the input is wrong")]
    Invalid(Vec<FieldError>),
    #[error("sequence {expected} is missing")]
    Gap { expected: i64 },
    #[error("another batch had this sequence")]
    SequenceReused,
    #[error(transparent)]
    Fault(#[from] Fault),
}

impl From<NoHotel> for PmsBatchError {
    fn from(error: NoHotel) -> Self {
        match error {
            NoHotel::NotFound => Self::NotFound,
            NoHotel::Fault(fault) => Self::Fault(fault),
        }
    }
}

/// A batch as it was taken, by this call or by an earlier one.
#[derive(Clone, PartialEq, Debug)]
pub struct Taken {
    pub batch: BatchView,
    pub replayed: bool,
}

pub async fn run(
    desk: &Desk,
    caller: &Caller,
    hotel: &HotelCode,
    input: BatchInput,
) -> Result<Taken, PmsBatchError> {
    let hotel = own_hotel(desk, caller, hotel).await?;
    let fingerprint = key::fingerprint(ENDPOINT, &input)?;
    let read = input::read(input).map_err(PmsBatchError::Invalid)?;
    let mut connection = desk.hotels().database(&hotel)?.connection().await.map_err(Fault::from)?;
    let types = room_types::of_hotel(&mut connection, hotel.id).await.map_err(Fault::from)?;
    drop(connection);
    let (mode, sequence) = (read.mode, read.sequence);
    let wanted = plan::Wanted::of(hotel.id, read, types).map_err(PmsBatchError::Invalid)?;
    let operation = PmsBatchOp {
        hotel: hotel.as_ref().clone(),
        caller: caller.clone(),
        key: BatchKey { hotel: hotel.id, connector: caller.principal, sequence },
        mode,
        wanted: Arc::new(wanted),
        fingerprint,
        horizon: desk.settings().horizon,
        try_id: entropy::id(),
        first_conflict: ConflictId::new(hotel.id, entropy::id()),
    };
    let outcome = desk.ledger(&hotel)?.run(operation).await.map_err(Fault::from)?;
    let answer = match outcome {
        Outcome::Answered(answer) | Outcome::Replayed(answer) => answer,
        Outcome::KeyReused | Outcome::KeyExpired | Outcome::KeyInProgress | Outcome::PassedOver => {
            return Err(Fault::internal(HasNoKey).into());
        }
    };
    match answer {
        BatchAnswer::Taken(batch) => {
            report(mode, &batch);
            Ok(Taken { batch, replayed: false })
        }
        BatchAnswer::Known(batch) => Ok(Taken { batch, replayed: true }),
        BatchAnswer::Gap { expected } => Err(PmsBatchError::Gap { expected }),
        BatchAnswer::Reused => Err(PmsBatchError::SequenceReused),
    }
}

#[derive(Debug, thiserror::Error)]
#[error("a call without a key was answered by its key")]
struct HasNoKey;

async fn own_hotel(desk: &Desk, caller: &Caller, hotel: &HotelCode) -> Result<Arc<HotelRef>, PmsBatchError> {
    let hotel = desk.hotels().by_code(hotel).await?;
    let is_its_own = caller.role == Role::Pms && caller.hotel == Some(hotel.id);
    if is_its_own { Ok(hotel) } else { Err(PmsBatchError::NotFound) }
}

/// Somebody has to look at what was not applied.
fn report(mode: BatchMode, batch: &BatchView) {
    let outcome = batch.outcome.as_str();
    metrics::counter!(names::PMS_BATCHES, "mode" => mode.as_str(), "outcome" => outcome).increment(1);
    for outcome in LineOutcome::ALL {
        let lines = batch.verdicts.count(*outcome);
        metrics::counter!(names::PMS_LINES, "outcome" => outcome.as_str()).increment(lines);
    }
    let (invalid, conflicts) = (batch.verdicts.count(LineOutcome::Invalid), batch.verdicts.conflicts.len());
    metrics::counter!(names::PMS_CONFLICTS).increment(conflicts as u64);
    if invalid > 0 || conflicts > 0 {
        tracing::warn!(
            hotel_id = batch.key.hotel.0,
            connector = %batch.key.connector,
            sequence = batch.key.sequence,
            invalid,
            conflicts,
            "not all of a batch of a hotel's system was applied: somebody has to look"
        );
    }
}
