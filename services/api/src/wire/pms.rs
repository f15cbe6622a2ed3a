use keyrack_api_types::pms::{PmsBatch, PmsConflict, PmsLineVerdict, PmsOutcome};
use keyrack_booking::{
    apply_pms_batch::{BatchView, LineVerdict},
    pms_conflicts::ConflictView,
};

pub(crate) fn pms_batch(view: BatchView, replayed: bool) -> PmsBatch {
    let line = |(index, line): (usize, &LineVerdict)| PmsLineVerdict {
        index,
        outcome: line.outcome.into(),
        reason: line.reason.as_ref().map(|reason| reason.code.to_string()),
        detail: line.reason.as_ref().map(|reason| reason.detail.clone()),
    };
    PmsBatch {
        sequence: view.key.sequence,
        mode: view.mode.into(),
        outcome: if replayed { PmsOutcome::Replayed } else { view.outcome.into() },
        connector: view.key.connector.to_string(),
        received_at: view.received_at.into(),
        nights_changed: view.verdicts.nights_changed,
        lines: view.verdicts.lines().enumerate().map(line).collect(),
        conflicts: view.verdicts.conflicts,
    }
}

pub(crate) fn pms_conflict(view: ConflictView) -> PmsConflict {
    let ConflictView { id, room_type, night, state, reported, held, confirmed, sequence, .. } = view;
    PmsConflict {
        id,
        room_type: room_type.into(),
        night: night.into(),
        state: state.into(),
        reported,
        held,
        confirmed,
        sequence,
        created_at: view.created_at.into(),
        ended_at: view.ended_at.map(Into::into),
    }
}
