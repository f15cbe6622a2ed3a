use keyrack_api_types::{
    change::Change,
    problem::{Action, Next},
};
use keyrack_booking::views::ChangeView;
use keyrack_domain::{change::ChangeState, ids::AttemptId};

use super::{LOOK_AGAIN_AFTER_S, reservation_path};

pub(crate) fn change(view: &ChangeView, attempt: Option<AttemptId>) -> Change {
    let path = change_path(view);
    let next = match view.state {
        ChangeState::Priced => Next::new(Action::Act).at(format!("{path}/confirm")),
        ChangeState::Started => Next::after(Action::LookUp, LOOK_AGAIN_AFTER_S).at(path),
        ChangeState::Completed | ChangeState::Failed => {
            Next::new(Action::None).at(reservation_path(view.reservation))
        }
    };
    Change {
        id: view.id,
        reservation_id: view.reservation,
        state: view.state.into(),
        check_in: view.stay.check_in().into(),
        check_out: view.stay.check_out().into(),
        difference: view.difference.into(),
        penalty: view.penalty.into(),
        total: view.total.into(),
        charge: view.charge.into(),
        created_at: view.created_at.into(),
        expires_at: view.expires_at.into(),
        version: view.version,
        attempt_id: attempt.or(view.attempt),
        next,
    }
}

pub(crate) fn change_path(view: &ChangeView) -> String {
    format!("/v1/reservations/{}/changes/{}", view.reservation, view.id)
}
