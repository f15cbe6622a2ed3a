//! Webhook, request and reconciliation in all orders, in series and at once: one confirmation, one message.

use keyrack_booking::{receive_notice::Received, reconcile::Swept};
use keyrack_domain::notice::NoticeOutcome;
use keyrack_testkit::{Gate, Gates};
use serde_json::json;
use tokio::task::JoinHandle;

use crate::{
    desk_world::DeskWorld,
    drivers::{
        Driver::{self, Failure, Notice, Repeat, Request, Resolver},
        Taken, Told, orders, said,
    },
    telling::PAISE,
};

const STAY: (&str, &str) = ("2026-11-14", "2026-11-16");
const APPLIED: Told = Told::Notice(Received::Recorded(NoticeOutcome::Applied));
const NO_OP: Told = Told::Notice(Received::Recorded(NoticeOutcome::NoOp));

/// What stands in the database of all rounds so far.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Books {
    confirmed: i64,
    given_back: i64,
}

async fn world(gates: &Gates) -> DeskWorld {
    let at = DeskWorld::with_points(gates.points()).await;
    at.sellable(STAY, 500).await;
    at
}

/// Exactly one of the two endings has happened, once, with all that belongs to it.
async fn has_ended_once(at: &DeskWorld, taken: &Taken, books: &mut Books, what: &str) -> Told {
    let ended = said(&at.standing(&taken.guest, taken.attempt).await);
    match ended {
        Told::Confirmed => books.confirmed += 1,
        Told::GivenBack => books.given_back += 1,
        other => panic!("{what}: {other:?}"),
    }
    let Books { confirmed, given_back } = *books;
    assert_eq!(
        (at.count("reservations").await, at.told("reservation.confirmed").await),
        (confirmed, confirmed),
        "{what}"
    );
    assert_eq!(
        (at.count("refunds").await, at.told("refund.requested").await),
        (given_back, given_back),
        "{what}"
    );
    let captures = at.count("payment_history WHERE kind = 'captured'").await;
    assert_eq!(
        (captures, at.captures()),
        (confirmed + given_back, usize::try_from(captures).expect("a count")),
        "{what}"
    );
    // A hold whose attempt had failed is as it was, until it is given back here.
    at.advance(721).await;
    at.expire().await;
    assert_eq!(at.counters(STAY.0).await, (500, 0, confirmed), "{what}");
    at.settle_money().await;
    let back = if ended == Told::GivenBack { PAISE } else { 0 };
    assert_eq!(at.charge(taken.attempt, "capture").expect("a capture").refunded, back, "{what}");
    ended
}

/// What is true of the attempt when a driver comes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Model {
    state: State,
    told: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
enum State {
    #[default]
    Pending,
    Failed,
    Confirmed,
    GivenBack,
}

impl Model {
    /// What the driver is answered.
    fn step(&mut self, driver: Driver) -> Told {
        if driver == Repeat || driver == Notice {
            if self.told {
                return Told::Notice(Received::Duplicate);
            }
            self.told = true;
        }
        let before = self.state;
        self.state = match (before, driver) {
            (State::Pending, Failure) => State::Failed,
            (State::Pending, _) => State::Confirmed,
            (State::Failed, Request | Notice | Repeat) => State::GivenBack,
            _ => before,
        };
        match driver {
            Request if self.state == State::Confirmed => Told::Confirmed,
            Request => Told::GivenBack,
            Resolver => {
                let taken = usize::from(before == State::Pending);
                Told::Swept(Swept { taken, ended: taken })
            }
            _ if self.state == before => NO_OP,
            _ => APPLIED,
        }
    }
}

#[tokio::test]
async fn b029_request_notice_repeat_failure_and_resolver_in_each_of_120_orders_have_one_end() {
    let gates = Gates::new();
    let at = world(&gates).await;
    let mut books = Books::default();
    for order in orders(&[Request, Notice, Repeat, Failure, Resolver]) {
        let mut taken = Taken::new(&at, &gates, STAY).await;
        let (mut told, mut expected, mut model) = (Vec::new(), Vec::new(), Model::default());
        for driver in &order {
            told.push(taken.run(*driver).await);
            expected.push(model.step(*driver));
        }
        assert_eq!(told, expected, "{order:?}");
        let ended = has_ended_once(&at, &taken, &mut books, &format!("{order:?}")).await;
        assert_eq!(ended == Told::Confirmed, model.state == State::Confirmed, "{order:?}");
    }
    assert_eq!((books.confirmed, books.given_back), (96, 24), "a fifth begins with the failure");
    at.verify().await;
}

/// Where a driver is stopped, and whether it has the attempt's lock there.
fn steps(driver: Driver) -> Vec<(String, bool)> {
    let of = |transaction: &str, steps: &[(&str, bool)]| {
        steps.iter().map(|(step, locked)| (format!("{transaction}.{step}"), *locked)).collect::<Vec<_>>()
    };
    let batch = [
        ("after_read", false),
        ("after_rows_locked", true),
        ("before_commit", true),
        ("after_commit", false),
    ];
    match driver {
        Request => of("confirm", &batch),
        Resolver => {
            let lease = of("lease_unknown_attempts", &[("before_commit", true), ("after_commit", false)]);
            [lease, of("confirm", &batch)].concat()
        }
        _ => of("apply_notice", &batch),
    }
}

/// A driver that came while another stands still.
enum Coming {
    Ended(Told),
    /// At the lock that the other one has. The gate is to be opened.
    Waits(JoinHandle<Told>, Gate),
}

async fn come(gates: &Gates, taken: &mut Taken, driver: Driver, locked: bool) -> Coming {
    // The sweep passes over what is locked.
    if !locked || driver == Resolver {
        return Coming::Ended(taken.run(driver).await);
    }
    let transaction = if driver == Request { "confirm" } else { "apply_notice" };
    let mut mark = gates.close(&format!("{transaction}.after_claim"));
    let mut running = taken.start(driver);
    tokio::select! {
        biased;
        () = mark.reached() => Coming::Waits(running, mark),
        // What it has read is reason enough to do nothing.
        told = &mut running => Coming::Ended(told.expect("it ends")),
    }
}

/// The first is stopped at each of its steps, and the others come; what is left follows in series.
async fn stopped_at_each_step(first: Driver, others: &[Driver]) {
    let gates = Gates::new();
    let at = world(&gates).await;
    let mut books = Books::default();
    for (step, locked) in steps(first) {
        let what = format!("{first:?} at {step}, {others:?}");
        let mut taken = Taken::new(&at, &gates, STAY).await;
        let mut gate = gates.close(&step);
        let running = taken.start(first);
        gate.reached().await;
        let (mut told, mut waiting, mut marks) = (Vec::new(), vec![(first, running)], Vec::new());
        for other in others {
            match come(&gates, &mut taken, *other, locked).await {
                Coming::Ended(answer) => told.push((*other, answer)),
                Coming::Waits(running, mark) => {
                    waiting.push((*other, running));
                    marks.push(mark);
                }
            }
        }
        marks.into_iter().for_each(Gate::open);
        gate.open();
        for (driver, running) in waiting {
            told.push((driver, running.await.expect("it ends")));
        }
        for driver in [Request, Notice, Resolver] {
            if driver != first && !others.contains(&driver) {
                told.push((driver, taken.run(driver).await));
            }
        }
        let ended = has_ended_once(&at, &taken, &mut books, &what).await;
        is_true(&at, &taken, ended, &told, &what).await;
    }
    at.verify().await;
}

/// Each answer against what is recorded: who has ended it, and what became of each notice.
async fn is_true(at: &DeskWorld, taken: &Taken, ended: Told, told: &[(Driver, Told)], what: &str) {
    let attempt = taken.attempt;
    let ended_by = at
        .database()
        .value(&format!(
            "SELECT actor FROM audit
             WHERE (action = 'reservation.confirmed' AND after->>'attempt' = '{attempt}')
                OR (action = 'booking.given_up' AND subject = '{attempt}')"
        ))
        .await;
    for (driver, answer) in told {
        let what = format!("{what}: {driver:?} was told {answer:?}, ended by {ended_by}");
        match answer {
            // It may have come back while the resolver had the case.
            Told::Pending => assert_eq!(*driver, Request, "{what}"),
            Told::Confirmed | Told::GivenBack => assert_eq!(*answer, ended, "{what}"),
            Told::Swept(swept) => assert!(swept.taken >= swept.ended && swept.taken <= 1, "{what}"),
            Told::Notice(Received::Duplicate) => assert!([Notice, Repeat].contains(driver), "{what}"),
            Told::Notice(Received::Recorded(outcome)) => {
                let event = if *driver == Failure { "fail" } else { "evt" };
                let recorded =
                    format!("SELECT outcome FROM provider_events WHERE event_id = '{event}_{attempt}'");
                assert_eq!(at.database().value(&recorded).await, json!(outcome.as_str()), "{what}");
            }
            other => panic!("{what}: {other:?}"),
        }
    }
    let answered =
        |wanted: Driver| told.iter().filter(move |(driver, _)| *driver == wanted).map(|(_, told)| *told);
    let said_so = match ended_by.as_str().expect("an actor") {
        "guest" => answered(Request).any(|told| told == Told::Confirmed),
        "provider" => answered(Notice).chain(answered(Repeat)).any(|told| told == APPLIED),
        // The resolver, the notice that called it, or whoever gave the money back.
        _ => true,
    };
    assert!(said_so, "{what}: ended by {ended_by}, told {told:?}");
    let notices = told.iter().filter(|(driver, _)| [Notice, Repeat].contains(driver)).count();
    let duplicates = told.iter().filter(|(_, told)| *told == Told::Notice(Received::Duplicate)).count();
    assert_eq!(duplicates, notices - 1, "{what}: {told:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn b029_each_pair_of_drivers_with_the_first_stopped_at_each_step_has_one_end() {
    for first in [Request, Notice, Resolver, Failure] {
        for second in [Request, Notice, Resolver, Failure] {
            if first != second {
                stopped_at_each_step(first, &[second]).await;
            }
        }
    }
    stopped_at_each_step(Notice, &[Repeat]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn b029_three_drivers_at_once_with_the_first_stopped_at_each_step_have_one_end() {
    for three in [[Request, Notice, Resolver], [Request, Notice, Failure], [Resolver, Notice, Failure]] {
        for order in orders(&three) {
            stopped_at_each_step(order[0], &order[1..]).await;
        }
    }
    for order in orders(&[Request, Notice, Repeat]) {
        stopped_at_each_step(order[0], &order[1..]).await;
    }
}
