//! Guests, staff and channels of three hotels at once, on two processes of the API and one of workers, whose requests
//! and answers are lost between every two of them, which die at any moment, and whose clock goes on; and the reference
//! model, which judges every answer.
//!
//! What is judged exactly. The calls of one hotel go out in groups, those of a group at the same time. The model keeps
//! every world that may be (`keyrack_model::Worlds`): for each group it tries every order of its calls, every call that
//! was not answered both as done and as not done, and every moment at which the provider may have told what it took.
//! Status, code, replay, state, version, amounts, refunds, and the night that was short must be those of the model in
//! one of these worlds; the worlds in which they are not are dropped, and a hotel without a world is a fault of the
//! product. After each group every counter is read, every payment that is open, and a reservation. When the time
//! passes, what is due has an end, and it is the one that the provider's book asks for. At the end everything that
//! there ever was is read again: each guest's last answer is true, `verify` is clean, and for every attempt the
//! provider has taken and given back what the model says.
//!
//! What is judged by bounds alone. A call is answered within its tries, a case within its leases, a refund within
//! its jumps. How far a refund is on its way is not looked at before the end; of a price only the sum is. Nothing is
//! called when a deadline is near, since nobody could say on which side of it a call was. Reservations that are paid
//! later, wrong amounts, and customers who are asked by their bank are not here: `storm.rs`,
//! `shared/booking/tests/it/later_payments.rs`, `customer_actions.rs`.

mod installation;
mod lane;
mod looks;
mod plan;
mod sending;
mod telling;
mod wire;

use std::time::{Duration, Instant};

use futures::future::{join, join_all};
use uuid::Uuid;

use self::{installation::Installation, lane::Lane};
use crate::random::Random;

/// INR, JPY without decimals, and USD with a fee per night: in three time zones.
const HOTELS: [&str; 3] = ["HTL-204", "HTL-411", "HTL-714"];
/// Of one history. The long profile plays one after the other, each with the next seed.
const ROUNDS: usize = 24;
const LONG_ROUNDS: usize = 60;
/// Groups of calls in a round, each hotel for itself.
const GROUPS: usize = 3;
const ROUNDS_PER_DAY: usize = 8;
/// The long profile begins no history after this.
const LONG: Duration = Duration::from_secs(55 * 60);
/// A process dies within this from the beginning of a round.
const SOON_MS: usize = 400;
/// When the faults have ended every refund comes to its end within so many jumps.
const JUMPS: usize = 40;

/// Add the seed of a history that failed.
const KEPT: [u64; 2] = [1, 16];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_answer_is_one_that_the_model_gives_whatever_is_lost_and_whoever_dies() {
    let given = std::env::var("KEYRACK_TEST_SEED").ok().and_then(|seed| seed.parse().ok());
    let mut seed = given.unwrap_or_else(|| Uuid::new_v4().as_u64_pair().0 >> 1);
    let long = std::env::var_os("KEYRACK_TEST_LONG").is_some();
    let begun = Instant::now();
    loop {
        println!("seed {seed}");
        Simulation::begin(seed).await.play(if long { LONG_ROUNDS } else { ROUNDS }).await;
        if !long || begun.elapsed() > LONG {
            return;
        }
        seed += 1;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn histories_that_failed_before_are_answered_as_the_model_answers_them() {
    for seed in KEPT {
        Simulation::begin(seed).await.play(ROUNDS / 2).await;
    }
}

struct Simulation {
    at: Installation,
    lanes: Vec<Lane>,
    random: Random,
}

impl Simulation {
    async fn begin(seed: u64) -> Self {
        let at = Installation::new().await;
        let mut random = Random::new(seed);
        let mut lanes = Vec::new();
        for code in HOTELS {
            lanes.push(Lane::new(&at, code, random.split()).await);
        }
        at.lose_at_provider(6);
        let mut simulation = Self { at, lanes, random };
        simulation.settle().await;
        simulation
    }

    async fn play(mut self, rounds: usize) {
        for round in 1..=rounds {
            self.round().await;
            if round % ROUNDS_PER_DAY == 0 {
                self.let_hours_pass().await;
            } else if self.random.one_in(2) {
                let jump = [50, 131, 131, 310, 650][self.random.below(5)];
                self.pass(Duration::from_secs(jump)).await;
            }
        }
        self.end().await;
    }

    async fn round(&mut self) {
        let begun = Instant::now();
        self.at.lose_notices(self.random.one_in(4));
        let dies = self.random.one_in(2).then(|| self.random.below(3));
        let after = Duration::from_millis(self.random.below(SOON_MS) as u64);
        let disturbed = self.random.below(3);
        for _ in 0..disturbed {
            self.at.disturb(&mut self.random);
        }
        let (at, in_doubt) = (&self.at, disturbed > 0 || dies.is_some());
        let deaths = async {
            if let Some(part) = dies {
                // At any moment of the calls below.
                tokio::time::sleep(after).await;
                at.kill(part).await;
            }
        };
        let acts = join_all(self.lanes.iter_mut().map(|lane| async move {
            for _ in 0..GROUPS {
                let calls = lane.plan();
                lane.run(at, calls, in_doubt).await;
                lane.look(at).await;
            }
            lane.check_invariants();
        }));
        join(deaths, acts).await;
        assert!(
            begun.elapsed() < looks::MARGIN,
            "a round was too slow to say on which side of a deadline it was"
        );
    }

    async fn pass(&mut self, by: Duration) {
        for lane in &mut self.lanes {
            lane.hear_everything(&self.at).await;
        }
        self.at.advance(by).await;
        self.settle().await;
    }

    /// Until nothing is due, and nothing will be soon.
    async fn settle(&mut self) {
        loop {
            let mut waited = false;
            for lane in &mut self.lanes {
                waited |= lane.settle(&self.at).await;
            }
            if self.lanes.iter().any(Lane::is_on_the_edge) {
                self.at.advance(looks::MARGIN).await;
            } else if !waited {
                return;
            }
        }
    }

    /// Everything that was begun has ended before.
    async fn let_hours_pass(&mut self) {
        for _ in 0..2 {
            self.pass(Duration::from_secs(700)).await;
        }
        // Not always at the same time of the day: terms end at 18:00.
        let hours = 4 + self.random.below(24) as u64;
        self.pass(Duration::from_secs(hours * 3600)).await;
    }

    /// The faults have an end; then everything must have one.
    async fn end(mut self) {
        self.at.lose_at_provider(0);
        self.at.lose_notices(false);
        for _ in 0..3 {
            self.pass(Duration::from_secs(700)).await;
        }
        self.at.let_refunds_end(JUMPS).await;
        let mut tried = 0;
        for lane in &mut self.lanes {
            lane.look_at_everything(&self.at).await;
            lane.look_at_the_book(&self.at);
            lane.check_invariants();
            tried += lane.sent.len();
            println!("{}", lane.summary());
        }
        println!("{tried} calls");
        self.at.must_verify().await;
        self.at.stop().await;
    }
}
