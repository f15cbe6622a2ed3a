//! An operator has looked at a line of a provider's books that did not agree, and says what came of it:
//! `POST /v1/ops/settlement-findings/{id}/close`. The finding is of no hotel and lives in the directory, so the key
//! and the record of the closing live on its row, which never changes after it.

use keyrack_db::PgConnection;
use keyrack_domain::{ids::FindingId, operation_key::OperationKey, principal::Caller, text::check_text};
use keyrack_store::{
    clock,
    settlement::{self, Closing, FindingRow, FindingState, NewClosing},
};

use crate::{Answered, Desk, Fault, FieldError, KeyRefusal, ended::Ended, ops::must_operate};

/// Code points of a note.
const MAX_NOTE: usize = 2000;

#[derive(Debug, thiserror::Error)]
pub enum CloseFindingError {
    /// Also for everybody but operators.
    #[error("no such finding")]
    NotFound,
    #[error("the input is wrong")]
    Invalid(Vec<FieldError>),
    /// It is being given back, has been, or was closed by another call.
    #[error("the finding is not open: it is {0:?}")]
    NotOpen(FindingState),
    #[error(transparent)]
    Key(#[from] KeyRefusal),
    #[error(transparent)]
    Fault(#[from] Fault),
}

/// `note`: why it needs nobody any more.
pub async fn run(
    desk: &Desk,
    caller: &Caller,
    id: FindingId,
    note: String,
    key: OperationKey,
) -> Result<Answered<FindingRow>, CloseFindingError> {
    must_operate(caller).map_err(|_| CloseFindingError::NotFound)?;
    if let Err(fault) = check_text(&note, MAX_NOTE) {
        let fault = FieldError::new("/note", fault.code(), fault.to_string());
        return Err(CloseFindingError::Invalid(vec![fault]));
    }
    let closing = NewClosing { by: caller.principal, key, request_id: caller.request_id.clone(), note };
    let work = desk.shards().directory().transaction("close_finding", move |connection| {
        let closing = closing.clone();
        Box::pin(async move { close(connection, id, &closing).await })
    });
    work.await.map_err(|ended| match ended {
        Ended::Database(error) if error.constraint() == Some("settlement_findings_key_once") => {
            KeyRefusal::Reused.into()
        }
        ended => ended.into_error(),
    })
}

async fn close(
    connection: &mut PgConnection,
    id: FindingId,
    new: &NewClosing,
) -> Result<Answered<FindingRow>, Ended<CloseFindingError>> {
    let now = clock::now(connection).await?;
    let is_done = settlement::close(connection, id, new, now).await?;
    let row = settlement::read(connection, id).await?.ok_or(Ended::Refused(CloseFindingError::NotFound))?;
    if is_done {
        return Ok(Answered::fresh(row));
    }
    match &row.closing {
        Some(Closing { by, key, note, .. }) if *by == new.by && *key == new.key.as_str() => {
            let is_same = *note == new.note;
            let replayed = Answered { answer: row, replayed: true };
            if is_same { Ok(replayed) } else { Err(Ended::Refused(KeyRefusal::Reused.into())) }
        }
        _ => Err(Ended::Refused(CloseFindingError::NotOpen(row.state))),
    }
}
