//! Many at once for the same units.

use std::time::Duration;

use chrono::Days;
use futures::future::join_all;
use keyrack_booking::place_hold::PlaceHoldError;
use keyrack_domain::principal::Caller;
use keyrack_testkit::Gates;

use crate::{
    desk_world::DeskWorld,
    world::{day, fresh_key, guest},
};

/// B001: the last unit, twenty guests at once, on two hundred fresh nights.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn b001_twenty_guests_and_one_unit_make_one_hold_and_nineteen_refusals_that_name_the_night() {
    let at = DeskWorld::new().await;
    let guests: Vec<Caller> = (0..20).map(|_| guest()).collect();
    let (first, last) = ("2026-03-01", "2026-09-17");
    at.sellable((first, last), 1).await;
    for round in 0..200 {
        let night = day(first) + Days::new(round);
        let (night, morning) = (night.to_string(), (night + Days::new(1)).to_string());
        let quotes = join_all(guests.iter().map(|guest| at.quote(guest, (&night, &morning)))).await;
        let calls = guests.iter().zip(quotes).map(|(guest, quote)| at.hold_quote(guest, quote, fresh_key()));
        let mut won = 0;
        for answer in join_all(calls).await {
            match answer {
                Ok(_) => won += 1,
                Err(PlaceHoldError::SoldOut(shortage)) => assert_eq!(shortage.first.night, day(&night)),
                // Five holds a guest: the winners of earlier rounds let theirs run out.
                Err(other) => panic!("round {round}: {other:?}"),
            }
        }
        assert_eq!(won, 1, "round {round}");
        assert_eq!(at.counters(&night).await, (1, 1, 0), "round {round}");
        if round % 4 == 3 {
            at.advance(601).await;
            at.expire().await;
        }
    }
    at.verify().await;
}

/// Another session holds the lock of a night: the hold is refused in time and nothing is done; other
/// nights go on.
#[tokio::test]
async fn b113_a_night_locked_by_somebody_else_is_busy_and_the_others_are_not() {
    let at = DeskWorld::new().await;
    let guest = guest();
    let quote = at.quote(&guest, ("2026-11-14", "2026-11-16")).await;
    let mut blocker = at.database().connect().await;
    at.database()
        .execute_on(
            &mut blocker,
            "BEGIN; SELECT 1 FROM room_night_inventory WHERE stay_date = '2026-11-15' FOR UPDATE",
        )
        .await;
    let busy = at.hold_quote(&guest, quote, fresh_key()).await.expect_err("the night is locked");
    let PlaceHoldError::Fault(keyrack_booking::Fault::Busy { retry_after, .. }) = busy else {
        panic!("{busy:?}")
    };
    assert!(retry_after <= Duration::from_secs(2));
    at.hold(&crate::world::guest(), ("2026-11-20", "2026-11-22")).await;
    at.database().execute_on(&mut blocker, "ROLLBACK").await;
    at.hold_quote(&guest, quote, fresh_key()).await.expect("the lock is gone");
    at.verify().await;
}

/// T3 and the expiry on one hold, stepped: whichever has the hold first decides.
#[tokio::test]
async fn a_confirmation_that_has_the_hold_is_passed_over_by_the_expiry() {
    let gates = Gates::new();
    let at = DeskWorld::with_points(gates.points()).await;
    let guest = guest();
    let hold = at.hold(&guest, ("2026-11-14", "2026-11-16")).await;
    let mut gate = gates.close("confirm.after_rows_locked");
    let paying = at.pay(&guest, hold.id, "pm_ok");
    let meanwhile = async {
        gate.reached().await;
        at.advance(1_000).await;
        let run = at.expire().await;
        assert_eq!((run.looked_at, run.expired), (1, 0), "passed over");
        gate.open();
    };
    let (booking, ()) = tokio::join!(paying, meanwhile);
    assert!(matches!(booking.standing, keyrack_booking::views::Standing::Confirmed(_)), "{booking:?}");
    at.verify().await;
}
