//! Rules that come after the quote: they keep out new holds and touch nothing that is held.

use keyrack_booking::{
    place_hold::PlaceHoldError,
    restrictions::{Patch, RestrictionPatch},
    views::Standing,
};
use keyrack_domain::restriction::Rule;

use crate::{
    desk_world::DeskWorld,
    world::{day, guest, key},
};

const STAY: (&str, &str) = ("2026-11-14", "2026-11-16");

fn stop_sell(to: Patch<bool>) -> RestrictionPatch {
    RestrictionPatch { stop_sell: to, ..RestrictionPatch::default() }
}

fn closed_to_departure(to: Patch<bool>) -> RestrictionPatch {
    RestrictionPatch { closed_to_departure: to, ..RestrictionPatch::default() }
}

/// One rule, and where it stands in the way of the stay.
struct Closing {
    rate_plan: Option<&'static str>,
    date: &'static str,
    rule: Rule,
    patch: fn(Patch<bool>) -> RestrictionPatch,
}

/// B088: a quote promises a price and never sellability.
#[tokio::test]
async fn b088_what_is_closed_after_the_quote_cannot_be_held_and_what_is_held_can_be_paid() {
    let stopped =
        |rate_plan| Closing { rate_plan, date: "2026-11-15", rule: Rule::StopSell, patch: stop_sell };
    let departure = Closing {
        rate_plan: None,
        date: "2026-11-16",
        rule: Rule::ClosedToDeparture,
        patch: closed_to_departure,
    };
    for closing in [stopped(None), stopped(Some("FLEX")), departure] {
        holds_are_refused_until_it_is_lifted(&DeskWorld::new().await, closing).await;
    }
}

async fn holds_are_refused_until_it_is_lifted(at: &DeskWorld, closing: Closing) {
    let (early, late) = (guest(), guest());
    let hold = at.hold(&early, STAY).await;
    let quote = at.quote(&late, STAY).await;
    let Closing { rate_plan, date, rule, patch } = closing;
    at.world.restrict(&at.hotel, rate_plan, date, patch(Patch::Set(true))).await;
    let refused = at.hold_quote(&late, quote, key("K")).await.expect_err("closed");
    let PlaceHoldError::Restricted(broken) = refused else { panic!("{rule:?}: {refused:?}") };
    let told: Vec<_> = broken.iter().map(|broken| (broken.rule, broken.night)).collect();
    assert_eq!(told, [(rule, day(date))]);
    for night in ["2026-11-14", "2026-11-15"] {
        assert_eq!(at.counters(night).await, (5, 1, 0), "{rule:?}: {night}");
    }
    let booking = at.pay(&early, hold.id, "pm_ok").await;
    assert!(matches!(booking.standing, Standing::Confirmed(_)), "{rule:?}: {booking:?}");
    at.world.restrict(&at.hotel, rate_plan, date, patch(Patch::Clear)).await;
    let held = at.hold_quote(&late, quote, key("K")).await.expect("the refusal left no key");
    assert!(!held.replayed);
    assert_eq!(at.counters("2026-11-15").await, (5, 1, 1), "{rule:?}");
    at.verify().await;
}
