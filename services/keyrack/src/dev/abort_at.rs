//! Crash tests: the sandbox ends itself, as a power cut would, at a named point of a transaction.

use std::env;

use keyrack_db::Points;

use crate::failure::Failure;

/// `place_hold.after_claim:1`: at the first time that a transaction `place_hold` reaches its point
/// `after_claim`. Without the number, at the first. Only the sandbox knows this variable; all other
/// commands refuse it as an unknown setting.
pub(super) const VARIABLE: &str = "KEYRACK_ABORT_AT";

pub(super) fn points() -> Result<Points, Failure> {
    match env::var(VARIABLE) {
        Err(_) => Ok(Points::default()),
        Ok(text) => match parse(&text) {
            Some((point, count)) => Ok(Points::aborting_at(point.to_owned(), count)),
            None => Err(Failure::AbortAt(VARIABLE)),
        },
    }
}

fn parse(text: &str) -> Option<(&str, usize)> {
    let (point, count) = text.split_once(':').unwrap_or((text, "1"));
    let count = count.parse().ok().filter(|count| *count >= 1)?;
    let (transaction, step) = point.split_once('.')?;
    (!transaction.is_empty() && !step.is_empty()).then_some((point, count))
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn a_point_is_a_transaction_a_step_and_how_many_times() {
        assert_eq!(parse("place_hold.after_claim:3"), Some(("place_hold.after_claim", 3)));
        assert_eq!(parse("confirm.before_commit"), Some(("confirm.before_commit", 1)));
        for wrong in ["", "place_hold", ".after_claim", "place_hold.", "a.b:0", "a.b:x"] {
            assert_eq!(parse(wrong), None, "{wrong}");
        }
    }
}
