//! What the port promises, as checks that every broker must pass. [`broker_conformance!`](crate::broker_conformance)
//! makes a test of each.

#![expect(clippy::expect_used, reason = "a check that cannot be set up has failed")]

use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
};

use async_trait::async_trait;
use keyrack_domain::{clock::Moment, ids::HotelId};
use serde_json::value::to_raw_value;
use uuid::Uuid;

use crate::{Broker, Handler, Message, NotNow};

/// A broker with its handlers, of one check alone.
#[async_trait]
pub trait World: Sync {
    fn broker(&self) -> &dyn Broker;

    /// Until nothing waits any more for a handler that is able to act. Does not fail where one is not.
    async fn settle(&self);
}

/// Makes a world around the handlers.
#[macro_export]
macro_rules! broker_conformance {
    ($world:path) => {
        $crate::broker_conformance!($world;
            every_handler_gets_what_was_published_as_it_was
            a_hotels_messages_come_in_their_order
            what_could_not_be_handled_comes_again
            one_that_cannot_act_takes_nothing_from_the_others
            what_is_published_twice_has_at_least_one_effect_and_the_same
            many_messages_all_arrive
        );
    };
    ($world:path; $($check:ident)*) => {$(
        #[tokio::test]
        async fn $check() {
            let handlers = [
                std::sync::Arc::new($crate::conformance::Witness::new("first")),
                std::sync::Arc::new($crate::conformance::Witness::new("second")),
            ];
            let Some(world) = $world(handlers.iter().map(|h| h.clone() as _).collect()).await else { return };
            $crate::conformance::$check(&world, &handlers).await;
        }
    )*};
}

/// Keeps what it was handed, and fails as often as it was told to.
#[derive(Debug)]
pub struct Witness {
    name: &'static str,
    seen: Mutex<Vec<Message>>,
    failures: AtomicUsize,
}

impl Witness {
    pub const fn new(name: &'static str) -> Self {
        Self { name, seen: Mutex::new(Vec::new()), failures: AtomicUsize::new(0) }
    }

    /// So many of the next deliveries have no effect.
    pub fn fail_next(&self, times: usize) {
        self.failures.store(times, Ordering::SeqCst);
    }

    fn seen(&self) -> Vec<Message> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub fn numbers(&self) -> Vec<i64> {
        self.effects().into_iter().map(|(_, number)| number).collect()
    }

    /// Without what came again: where it stood first.
    fn effects(&self) -> Vec<(HotelId, i64)> {
        let mut effects = Vec::new();
        for message in self.seen() {
            if !effects.contains(&(message.hotel, message.seq)) {
                effects.push((message.hotel, message.seq));
            }
        }
        effects
    }
}

#[async_trait]
impl Handler for Witness {
    fn name(&self) -> &'static str {
        self.name
    }

    async fn handle(&self, messages: &[Message]) -> Result<(), NotNow> {
        let fails =
            self.failures.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1));
        if fails.is_ok() {
            return Err(NotNow { handler: self.name, source: "told to fail".into() });
        }
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(messages);
        Ok(())
    }
}

/// Of the hotel, with its number in the payload.
pub fn message(hotel: i32, seq: i64) -> Message {
    Message {
        hotel: HotelId(hotel),
        seq,
        event_id: Uuid::now_v7(),
        kind: "inventory.changed".to_owned(),
        version: 1,
        created_at: Moment(chrono_of(seq)),
        payload: to_raw_value(&BTreeMap::from([("number", seq)])).expect("json"),
    }
}

fn chrono_of(seconds: i64) -> chrono::DateTime<chrono::Utc> {
    chrono::DateTime::from_timestamp(seconds, 0).expect("an instant")
}

pub async fn every_handler_gets_what_was_published_as_it_was(world: &impl World, handlers: &[Arc<Witness>]) {
    let sent = message(204, 41);
    world.broker().publish(std::slice::from_ref(&sent)).await.expect("published");
    world.settle().await;
    for handler in handlers {
        let seen = handler.seen();
        assert_eq!(seen.len(), 1, "{}", handler.name);
        let (got, as_sent) = (serde_json::to_value(&seen[0]), serde_json::to_value(&sent));
        assert_eq!(got.expect("json"), as_sent.expect("json"), "{}", handler.name);
        assert_eq!(seen[0].payload.get(), r#"{"number":41}"#);
    }
}

pub async fn a_hotels_messages_come_in_their_order(world: &impl World, handlers: &[Arc<Witness>]) {
    for first in [0, 40, 80] {
        let batch: Vec<_> = (first..first + 40).map(|n| message(200 + i32::from(n % 3 == 0), n)).collect();
        world.broker().publish(&batch).await.expect("published");
    }
    world.settle().await;
    for handler in handlers {
        for hotel in [HotelId(200), HotelId(201)] {
            let of_hotel = handler.effects().into_iter().filter(|(of, _)| *of == hotel);
            let numbers: Vec<i64> = of_hotel.map(|(_, number)| number).collect();
            assert!(numbers.is_sorted() && numbers.len() >= 40, "{}: {numbers:?}", handler.name);
        }
    }
}

pub async fn what_could_not_be_handled_comes_again(world: &impl World, handlers: &[Arc<Witness>]) {
    let batch: Vec<_> = (1..=3).map(|n| message(204, n)).collect();
    handlers[0].fail_next(2);
    for _ in 0..4 {
        // A broker that keeps nothing says so here, and is asked again, as the relay does.
        let published = world.broker().publish(&batch).await;
        world.settle().await;
        if published.is_ok() {
            break;
        }
    }
    for _ in 0..3 {
        world.settle().await;
    }
    for handler in handlers {
        assert_eq!(handler.effects(), [1, 2, 3].map(|n| (HotelId(204), n)), "{}", handler.name);
    }
}

pub async fn one_that_cannot_act_takes_nothing_from_the_others(
    world: &impl World,
    handlers: &[Arc<Witness>],
) {
    handlers[0].fail_next(usize::MAX);
    for n in 1..=3 {
        // Whether this is told here depends on the broker.
        let _ = world.broker().publish(&[message(204, n)]).await;
        world.settle().await;
    }
    assert_eq!(handlers[1].effects(), [1, 2, 3].map(|n| (HotelId(204), n)));
    assert!(handlers[0].seen().is_empty());
}

pub async fn what_is_published_twice_has_at_least_one_effect_and_the_same(
    world: &impl World,
    handlers: &[Arc<Witness>],
) {
    let batch = [message(204, 1), message(204, 2)];
    for _ in 0..2 {
        world.broker().publish(&batch).await.expect("published");
    }
    world.settle().await;
    for handler in handlers {
        assert_eq!(handler.effects(), [1, 2].map(|n| (HotelId(204), n)), "{}", handler.name);
        for seen in handler.seen() {
            let sent = &batch[usize::try_from(seen.seq - 1).expect("its place")];
            assert_eq!(seen.event_id, sent.event_id);
        }
    }
}

pub async fn many_messages_all_arrive(world: &impl World, handlers: &[Arc<Witness>]) {
    let batch: Vec<_> = (0..1_200).map(|n| message(200, n)).collect();
    for part in batch.chunks(300) {
        world.broker().publish(part).await.expect("published");
    }
    world.settle().await;
    for handler in handlers {
        assert_eq!(handler.seen().len(), batch.len(), "{}", handler.name);
    }
}
