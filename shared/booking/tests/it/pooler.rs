//! Everything again behind a connection pooler that lends a server for one transaction, with fewer servers
//! than this process has connections: the eighth check of the design of channels' bookings.

use std::collections::BTreeMap;

use futures::future::join_all;
use keyrack_booking::{
    Settings,
    cancel::{self, Cancel, price::Wanted},
    channel_booking::{ChannelBookingError, Delivery},
    credentials, guest_sessions, roll_horizon,
    views::Standing,
};
use keyrack_db::{Points, Shards};
use keyrack_domain::{ids::ShardId, token::TokenHash};
use keyrack_payment_simulator::Settings as SimulatorSettings;
use keyrack_testkit::Pooler;
use secrecy::ExposeSecret;
use sha2::{Digest, Sha256};
use tokio::runtime::Handle;

use crate::{
    channel_world::{Channel, STAY, delivered, revision},
    desk_world::{DeskWorld, desk},
    world::{HORIZON, World, fresh_key, guest, htl_204},
};

/// The pooler goes before the world whose database it stands in front of.
async fn behind_a_pooler() -> Option<(Pooler, DeskWorld)> {
    let World { databases, operator, .. } = World::new().await;
    let pooler = Pooler::start(&databases[0])?;
    let shards = BTreeMap::from([(ShardId(1), pooler.database())]);
    let hotels =
        keyrack_booking::hotel_directory::HotelDirectory::new(Shards::new(pooler.database(), shards));
    let world = World { databases, hotels, operator };
    let hotel = world.open(htl_204(), "6500.00").await;
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
    let simulator =
        keyrack_payment_simulator::run(listener, SimulatorSettings::default(), &Handle::current());
    let simulator = simulator.expect("the simulator");
    let settings = Settings { horizon: HORIZON, ..Settings::default() };
    let desk = desk(&world, &simulator, &Points::default(), settings);
    Some((pooler, DeskWorld { world, desk, hotel, simulator }))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn channels_bookings_keep_their_promises_behind_a_pooler() {
    let Some((_pooler, at)) = behind_a_pooler().await else { return };
    let channel = Channel::of(&at).await;
    let sent = join_all((0..12).map(|_| channel.put(&at, "X1", delivered(STAY)))).await;
    assert_eq!(sent.iter().filter(|booked| booked.delivery == Delivery::Created).count(), 1);
    assert_eq!((at.counters("2026-11-14").await, at.counters("2026-11-15").await), ((5, 0, 1), (5, 0, 1)));
    channel.put(&at, "X1", revision(2, ("2026-11-15", "2026-11-17"))).await;
    let sent = join_all((0..12).map(|_| channel.delete(&at, "X1"))).await;
    assert_eq!(sent.iter().filter(|withdrawn| !withdrawn.before).count(), 1);
    let again = channel.try_put(&at, "X1", delivered(STAY)).await.expect_err("it was cancelled");
    assert!(matches!(again, ChannelBookingError::Inactive), "{again:?}");
    assert_eq!((at.counters("2026-11-14").await, at.counters("2026-11-16").await), ((5, 0, 0), (5, 0, 0)));
    at.verify().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn guests_book_and_cancel_and_the_workers_run_behind_a_pooler() {
    let Some((_pooler, at)) = behind_a_pooler().await else { return };
    at.sellable(STAY, 6).await;
    let guests: Vec<_> = (0..10).map(|_| guest()).collect();
    let booked = join_all(guests.iter().map(async |guest| {
        let hold = at.try_hold(guest, STAY).await.ok()?;
        Some((guest, at.pay(guest, hold.id, "pm_ok").await))
    }));
    let booked: Vec<_> = booked.await.into_iter().flatten().collect();
    assert_eq!((booked.len(), at.counters("2026-11-14").await), (6, (6, 0, 6)));
    for (guest, booking) in booked {
        let Standing::Confirmed(reservation) = booking.standing else { panic!("{booking:?}") };
        let request =
            Cancel { reservation: reservation.id, wanted: Wanted::Whole, if_match: 1, key: fresh_key() };
        cancel::run(&at.desk, guest, request).await.expect("it is cancelled");
    }
    let left = at.hold(&guests[0], STAY).await;
    at.advance(601).await;
    assert_eq!(at.expire().await.expired, 1, "{}", left.id);
    at.settle_money().await;
    assert_eq!(at.count("refunds WHERE state = 'SUCCEEDED'").await, 6);
    roll_horizon::run_once(at.ledger().database(), HORIZON).await.expect("the horizon rolls");
    assert_eq!(at.counters("2026-11-14").await, (6, 0, 0));
    at.verify().await;
}

/// What is written beside the ledger is committed too, and what is read sees it.
#[tokio::test]
async fn a_session_that_was_opened_behind_a_pooler_is_known_at_once() {
    let Some((_pooler, at)) = behind_a_pooler().await else { return };
    for _ in 0..20 {
        let session = guest_sessions::open(at.desk.shards(), guest_sessions::LASTS).await.expect("a session");
        let hash = TokenHash(Sha256::digest(session.token.expose_secret().as_bytes()).into());
        let bearer = credentials::authenticate(at.desk.shards(), hash).await.expect("a look").expect("known");
        assert_eq!(bearer.principal, session.principal);
    }
}
