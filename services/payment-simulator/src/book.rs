//! Everything this provider knows, as the fold of its events. The journal holds the same events,
//! so what is read back after a restart is what was there before.

use std::{
    collections::{BTreeMap, VecDeque},
    ops::Bound,
};

use serde::{Deserialize, Serialize};

use crate::{
    charge::{Charge, Kind, State},
    decide::LOST_TRIES,
    input::{Amount, Input, ReferenceName},
    method::Method,
    notice::Notice,
    settlement::{Line, Movement, Statement},
};

/// What an event was entered with: real time.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct Entered {
    #[serde(flatten)]
    pub(crate) event: Event,
    /// Milliseconds since 1970. Journals of earlier releases have none.
    #[serde(default)]
    pub(crate) at: i64,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub(crate) enum Event {
    /// A call that stands for something from now on, or was refused.
    Asked { reference: ReferenceName, input: Input, state: State },
    /// One more call under a reference that already stands for something.
    Repeated { reference: ReferenceName },
    /// What waited has happened, or a refund has come to nothing afterwards.
    Settled { reference: ReferenceName, state: State },
    /// A notice that nobody took, however often it was sent.
    Undelivered { notice: Box<Notice> },
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Entry {
    /// None: an authorization that was voided before it was asked for.
    pub(crate) input: Option<Input>,
    pub(crate) state: State,
    pub(crate) calls: u32,
    /// The capture that owns this authorization, done or under way.
    pub(crate) captured_by: Option<ReferenceName>,
    /// What has gone back of this capture, in minor units.
    pub(crate) refunded: u64,
    /// Of a capture that took another amount than it was asked for.
    pub(crate) taken: Option<Amount>,
    /// The tries of refunds that this capture has lost, where its method says so.
    pub(crate) lost_refunds: Vec<ReferenceName>,
}

impl Entry {
    pub(crate) fn kind(&self) -> Kind {
        self.input.as_ref().map_or(Kind::Authorize, Input::kind)
    }

    /// What it becomes when it stops waiting.
    pub(crate) fn settled_state(&self) -> Option<State> {
        match self.kind() {
            Kind::Authorize => Some(State::Authorized),
            Kind::Capture => Some(State::Captured),
            Kind::Void | Kind::Refund => None,
        }
    }

    /// What moved, or was set aside: not always what was asked for.
    pub(crate) fn moved(&self) -> Option<&Amount> {
        self.taken.as_ref().or_else(|| self.input.as_ref().and_then(Input::amount))
    }

    pub(crate) fn method(&self) -> Option<Method> {
        match self.input {
            Some(Input::Authorize { method, .. }) => Some(method),
            _ => None,
        }
    }
}

/// Notices that nobody took are kept up to so many; the oldest go first.
const MAX_UNDELIVERED: usize = 1_000;

#[derive(Default, Debug)]
pub(crate) struct Book {
    entries: BTreeMap<ReferenceName, Entry>,
    /// Every movement of money, in the order in which they happened.
    lines: Vec<Line>,
    undelivered: VecDeque<Notice>,
}

impl Book {
    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(crate) fn get(&self, reference: &ReferenceName) -> Option<&Entry> {
        self.entries.get(reference)
    }

    /// An entry of that kind; a reference that names something else names nothing here.
    pub(crate) fn get_as(&self, kind: Kind, reference: &ReferenceName) -> Option<&Entry> {
        self.get(reference).filter(|entry| entry.kind() == kind)
    }

    /// The method of the authorization that this call goes back to.
    pub(crate) fn method_behind(&self, entry: &Entry) -> Option<Method> {
        match &entry.input {
            Some(Input::Capture { authorization, .. }) => self.get(authorization).and_then(Entry::method),
            _ => entry.method(),
        }
    }

    pub(crate) fn waiting_captures(&self) -> impl Iterator<Item = &ReferenceName> {
        self.entries
            .iter()
            .filter(|(_, entry)| entry.state == State::Waiting && entry.kind() == Kind::Capture)
            .map(|(reference, _)| reference)
    }

    pub(crate) fn apply(&mut self, Entered { event, at }: Entered) {
        match event {
            Event::Asked { reference, input, state } => {
                self.consequences(&reference, &input, state);
                let calls = self.get(&reference).map_or(0, |entry| entry.calls);
                let taken = self.wrong_amount(&input);
                let lost_refunds = Vec::new();
                let entry = Entry {
                    input: Some(input),
                    state,
                    calls: calls.saturating_add(1),
                    captured_by: None,
                    refunded: 0,
                    taken,
                    lost_refunds,
                };
                self.entries.insert(reference.clone(), entry);
                self.moves(reference, state, at);
            }
            Event::Repeated { reference } => {
                if let Some(entry) = self.entries.get_mut(&reference) {
                    entry.calls = entry.calls.saturating_add(1);
                }
            }
            Event::Settled { reference, state } => {
                if let Some(entry) = self.entries.get_mut(&reference) {
                    entry.state = state;
                    self.gives_up(&reference, state);
                    self.moves(reference, state, at);
                }
            }
            Event::Undelivered { notice } => {
                self.undelivered.truncate(MAX_UNDELIVERED - 1);
                self.undelivered.push_front(*notice);
            }
        }
    }

    /// What a capture takes whose method takes another amount than it was asked for.
    fn wrong_amount(&self, input: &Input) -> Option<Amount> {
        let Input::Capture { authorization, amount } = input else { return None };
        let method = self.get(authorization).and_then(Entry::method);
        let other = if amount.amount > 1 { amount.amount - 1 } else { 2 };
        (method == Some(Method::WrongAmount))
            .then(|| Amount { amount: other, currency: amount.currency.clone() })
    }

    /// A refund that comes to nothing is no longer gone from its capture.
    fn gives_up(&mut self, reference: &ReferenceName, state: State) {
        let Some(entry) = self.get_as(Kind::Refund, reference).filter(|_| state == State::Failed) else {
            return;
        };
        let parts =
            entry.input.as_ref().and_then(|input| Some((input.of()?.clone(), input.amount()?.amount)));
        if let Some((capture, amount)) = parts
            && let Some(entry) = self.entries.get_mut(&capture)
        {
            entry.refunded = entry.refunded.saturating_sub(amount);
        }
    }

    /// A line of the settlement, where money moved.
    fn moves(&mut self, reference: ReferenceName, state: State, at: i64) {
        let kind = self.get(&reference).map(Entry::kind);
        let movement = match (kind, state) {
            (Some(Kind::Capture), State::Captured) => Movement::Capture,
            (Some(Kind::Refund), State::Refunded) => Movement::Refund,
            (Some(Kind::Refund), State::Failed) => Movement::RefundFailed,
            _ => return,
        };
        self.lines.push(Line { reference, movement, at });
    }

    /// What a call changes at the reference that it acts on.
    fn consequences(&mut self, reference: &ReferenceName, input: &Input, state: State) {
        match (input, state) {
            (Input::Capture { authorization, .. }, State::Waiting | State::Captured) => {
                if let Some(entry) = self.entries.get_mut(authorization) {
                    entry.captured_by.get_or_insert_with(|| reference.clone());
                }
            }
            // A cancel may overtake the authorization that it cancels: the reference is then spent.
            (Input::Void { authorization }, State::Voided) => {
                let spent = Entry {
                    input: None,
                    state: State::Voided,
                    calls: 0,
                    captured_by: None,
                    refunded: 0,
                    taken: None,
                    lost_refunds: Vec::new(),
                };
                let entry = self.entries.entry(authorization.clone()).or_insert(spent);
                let ends = [State::Waiting, State::Authorized, State::ActionRequired, State::Refused];
                if ends.contains(&entry.state) {
                    entry.state = State::Voided;
                }
            }
            (
                Input::Refund { capture, amount } | Input::RefundByHand { capture, amount },
                State::Refunded,
            ) => {
                if let Some(entry) = self.entries.get_mut(capture) {
                    entry.refunded = entry.refunded.saturating_add(amount.amount);
                }
            }
            (Input::Refund { capture, .. }, State::Refused) => {
                if let Some(entry) = self.entries.get_mut(capture)
                    && entry.lost_refunds.len() < LOST_TRIES
                    && !entry.lost_refunds.contains(reference)
                {
                    entry.lost_refunds.push(reference.clone());
                }
            }
            _ => {}
        }
    }

    /// Those that nobody took, the latest first.
    pub(crate) fn undelivered(&self) -> impl Iterator<Item = &Notice> {
        self.undelivered.iter()
    }

    /// Movements that happened at or after `from`, from that place on, at most `limit`.
    pub(crate) fn settlement(&self, from: i64, place: usize, limit: usize) -> Vec<Statement> {
        let lines = self.lines.iter().enumerate().skip(place).filter(|(_, line)| line.at >= from);
        lines.filter_map(|(place, line)| self.statement(place + 1, line)).take(limit).collect()
    }

    fn statement(&self, cursor: usize, line: &Line) -> Option<Statement> {
        let entry = self.get(&line.reference)?;
        Some(Statement {
            cursor,
            kind: line.movement,
            reference: line.reference.clone(),
            of: entry.input.as_ref().and_then(Input::of).cloned(),
            by_hand: matches!(entry.input, Some(Input::RefundByHand { .. })),
            amount: entry.moved()?.clone(),
            refunded: entry.refunded,
            at: line.at,
        })
    }

    pub(crate) fn charge(&self, reference: &ReferenceName) -> Option<Charge> {
        self.get(reference).map(|entry| charge(reference, entry))
    }

    /// Those whose reference begins with `prefix`, after `cursor`, in order, at most `limit`.
    pub(crate) fn charges(&self, prefix: &str, cursor: Option<&ReferenceName>, limit: usize) -> Vec<Charge> {
        let after = cursor.map_or(Bound::Unbounded, Bound::Excluded);
        self.entries
            .range((after, Bound::Unbounded))
            .filter(|(reference, _)| reference.as_str().starts_with(prefix))
            .take(limit)
            .map(|(reference, entry)| charge(reference, entry))
            .collect()
    }
}

fn charge(reference: &ReferenceName, entry: &Entry) -> Charge {
    Charge {
        reference: reference.clone(),
        kind: entry.kind(),
        state: entry.state,
        amount: entry.moved().cloned(),
        method: entry.method(),
        of: entry.input.as_ref().and_then(Input::of).cloned(),
        calls: entry.calls,
        refunded: entry.refunded,
    }
}
