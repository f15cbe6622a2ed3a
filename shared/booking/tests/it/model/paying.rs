//! Payments, the sweep and refunds. What the provider knows is asked of the provider.

use std::time::Instant;

use keyrack_booking::{
    KeyRefusal, bookings,
    start_attempt::StartAttemptError,
    views::{BookingView, Standing},
};
use keyrack_domain::{
    attempt::AttemptState,
    hold::HoldState,
    ids::{AttemptId, HoldId, RefundId, ReservationId},
};
use keyrack_model::{NewIds, Outcome, ProviderAnswer, ProviderRecord, Refusal, StartAttempt};
use keyrack_payment_simulator::{Charge, Kind, State};
use uuid::Uuid;

use super::{DEADLINE, Player};
use crate::{desk_world::payment, world::key};

const METHODS: [&str; 9] = [
    "pm_ok",
    "pm_ok",
    "pm_ok",
    "pm_ok",
    "pm_declined",
    "pm_lost_response",
    "pm_slow",
    "pm_timeout",
    "pm_capture_fails",
];

impl Player {
    /// Mostly one that is still alive: the others are refused and lead nowhere.
    fn payable(&mut self) -> Option<HoldId> {
        let alive = |id: &&HoldId| self.model.holds[*id].state == HoldState::Active;
        let alive: Vec<HoldId> = self.holds.iter().filter(alive).copied().collect();
        (!alive.is_empty() && self.draw(5) > 0).then(|| alive[self.draw(alive.len())])
    }

    pub(super) async fn pay(&mut self) {
        if self.holds.is_empty() {
            return;
        }
        let hold = self.payable().unwrap_or_else(|| self.some_hold());
        let owner = self.model.holds[&hold].principal;
        let who = self.guests.iter().position(|guest| guest.principal == owner).expect("a guest");
        let method = METHODS[self.draw(METHODS.len())];
        let key = key(&format!("P{}", self.draw(25)));
        let caller = self.guests[who].clone();
        let started = Instant::now();
        let product = self.at.try_pay(&caller, hold, method, key.clone()).await;
        let late = started.elapsed() >= DEADLINE;
        self.log.push(format!("pay {who} {hold} {method}"));
        self.log.push(format!(
            "  -> {}",
            product.as_ref().map_or_else(ToString::to_string, |made| format!("replayed: {}", made.replayed))
        ));
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
                        // On a machine that is busy elsewhere any of them may be too late.
                        _ if late && matches!(ours.answer.standing, Standing::Pending { .. }) => {
                            ProviderAnswer::Unknown
                        }
                        "pm_ok" => ProviderAnswer::Captured,
                        "pm_declined" | "pm_capture_fails" => ProviderAnswer::Declined,
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

    async fn let_slow_captures_arrive(&self) {
        let simulator = self.at.simulator.simulator();
        let charges = simulator.charges("", None, 50_000);
        for charge in charges.iter().filter(|charge| is(charge, Kind::Capture, State::Waiting)) {
            simulator.release(&charge.reference).await;
        }
    }

    fn record_of(&self, attempt: AttemptId) -> ProviderRecord {
        let charges = self.at.simulator.simulator().charges(&format!("{attempt}-"), None, 10);
        let has = |kind, state| charges.iter().any(|charge| is(charge, kind, state));
        if has(Kind::Capture, State::Captured) {
            ProviderRecord::Captured
        } else if has(Kind::Capture, State::Waiting) {
            ProviderRecord::UnderWay
        } else {
            // Nothing was taken: the sweep has made sure that nothing will be.
            assert!(!has(Kind::Authorize, State::Authorized), "{charges:?} {}", self.history());
            ProviderRecord::Cancelled
        }
    }

    /// The sweep and the refunds, until nothing is due.
    pub(super) async fn settle(&mut self) {
        let arrive = self.draw(2) == 0;
        self.log.push(format!("settle, slow captures arrive: {arrive}"));
        if arrive {
            self.let_slow_captures_arrive().await;
        }
        // The lease of an earlier sweep that could not end a case.
        self.pass(31).await;
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
            let record = self.record_of(id);
            self.model.reconcile(id, record, new).expect("the attempt is there");
            if self.model.attempts[&id].state == AttemptState::PaymentCapturedBookingFailed {
                self.model.settle_refund(new.refund, true).expect("the refund is there");
            }
            self.same_standing(&booking);
        }
    }
}

fn is(charge: &Charge, kind: Kind, state: State) -> bool {
    (charge.kind, charge.state) == (kind, state)
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
