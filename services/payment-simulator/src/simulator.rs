//! The provider itself: takes calls, makes slow ones wait, and says what became of them.

use std::{
    future::Future,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio::{
    runtime::Handle,
    sync::{mpsc, watch},
    time::{Instant, sleep, timeout_at},
};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use crate::{
    answer::Answer,
    book::Book,
    charge::{Charge, Kind, State},
    courier,
    faults::{Chance, Faults},
    input::{Amount, Input, ReferenceName},
    journal::{Durable, Journal, JournalError},
    ledger::{Ledger, Taken},
    notice::Notice,
    settings::Settings,
    settlement::Statement,
};

/// A handle: clones are the same provider.
#[derive(Clone, Debug)]
pub struct Simulator(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    ledger: Mutex<Ledger>,
    durable: watch::Sender<Durable>,
    settings: Settings,
    /// Where the customer reaches us: `http://127.0.0.1:40123`.
    site: String,
    /// Slow captures go on when their client has gone and when the HTTP server stops.
    runtime: Handle,
    chance: Chance,
    tasks: TaskTracker,
    stop: CancellationToken,
}

/// What became of [`Simulator::release`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Released {
    Now(Charge),
    /// It was asked for, and did not wait.
    NotWaiting(Charge),
    NeverAsked,
}

/// What became of a customer's decision.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Decided {
    Now(Charge),
    /// It was decided before, or never had to be.
    Before(Charge),
    /// The session had ended.
    Expired,
    NeverAsked,
}

impl Simulator {
    /// Reads the journal, which blocks. Slow captures that were under way go on.
    pub(crate) fn open(settings: Settings, site: String, runtime: Handle) -> Result<Self, JournalError> {
        let durable = watch::Sender::new(Durable::UpTo(0));
        let (journal, book) = match &settings.journal {
            Some(path) => {
                let (journal, book) = Journal::open(path, settings.max_journal_bytes, durable.clone())?;
                (Some(journal), book)
            }
            None => (None, Book::default()),
        };
        let under_way: Vec<_> = book.waiting_captures().cloned().collect();
        let (sender, queue) = mpsc::channel(settings.max_notices.max(1));
        let webhook = settings.webhook.clone();
        let sender = webhook.is_some().then_some(sender);
        let ledger = Mutex::new(Ledger::new(book, journal, durable.clone(), sender, &settings));
        let (tasks, stop) = (TaskTracker::new(), CancellationToken::new());
        let chance = Chance::default();
        let inner = Inner { ledger, durable, settings, site, runtime, chance, tasks, stop };
        let simulator = Self(Arc::new(inner));
        if let Some(webhook) = webhook {
            let carrying = courier::carry(simulator.clone(), webhook, queue);
            simulator.0.tasks.spawn_on(carrying, &simulator.0.runtime);
        }
        for reference in under_way {
            simulator.capture_later(reference);
        }
        Ok(simulator)
    }

    /// One call, from its arrival to its answer. Everything that changes does so before the first
    /// await, so that a client that hangs up cannot leave half of it.
    pub(crate) async fn ask(&self, reference: ReferenceName, input: Input) -> Answer {
        let patience = Instant::now() + self.0.settings.silence;
        let kind = input.kind();
        let (taken, sequence) = {
            let mut ledger = self.ledger();
            (ledger.take(&reference, input), ledger.sequence())
        };
        if kind == Kind::Capture && taken == Taken::New(State::Waiting) {
            self.capture_later(reference.clone());
        }
        let answer = async {
            match taken {
                Taken::New(_) | Taken::Known => self.what_becomes_of(&reference).await,
                Taken::Refused(refusal) if self.is_durable(sequence).await => Answer::Refused(refusal),
                Taken::Refused(_) | Taken::Unavailable => Answer::Unavailable,
            }
        };
        tokio::select! {
            biased;
            () = self.0.stop.cancelled() => Answer::Silence,
            answer = timeout_at(patience, answer) => answer.unwrap_or(Answer::Silence),
        }
    }

    /// Waits until the call has had its effect, and the effect is on disk.
    async fn what_becomes_of(&self, reference: &ReferenceName) -> Answer {
        loop {
            let (waits, answer, sequence) = {
                let ledger = self.ledger();
                let waits = ledger.book.get(reference).is_some_and(|entry| entry.state == State::Waiting);
                let answer = Answer::to_call(&ledger.book, reference).with_page(&self.0.site, reference);
                (waits, answer, ledger.sequence())
            };
            let until = if waits { sequence + 1 } else { sequence };
            if !self.is_durable(until).await {
                return Answer::Unavailable;
            }
            if !waits {
                return answer;
            }
        }
    }

    /// What a reference stands for now; never waits for a call that waits.
    pub(crate) async fn look_up(&self, reference: &ReferenceName) -> Answer {
        let (answer, sequence) = {
            let ledger = self.ledger();
            let answer = Answer::to_look_up(&ledger.book, reference).with_page(&self.0.site, reference);
            (answer, ledger.sequence())
        };
        if self.is_durable(sequence).await { answer } else { Answer::Unavailable }
    }

    fn capture_later(&self, reference: ReferenceName) {
        let (simulator, delay) = (self.clone(), self.0.settings.slow_capture);
        let work = async move {
            tokio::select! {
                () = sleep(delay) => { simulator.ledger().settle(&reference); }
                () = simulator.0.stop.cancelled() => {}
            }
        };
        self.0.tasks.spawn_on(work, &self.0.runtime);
    }

    /// Lets a waiting call take effect now. Waits a bounded time for the call to arrive.
    pub async fn release(&self, reference: &ReferenceName) -> Released {
        let seen = self.until(reference, |charge| charge.state != State::Refused).await;
        if !self.ledger().settle(reference) {
            return seen.map_or(Released::NeverAsked, Released::NotWaiting);
        }
        self.charge(reference).map_or(Released::NeverAsked, Released::Now)
    }

    /// Waits a bounded time until the reference is in this state and was asked for at least so often;
    /// answers with what is there then.
    pub async fn wait_for(&self, reference: &ReferenceName, state: State, calls: u32) -> Option<Charge> {
        self.until(reference, |charge| charge.state == state && charge.calls >= calls).await
    }

    async fn until(&self, reference: &ReferenceName, enough: impl Fn(&Charge) -> bool) -> Option<Charge> {
        let deadline = Instant::now() + self.0.settings.control_patience;
        loop {
            let (charge, sequence) = {
                let ledger = self.ledger();
                (ledger.book.charge(reference), ledger.sequence())
            };
            if charge.as_ref().is_some_and(&enough) {
                return charge;
            }
            if !matches!(timeout_at(deadline, self.is_durable(sequence + 1)).await, Ok(true)) {
                return charge;
            }
        }
    }

    pub fn charge(&self, reference: &ReferenceName) -> Option<Charge> {
        self.ledger().book.charge(reference)
    }

    /// Those whose reference begins with `prefix`, after `cursor`, in order, at most `limit`.
    pub fn charges(&self, prefix: &str, cursor: Option<&ReferenceName>, limit: usize) -> Vec<Charge> {
        self.ledger().book.charges(prefix, cursor, limit)
    }

    /// What the customer has chosen on our page: to go through with it, or not.
    pub async fn decide(&self, reference: &ReferenceName, completes: bool) -> Decided {
        let state = if completes { State::Authorized } else { State::Declined };
        let (decided, charge, sequence) = {
            let mut ledger = self.ledger();
            let decided = ledger.decide(reference, state);
            (decided, ledger.book.charge(reference), ledger.sequence())
        };
        let Some(charge) = charge.filter(|charge| charge.kind == Kind::Authorize) else {
            return Decided::NeverAsked;
        };
        // A decision that is not on disk is none.
        if charge.state == State::Voided || !self.is_durable(sequence).await {
            return Decided::Expired;
        }
        if decided { Decided::Now(charge) } else { Decided::Before(charge) }
    }

    /// A refund that had been called a success comes to nothing. None where there is no such refund.
    pub async fn fail_refund(&self, reference: &ReferenceName) -> Option<Charge> {
        let (failed, sequence) = {
            let mut ledger = self.ledger();
            (ledger.fail_refund(reference), ledger.sequence())
        };
        let durable = self.is_durable(sequence).await;
        self.charge(reference).filter(|_| failed && durable)
    }

    /// Gives back of a capture without having been asked to by a client. None where it was refused.
    pub async fn refund_by_hand(&self, capture: ReferenceName, amount: Amount) -> Option<Charge> {
        let (reference, answer) = self.give_back_by_hand(capture, amount).await;
        self.charge(&reference).filter(|_| matches!(answer, Answer::Stands(_)))
    }

    pub(crate) async fn give_back_by_hand(
        &self,
        capture: ReferenceName,
        amount: Amount,
    ) -> (ReferenceName, Answer) {
        let reference = ReferenceName::by_hand();
        let answer = self.ask(reference.clone(), Input::RefundByHand { capture, amount }).await;
        (reference, answer)
    }

    /// A capture that no call has asked for. None where the reference is in use.
    pub async fn plant(
        &self,
        reference: &ReferenceName,
        authorization: ReferenceName,
        amount: Amount,
    ) -> Option<Charge> {
        let input = Input::Capture { authorization, amount };
        let (planted, sequence) = {
            let mut ledger = self.ledger();
            (ledger.plant(reference, input), ledger.sequence())
        };
        let durable = self.is_durable(sequence).await;
        self.charge(reference).filter(|_| planted && durable)
    }

    /// Returns once no notice is on its way: each was taken, or is kept as undelivered.
    pub async fn all_notices_told(&self) {
        let on_their_way = self.ledger().on_their_way.clone();
        on_their_way.wait().await;
    }

    /// From now on notices are lost on their way, or are not.
    pub fn lose_notices(&self, lose: bool) {
        self.ledger().loses_notices = lose;
    }

    /// Those that nobody took, the latest first.
    pub fn undelivered_notices(&self) -> Vec<Notice> {
        self.ledger().book.undelivered().cloned().collect()
    }

    /// Movements from that place on. Only what is on disk is told.
    pub(crate) async fn settlement(&self, from: i64, place: usize, limit: usize) -> Option<Vec<Statement>> {
        let (lines, sequence) = {
            let ledger = self.ledger();
            (ledger.book.settlement(from, place, limit), ledger.sequence())
        };
        self.is_durable(sequence).await.then_some(lines)
    }

    /// What is lost and repeated by chance from now on.
    pub fn set_faults(&self, faults: Faults) {
        self.0.chance.set(faults);
    }

    pub(crate) fn chance(&self) -> &Chance {
        &self.0.chance
    }

    pub(crate) fn settings(&self) -> &Settings {
        &self.0.settings
    }

    pub(crate) fn stopped(&self) -> impl Future<Output = ()> + Send + 'static {
        self.0.stop.clone().cancelled_owned()
    }

    pub(crate) fn undelivered(&self, notice: Notice) {
        self.ledger().undelivered(notice);
    }

    /// Calls that wait end without an answer; nothing is taken from now on.
    pub(crate) fn hang_up(&self) {
        self.0.stop.cancel();
        self.0.tasks.close();
    }

    /// After [`hang_up`](Self::hang_up): everything taken is on disk when this returns.
    pub(crate) async fn close(&self) {
        self.0.tasks.wait().await;
        let journal = self.ledger().close();
        if let Some(journal) = journal {
            let closed = self.0.runtime.spawn_blocking(move || journal.close()).await;
            if let Err(error) = closed {
                tracing::error!(%error, "the payment simulator's journal was not closed");
            }
        }
    }

    /// Waits until the events up to `sequence` are on disk. False: they never will be.
    pub(crate) async fn is_durable(&self, sequence: u64) -> bool {
        let mut durable = self.0.durable.subscribe();
        let reached = durable.wait_for(|durable| match durable {
            Durable::UpTo(done) => *done >= sequence,
            Durable::Broken => true,
        });
        reached.await.is_ok_and(|durable| *durable != Durable::Broken)
    }

    /// A panic under the lock cannot leave half an event: `record` enters each as a whole.
    fn ledger(&self) -> MutexGuard<'_, Ledger> {
        self.0.ledger.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
