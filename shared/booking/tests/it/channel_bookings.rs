//! Bookings by the identifiers of channels: the eight checks of their design, and what a message may say.
//! The eighth, behind a connection pooler, is in `pooler.rs`.

use futures::future::join_all;
use keyrack_booking::{
    Fault,
    channel_booking::{ChannelBookingError, Delivered, DeliveredRoom, Delivery},
    place_hold::PlaceHoldError,
    restrictions::{Patch, RestrictionPatch},
};
use keyrack_domain::{
    channel_booking::ChannelBookingState,
    principal::{Caller, Role},
    reservation::ReservationState,
};
use keyrack_testkit::Gates;

use crate::{
    channel_world::{Channel, STAY, delivered, revision, room},
    desk_world::DeskWorld,
    world::{caller, guest},
};

/// Checks 1 and 2.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_booking_sent_twelve_times_at_once_is_one_reservation_and_one_deduction() {
    let at = DeskWorld::new().await;
    let channel = Channel::of(&at).await;
    let sent = join_all((0..12).map(|_| channel.put(&at, "X1", delivered(STAY)))).await;
    let created = sent.iter().filter(|booked| booked.delivery == Delivery::Created).count();
    let repeated = sent.iter().filter(|booked| booked.delivery == Delivery::Repeated).count();
    assert_eq!((created, repeated), (1, 11));
    assert!(sent.iter().all(|booked| booked.reservation == sent[0].reservation));
    assert_eq!((at.counters("2026-11-14").await, at.counters("2026-11-15").await), ((5, 0, 1), (5, 0, 1)));
    assert_eq!((at.count("reservations").await, at.count("channel_bookings").await), (1, 1));
    assert_eq!((at.count("payment_attempts").await, at.count("holds").await), (0, 0));
    at.verify().await;
}

/// Checks 3, 4 and 5.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_cancellation_sent_twelve_times_at_once_gives_back_once_and_the_booking_does_not_return() {
    let at = DeskWorld::new().await;
    let channel = Channel::of(&at).await;
    let booked = channel.put(&at, "X1", delivered(STAY)).await;
    let sent = join_all((0..12).map(|_| channel.delete(&at, "X1"))).await;
    assert_eq!(sent.iter().filter(|withdrawn| !withdrawn.before).count(), 1);
    assert!(sent.iter().all(|withdrawn| withdrawn.reservation == Some(booked.reservation)));
    assert_eq!((at.counters("2026-11-14").await, at.counters("2026-11-15").await), ((5, 0, 0), (5, 0, 0)));
    for again in [delivered(STAY), revision(2, ("2026-11-20", "2026-11-22"))] {
        let refused = channel.try_put(&at, "X1", again).await.expect_err("it was cancelled");
        assert!(matches!(refused, ChannelBookingError::Inactive), "{refused:?}");
    }
    assert_eq!((at.counters("2026-11-14").await, at.count("reservations").await), ((5, 0, 0), 1));
    let view = channel.look(&at, "X1").await;
    assert_eq!(view.state, ChannelBookingState::Cancelled);
    assert_eq!(view.reservation.expect("kept").state, ReservationState::Cancelled);
    at.verify().await;
}

/// Check 6: both kinds of call wait for the identifier within their bound and start nothing; other bookings
/// go on.
#[tokio::test]
async fn a_locked_identifier_is_busy_within_its_bound_and_nothing_was_started() {
    let gates = Gates::new();
    let at = DeskWorld::with_points(gates.points()).await;
    let channel = Channel::of(&at).await;
    let mut gate = gates.close("channel_book.after_claim");
    let holder = channel.try_put(&at, "X1", delivered(STAY));
    let others = async {
        gate.reached().await;
        let put = channel.try_put(&at, "X1", delivered(STAY)).await.expect_err("it is locked");
        assert!(matches!(put, ChannelBookingError::Fault(Fault::Busy { .. })), "{put:?}");
        let delete = channel.try_delete(&at, "X1").await.expect_err("it is locked");
        assert!(matches!(delete, ChannelBookingError::Fault(Fault::Busy { .. })), "{delete:?}");
        assert_eq!((at.count("channel_bookings").await, at.counters("2026-11-14").await), (0, (5, 0, 0)));
        channel.put(&at, "X2", delivered(STAY)).await;
        gate.open();
    };
    let (held, ()) = tokio::join!(holder, others);
    assert_eq!(held.expect("it goes on").delivery, Delivery::Created);
    assert_eq!(at.counters("2026-11-14").await, (5, 0, 2));
    at.verify().await;
}

/// Check 7: an error in the middle rolls everything back, and leaves neither lock nor transaction.
#[tokio::test]
async fn an_error_rolls_the_booking_back_and_frees_its_identifier() {
    let at = DeskWorld::new().await;
    let channel = Channel::of(&at).await;
    at.database()
        .execute("ALTER TABLE outbox ADD CONSTRAINT none CHECK (type <> 'reservation.confirmed')")
        .await;
    let failed = channel.try_put(&at, "X1", delivered(STAY)).await.expect_err("the event is refused");
    assert!(matches!(failed, ChannelBookingError::Fault(Fault::Internal(_))), "{failed:?}");
    assert_eq!((at.count("channel_bookings").await, at.count("reservations").await), (0, 0));
    assert_eq!(at.counters("2026-11-14").await, (5, 0, 0));
    at.database().execute("ALTER TABLE outbox DROP CONSTRAINT none").await;
    // It waits for the lock of the identifier, if that is still there.
    assert_eq!(channel.put(&at, "X1", delivered(STAY)).await.delivery, Delivery::Created);
    let own = "database = (SELECT oid FROM pg_database WHERE datname = current_database())";
    let locks = at.count(&format!("pg_locks WHERE locktype = 'advisory' AND {own}")).await;
    assert_eq!((locks, at.database().idle_in_transaction().await), (0, 0));
    at.verify().await;
}

/// Messages overtake each other: what is cancelled before it is known takes no room any more.
#[tokio::test]
async fn a_cancellation_that_overtakes_its_booking_keeps_it_from_taking_a_room() {
    let at = DeskWorld::new().await;
    let channel = Channel::of(&at).await;
    let unknown = channel.try_delete(&at, "X1").await.expect_err("nobody knows it");
    assert!(matches!(unknown, ChannelBookingError::NotFound), "{unknown:?}");
    let late = channel.try_put(&at, "X1", delivered(STAY)).await.expect_err("it was cancelled");
    assert!(matches!(late, ChannelBookingError::Inactive), "{late:?}");
    let again = channel.delete(&at, "X1").await;
    assert_eq!((again.before, again.reservation), (true, None));
    assert_eq!((at.count("reservations").await, at.counters("2026-11-14").await), (0, (5, 0, 0)));
    at.verify().await;
}

#[tokio::test]
async fn a_repeat_changes_nothing_whatever_its_revision_and_a_change_needs_a_higher_one() {
    let at = DeskWorld::new().await;
    let channel = Channel::of(&at).await;
    let other = ("2026-11-20", "2026-11-21");
    channel.put(&at, "X1", revision(5, STAY)).await;
    for known in [5, 1, 0, 7, 6] {
        let again = channel.put(&at, "X1", revision(known, STAY)).await;
        assert_eq!(again.delivery, Delivery::Repeated, "{known}");
    }
    // The same content under 7 made 7 the highest that is known.
    for old in [0, 5, 6, 7] {
        let refused = channel.try_put(&at, "X1", revision(old, other)).await.expect_err("not higher");
        assert!(matches!(refused, ChannelBookingError::StaleRevision { present: 7 }), "{old}: {refused:?}");
    }
    assert_eq!((at.counters("2026-11-14").await, at.counters("2026-11-20").await), ((5, 0, 1), (5, 0, 0)));
    assert_eq!(channel.put(&at, "X1", revision(8, other)).await.delivery, Delivery::Modified);
    assert_eq!((at.counters("2026-11-14").await, at.counters("2026-11-20").await), ((5, 0, 0), (5, 0, 1)));
    let late = channel.try_put(&at, "X1", revision(7, STAY)).await.expect_err("it is late");
    assert!(matches!(late, ChannelBookingError::StaleRevision { present: 8 }), "{late:?}");
    at.verify().await;
}

/// What is taken is only what is added: the booking's own last units never stand in its way.
#[tokio::test]
async fn a_modification_takes_what_it_adds_and_gives_back_what_it_drops_in_one_version() {
    let at = DeskWorld::new().await;
    let channel = Channel::of(&at).await;
    at.sellable(("2026-11-14", "2026-11-20"), 1).await;
    let booked = channel.put(&at, "X1", delivered(("2026-11-14", "2026-11-17"))).await;
    channel.put(&at, "X1", revision(2, ("2026-11-15", "2026-11-18"))).await;
    let confirmed = async |night: &str| at.counters(night).await.2;
    let mut nights = Vec::new();
    for night in ["2026-11-14", "2026-11-15", "2026-11-16", "2026-11-17"] {
        nights.push(confirmed(night).await);
    }
    assert_eq!(nights, [0, 1, 1, 1]);
    let view = channel.look(&at, "X1").await.reservation.expect("a reservation");
    assert_eq!((view.id, view.version), (booked.reservation, 2));
    // The next one adds a night that is sold out: nothing changes.
    at.hold(&guest(), ("2026-11-18", "2026-11-19")).await;
    let refused = channel.try_put(&at, "X1", revision(3, ("2026-11-16", "2026-11-19"))).await;
    let ChannelBookingError::SoldOut { first, also_short } = refused.expect_err("a night is short") else {
        panic!("another refusal")
    };
    assert_eq!((first.night.to_string().as_str(), first.requested, first.available), ("2026-11-18", 1, 0));
    assert!(also_short.is_empty());
    assert_eq!((confirmed("2026-11-15").await, confirmed("2026-11-17").await), (1, 1));
    assert_eq!(channel.look(&at, "X1").await.reservation.expect("a reservation").version, 2);
    // The night comes back where it had been dropped.
    channel.put(&at, "X1", revision(4, ("2026-11-14", "2026-11-17"))).await;
    assert_eq!((confirmed("2026-11-14").await, confirmed("2026-11-17").await), (1, 0));
    at.verify().await;
    assert!(!channel.delete(&at, "X1").await.before);
    assert_eq!(at.count("reservation_nights WHERE given_back_at IS NULL").await, 0);
    at.verify().await;
}

#[tokio::test]
async fn rooms_keep_their_numbers_those_that_go_are_cancelled_and_new_ones_follow() {
    let at = DeskWorld::new().await;
    let channel = Channel::of(&at).await;
    let with = |revision, rooms: Vec<DeliveredRoom>| Delivered { revision, rooms, ..delivered(STAY) };
    let family = DeliveredRoom { children_ages: vec![7], ..room("RT-STD") };
    channel.put(&at, "X1", with(1, vec![room("RT-DLX"), family.clone(), room("RT-DLX")])).await;
    // The second one stays, in the first place of the message; one of the others goes, another comes.
    channel.put(&at, "X1", with(2, vec![family, room("RT-DLX")])).await;
    assert_eq!(at.counters("2026-11-14").await, (5, 0, 1));
    assert_eq!(at.counters_of("RT-STD", "2026-11-14").await, (5, 0, 1));
    channel.put(&at, "X1", with(3, vec![room("RT-STD"), room("RT-STD"), room("RT-STD")])).await;
    let rows = at
        .database()
        .rows(
            "SELECT m.room, m.removed_at_version AS gone, t.code, count(*) AS nights
             FROM reservation_rooms m
             LEFT JOIN reservation_nights n USING (hotel_id, reservation_id, room)
             JOIN room_types t USING (hotel_id, room_type_id)
             WHERE n.given_back_at IS NULL OR m.cancelled_at IS NOT NULL
             GROUP BY 1, 2, 3 ORDER BY 1",
        )
        .await;
    let told: Vec<String> =
        rows.iter().map(|r| format!("{} {} {} {}", r["room"], r["gone"], r["code"], r["nights"])).collect();
    let expected = ["1 null \"RT-STD\" 2", "2 null \"RT-STD\" 2", "3 2 \"RT-DLX\" 2", "4 null \"RT-STD\" 2"];
    assert_eq!(told, expected);
    assert_eq!(at.counters("2026-11-14").await, (5, 0, 0));
    assert_eq!(at.counters_of("RT-STD", "2026-11-14").await, (5, 0, 3));
    let view = channel.look(&at, "X1").await.reservation.expect("a reservation");
    assert_eq!((view.version, view.document.rooms.len(), view.rooms.len()), (3, 4, 4));
    at.verify().await;
    channel.delete(&at, "X1").await;
    at.verify().await;
}

/// B124: what the world is told comes from the booking that is stored, not from the message.
#[tokio::test]
async fn b124_a_modification_and_a_cancellation_tell_every_night_that_they_free_and_take() {
    let at = DeskWorld::new().await;
    let channel = Channel::of(&at).await;
    channel.put(&at, "X1", delivered(STAY)).await;
    channel.put(&at, "X1", revision(2, ("2026-11-20", "2026-11-22"))).await;
    channel.put(&at, "X2", delivered(STAY)).await;
    channel.delete(&at, "X2").await;
    let told = at
        .database()
        .rows(
            "SELECT o.type, string_agg(concat(right(n.night::text, 2), '=', n.available), ' ' ORDER BY n.night) AS nights
             FROM outbox o
             CROSS JOIN LATERAL jsonb_to_recordset(o.payload -> 'nights') AS n (night date, available int)
             WHERE o.type LIKE 'reservation.c%'
             GROUP BY o.seq, o.type ORDER BY o.seq",
        )
        .await;
    let told: Vec<_> = told.iter().map(|row| format!("{} {}", row["type"], row["nights"])).collect();
    assert_eq!(
        told,
        [
            r#""reservation.confirmed" "14=4 15=4""#,
            r#""reservation.changed" "14=5 15=5 20=4 21=4""#,
            r#""reservation.confirmed" "14=4 15=4""#,
            r#""reservation.cancelled" "14=5 15=5""#,
        ]
    );
    at.verify().await;
}

/// B127: a room type that is not mapped, or only nearly so.
#[tokio::test]
async fn b127_a_booking_that_names_no_room_type_of_the_hotel_is_kept_and_nothing_is_guessed() {
    let at = DeskWorld::new().await;
    let channel = Channel::of(&at).await;
    for (booking, name) in [("X1", "RT-XXX"), ("X2", "rt-dlx"), ("X3", "Deluxe double, sea view")] {
        let unknown = Delivered { rooms: vec![room(name)], ..delivered(STAY) };
        let refused = channel.try_put(&at, booking, unknown.clone()).await.expect_err(name);
        let ChannelBookingError::Unmapped(faults) = refused else { panic!("{refused:?}") };
        assert_eq!((faults.len(), faults[0].pointer.as_str()), (1, "/rooms/0/room_type"));
        assert!(faults[0].detail.contains(name), "{faults:?}");
        let again = channel.try_put(&at, booking, unknown).await.expect_err(name);
        assert!(matches!(again, ChannelBookingError::Unmapped(_)), "{again:?}");
        let view = channel.look(&at, booking).await;
        assert_eq!((view.state, view.reservation), (ChannelBookingState::Unmapped, None));
        assert_eq!(view.unplaced.expect("kept").0["rooms"][0]["room_type"], name);
    }
    assert_eq!((at.count("reservations").await, at.counters("2026-11-14").await), (0, (5, 0, 0)));
    // Somebody has looked: the channel sends it with a name that the hotel has.
    assert_eq!(channel.put(&at, "X1", delivered(STAY)).await.delivery, Delivery::Created);
    assert_eq!(channel.look(&at, "X1").await.unplaced, None);
    assert_eq!(channel.delete(&at, "X2").await.reservation, None);
    at.verify().await;
}

/// The same of a modification: the guest keeps what is booked, and somebody has to look.
#[tokio::test]
async fn b127_a_modification_that_cannot_be_placed_leaves_the_booking_and_waits() {
    let at = DeskWorld::new().await;
    let channel = Channel::of(&at).await;
    channel.put(&at, "X1", delivered(STAY)).await;
    let unknown = Delivered { rooms: vec![room("RT-XXX")], ..revision(2, STAY) };
    let refused = channel.try_put(&at, "X1", unknown).await.expect_err("no such type");
    assert!(matches!(refused, ChannelBookingError::Unmapped(_)), "{refused:?}");
    let view = channel.look(&at, "X1").await;
    assert_eq!((view.state, view.revision), (ChannelBookingState::Active, Some(1)));
    assert!(view.unplaced.is_some());
    assert_eq!(at.counters("2026-11-14").await, (5, 0, 1));
    at.verify().await;
}

#[tokio::test]
async fn what_cannot_be_sold_on_the_day_is_refused_with_its_place() {
    let at = DeskWorld::new().await;
    let channel = Channel::of(&at).await;
    let with_rooms = |rooms| Delivered { rooms, ..delivered(STAY) };
    let crowd = DeliveredRoom { adults: 3, ..room("RT-DLX") };
    let cases: [(Delivered, &str, &str); 8] = [
        (delivered(("2026-01-09", "2026-01-11")), "/check_in", "PAST_DATE"),
        (delivered(("2027-07-10", "2027-07-12")), "/check_out", "OUT_OF_HORIZON"),
        (delivered(("2026-11-14", "2026-11-14")), "/check_out", "INVALID_STAY"),
        (with_rooms(Vec::new()), "/rooms", "OUT_OF_RANGE"),
        (with_rooms(vec![crowd]), "/rooms/0/adults", "OCCUPANCY"),
        (Delivered { currency: "EUR".to_owned(), ..delivered(STAY) }, "/total/currency", "CURRENCY"),
        (Delivered { total: "1.001".to_owned(), ..delivered(STAY) }, "/total/amount", "TOO_MANY_DECIMALS"),
        (revision(-1, STAY), "/revision", "OUT_OF_RANGE"),
    ];
    for (message, pointer, code) in cases {
        let refused = channel.try_put(&at, "X1", message).await.expect_err(code);
        let ChannelBookingError::Invalid(faults) = refused else { panic!("{code}: {refused:?}") };
        assert!(faults.iter().any(|f| (f.pointer.as_str(), f.code) == (pointer, code)), "{faults:?}");
    }
    assert_eq!(at.count("channel_bookings").await, 0);
}

/// What the channel has sold is told to the last minor unit, however it divides.
#[tokio::test]
async fn a_total_is_spread_exactly_over_the_nights_of_the_rooms() {
    let at = DeskWorld::new().await;
    let channel = Channel::of(&at).await;
    let odd = Delivered { total: "1000.01".to_owned(), rooms: vec![room("RT-DLX"); 3], ..delivered(STAY) };
    channel.put(&at, "X1", odd).await;
    let sums = "SELECT (SELECT sum(amount) FROM reservation_nights) = 1000.01
                   AND (SELECT sum(total) FROM reservation_rooms) = 1000.01
                   AND (SELECT total FROM reservations) = 1000.01
                   AND (SELECT max(amount) - min(amount) FROM reservation_nights) = 0.01 AS exact";
    assert_eq!(at.database().value(sums).await, true);
    at.verify().await;
}

/// Who is not the channel, or not of this hotel, learns nothing. Staff may look and not write.
#[tokio::test]
async fn nobody_but_a_channel_of_the_hotel_brings_or_cancels_its_bookings() {
    let at = DeskWorld::new().await;
    let channel = Channel::of(&at).await;
    channel.put(&at, "X1", delivered(STAY)).await;
    let elsewhere = Caller { hotel: None, ..channel.caller.clone() };
    let staff = Caller { role: Role::Staff, ..channel.caller.clone() };
    for stranger in [guest(), elsewhere, caller(Role::Operator), staff] {
        let other = Channel { caller: stranger };
        let put = other.try_put(&at, "X1", delivered(STAY)).await.expect_err("not theirs");
        assert!(matches!(put, ChannelBookingError::NotFound), "{put:?}");
        let delete = other.try_delete(&at, "X1").await.expect_err("not theirs");
        assert!(matches!(delete, ChannelBookingError::NotFound), "{delete:?}");
    }
    assert_eq!(at.counters("2026-11-14").await, (5, 0, 1));
}

/// What the hotel itself has cancelled is inactive for the channel too, and gives nothing back twice.
#[tokio::test]
async fn a_booking_that_the_hotel_cancelled_is_inactive() {
    use keyrack_booking::cancel::{self, Cancel, price::Wanted};
    let at = DeskWorld::new().await;
    let channel = Channel::of(&at).await;
    let booked = channel.put(&at, "X1", delivered(STAY)).await;
    let request = Cancel {
        reservation: booked.reservation,
        wanted: Wanted::Whole,
        if_match: 1,
        key: crate::world::fresh_key(),
    };
    let cancelled = cancel::run(&at.desk, &at.world.operator, request).await.expect("the hotel may").answer;
    assert_eq!((cancelled.penalty.is_zero(), cancelled.refund.is_zero()), (true, true));
    let refused = channel.try_put(&at, "X1", delivered(STAY)).await.expect_err("it was cancelled");
    assert!(matches!(refused, ChannelBookingError::Inactive), "{refused:?}");
    assert!(channel.delete(&at, "X1").await.before);
    assert_eq!(at.counters("2026-11-14").await, (5, 0, 0));
    at.verify().await;
}

/// Restrictions are rules for what is still to be sold: the channel has sold it already. Units decide.
#[tokio::test]
async fn what_a_channel_has_sold_is_placed_in_spite_of_a_stop_sell_and_never_without_a_unit() {
    let at = DeskWorld::new().await;
    let channel = Channel::of(&at).await;
    let stop = RestrictionPatch { stop_sell: Patch::Set(true), ..RestrictionPatch::default() };
    at.world.restrict(&at.hotel, None, "2026-11-14", stop).await;
    at.sellable(STAY, 1).await;
    channel.put(&at, "X1", delivered(STAY)).await;
    let refused = channel.try_put(&at, "X2", delivered(STAY)).await.expect_err("no unit is left");
    assert!(matches!(refused, ChannelBookingError::SoldOut { .. }), "{refused:?}");
    let refused = at.try_hold(&guest(), ("2026-11-15", "2026-11-16")).await.expect_err("nor for a guest");
    assert!(matches!(refused, PlaceHoldError::SoldOut(_)), "{refused:?}");
    assert_eq!(at.count("channel_bookings").await, 1, "a refusal leaves nothing behind");
    at.verify().await;
}
