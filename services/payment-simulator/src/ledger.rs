//! The book and its journal, changed together under one lock: the order of the events in memory is
//! their order on disk.

use tokio::sync::watch;

use crate::{
    book::{Book, Entry, Event},
    charge::State,
    decide::{Refusal, Verdict, decide},
    input::{Input, ReferenceName},
    journal::{Durable, Journal},
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

impl Ledger {
    pub(crate) fn new(
        book: Book,
        journal: Option<Journal>,
        durable: watch::Sender<Durable>,
        settings: &Settings,
    ) -> Self {
        Self { book, journal, sequence: 0, durable, max_references: settings.max_references, closed: false }
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

    fn record(&mut self, event: Event) {
        self.sequence += 1;
        match &mut self.journal {
            Some(journal) => journal.append(self.sequence, &event),
            None => {
                self.durable.send_replace(Durable::UpTo(self.sequence));
            }
        }
        self.book.apply(event);
    }

    /// Nothing is taken from now on. The journal is handed out so that its end is awaited
    /// without the lock.
    pub(crate) fn close(&mut self) -> Option<Journal> {
        self.closed = true;
        self.journal.take()
    }
}
