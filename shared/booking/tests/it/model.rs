//! Random histories, answered by the product and by the reference model: every answer, every counter
//! and every state must be the same, and the invariants hold after each step.

use keyrack_booking::{
    KeyRefusal, bookings,
    place_hold::{self, PlaceHold, PlaceHoldError},
    release::{self, ReleaseError},
    start_attempt::StartAttemptError,
    views::{BookingView, Standing},
};
use keyrack_domain::{
    attempt::AttemptState,
    ids::{AttemptId, HoldId, HotelId, QuoteId, RefundId, ReservationId},
    operation_key::OperationKey,
    principal::Caller,
};
use keyrack_model::{
    Hotel, NewIds, NightKey, Outcome, PlaceHold as ModelHold, ProviderAnswer, ProviderRecord, Quote, Refusal,
    ReleaseHold, Settings, StartAttempt, World as Model, invariants,
};
use uuid::Uuid;

use crate::{
    desk_world::{DeskWorld, payment},
    world::{day, guest, key, room},
};

/// Steps of one history; ten times as many with `KEYRACK_TEST_LONG=1`.
const STEPS: usize = 120;
const NIGHTS: [&str; 5] = ["2026-11-14", "2026-11-15", "2026-11-16", "2026-11-17", "2026-11-18"];

#[tokio::test]
async fn random_histories_are_answered_as_the_model_answers_them() {
    for seed in [1, 2] {
        Player::new(seed).await.play().await;
    }
}

struct Player {
    seed: u64,
    random: u64,
    at: DeskWorld,
    model: Model,
    hotel: HotelId,
    guests: Vec<Caller>,
    quotes: Vec<(usize, QuoteId)>,
    holds: Vec<HoldId>,
    log: Vec<String>,
}

impl Player {
    async fn new(seed: u64) -> Self {
        let at = DeskWorld::new().await;
        at.sellable((NIGHTS[0], "2026-11-19"), 3).await;
        let hotel = at.world.hotels.by_code(&at.hotel).await.expect("the hotel");
        let mut model = Model::new(Settings::default(), at.world.now().await);
        model.hotels.insert(hotel.id, Hotel { zone: hotel.zone, restrictions: Default::default() });
        let guests = (0..4).map(|_| guest()).collect();
        let mut player = Self {
            seed,
            random: seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1,
            hotel: hotel.id,
            at,
            model,
            guests,
            quotes: Vec::new(),
            holds: Vec::new(),
            log: Vec::new(),
        };
        for night in NIGHTS {
            let opened = player.night(night);
            player.model.open_night(opened, 3);
        }
        player
    }

    fn night(&self, date: &str) -> NightKey {
        NightKey { hotel: self.hotel, date: day(date), room_type: keyrack_domain::ids::RoomTypeId(1) }
    }

    fn draw(&mut self, bound: usize) -> usize {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        usize::try_from(self.random % bound as u64).unwrap_or(0)
    }

    async fn play(mut self) {
        let long = std::env::var_os("KEYRACK_TEST_LONG").is_some();
        for step in 0..if long { STEPS * 10 } else { STEPS } {
            self.model.advance_to(self.at.world.now().await);
            match self.draw(12) {
                0..=1 => self.make_quote().await,
                2..=4 => self.place().await,
                5 => self.release().await,
                6..=8 => self.pay().await,
                9 => self.wait(97).await,
                10 => self.wait(613).await,
                _ => self.settle().await,
            }
            self.compare(step).await;
        }
        self.at.verify().await;
    }

    fn who(&mut self) -> usize {
        let guests = self.guests.len();
        self.draw(guests)
    }

    /// From a small stock, so that keys are repeated and reused.
    fn some_key(&mut self) -> OperationKey {
        key(&format!("K{}", self.draw(25)))
    }

    async fn make_quote(&mut self) {
        let who = self.who();
        let first = self.draw(4);
        let nights = 1 + self.draw(5 - first);
        let stay =
            (NIGHTS[first].to_owned(), (day(NIGHTS[first]) + chrono::Days::new(nights as u64)).to_string());
        let rooms = vec![room("RT-DLX", 2, &[]); 1 + self.draw(2)];
        let id = self.at.quote_rooms(&self.guests[who], (&stay.0, &stay.1), rooms).await;
        let view = keyrack_booking::quote::find(&self.at.world.hotels, &self.guests[who], id).await;
        let view = view.expect("a read").expect("the quote");
        let quote = Quote {
            principal: self.guests[who].principal,
            document: view.document,
            expires_at: view.expires_at,
        };
        self.model.quotes.insert(id, quote);
        self.quotes.push((who, id));
    }

    async fn place(&mut self) {
        if self.quotes.is_empty() {
            return;
        }
        let recent = self.quotes.len().min(6);
        let place = self.quotes.len() - 1 - self.draw(recent);
        let (owner, quote) = self.quotes[place];
        let who = if self.draw(10) == 0 { self.who() } else { owner };
        let replaces = (self.draw(5) == 0 && !self.holds.is_empty()).then(|| self.some_hold());
        let key = self.some_key();
        let caller = self.guests[who].clone();
        let request = PlaceHold { quote, replaces, key: key.clone() };
        let product = place_hold::run(&self.at.desk, &caller, request).await;
        let id =
            product.as_ref().map_or_else(|_| HoldId::new(self.hotel, Uuid::now_v7()), |held| held.answer.id);
        let call = ModelHold { principal: caller.principal, key, quote, replaces, id };
        let model = self.model.place_hold(&call);
        self.log.push(format!("place {who} {quote} replaces {replaces:?}"));
        let product = product.map(|held| (held.answer.id, held.replayed));
        let expected = match model {
            Ok(answered) => match answered.outcome {
                Outcome::Hold { id, .. } => Ok((id, answered.replayed)),
                other => panic!("{other:?}"),
            },
            Err(refusal) => Err(refusal),
        };
        match (&product, &expected) {
            (Ok(ours), Ok(theirs)) => {
                assert_eq!(ours, theirs, "{}", self.history());
                if !ours.1 {
                    self.holds.push(ours.0);
                }
            }
            (Err(ours), Err(theirs)) => {
                assert!(same_refusal(ours, theirs), "{ours:?} {theirs:?} {}", self.history());
            }
            _ => panic!("{product:?} {expected:?} {}", self.history()),
        }
    }

    fn some_hold(&mut self) -> HoldId {
        let recent = self.holds.len().min(6);
        let place = self.holds.len() - 1 - self.draw(recent);
        self.holds[place]
    }

    async fn release(&mut self) {
        if self.holds.is_empty() {
            return;
        }
        let hold = self.some_hold();
        let owner = self.model.holds[&hold].principal;
        let who = self.guests.iter().position(|guest| guest.principal == owner).expect("a guest");
        let who = if self.draw(6) == 0 { self.who() } else { who };
        let key = self.some_key();
        let product = release::run(&self.at.desk, &self.guests[who], hold, key.clone()).await;
        let call = ReleaseHold { principal: self.guests[who].principal, key, hold };
        let model = self.model.release_hold(&call);
        self.log.push(format!("release {who} {hold}"));
        let same = match (&product, &model) {
            (Ok(ours), Ok(theirs)) => {
                matches!(theirs.outcome, Outcome::Hold { id, state, .. } if (id, state) == (ours.answer.id, ours.answer.state))
            }
            (Err(ReleaseError::NotFound), Err(Refusal::NotFound))
            | (Err(ReleaseError::Consumed), Err(Refusal::HoldNotActive(_)))
            | (Err(ReleaseError::AttemptInProgress(_)), Err(Refusal::AttemptInProgress(_)))
            | (Err(ReleaseError::Key(KeyRefusal::Reused)), Err(Refusal::KeyReused))
            | (Err(ReleaseError::Key(KeyRefusal::Expired)), Err(Refusal::KeyExpired)) => true,
            _ => false,
        };
        assert!(same, "{product:?} {model:?} {}", self.history());
    }

    async fn pay(&mut self) {
        if self.holds.is_empty() {
            return;
        }
        let hold = self.some_hold();
        let owner = self.model.holds[&hold].principal;
        let who = self.guests.iter().position(|guest| guest.principal == owner).expect("a guest");
        let method = ["pm_ok", "pm_ok", "pm_declined", "pm_lost_response"][self.draw(4)];
        let key = key(&format!("P{}", self.draw(12)));
        let caller = self.guests[who].clone();
        let product = self.at.try_pay(&caller, hold, method, key.clone()).await;
        self.log.push(format!("pay {who} {hold} {method}"));
        let asked = payment(hold, method, key.clone());
        let id = product
            .as_ref()
            .map_or_else(|_| AttemptId::new(self.hotel, Uuid::now_v7()), |booking| booking.answer.attempt);
        let call = StartAttempt {
            principal: caller.principal,
            key,
            hold,
            method: asked.method,
            guest: asked.guest,
            id,
        };
        let model = self.model.start_attempt(&call);
        match (&product, &model) {
            (Ok(ours), Ok(theirs)) => {
                assert_eq!(ours.replayed, theirs.replayed, "{}", self.history());
                if !ours.replayed {
                    let answer = match method {
                        "pm_ok" => ProviderAnswer::Captured,
                        "pm_declined" => ProviderAnswer::Declined,
                        _ => ProviderAnswer::Unknown,
                    };
                    self.model.settle(id, answer, self.new_ids(&ours.answer)).expect("the attempt is there");
                }
                self.same_standing(&ours.answer);
            }
            (Err(ours), Err(theirs)) => {
                assert!(same_attempt_refusal(ours, theirs), "{ours:?} {theirs:?} {}", self.history());
            }
            _ => panic!("{product:?} {model:?} {}", self.history()),
        }
    }

    /// What the product made, or ids that the model will not use.
    fn new_ids(&self, booking: &BookingView) -> NewIds {
        let (mut reservation, mut refund) =
            (ReservationId::new(self.hotel, Uuid::now_v7()), RefundId::new(self.hotel, Uuid::now_v7()));
        match &booking.standing {
            Standing::Confirmed(made) => reservation = made.id,
            Standing::NoRoom { refund: made } => refund = made.id,
            Standing::Pending { .. } | Standing::Declined { .. } => {}
        }
        NewIds { reservation, refund }
    }

    fn same_standing(&self, booking: &BookingView) {
        let model = self.model.standing(booking.attempt).expect("the attempt is there");
        let same = match (&booking.standing, model) {
            (Standing::Pending { .. }, Outcome::Pending { .. })
            | (Standing::Declined { .. }, Outcome::Declined { .. }) => true,
            (Standing::Confirmed(ours), Outcome::Confirmed { reservation, .. }) => ours.id == reservation,
            (Standing::NoRoom { refund }, Outcome::BookingFailed { refund: theirs, state, .. }) => {
                (refund.id, refund.state) == (theirs, state)
            }
            _ => false,
        };
        assert!(same, "{booking:?} {:?} {}", self.model.standing(booking.attempt), self.history());
    }

    async fn wait(&mut self, seconds: u64) {
        self.log.push(format!("wait {seconds}"));
        self.at.advance(seconds).await;
        self.model.advance_to(self.at.world.now().await);
        self.at.expire().await;
        self.model.expire();
    }

    /// The sweep and the refunds, until nothing is due.
    async fn settle(&mut self) {
        self.log.push("settle".to_owned());
        self.at.settle_money().await;
        self.model.advance_to(self.at.world.now().await);
        let due: Vec<AttemptId> = self
            .model
            .attempts
            .iter()
            .filter(|(_, attempt)| attempt.state.is_open() && self.model.now.is_past(attempt.deadline))
            .map(|(id, _)| *id)
            .collect();
        for id in due {
            let owner = self.model.attempts[&id].principal;
            let who = self.guests.iter().position(|guest| guest.principal == owner).expect("a guest");
            let booking = bookings::find(&self.at.desk, &self.guests[who], id).await.expect("a read");
            let booking = booking.expect("the attempt");
            let new = self.new_ids(&booking);
            self.model.reconcile(id, ProviderRecord::Captured, new).expect("the attempt is there");
            if self.model.attempts[&id].state == AttemptState::PaymentCapturedBookingFailed {
                self.model.settle_refund(new.refund, true).expect("the refund is there");
            }
            self.same_standing(&booking);
        }
    }

    async fn compare(&self, step: usize) {
        for night in NIGHTS {
            let ours = self.at.counters(night).await;
            let theirs = self.model.nights[&self.night(night)];
            let theirs = (i64::from(theirs.sellable), i64::from(theirs.held), i64::from(theirs.confirmed));
            assert_eq!(ours, theirs, "step {step}, {night} {}", self.history());
        }
        assert_eq!(invariants(&self.model), [], "step {step} {}", self.history());
        if step % 40 == 39 {
            self.at.verify().await;
        }
    }

    fn history(&self) -> String {
        format!("(seed {}) after:\n{}", self.seed, self.log.join("\n"))
    }
}

fn same_refusal(ours: &PlaceHoldError, theirs: &Refusal) -> bool {
    match (ours, theirs) {
        (PlaceHoldError::QuoteNotFound | PlaceHoldError::ReplacedNotFound, Refusal::NotFound)
        | (PlaceHoldError::QuoteExpired(_), Refusal::QuoteExpired)
        | (PlaceHoldError::Restricted(_), Refusal::RestrictionViolated(_))
        | (PlaceHoldError::HoldLimit { .. }, Refusal::HoldLimit)
        | (PlaceHoldError::ReplacedNotActive(_), Refusal::HoldNotActive(_) | Refusal::HoldExpired)
        | (PlaceHoldError::AttemptInProgress(_), Refusal::AttemptInProgress(_))
        | (PlaceHoldError::Key(KeyRefusal::Reused), Refusal::KeyReused)
        | (PlaceHoldError::Key(KeyRefusal::Expired), Refusal::KeyExpired) => true,
        (PlaceHoldError::SoldOut(ours), Refusal::RoomNightUnavailable(theirs)) => {
            (ours.first.night, ours.first.requested, ours.first.available)
                == (theirs.night, theirs.requested, theirs.available)
        }
        _ => false,
    }
}

fn same_attempt_refusal(ours: &StartAttemptError, theirs: &Refusal) -> bool {
    matches!(
        (ours, theirs),
        (StartAttemptError::HoldNotFound, Refusal::NotFound)
            | (StartAttemptError::HoldExpired(_), Refusal::HoldExpired)
            | (StartAttemptError::HoldNotActive(_), Refusal::HoldNotActive(_))
            | (StartAttemptError::AttemptInProgress(_), Refusal::AttemptInProgress(_))
            | (StartAttemptError::Key(KeyRefusal::Reused), Refusal::KeyReused)
    )
}
