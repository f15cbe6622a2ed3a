//! Everything this provider knows, as the fold of its events. The journal holds the same events,
//! so what is read back after a restart is what was there before.

use std::{collections::BTreeMap, ops::Bound};

use serde::{Deserialize, Serialize};

use crate::{
    charge::{Charge, Kind, State},
    input::{Input, ReferenceName},
    method::Method,
};

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub(crate) enum Event {
    /// A call that stands for something from now on, or was refused.
    Asked { reference: ReferenceName, input: Input, state: State },
    /// One more call under a reference that already stands for something.
    Repeated { reference: ReferenceName },
    /// What waited has happened.
    Settled { reference: ReferenceName, state: State },
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

    pub(crate) fn method(&self) -> Option<Method> {
        match self.input {
            Some(Input::Authorize { method, .. }) => Some(method),
            _ => None,
        }
    }
}

#[derive(Default, Debug)]
pub(crate) struct Book {
    entries: BTreeMap<ReferenceName, Entry>,
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

    pub(crate) fn apply(&mut self, event: Event) {
        match event {
            Event::Asked { reference, input, state } => {
                self.consequences(&reference, &input, state);
                let calls = self.get(&reference).map_or(0, |entry| entry.calls);
                let entry = Entry {
                    input: Some(input),
                    state,
                    calls: calls.saturating_add(1),
                    captured_by: None,
                    refunded: 0,
                };
                self.entries.insert(reference, entry);
            }
            Event::Repeated { reference } => {
                if let Some(entry) = self.entries.get_mut(&reference) {
                    entry.calls = entry.calls.saturating_add(1);
                }
            }
            Event::Settled { reference, state } => {
                if let Some(entry) = self.entries.get_mut(&reference) {
                    entry.state = state;
                }
            }
        }
    }

    /// What a call changes at the reference that it acts on.
    fn consequences(&mut self, reference: &ReferenceName, input: &Input, state: State) {
        match (input, state) {
            (Input::Capture { authorization, .. }, State::Waiting | State::Captured) => {
                if let Some(entry) = self.entries.get_mut(authorization) {
                    entry.captured_by = Some(reference.clone());
                }
            }
            // A cancel may overtake the authorization that it cancels: the reference is then spent.
            (Input::Void { authorization }, State::Voided) => {
                let spent =
                    Entry { input: None, state: State::Voided, calls: 0, captured_by: None, refunded: 0 };
                let entry = self.entries.entry(authorization.clone()).or_insert(spent);
                if matches!(entry.state, State::Waiting | State::Authorized | State::Refused) {
                    entry.state = State::Voided;
                }
            }
            (Input::Refund { capture, amount }, State::Refunded) => {
                if let Some(entry) = self.entries.get_mut(capture) {
                    entry.refunded = entry.refunded.saturating_add(amount.amount);
                }
            }
            _ => {}
        }
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
        amount: entry.input.as_ref().and_then(Input::amount).cloned(),
        method: entry.method(),
        of: entry.input.as_ref().and_then(Input::of).cloned(),
        calls: entry.calls,
        refunded: entry.refunded,
    }
}
