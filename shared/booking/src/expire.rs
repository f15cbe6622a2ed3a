//! Holds whose time has run out: their units go back.

use std::time::Duration;

use keyrack_domain::{
    actor::Actor,
    hold::{HoldState, is_due},
    ids::HoldId,
};
use keyrack_ledger::{
    Changes, Decision, Facts, Found, Grounds, KeyClaim, Ledger, LedgerError, Needs, NightKey, Operation,
    Outcome, Write,
};
use keyrack_store::{audit::NewAudit, clock, holds};

use crate::{
    Fault, drift,
    release::operation::{give_back, needs_of_hold},
};

/// Expires one hold, or marks it where the counters do not carry it.
#[derive(Clone, Debug)]
pub struct ExpireOp {
    pub hold: HoldId,
    pub as_drift: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ExpireAnswer {
    Expired,
    /// Confirmed, released, deferred or expired meanwhile.
    NotDue,
    /// The counters do not carry it; nothing was done.
    Drift(NightKey),
    Marked,
}

impl Operation for ExpireOp {
    type Answer = ExpireAnswer;

    fn name(&self) -> &'static str {
        "expire_hold"
    }

    fn key(&self) -> Option<&KeyClaim> {
        None
    }

    /// Passes over holds that a confirmation is spending or another worker has; the next run sees what
    /// became of them.
    fn yields(&self) -> bool {
        true
    }

    fn needs(&self, facts: &Facts) -> Needs {
        needs_of_hold(self.hold, facts)
    }

    fn decide(&self, facts: &Facts) -> Decision<ExpireAnswer> {
        let due = |hold: &&keyrack_ledger::HoldFacts| {
            let row = &hold.row;
            row.state == HoldState::Active
                && !row.drifted
                && is_due(row.expires_at, row.deferred_until, facts.now)
        };
        let Some(hold) = facts.holds.get(&self.hold).filter(due) else {
            return Decision::refuse(ExpireAnswer::NotDue);
        };
        match drift::of(facts, self.hold.hotel(), &hold.units) {
            None if self.as_drift => Decision::refuse(ExpireAnswer::NotDue),
            None => {
                let changes = give_back(facts, hold, HoldState::Expired, Actor::Worker);
                Decision::Commit(changes, ExpireAnswer::Expired)
            }
            Some(night) if self.as_drift => Decision::Commit(self.mark(night), ExpireAnswer::Marked),
            Some(night) => Decision::Refuse { answer: ExpireAnswer::Drift(night), grounds: Grounds::Locks },
        }
    }

    fn replay(&self, _found: &Found) -> Result<ExpireAnswer, keyrack_db::DbError> {
        Ok(ExpireAnswer::NotDue)
    }
}

impl ExpireOp {
    fn mark(&self, night: NightKey) -> Changes {
        let mut changes = Changes::default();
        changes.writes.push(Write::MarkDrift(self.hold));
        changes.audit.push(NewAudit {
            hotel: self.hold.hotel(),
            actor: Actor::Worker,
            action: "hold.drifted",
            subject: self.hold.to_string(),
            before: None,
            after: Some(serde_json::json!({ "room_type_id": night.room_type, "night": night.date })),
        });
        changes
    }
}

/// What one run of the expiry did on one shard.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Expired {
    pub expired: usize,
    pub drifted: usize,
    /// Candidates looked at; as many as the limit means that more may be due.
    pub looked_at: usize,
}

impl Expired {
    /// More may be due.
    pub fn is_full(self) -> bool {
        self.looked_at >= usize::from(MAX_CANDIDATES)
    }
}

/// Candidates of one run: several batches of the ledger.
pub const MAX_CANDIDATES: u16 = 200;

/// One bounded run over one shard. Several at once are normal.
pub async fn run_once(ledger: &Ledger) -> Result<Expired, Fault> {
    let mut connection = ledger.database().connection().await?;
    let now = clock::now(&mut connection).await?;
    let due = holds::due(&mut connection, now, i64::from(MAX_CANDIDATES)).await?;
    drop(connection);
    let mut done = Expired { looked_at: due.len(), ..Expired::default() };
    let operations = due.iter().map(|hold| ExpireOp { hold: *hold, as_drift: false }).collect();
    let answers = ledger.run_batch(operations).await;
    for (hold, answer) in due.into_iter().zip(answers) {
        match answer {
            Ok(Outcome::Answered(ExpireAnswer::Expired)) => done.expired += 1,
            Ok(Outcome::Answered(ExpireAnswer::Drift(night))) => {
                done.drifted += 1;
                drift::report(hold, night);
                ledger.run(ExpireOp { hold, as_drift: true }).await?;
            }
            Ok(_) => {}
            Err(error) => {
                tracing::warn!(error = %error.source, %hold, "a hold could not be expired; the next run tries again");
            }
        }
    }
    Ok(done)
}

/// The signal of the expiry: how long the oldest hold is overdue that nothing defers.
pub async fn lag(ledger: &Ledger) -> Result<Duration, Fault> {
    let mut connection = ledger.database().connection().await?;
    let now = clock::now(&mut connection).await?;
    let oldest = holds::oldest_due(&mut connection, now).await?;
    Ok(oldest.map_or(Duration::ZERO, |end| end.until(now)))
}

impl From<LedgerError> for Fault {
    fn from(error: LedgerError) -> Self {
        error.source.into()
    }
}
