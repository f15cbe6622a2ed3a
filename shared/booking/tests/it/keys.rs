//! How long a key is known, and what it does not mean.

use std::time::Duration;

use keyrack_booking::{KeyRefusal, forget_keys, place_hold::PlaceHoldError, views::Standing};
use keyrack_domain::ids::ShardId;

use crate::{
    desk_world::DeskWorld,
    world::{guest, key},
};

const STAY: (&str, &str) = ("2026-11-14", "2026-11-16");
const DAY: u64 = 24 * 3_600;

/// A hold's key is replayed for a day and forgotten after seven; a booking's is never.
#[tokio::test]
async fn a_holds_key_ends_with_time_and_a_bookings_key_does_not() {
    let at = DeskWorld::new().await;
    let guest = guest();
    let quote = at.quote(&guest, STAY).await;
    let hold = at.hold_quote(&guest, quote, key("H")).await.expect("a hold").answer;
    let booked = at.try_pay(&guest, hold.id, "pm_ok", key("B")).await.expect("an attempt").answer;
    assert!(matches!(booked.standing, Standing::Confirmed(_)), "{booked:?}");
    at.advance(DAY - 60).await;
    let same = at.hold_quote(&guest, quote, key("H")).await.expect("within the day");
    assert_eq!((&same.answer, same.replayed), (&hold, true));
    at.advance(61).await;
    let late = at.hold_quote(&guest, quote, key("H")).await.expect_err("too old for a blind repeat");
    assert!(matches!(late, PlaceHoldError::Key(KeyRefusal::Expired)), "{late:?}");
    let repeat = at.try_pay(&guest, hold.id, "pm_ok", key("B")).await.expect("the original");
    assert_eq!((&repeat.answer, repeat.replayed), (&booked, true));

    let shard = at.world.hotels.shards().shard(ShardId(1)).expect("the first shard");
    let keep = Duration::from_secs(7 * DAY);
    assert_eq!(forget_keys::run_once(shard, keep).await.expect("a run"), 0, "none is old enough");
    at.advance(6 * DAY).await;
    assert!(forget_keys::run_once(shard, keep).await.expect("a run") > 0);
    assert_eq!(at.count("idempotency_keys WHERE endpoint = 'POST /v1/holds'").await, 0);
    // A new call, which the quote's own end refuses; and with another quote it is no reuse.
    let anew = at.hold_quote(&guest, quote, key("H")).await.expect_err("the quote has ended");
    assert!(matches!(anew, PlaceHoldError::QuoteExpired(_)), "{anew:?}");
    let other = at.quote(&guest, STAY).await;
    let other = at.hold_quote(&guest, other, key("H")).await.expect("an unknown key");
    assert!(!other.replayed && other.answer.id != hold.id);
    let repeat = at.try_pay(&guest, hold.id, "pm_ok", key("B")).await.expect("the original");
    assert_eq!((&repeat.answer, repeat.replayed), (&booked, true));
    assert_eq!((at.captures(), at.counters("2026-11-14").await), (1, (5, 1, 1)));
    at.verify().await;
}

/// B051: only the key says that two calls are one.
#[tokio::test]
async fn b051_the_same_stay_booked_under_two_keys_is_two_reservations() {
    let at = DeskWorld::new().await;
    let guest = guest();
    let mut made = Vec::new();
    for name in ["K1", "K2"] {
        let quote = at.quote(&guest, STAY).await;
        let hold = at.hold_quote(&guest, quote, key(name)).await.expect("a hold").answer;
        let paid = at.try_pay(&guest, hold.id, "pm_ok", key(name)).await.expect("an attempt");
        let Standing::Confirmed(reservation) = paid.answer.standing else { panic!("{paid:?}") };
        assert!(!paid.replayed);
        made.push(reservation.id);
    }
    assert_ne!(made[0], made[1]);
    assert_eq!((at.captures(), at.count("reservations").await), (2, 2));
    for night in ["2026-11-14", "2026-11-15"] {
        assert_eq!(at.counters(night).await, (5, 0, 2), "{night}");
    }
    at.verify().await;
}
