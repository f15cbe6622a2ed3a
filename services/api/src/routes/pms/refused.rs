//! What a hotel's system and its staff are told that is no success.

use keyrack_api_types::{
    code::Code,
    pms::PmsConflictState,
    problem::{Action, Next},
};
use keyrack_booking::{apply_pms_batch::PmsBatchError, pms_conflicts::ConflictError};
use keyrack_http::Problem;

use crate::refusal;

pub(super) fn batch(error: PmsBatchError) -> Problem {
    let none = Next { action: Action::None, after_s: None, at: None };
    match error {
        PmsBatchError::NotFound => Problem::not_found(),
        PmsBatchError::Invalid(errors) => refusal::invalid(errors),
        PmsBatchError::Gap { expected } => Problem::new(
            Code::SequenceGap,
            format!("Nothing was applied: {expected} has not come yet. Send it, then this one again."),
        )
        .fact("expected", expected)
        .next(none),
        PmsBatchError::SequenceReused => Problem::new(
            Code::IdempotencyKeyReused,
            "Nothing was applied: another batch had this sequence. The next one needs a higher sequence.",
        )
        .next(none),
        PmsBatchError::Fault(fault) => refusal::fault(fault),
    }
}

pub(super) fn conflict(error: ConflictError) -> Problem {
    match error {
        ConflictError::NotFound => Problem::not_found(),
        ConflictError::Ended(state) => {
            Problem::new(Code::Conflict, "Nothing was changed: the conflict has ended already.")
                .fact("state", PmsConflictState::from(state))
        }
        ConflictError::Key(refused) => refusal::key(refused),
        ConflictError::Fault(fault) => refusal::fault(fault),
    }
}
