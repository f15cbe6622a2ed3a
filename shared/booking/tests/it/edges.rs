//! The first and the last night that can be sold.

use chrono::Days;
use keyrack_booking::{FieldError, place_hold::PlaceHoldError, quote::QuoteError, views::Standing};
use keyrack_domain::restriction::Rule;

use crate::{
    desk_world::DeskWorld,
    world::{HORIZON, day, fresh_key, guest},
};

/// B081: held while the night was today at the hotel, paid after its midnight.
#[tokio::test]
async fn b081_a_night_held_before_midnight_is_paid_after_it_and_cannot_be_held_any_more() {
    let at = DeskWorld::new().await;
    let tonight = ("2026-11-14", "2026-11-15");
    // A minute to midnight in Kolkata.
    at.world.clock("2026-11-14T18:29:00Z").await;
    let guest = guest();
    let (first, second) = (at.quote(&guest, tonight).await, at.quote(&guest, tonight).await);
    let hold = at.hold_quote(&guest, first, fresh_key()).await.expect("it is still today").answer;
    at.advance(120).await;
    let booking = at.pay(&guest, hold.id, "pm_ok").await;
    let Standing::Confirmed(reservation) = &booking.standing else { panic!("{booking:?}") };
    assert_eq!(reservation.document.stay.len(), 1);
    let late = at.hold_quote(&guest, second, fresh_key()).await.expect_err("it is yesterday");
    let PlaceHoldError::Restricted(broken) = late else { panic!("{late:?}") };
    let told: Vec<_> = broken.iter().map(|broken| (broken.rule, broken.night)).collect();
    assert_eq!(told, [(Rule::PastDate, day("2026-11-14"))]);
    assert_eq!(at.counters("2026-11-14").await, (5, 0, 1));
    at.verify().await;
}

/// B085: the furthest night is counted like every other, and there is none beyond it.
#[tokio::test]
async fn b085_the_last_night_of_the_horizon_sells_out_and_the_one_beyond_is_not_for_sale() {
    let at = DeskWorld::new().await;
    let last = HORIZON.last_night(day("2026-01-10"));
    let [last, beyond, after] = [0, 1, 2].map(|days| (last + Days::new(days)).to_string());
    at.sellable((&last, &beyond), 1).await;
    at.hold(&guest(), (&last, &beyond)).await;
    let refused = at.try_hold(&guest(), (&last, &beyond)).await.expect_err("sold out");
    let PlaceHoldError::SoldOut(shortage) = refused else { panic!("{refused:?}") };
    assert_eq!((shortage.first.night, shortage.first.available), (day(&last), 0));
    assert_eq!(at.counters(&last).await, (1, 1, 0));
    for stay in [(&last, &after), (&beyond, &after)] {
        let refused = at.world.quote(&guest(), &at.hotel, (stay.0, stay.1)).await.expect_err("too far");
        let QuoteError::Invalid(faults) = refused else { panic!("{refused:?}") };
        let told: Vec<_> =
            faults.iter().map(|FieldError { pointer, code, .. }| (pointer.as_str(), *code)).collect();
        assert_eq!(told, [("/check_out", "OUT_OF_HORIZON")], "{stay:?}");
    }
    at.verify().await;
}
