//! JSON into a type, and an error into the place that it happened at.

use keyrack_api_types::{code::Code, problem::FieldError};
use serde::de::{DeserializeOwned, IgnoredAny};
use serde_json::Value;
use serde_path_to_error::Segment;

use crate::{objects::Objects, problem::Problem};

/// Objects and arrays within one another. None of our requests has more than five.
const MAX_DEPTH: usize = 32;

/// More of the same would tell nothing new.
const MAX_ERRORS: usize = 16;

/// A client's own text is shown to it again, but not all of a long one.
const MAX_DETAIL: usize = 300;

/// 400 for what is not JSON, 422 for JSON that is not of this shape.
pub(crate) fn parse<T: DeserializeOwned>(body: &[u8]) -> Result<T, Problem> {
    let text =
        std::str::from_utf8(body).map_err(|_| Problem::new(Code::Malformed, "The body is not UTF-8."))?;
    // Asked first and alone: else a field that is wrong would hide that the rest is no JSON at all.
    if let Err(error) = serde_json::from_str::<IgnoredAny>(text) {
        return Err(Problem::new(Code::Malformed, format!("The body is not JSON: {error}.")));
    }
    if depth(text) > MAX_DEPTH {
        return Err(invalid("", "TOO_DEEP", format!("must not nest deeper than {MAX_DEPTH}")));
    }
    let mut reader = serde_json::Deserializer::from_str(text);
    serde_path_to_error::deserialize(Objects(&mut reader))
        .map_err(|error| Problem::invalid(all_errors::<T>(text, field_error(&error))))
}

fn invalid(pointer: &str, code: &'static str, detail: String) -> Problem {
    Problem::invalid(vec![FieldError { pointer: pointer.to_owned(), code: code.into(), detail }])
}

/// Of valid JSON: brackets outside of strings, counted.
fn depth(text: &str) -> usize {
    let (mut depth, mut deepest, mut in_string, mut escaped) = (0_usize, 0, false, false);
    for byte in text.bytes() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            b'{' | b'[' if !in_string => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            b'}' | b']' if !in_string => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    deepest
}

/// The reader stops at the first error. Unknown fields are taken away one by one, so that all of
/// them are named, and what else is wrong behind them.
fn all_errors<T: DeserializeOwned>(text: &str, first: FieldError) -> Vec<FieldError> {
    let mut errors = vec![first];
    let Ok(mut value) = serde_json::from_str::<Value>(text) else { return errors };
    while let Some(last) =
        errors.last().filter(|last| last.code == "UNKNOWN_FIELD" && errors.len() < MAX_ERRORS)
    {
        if !take_away(&mut value, &last.pointer) {
            break;
        }
        match serde_path_to_error::deserialize::<_, T>(Objects(&value)) {
            Ok(_) => break,
            Err(error) => errors.push(field_error(&error)),
        }
    }
    errors
}

fn take_away(value: &mut Value, pointer: &str) -> bool {
    let Some((parent, name)) = pointer.rsplit_once('/') else { return false };
    let parent = value.pointer_mut(parent).and_then(Value::as_object_mut);
    parent.is_some_and(|object| object.remove(&name.replace("~1", "/").replace("~0", "~")).is_some())
}

/// Where and what, out of the reader's words. Its words are the only form in which it tells them;
/// the tests below hold them.
pub(crate) fn field_error<E: std::fmt::Display>(error: &serde_path_to_error::Error<E>) -> FieldError {
    let told = error.inner().to_string();
    let told = told.rsplit_once(" at line ").map_or(told.as_str(), |(message, _)| message);
    let pointer = pointer(error.path());
    let (name, code, detail) = classify(told);
    let pointer = match name {
        // The path of an unknown or doubled field has its name already, that of a missing one has not.
        Some(name) if !pointer.ends_with(&format!("/{}", escape(name))) => {
            format!("{pointer}/{}", escape(name))
        }
        _ => pointer,
    };
    FieldError { pointer, code: code.into(), detail }
}

fn classify(told: &str) -> (Option<&str>, &'static str, String) {
    let named = |start: &str| told.strip_prefix(start)?.split_once('`').map(|(name, _)| name);
    if let Some(name) = named("missing field `") {
        (Some(name), "MISSING", "must be given".to_owned())
    } else if let Some(rest) = told.strip_prefix("unknown field `") {
        let (name, _) = rest
            .rsplit_once("`, expected ")
            .or_else(|| rest.rsplit_once("`, there are"))
            .unwrap_or((rest, ""));
        let name = name.split("`, expected ").next().unwrap_or(name);
        (Some(name), "UNKNOWN_FIELD", "there is no such field".to_owned())
    } else if let Some(name) = named("duplicate field `") {
        (Some(name), "DUPLICATE_FIELD", "must be given once".to_owned())
    } else if told.starts_with("invalid type") {
        (None, "INVALID_TYPE", plain(told))
    } else if told.contains("surrogate") || told.contains("hex escape") {
        (None, "INVALID_TEXT", "is not text: it has half of a character".to_owned())
    } else {
        (None, "INVALID_VALUE", plain(told))
    }
}

/// Without the names that our types have among themselves.
fn plain(told: &str) -> String {
    let told = match told.split_once("expected struct ") {
        Some((before, _)) => format!("{before}expected an object"),
        None => told.to_owned(),
    };
    told.chars().take(MAX_DETAIL).collect()
}

fn pointer(path: &serde_path_to_error::Path) -> String {
    path.iter().fold(String::new(), |pointer, segment| match segment {
        Segment::Seq { index } => format!("{pointer}/{index}"),
        Segment::Map { key } => format!("{pointer}/{}", escape(key)),
        Segment::Enum { variant } => format!("{pointer}/{}", escape(variant)),
        Segment::Unknown => pointer,
    })
}

/// RFC 6901.
fn escape(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

#[cfg(test)]
mod tests;
