//! Two schemas of one name, compared from the side of a client.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{list, members};

/// Who writes what the schema describes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    /// The client: it must be let go on as before.
    Sent,
    /// We: it must find what it found before.
    Answered,
}

pub(super) struct Schemas<'d> {
    old: &'d Value,
    new: &'d Value,
    /// By name; they may refer to each other.
    seen: BTreeSet<(bool, String)>,
    pub(super) faults: Vec<String>,
}

impl<'d> Schemas<'d> {
    pub(super) fn new(old: &'d Value, new: &'d Value) -> Self {
        Self { old, new, seen: BTreeSet::new(), faults: Vec::new() }
    }

    pub(super) fn compare(&mut self, at: &str, side: Side, old: &Value, new: &Value) {
        if let Some(name) = old["$ref"].as_str()
            && !self.seen.insert((side == Side::Sent, name.to_owned()))
        {
            return;
        }
        let (old, new) = (meant(self.old, old).clone(), meant(self.new, new).clone());
        if old["type"] != new["type"] || old["format"] != new["format"] {
            self.faults.push(format!("{at} has changed its type"));
        }
        for value in list(&old["enum"]).filter(|value| !list(&new["enum"]).any(|other| other == *value)) {
            self.faults.push(format!("{at} does not know {value} any more"));
        }
        self.required(at, side, &old, &new);
        for (name, before) in members(&old["properties"]) {
            let at = format!("{at}.{name}");
            match &new["properties"][name] {
                Value::Null => self.faults.push(format!("{at} is gone")),
                now => self.compare(&at, side, before, now),
            }
        }
        self.parts(at, side, &old, &new);
    }

    /// A client need not send more than before, and finds what was always there.
    fn required(&mut self, at: &str, side: Side, old: &Value, new: &Value) {
        let (before, now) = (&old["required"], &new["required"]);
        let (more, less, word) = match side {
            Side::Sent => (now, before, "has become required"),
            Side::Answered => (before, now, "may be missing now"),
        };
        for name in list(more).filter(|name| !list(less).any(|other| other == *name)) {
            self.faults.push(format!("{at}.{name} {word}"));
        }
    }

    fn parts(&mut self, at: &str, side: Side, old: &Value, new: &Value) {
        for keyword in ["items", "additionalProperties"] {
            if old[keyword].is_object() {
                self.compare(at, side, &old[keyword], &new[keyword]);
            }
        }
        for keyword in ["allOf", "oneOf", "anyOf"] {
            for (n, before) in list(&old[keyword]).enumerate() {
                self.compare(at, side, before, &new[keyword][n]);
            }
        }
    }
}

fn meant<'d>(document: &'d Value, schema: &'d Value) -> &'d Value {
    let place = schema["$ref"].as_str().and_then(|place| place.strip_prefix('#'));
    place.map_or(schema, |place| document.pointer(place).unwrap_or(&Value::Null))
}
