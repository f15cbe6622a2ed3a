//! A payment that took nothing: why, and what is safe now.

use keyrack_api_types::{
    code::Code,
    hold::HoldState,
    problem::{Action, Next},
};
use keyrack_domain::{hold, ids::HoldId};
use keyrack_http::Problem;

pub(crate) fn declined(hold: HoldId, state: hold::HoldState, reason: &str) -> Problem {
    let detail = format!("{} Nothing was taken. {}", why(reason), then(state));
    Problem::new(Code::PaymentDeclined, detail)
        .fact("reason", reason)
        .fact("hold_id", hold)
        .fact("hold_state", HoldState::from(state))
        .next(after_failure(state))
}

/// Our own words; every other one is the provider's.
const WHY: [(&str, &str); 8] = [
    ("provider_unreachable", "The payment provider could not be reached."),
    ("amount_not_chargeable", "The payment provider cannot take exactly this amount."),
    ("unknown_method", "The payment provider does not know this payment method."),
    ("refused", "The payment provider did not accept the request."),
    ("not_received", "The request never reached the payment provider."),
    ("no_room", "The hold had ended before the payment was made."),
    ("action_not_completed", "The customer did not confirm the payment in time."),
    ("voided", "The payment was cancelled before it was made."),
];

fn why(reason: &str) -> &'static str {
    let ours = WHY.iter().find(|(word, _)| *word == reason);
    ours.map_or("The payment provider declined the payment.", |(_, why)| why)
}

const fn then(state: hold::HoldState) -> &'static str {
    match state {
        hold::HoldState::Active => "The hold is as it was.",
        hold::HoldState::Consumed => "Another payment has made a reservation of the hold.",
        hold::HoldState::Expired => "The hold has ended meanwhile.",
        hold::HoldState::Released => "The hold was given up meanwhile.",
    }
}

/// Another try to pay needs a hold that is still there.
pub(crate) fn after_failure(state: hold::HoldState) -> Next {
    match state {
        hold::HoldState::Active => Next::new(Action::NewKey),
        hold::HoldState::Consumed => look_up_reservations(),
        hold::HoldState::Expired | hold::HoldState::Released => Next::new(Action::Requote),
    }
}

/// Where a hold that became a reservation is found again.
pub(crate) fn look_up_reservations() -> Next {
    Next::new(Action::LookUp).at("/v1/reservations")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reason_of_ours_stands_on_the_page_of_the_code() {
        let page = keyrack_http::page(Code::PaymentDeclined);
        for (word, _) in WHY {
            assert!(page.contains(&format!("| `{word}` |")), "{word}");
        }
    }

    #[test]
    fn another_try_to_pay_is_advised_only_while_the_hold_lives() {
        use hold::HoldState::{Active, Consumed, Expired, Released};
        let action = |state| after_failure(state).action;
        assert_eq!(action(Active), Action::NewKey);
        assert_eq!((action(Expired), action(Released)), (Action::Requote, Action::Requote));
        assert_eq!(action(Consumed), Action::LookUp);
    }
}
