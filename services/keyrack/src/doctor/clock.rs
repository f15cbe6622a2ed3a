//! The clock of everything that decides: the same on all shards, and the real one outside of a sandbox.

use chrono::TimeDelta;
use keyrack_db::{DbError, Shards};
use keyrack_store::clock;

use super::Finding;
use crate::failure::reason;

pub(super) async fn look_at(shards: &Shards) -> Finding {
    match ahead(shards).await {
        Ok(ahead) => tell(&ahead),
        Err(error) => Finding::Bad(format!("the clock cannot be read ({})", reason(&error))),
    }
}

async fn ahead(shards: &Shards) -> Result<Vec<TimeDelta>, DbError> {
    let mut all = Vec::new();
    for (_, shard) in shards.all() {
        let mut connection = shard.connection().await?;
        all.push(clock::ahead(&mut connection).await?);
    }
    Ok(all)
}

fn tell(ahead: &[TimeDelta]) -> Finding {
    let first = ahead.first().copied().unwrap_or_default();
    if ahead.iter().any(|other| *other != first) {
        return Finding::Bad(
            "the clocks of the shards differ; start the sandbox anew, or set sandbox_clock.ahead to zero everywhere"
                .to_owned(),
        );
    }
    match first.num_seconds() {
        0 => Finding::Good("the clock is the real one".to_owned()),
        seconds => Finding::Note(format!(
            "the clock is moved by {seconds} s: this is a sandbox, and no place for real bookings"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moved_clock_is_noted_and_clocks_that_differ_are_bad() {
        let of = |seconds: &[i64]| tell(&seconds.iter().map(|s| TimeDelta::seconds(*s)).collect::<Vec<_>>());
        assert!(matches!(of(&[0, 0]), Finding::Good(_)));
        assert!(matches!(of(&[600, 600]), Finding::Note(_)));
        assert!(matches!(of(&[0, 600]), Finding::Bad(_)));
    }
}
