//! Events on their way from the outbox to those who act on them.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use async_trait::async_trait;
use futures::future::join_all;
use keyrack_booking::{
    consume::{self, Consumer, Effect, LetterError, NoEffect},
    relay,
};
use keyrack_db::{Database, PgConnection, Points};
use keyrack_domain::{
    ids::{HotelId, LetterId},
    principal::Role,
};
use keyrack_messaging::{Broker, Handler, InProcess, Message, NotPublished};
use uuid::Uuid;

use crate::{
    desk_world::DeskWorld,
    world::{World, caller, guest, hotel},
};

const STAY: (&str, &str) = ("2026-11-14", "2026-11-16");

/// Keeps what was published, and refuses the hotels that it was told to.
#[derive(Debug, Default)]
struct Shelf {
    published: Mutex<Vec<Message>>,
    refuses: Option<HotelId>,
}

impl Shelf {
    fn published(&self) -> Vec<Message> {
        self.published.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

#[async_trait]
impl Broker for Shelf {
    async fn publish(&self, messages: &[Message]) -> Result<(), NotPublished> {
        if messages.iter().any(|one| Some(one.hotel) == self.refuses) {
            return Err(NotPublished { why: "told to refuse".into(), source: None });
        }
        self.published.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(messages);
        Ok(())
    }
}

async fn relay_all(shard: &Database, broker: &dyn Broker) -> usize {
    let mut published = 0;
    while let Ok(relayed) = relay::run_once(shard, broker).await {
        if !relayed.found {
            return published;
        }
        published += relayed.published;
    }
    panic!("not published");
}

#[tokio::test]
async fn every_event_is_published_once_and_in_its_hotels_order() {
    let world = DeskWorld::new().await;
    let guest = guest();
    let hold = world.hold(&guest, STAY).await;
    world.pay(&guest, hold.id, "pm_ok").await;
    let written = world.count("outbox").await;
    let shelf = Shelf::default();
    let published = relay_all(&world.database().database(), &shelf).await;
    assert_eq!(i64::try_from(published), Ok(written));
    let kinds: Vec<_> = shelf.published().into_iter().map(|one| one.kind).collect();
    assert!(kinds.ends_with(&["hold.placed", "attempt.started", "reservation.confirmed"].map(String::from)));
    assert!(shelf.published().is_sorted_by_key(|one| one.seq));
    assert_eq!(relay_all(&world.database().database(), &shelf).await, 0);
}

#[tokio::test]
async fn who_dies_between_publishing_and_marking_has_it_published_again() {
    let world = DeskWorld::new().await;
    world.hold(&guest(), STAY).await;
    let (shard, shelf) = (world.database().database(), Shelf::default());
    let dying = shard.clone().with_points(dead_at("mark_published", "before_commit"));
    assert!(relay::run_once(&dying, &shelf).await.is_err());
    let first = shelf.published();
    // The dead one's lease holds until it ends.
    assert_eq!(relay_all(&shard, &shelf).await, 0);
    world.database().execute("UPDATE relay_parts SET leased_until = now() WHERE lease IS NOT NULL").await;
    relay_all(&shard, &shelf).await;
    let again = shelf.published().split_off(first.len());
    let ids = |of: &[Message]| of.iter().map(|one| one.event_id).collect::<Vec<_>>();
    assert_eq!(ids(&again), ids(&first));
}

#[tokio::test]
async fn relays_side_by_side_divide_the_hotels_and_keep_the_order_of_each() {
    let world = World::new().await;
    for number in 1..=20 {
        world.open(hotel(&format!("HTL-{number}"), "Asia/Kolkata", "INR", vec![]), "6500").await;
    }
    let (shard, shelf) = (world.database().database(), Shelf::default());
    let written = world.database().value("SELECT count(*) FROM outbox").await;
    let counts = join_all((0..4).map(|_| relay_all(&shard, &shelf))).await;
    assert_eq!(written.as_u64(), Some(counts.iter().sum::<usize>() as u64), "{counts:?}");
    let mut last = BTreeMap::new();
    for message in shelf.published() {
        let before = last.insert(message.hotel, message.seq);
        assert!(before.is_none_or(|before| before < message.seq), "{message:?} came after {before:?}");
    }
    assert_eq!(last.len(), 20);
}

#[tokio::test]
async fn what_cannot_be_published_waits_and_holds_up_no_other_hotel() {
    let world = World::new().await;
    for number in 1..=10 {
        world.open(hotel(&format!("HTL-{number}"), "Asia/Kolkata", "INR", vec![]), "6500").await;
    }
    let shard = world.database().database();
    let refused = HotelId(1);
    let shelf = Shelf { refuses: Some(refused), ..Shelf::default() };
    let mut failures = 0;
    loop {
        match relay::run_once(&shard, &shelf).await {
            Ok(relayed) if relayed.found => {}
            Ok(_nothing) => break,
            Err(_refused) => failures += 1,
        }
        assert!(failures < 100, "the refused part is not put off");
    }
    assert!(failures > 0);
    let waits =
        "SELECT count(DISTINCT hotel_id) FROM outbox WHERE published_at IS NULL AND hotel_id % 8 <> 1";
    assert_eq!(world.database().value(waits).await, 0);
    let kept = "SELECT count(*) > 0 FROM outbox WHERE published_at IS NULL AND hotel_id = 1";
    assert_eq!(world.database().value(kept).await, true);
}

/// Counts what it acted on, and cannot act on some kinds.
#[derive(Debug, Default)]
struct Tally {
    acted: Mutex<Vec<i64>>,
    cannot: Mutex<Option<String>>,
}

#[derive(Debug)]
struct Tallying(Arc<Tally>);

impl Tally {
    fn acted(&self) -> Vec<i64> {
        let mut acted = self.acted.lock().unwrap_or_else(PoisonError::into_inner).clone();
        acted.sort_unstable();
        acted
    }

    fn cannot(&self, kind: Option<&str>) {
        *self.cannot.lock().unwrap_or_else(PoisonError::into_inner) = kind.map(str::to_owned);
    }
}

#[async_trait]
impl Effect for Tallying {
    fn name(&self) -> &'static str {
        "tally"
    }

    fn concerns(&self, kind: &str) -> bool {
        kind != "inventory.changed"
    }

    /// Everything of a hotel is one line.
    fn key(&self, _message: &Message) -> Option<String> {
        Some("line".into())
    }

    async fn apply(&self, _connection: &mut PgConnection, messages: &[Message]) -> Result<(), NoEffect> {
        let cannot = self.0.cannot.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(kind) = cannot
            && messages.iter().any(|one| one.kind == kind)
        {
            return Err(NoEffect::Never(format!("{kind} cannot be acted on")));
        }
        self.0
            .acted
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .extend(messages.iter().map(|one| one.seq));
        Ok(())
    }
}

async fn booked() -> (DeskWorld, Arc<Tally>, Consumer) {
    let world = DeskWorld::new().await;
    let guest = guest();
    let hold = world.hold(&guest, STAY).await;
    world.pay(&guest, hold.id, "pm_ok").await;
    let tally = Arc::new(Tally::default());
    let consumer = Consumer::new(world.desk.clone(), Tallying(tally.clone()));
    (world, tally, consumer)
}

#[tokio::test]
async fn an_event_has_its_effect_once_however_often_it_comes() {
    let (world, tally, consumer) = booked().await;
    let shelf = Shelf::default();
    relay_all(&world.database().database(), &shelf).await;
    let mut messages = shelf.published();
    for _ in 0..3 {
        consumer.handle(&messages).await.expect("acts");
    }
    messages.reverse();
    let copies = [messages.clone(), messages].concat();
    consumer.handle(&copies).await.expect("acts");
    let acted = tally.acted();
    assert_eq!(acted.len(), 3 + setting_up(&shelf), "{acted:?}");
    assert!(acted.windows(2).all(|two| two[0] < two[1]), "{acted:?}");
}

/// Events from before the booking, on which the tally acts too.
fn setting_up(shelf: &Shelf) -> usize {
    let booking = ["hold.placed", "attempt.started", "reservation.confirmed", "inventory.changed"];
    shelf.published().iter().filter(|one| !booking.contains(&one.kind.as_str())).count()
}

#[tokio::test]
async fn what_cannot_be_acted_on_is_put_aside_with_its_line_and_replayed_in_order() {
    let (world, tally, consumer) = booked().await;
    tally.cannot(Some("attempt.started"));
    let broker = InProcess::new(vec![Arc::new(consumer.clone())]);
    relay_all(&world.database().database(), &broker).await;
    let operator = caller(Role::Operator);
    let letters = consume::list(&world.desk, &operator, None, 100).await.expect("a list").items;
    let kinds: Vec<_> = letters.iter().map(|one| one.row.event.kind.as_str()).collect();
    assert_eq!(kinds, ["attempt.started", "reservation.confirmed"]);
    assert!(letters[0].row.error.contains("cannot be acted on"), "{}", letters[0].row.error);
    let before = tally.acted();

    // The second in the line: the first comes first, and fails again.
    let consumers = [consumer];
    let again = consume::replay(&world.desk, &operator, &consumers, letters[1].row.id).await;
    assert!(matches!(again, Err(LetterError::FailsAgain { first, .. }) if first == letters[0].row.id));
    assert_eq!(tally.acted(), before);

    tally.cannot(None);
    let again = consume::replay(&world.desk, &operator, &consumers, letters[1].row.id).await;
    again.expect("replayed");
    assert_eq!(tally.acted().len(), before.len() + 2);
    consume::replay(&world.desk, &operator, &consumers, letters[1].row.id).await.expect("a repeat");
    assert_eq!(tally.acted().len(), before.len() + 2, "acted on again");
    let given_up = consume::discard(&world.desk, &operator, letters[1].row.id).await;
    assert!(matches!(given_up, Err(LetterError::Resolved(_))), "{given_up:?}");
    assert_eq!(consume::waiting(&world.desk).await.expect("a count"), 0);
}

#[tokio::test]
async fn a_letter_is_given_up_by_an_operator_alone_and_its_line_goes_on() {
    let (world, tally, consumer) = booked().await;
    tally.cannot(Some("attempt.started"));
    let broker = InProcess::new(vec![Arc::new(consumer.clone())]);
    relay_all(&world.database().database(), &broker).await;
    let operator = caller(Role::Operator);
    let letters = consume::list(&world.desk, &operator, None, 100).await.expect("a list").items;
    let (first, second) = (letters[0].row.id, letters[1].row.id);
    for role in [Role::Guest, Role::Staff, Role::Pms, Role::Channel, Role::Provider] {
        assert!(consume::list(&world.desk, &caller(role), None, 100).await.is_err());
        let discarded = consume::discard(&world.desk, &caller(role), first).await;
        assert!(matches!(discarded, Err(LetterError::NotFound)));
    }
    let unknown = LetterId::new(first.hotel(), Uuid::now_v7());
    let discarded = consume::discard(&world.desk, &operator, unknown).await;
    assert!(matches!(discarded, Err(LetterError::NotFound)));
    for _ in 0..2 {
        consume::discard(&world.desk, &operator, first).await.expect("given up");
    }
    let before = tally.acted().len();
    consume::replay(&world.desk, &operator, &[consumer], second).await.expect("replayed");
    assert_eq!(tally.acted().len(), before + 1);
}

#[tokio::test]
async fn a_database_that_is_away_is_no_reason_to_put_an_event_aside() {
    let (world, tally, consumer) = booked().await;
    let shelf = Shelf::default();
    relay_all(&world.database().database(), &shelf).await;
    let messages = shelf.published();
    let mut stuck = world.database().connect().await;
    world.database().execute_on(&mut stuck, "BEGIN; LOCK TABLE processed_events").await;
    assert!(consumer.handle(&messages).await.is_err());
    world.database().execute_on(&mut stuck, "ROLLBACK").await;
    assert!(tally.acted().is_empty());
    assert_eq!(world.count("dead_letters").await, 0);
    consumer.handle(&messages).await.expect("acts");
    assert!(!tally.acted().is_empty());
}

#[tokio::test]
async fn what_was_acted_on_is_forgotten_after_its_time_and_not_before() {
    let (world, _, consumer) = booked().await;
    let shelf = Shelf::default();
    let shard = world.database().database();
    relay_all(&shard, &shelf).await;
    consumer.handle(&shelf.published()).await.expect("acts");
    let day = Duration::from_hours(24);
    assert_eq!(relay::forget_processed(&shard, day).await.expect("removes"), 0);
    world
        .database()
        .execute("UPDATE processed_events SET processed_at = processed_at - interval '2 days'")
        .await;
    let marks = world.count("processed_events").await;
    let removed = relay::forget_processed(&shard, day).await.expect("removes");
    assert_eq!(i64::try_from(removed), Ok(marks));
}

/// The work panics there, and rolls back.
fn dead_at(transaction: &'static str, point: &'static str) -> Points {
    Points::hooked(move |name, step| {
        assert!((name, step) != (transaction, point), "dies here");
        Box::pin(std::future::ready(()))
    })
}
