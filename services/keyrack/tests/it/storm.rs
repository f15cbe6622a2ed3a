//! Random guests against a provider that loses a tenth of the requests and a tenth of the answers and repeats a
//! fifth of its notices, on a program that is killed again and again while the clock jumps. An auditor of its own
//! keeps what every guest was told, and in the end asks whether it is true: one charge for each confirmed booking,
//! nothing kept of any other, no case left open, and the invariants. `simulation.rs` is smaller and judges every answer.

use std::collections::BTreeMap;

use chrono::{Days, NaiveDate};
use futures::future::join_all;
use reqwest::{Response, StatusCode};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::{
    booking::{Guest, body, id},
    process::Process,
    random::Random,
    sandbox::{Sandbox, charges},
};

/// Bookings that are tried; so many in the long profile, `KEYRACK_TEST_LONG=1`.
const BOOKINGS: usize = 96;
const LONG: usize = 10_000;
/// At once.
const GUESTS: usize = 8;
/// The program is killed after so many rounds of guests.
const ROUNDS_PER_LIFE: usize = 4;
/// Tries of one call that gets no answer, across deaths of the program.
const TRIES: usize = 40;
/// Nights of arrival, two nights apart.
const ARRIVALS: usize = 12;
/// After the faults have ended every case ends within so many jumps past a deadline.
const JUMPS: usize = 12;

/// A seed of a run that failed is kept here, by its number.
const SEED: Option<u64> = None;

#[tokio::test]
async fn money_ends_well_whatever_is_lost_repeated_and_killed() {
    let seed = SEED.unwrap_or_else(|| Uuid::new_v4().as_u64_pair().0);
    println!("seed {seed}");
    let bookings = if std::env::var_os("KEYRACK_TEST_LONG").is_some() { LONG } else { BOOKINGS };
    let mut storm = Storm::begin(seed, bookings).await;
    let mut told = Vec::new();
    let rounds = bookings.div_ceil(GUESTS);
    for round in 0..rounds {
        told.extend(storm.round(round).await);
        if round % ROUNDS_PER_LIFE == ROUNDS_PER_LIFE - 1 {
            storm.die_and_live_again().await;
        }
    }
    storm.audit(told).await;
}

/// What one guest was told of one booking, and where it can be looked up.
struct Told {
    guest: Guest,
    attempt: String,
    arrival: NaiveDate,
    answer: StatusCode,
    cancelled: bool,
    changed: bool,
}

struct Storm {
    sandbox: Sandbox,
    process: Option<Process>,
    base_url: String,
    random: Random,
}

const METHODS: [&str; 12] = [
    "pm_ok",
    "pm_ok",
    "pm_ok",
    "pm_ok",
    "pm_ok",
    "pm_declined",
    "pm_lost_response",
    "pm_capture_fails",
    "pm_duplicate_webhooks",
    "pm_reordered_webhooks",
    "pm_wrong_amount",
    "pm_refund_fails_twice",
];

/// What a guest does with a booking that was confirmed.
#[derive(Clone, Copy)]
enum Then {
    Stays,
    Cancels,
    Changes(u64),
}

impl Storm {
    async fn begin(seed: u64, bookings: usize) -> Self {
        let sandbox = Sandbox::with_notices();
        let random = Random::new(seed);
        let mut storm = Self { sandbox, process: None, base_url: String::new(), random };
        storm.live().await;
        // Not all of them find a room.
        let sellable = (bookings / ARRIVALS).max(4);
        let first: NaiveDate = "2026-11-14".parse().expect("a date");
        let last = first + Days::new(2 * ARRIVALS as u64 + 2);
        let change =
            json!({"room_type": "RT-DLX", "first_night": first, "last_night": last, "sellable": sellable});
        let operator = storm.sandbox.operator(&storm.base_url);
        let set = operator.put("/v1/hotels/HTL-204/inventory", "set", &json!({ "changes": [change] })).await;
        body(set.expect("an answer"), StatusCode::OK).await;
        storm
    }

    async fn live(&mut self) {
        let (process, base_url) = self.sandbox.start(&[("KEYRACK_PROVIDER__DEADLINE_MS", "700")]).await;
        self.process = Some(process);
        self.base_url = base_url;
        self.lose(10, 10, 20).await;
    }

    async fn lose(&self, requests: u8, answers: u8, notices: u8) {
        let faults = json!({"lose_requests": requests, "lose_answers": answers, "repeat_notices": notices});
        let set = Guest::with_token(&self.base_url, "none").post("/simulator/faults", "none", &faults).await;
        body(set.expect("an answer"), StatusCode::OK).await;
    }

    /// Guests who all act at once. The program may die under them.
    async fn round(&mut self, round: usize) -> Vec<Told> {
        let plans: Vec<_> = (0..GUESTS)
            .map(|_| {
                let then = match self.random.below(6) {
                    0 | 1 => Then::Cancels,
                    2 => Then::Changes(1),
                    3 => Then::Changes(3),
                    _ => Then::Stays,
                };
                (METHODS[self.random.below(METHODS.len())], self.random.below(ARRIVALS), then)
            })
            .collect();
        let kills = round % ROUNDS_PER_LIFE == ROUNDS_PER_LIFE - 1;
        let guests =
            plans.into_iter().map(|(method, arrival, then)| play(&self.base_url, method, arrival, then));
        let told = join_all(guests).await.into_iter().flatten().collect();
        if !kills && self.random.below(3) == 0 {
            // Some deadlines pass, some do not.
            let seconds = u32::try_from(self.random.below(200)).unwrap_or(0) + 1;
            self.sandbox.advance(&self.base_url, seconds).await;
        }
        told
    }

    /// While guests pay: what they were about to do is done again, by the same keys, in the next life.
    async fn die_and_live_again(&mut self) {
        let base_url = self.base_url.clone();
        let method = METHODS[self.random.below(METHODS.len())];
        let arrival = self.random.below(ARRIVALS);
        let paying = play(&base_url, method, arrival, Then::Stays);
        let process = self.process.take().expect("it lives");
        let (_, ()) = futures::join!(paying, process.kill());
        self.live().await;
    }

    /// The faults have an end; then everything must have one.
    async fn audit(mut self, told: Vec<Told>) {
        self.lose(0, 0, 0).await;
        let operator = self.sandbox.operator(&self.base_url);
        let mut open = Value::Null;
        for _ in 0..JUMPS {
            self.sandbox.advance(&self.base_url, 131).await;
            open = operator.get("/v1/ops/cases").await;
            if open["items"].as_array().is_some_and(Vec::is_empty) {
                break;
            }
        }
        assert_eq!(open["items"], json!([]), "cases are open beyond their bound");
        for _ in 0..4 {
            self.sandbox.advance(&self.base_url, 601).await;
        }
        let book = net(&charges(&self.base_url).await);
        let mut confirmed = 0;
        for told in &told {
            confirmed += usize::from(told.is_true(&self.base_url, &book).await);
        }
        assert!(confirmed > 0 && confirmed < told.len(), "{confirmed} of {}: no storm", told.len());
        self.sandbox.must_verify().await;
        self.process.take().expect("it lives").stop_cleanly().await;
    }
}

impl Told {
    /// Whether the booking was made; panics where the guest was told otherwise, or the provider kept too much.
    async fn is_true(&self, base_url: &str, book: &BTreeMap<String, i64>) -> bool {
        let shown = self.guest.at(base_url).get(&format!("/v1/bookings/{}", self.attempt)).await;
        let status = shown["status"].as_str().expect("a status").to_owned();
        let kept = book.get(&self.attempt).copied().unwrap_or(0);
        let confirmed = status == "CONFIRMED";
        match self.answer {
            StatusCode::CREATED => assert!(confirmed, "told 201, and is {shown}"),
            StatusCode::PAYMENT_REQUIRED | StatusCode::CONFLICT => {
                assert!(!confirmed, "told {}, and is {shown}", self.answer);
            }
            _ => {}
        }
        assert!(["CONFIRMED", "FAILED", "REFUNDED"].contains(&status.as_str()), "has no end: {shown}");
        if !confirmed {
            assert_eq!(kept, 0, "kept of a booking that was not made: {shown}");
        } else if self.cancelled {
            assert_eq!(kept, 0, "kept of a booking that was cancelled in time: {shown}");
        } else if !self.changed {
            assert_eq!(kept, 1_456_000, "not paid once: {shown} ({})", self.arrival);
        }
        confirmed
    }
}

/// What the provider has kept, by attempt, in paise.
fn net(charges: &[Value]) -> BTreeMap<String, i64> {
    let mut net = BTreeMap::new();
    for charge in charges {
        let amount = charge["amount"].as_i64().unwrap_or(0);
        let sign = match (charge["kind"].as_str(), charge["state"].as_str()) {
            (Some("capture"), Some("CAPTURED")) => 1,
            (Some("refund"), Some("REFUNDED")) => -1,
            _ => continue,
        };
        let reference = charge["reference"].as_str().unwrap_or_default();
        let attempt = reference.split('-').next().unwrap_or_default().to_owned();
        *net.entry(attempt).or_insert(0) += sign * amount;
    }
    net
}

/// One guest's booking from the quote on. `None` where no attempt to pay was made, or nothing of it was heard
/// before the program died.
async fn play(base_url: &str, method: &str, arrival: usize, then: Then) -> Option<Told> {
    let guest = Guest::try_new(base_url).await?.number(arrival);
    let quote = heard(|| guest.try_quote()).await?;
    let quote = id(&body(quote, StatusCode::CREATED).await);
    let hold = heard(|| guest.try_hold(&quote)).await?;
    if hold.status() == StatusCode::CONFLICT {
        return None;
    }
    let hold = id(&body(hold, StatusCode::CREATED).await);
    let booked = heard(|| guest.book_with(&hold, method)).await?;
    let answer = booked.status();
    let told: Value = serde_json::from_str(&booked.text().await.ok()?).ok()?;
    let attempt = told["attempt_id"].as_str().or(told["id"].as_str());
    let attempt = attempt.unwrap_or_else(|| panic!("{answer}: {told}")).to_owned();
    let arrival = guest.first_night();
    let mut told_of = Told { attempt, arrival, answer, cancelled: false, changed: false, guest };
    if answer == StatusCode::CREATED {
        let reservation = id(&told["reservation"]);
        match then {
            Then::Stays => {}
            Then::Cancels => {
                // Unheard it may be cancelled or not: then nothing is said of its money.
                let done = heard(|| told_of.guest.try_cancel(&reservation)).await;
                told_of.cancelled = done.is_some_and(|done| done.status() == StatusCode::OK);
                told_of.changed = !told_of.cancelled;
            }
            Then::Changes(nights) => {
                told_of.changed = true;
                change(&told_of.guest, &reservation, nights).await;
            }
        }
    }
    Some(told_of)
}

async fn change(guest: &Guest, reservation: &str, nights: u64) -> Option<()> {
    let path = format!("/v1/reservations/{reservation}/changes");
    let wanted = json!({ "check_out": guest.first_night() + Days::new(nights) });
    let priced = heard(|| guest.post_at(1, &path, "price", &wanted)).await?;
    let change = id(&body(priced, StatusCode::CREATED).await);
    let payment = if nights > 2 { json!({"payment": {"method_token": "pm_ok"}}) } else { json!({}) };
    let path = format!("{path}/{change}/confirm");
    let done = heard(|| guest.post_at(1, &path, "confirm", &payment)).await?;
    let fine = [StatusCode::OK, StatusCode::ACCEPTED, StatusCode::PAYMENT_REQUIRED, StatusCode::CONFLICT];
    assert!(fine.contains(&done.status()), "{}", done.status());
    Some(())
}

/// An answer that is one: what could not be served now is asked again by the same key. `None`: the program is gone.
async fn heard<F>(call: impl Fn() -> F) -> Option<Response>
where
    F: Future<Output = reqwest::Result<Response>>,
{
    for _ in 0..TRIES {
        let answer = call().await.ok()?;
        if answer.status() != StatusCode::SERVICE_UNAVAILABLE {
            return Some(answer);
        }
        let wait = answer.headers().get("retry-after").and_then(|after| after.to_str().ok()?.parse().ok());
        tokio::time::sleep(std::time::Duration::from_secs(wait.unwrap_or(1))).await;
    }
    panic!("not served after {TRIES} tries");
}
