//! Keys of the operations that the ledger runs: the claim, and the answer that is kept under it.

use keyrack_db::DbError;
use keyrack_domain::{
    ids::{HotelId, PrincipalId},
    operation_key::{CONTRACT_VERSION, Endpoint, Fingerprint, OperationKey},
};
use keyrack_ledger::{Found, KeyClaim, KeyHome, KeyScope, Outcome};
use serde::{Serialize, de::DeserializeOwned};
use sha2::{Digest, Sha256};
use uuid::Uuid;

use crate::{Answered, Fault, KeyRefusal};

/// SHA-256 over the validated, normalized input: the contract's version and the endpoint, then the input
/// as JSON of our own types, whose properties always stand in one order.
pub(crate) fn fingerprint(endpoint: Endpoint, input: &impl Serialize) -> Result<Fingerprint, Fault> {
    let input = serde_json::to_vec(input).map_err(Fault::internal)?;
    let mut hash = Sha256::new();
    hash.update(CONTRACT_VERSION.to_be_bytes());
    hash.update(endpoint.0.as_bytes());
    hash.update([0]);
    hash.update(input);
    Ok(Fingerprint(hash.finalize().into()))
}

pub(crate) fn claim(
    hotel: HotelId,
    principal: PrincipalId,
    endpoint: Endpoint,
    key: OperationKey,
    fingerprint: Fingerprint,
) -> KeyClaim {
    KeyClaim {
        scope: KeyScope { hotel, principal, endpoint, key },
        fingerprint,
        try_id: Uuid::now_v7(),
        home: KeyHome::Keys,
    }
}

/// What is kept under the key. Our views always serialize; without an answer no key would be kept and a
/// repeat would be a new try.
pub(crate) fn answer(view: &impl Serialize) -> Option<serde_json::Value> {
    serde_json::to_value(view).ok()
}

/// The view that was kept.
pub(crate) fn recorded<T: DeserializeOwned>(found: &Found) -> Result<T, DbError> {
    match found {
        Found::Record(record) => {
            T::deserialize(&record.answer).map_err(|error| DbError::unreadable("recorded answer", &error))
        }
        Found::Attempt(_) => Err(DbError::unreadable("recorded answer", &"an attempt")),
    }
}

/// The ledger's outcome as an answer or the reason why there is none.
pub(crate) fn answered<A>(outcome: Outcome<A>) -> Result<Answered<A>, KeyRefusal> {
    match outcome {
        Outcome::Answered(answer) => Ok(Answered::fresh(answer)),
        Outcome::Replayed(answer) => Ok(Answered::replay(answer)),
        Outcome::KeyReused => Err(KeyRefusal::Reused),
        Outcome::KeyExpired => Err(KeyRefusal::Expired),
        Outcome::KeyInProgress | Outcome::PassedOver => {
            Err(KeyRefusal::InProgress { retry_after: std::time::Duration::from_secs(1) })
        }
    }
}
