//! The book and its journal, changed together under one lock: the order of the events in memory is
//! their order on disk.

use tokio::sync::{mpsc, watch};
use tokio_util::task::TaskTracker;

use crate::{
    book::{Book, Entered, Entry, Event},
    charge::{Kind, State},
    clock,
    courier::Job,
    decide::{Refusal, Verdict, decide},
    input::{Input, ReferenceName},
    journal::{Durable, Journal},
    notice::{self, Notice},
    settings::Settings,
};

#[derive(Debug)]
pub(crate) struct Ledger {
    pub(crate) book: Book,
    journal: Option<Journal>,
    /// Of the last event since the start.
    sequence: u64,
    durable: watch::Sender<Durable>,
    max_references: usize,
    /// `None`: this provider tells nothing by itself.
    notices: Option<mpsc::Sender<Job>>,
    /// Notices are lost on their way.
    /// Those that are queued or being sent.
    pub(crate) on_their_way: TaskTracker,
    pub(crate) loses_notices: bool,
    closed: bool,
}

/// What a call met.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Taken {
    /// Entered now.
    New(State),
    /// Entered before.
    Known,
    Refused(Refusal),
    /// There is no room for it, or the provider is going down; it was not even counted.
    Unavailable,
}

/// Whoever waits for it waits until it is empty, now or later.
fn told() -> TaskTracker {
    let on_their_way = TaskTracker::new();
    on_their_way.close();
    on_their_way
}

impl Ledger {
    pub(crate) fn new(
        book: Book,
        journal: Option<Journal>,
        durable: watch::Sender<Durable>,
        notices: Option<mpsc::Sender<Job>>,
        settings: &Settings,
    ) -> Self {
        Self {
            book,
            journal,
            sequence: 0,
            durable,
            max_references: settings.max_references,
            notices,
            on_their_way: told(),
            loses_notices: false,
            closed: false,
        }
    }

    pub(crate) fn sequence(&self) -> u64 {
        self.sequence
    }

    /// Counts the call, judges it and enters what follows from it.
    pub(crate) fn take(&mut self, reference: &ReferenceName, input: Input) -> Taken {
        let no_room = self.book.len() >= self.max_references && self.book.get(reference).is_none();
        if self.closed || no_room || self.journal.as_ref().is_some_and(Journal::is_full) {
            return Taken::Unavailable;
        }
        let verdict = decide(&self.book, reference, &input);
        let stands = self.book.get(reference).is_some_and(|entry| entry.state != State::Refused);
        let asked = |state| Event::Asked { reference: reference.clone(), input, state };
        match verdict {
            Verdict::New(state) => {
                self.record(asked(state));
                Taken::New(state)
            }
            Verdict::Refuse(refusal) if !stands => {
                self.record(asked(State::Refused));
                Taken::Refused(refusal)
            }
            Verdict::Refuse(refusal) => {
                self.record(Event::Repeated { reference: reference.clone() });
                Taken::Refused(refusal)
            }
            Verdict::Same => {
                self.record(Event::Repeated { reference: reference.clone() });
                Taken::Known
            }
        }
    }

    /// What waits happens now. False where nothing waits: it has happened, or was voided meanwhile.
    pub(crate) fn settle(&mut self, reference: &ReferenceName) -> bool {
        let waiting = self.book.get(reference).filter(|entry| entry.state == State::Waiting);
        let Some(state) = waiting.and_then(Entry::settled_state).filter(|_| !self.closed) else {
            return false;
        };
        self.record(Event::Settled { reference: reference.clone(), state });
        true
    }

    /// The customer's decision. False where nothing waits for it any more.
    pub(crate) fn decide(&mut self, reference: &ReferenceName, state: State) -> bool {
        let waits = self.book.get(reference).is_some_and(|entry| entry.state == State::ActionRequired);
        let takes = waits && !self.closed;
        if takes {
            self.record(Event::Settled { reference: reference.clone(), state });
        }
        takes
    }

    /// A refund that had been called a success comes to nothing. False where there is none.
    pub(crate) fn fail_refund(&mut self, reference: &ReferenceName) -> bool {
        let refund = self.book.get_as(Kind::Refund, reference);
        let fails = refund.is_some_and(|entry| entry.state == State::Refunded) && !self.closed;
        if fails {
            self.record(Event::Settled { reference: reference.clone(), state: State::Failed });
        }
        fails
    }

    /// A capture that no call has asked for: the fault that a comparison with the export has to find.
    pub(crate) fn plant(&mut self, reference: &ReferenceName, input: Input) -> bool {
        let free = self.book.get(reference).is_none_or(|entry| entry.state == State::Refused);
        let room = self.book.len() < self.max_references && !self.closed;
        if free && room {
            let state = State::Captured;
            self.record(Event::Asked { reference: reference.clone(), input, state });
        }
        free && room
    }

    pub(crate) fn undelivered(&mut self, notice: Notice) {
        if !self.closed {
            self.record(Event::Undelivered { notice: Box::new(notice) });
        }
    }

    fn record(&mut self, event: Event) {
        self.sequence += 1;
        let entered = Entered { event, at: clock::milliseconds() };
        match &mut self.journal {
            Some(journal) => journal.append(self.sequence, &entered),
            None => {
                self.durable.send_replace(Durable::UpTo(self.sequence));
            }
        }
        self.book.apply(entered.clone());
        self.tell(&entered);
    }

    /// Queues what the event gives rise to. Where there is no room it counts as undelivered.
    fn tell(&mut self, Entered { event, at }: &Entered) {
        let Some(queue) = self.notices.as_ref().filter(|_| !self.loses_notices) else { return };
        let notices = notice::of(&self.book, event, *at);
        if notices.is_empty() {
            return;
        }
        let sent =
            queue.try_send(Job { sequence: self.sequence, notices, on_its_way: self.on_their_way.token() });
        if let Err(mpsc::error::TrySendError::Full(job) | mpsc::error::TrySendError::Closed(job)) = sent {
            for notice in job.notices {
                self.undelivered(notice);
            }
        }
    }

    /// Nothing is taken from now on. The journal is handed out so that its end is awaited
    /// without the lock.
    pub(crate) fn close(&mut self) -> Option<Journal> {
        self.closed = true;
        self.journal.take()
    }
}
