//! Deliveries of channels against each other, and against everybody else who wants the room.

use chrono::Days;
use futures::future::join_all;
use keyrack_booking::{
    channel_booking::{ChannelBookingError, Delivery},
    edit_inventory::{self, EditInventoryError},
    place_hold::PlaceHoldError,
};

use crate::{
    channel_world::{Channel, STAY, delivered, revision},
    desk_world::DeskWorld,
    world::{day, fresh_key, guest},
};

const SEASON: (&str, &str) = ("2026-03-01", "2026-07-01");
const ROUNDS: u32 = 100;

/// A night that nobody has touched, with its morning.
fn night(round: u32) -> (String, String) {
    let night = day(SEASON.0) + Days::new(round.into());
    (night.to_string(), (night + Days::new(1)).to_string())
}

fn is_in(answer: &Result<keyrack_booking::channel_booking::Booked, ChannelBookingError>) -> bool {
    match answer {
        Ok(_) => true,
        Err(ChannelBookingError::SoldOut { .. }) => false,
        Err(other) => panic!("{other:?}"),
    }
}

/// B003: a channel's delivery and a guest's hold, for a night's last unit.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn b003_a_channel_and_a_guest_never_both_get_the_last_unit() {
    let at = DeskWorld::new().await;
    let channel = Channel::of(&at).await;
    at.sellable(SEASON, 1).await;
    for round in 0..ROUNDS {
        let (night, morning) = night(round);
        let guest = guest();
        let quote = at.quote(&guest, (&night, &morning)).await;
        let booking = format!("X{round}");
        let put = channel.try_put(&at, &booking, delivered((&night, &morning)));
        let hold = at.hold_quote(&guest, quote, fresh_key());
        let (sold, held) = if round % 2 == 0 {
            tokio::join!(put, hold)
        } else {
            let (held, sold) = tokio::join!(hold, put);
            (sold, held)
        };
        let held = match held {
            Ok(_) => true,
            Err(PlaceHoldError::SoldOut(_)) => false,
            Err(other) => panic!("{night}: {other:?}"),
        };
        assert_ne!(is_in(&sold), held, "{night}");
        let (_, held, confirmed) = at.counters(&night).await;
        assert_eq!(held + confirmed, 1, "{night}");
    }
    at.verify().await;
}

/// B003: two channels; a new booking and the modification of another one; a delivery and the hotel's edit.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn b003_channels_modifications_and_edits_never_share_the_last_unit() {
    let at = DeskWorld::new().await;
    let channel = Channel::of(&at).await;
    let meanwhile = ("2026-11-14", "2026-11-15");
    at.sellable(meanwhile, ROUNDS).await;
    at.sellable(SEASON, 1).await;
    for round in 0..ROUNDS {
        let (night, morning) = night(round);
        let (one, other) = (format!("A{round}"), format!("B{round}"));
        let new = || channel.try_put(&at, &one, delivered((&night, &morning)));
        let won = match round % 3 {
            0 => {
                let (a, b) = tokio::join!(new(), channel.try_put(&at, &other, delivered((&night, &morning))));
                [is_in(&a), is_in(&b)]
            }
            1 => {
                channel.put(&at, &other, delivered(meanwhile)).await;
                let moved = channel.try_put(&at, &other, revision(2, (&night, &morning)));
                let (a, b) = tokio::join!(new(), moved);
                [is_in(&a), is_in(&b)]
            }
            _ => {
                let edit = at.edit("RT-DLX", (&night, &morning), 0, fresh_key());
                let edit = edit_inventory::run(&at.desk, &at.world.operator, edit);
                let (a, b) = tokio::join!(new(), edit);
                let edited = match b {
                    Ok(_) => true,
                    Err(EditInventoryError::BelowCommitted(_)) => false,
                    Err(other) => panic!("{other:?}"),
                };
                [is_in(&a), edited]
            }
        };
        assert_eq!(won.iter().filter(|won| **won).count(), 1, "{night}: {won:?}");
    }
    at.verify().await;
}

/// B003: a channel's delivery and the rooms that are taken again for money that came too late.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn b003_a_channel_and_a_late_capture_never_both_get_the_last_unit() {
    let at = DeskWorld::new().await;
    at.database().execute("UPDATE hotels SET late_capture = 'allocate'").await;
    let channel = Channel::of(&at).await;
    at.sellable(SEASON, 1).await;
    let nights: Vec<(String, String)> = (0..12).map(night).collect();
    for (night, morning) in &nights {
        let guest = guest();
        let hold = at.hold(&guest, (night, morning)).await;
        at.pay(&guest, hold.id, "pm_lost_response").await;
    }
    at.advance(721).await;
    assert_eq!(at.expire().await.expired, nights.len());
    let puts = nights.iter().enumerate().map(async |(number, (night, morning))| {
        is_in(&channel.try_put(&at, &format!("X{number}"), delivered((night, morning))).await)
    });
    let (sold, swept) =
        tokio::join!(join_all(puts), keyrack_booking::reconcile::run_once(&at.desk, at.ledger()));
    swept.expect("the sweep runs");
    at.settle_money().await;
    for ((night, _), sold) in nights.iter().zip(sold) {
        assert_eq!(at.counters(night).await, (1, 0, 1), "{night}");
        let of_channel = format!(
            "reservations r JOIN reservation_nights n USING (hotel_id, reservation_id)
             WHERE n.stay_date = '{night}' AND r.hold_id IS NULL"
        );
        assert_eq!(at.count(&of_channel).await, i64::from(sold), "{night}");
    }
    at.verify().await;
}

/// B122, the bookings' part: two channels have sold the last room to guests of theirs, minutes apart. The
/// second one is told, by night, and the counters never go past what there is.
#[tokio::test]
async fn b122_what_a_second_channel_sold_too_is_refused_by_night_and_never_oversold() {
    let at = DeskWorld::new().await;
    let channel = Channel::of(&at).await;
    at.hold(&guest(), ("2026-11-14", "2026-11-15")).await;
    for number in 0..4 {
        channel.put(&at, &format!("A{number}"), delivered(("2026-11-14", "2026-11-15"))).await;
    }
    assert_eq!(at.counters("2026-11-14").await, (5, 1, 4));
    at.advance(300).await;
    for _ in 0..2 {
        let refused = channel.try_put(&at, "B1", delivered(STAY)).await.expect_err("it is sold elsewhere");
        let ChannelBookingError::SoldOut { first, also_short } = refused else { panic!("{refused:?}") };
        assert_eq!((first.night, first.available, also_short.len()), (day("2026-11-14"), 0, 0));
        assert_eq!(
            (at.counters("2026-11-14").await, at.counters("2026-11-15").await),
            ((5, 1, 4), (5, 0, 0))
        );
    }
    // A unit comes back: the same delivery is placed, since nothing was left behind by its refusals.
    channel.delete(&at, "A0").await;
    assert_eq!(channel.put(&at, "B1", delivered(STAY)).await.delivery, Delivery::Created);
    at.verify().await;
}

/// A delivery and its cancellation at once: afterwards it is cancelled and holds nothing, whoever was first.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_booking_and_its_cancellation_at_once_leave_no_unit_taken() {
    let at = DeskWorld::new().await;
    let channel = Channel::of(&at).await;
    for round in 0..50 {
        let booking = format!("X{round}");
        let (put, delete) =
            tokio::join!(channel.try_put(&at, &booking, delivered(STAY)), channel.try_delete(&at, &booking));
        match (&put, &delete) {
            (Ok(_), Ok(withdrawn)) => assert!(!withdrawn.before, "{round}"),
            (Err(ChannelBookingError::Inactive), Err(ChannelBookingError::NotFound)) => {}
            other => panic!("{round}: {other:?}"),
        }
        assert_eq!(at.counters("2026-11-14").await, (5, 0, 0), "{round}");
    }
    at.verify().await;
}

/// Two revisions at once: the higher one is what stands in the end.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_two_revisions_at_once_the_higher_one_stands() {
    let at = DeskWorld::new().await;
    let channel = Channel::of(&at).await;
    let (second, third) = (("2026-11-20", "2026-11-21"), ("2026-11-25", "2026-11-26"));
    for round in 0..50 {
        let booking = format!("X{round}");
        channel.put(&at, &booking, delivered(STAY)).await;
        let (low, high) = tokio::join!(
            channel.try_put(&at, &booking, revision(2, second)),
            channel.try_put(&at, &booking, revision(3, third))
        );
        assert_eq!(high.expect("it is the highest").delivery, Delivery::Modified);
        if let Err(refused) = low {
            assert!(matches!(refused, ChannelBookingError::StaleRevision { present: 3 }), "{refused:?}");
        }
        let nights = [at.counters("2026-11-14").await, at.counters("2026-11-20").await];
        assert_eq!((nights, at.counters("2026-11-25").await), ([(5, 0, 0); 2], (5, 0, 1)), "{round}");
        channel.delete(&at, &booking).await;
    }
    at.verify().await;
}
