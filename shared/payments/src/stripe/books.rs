//! Stripe's books: its balance transactions, oldest first. One is written when money moves, a capture's when it
//! is captured; a list of charges goes by when they were authorized, and would tell of a late capture behind the
//! place that is read up to.
//!
//! Stripe lists the newest first. `ending_before` gives what is next newer, so a transaction's id is a place from
//! where to go on. Where there is none yet, the oldest is searched for by halving the time.

use std::time::{Duration, UNIX_EPOCH};

use chrono::DateTime;
use serde::Deserialize;
use serde_json::Value;

use super::{
    StripeProvider,
    answer::{Failed, Heard, not_asked_for, unreadable},
    client::Fields,
    find::List,
    intent::provider_id,
};
use crate::{
    deadline::Deadline,
    outcome::Doubt,
    provider_ids::ProviderId,
    settlement::{NotAName, SettlementFrom, SettlementLine, SettlementPage, SettlementPosition},
};

const MAX_LINES: u16 = 100;
const MAX_PAGES_OF_A_SECOND: usize = 10;

/// A transaction may be listed after a newer one, and clocks differ: what is younger is read later.
const CLOSED_AFTER: Duration = Duration::from_secs(600);

/// 2011-01-01: there was no Stripe.
const NOTHING_BEFORE: u64 = 1_293_840_000;

#[derive(Deserialize, Debug)]
pub(super) struct Transaction {
    #[serde(deserialize_with = "provider_id")]
    pub(super) id: ProviderId,
    #[serde(rename = "type")]
    pub(super) kind: String,
    /// In the currency of the account, what has left less than zero.
    pub(super) amount: i64,
    pub(super) currency: String,
    pub(super) created: u64,
    /// The charge, refund or other thing that it is about.
    #[serde(default)]
    pub(super) source: Value,
}

impl Transaction {
    pub(super) fn position(&self) -> Result<SettlementPosition, Failed> {
        self.id.as_str().parse().map_err(|error: NotAName| unreadable(error))
    }
}

impl StripeProvider {
    pub(super) async fn page_of_books(
        &self,
        from: &SettlementFrom,
        limit: u16,
        deadline: Deadline,
    ) -> Result<SettlementPage, Failed> {
        let now = (self.now)().duration_since(UNIX_EPOCH).unwrap_or_default();
        let closed = now.saturating_sub(CLOSED_AFTER).as_secs();
        let (transactions, more) = match from {
            SettlementFrom::Position(position) => self.newer(position, closed, limit, deadline).await?,
            SettlementFrom::Instant(instant) => {
                let since = u64::try_from(instant.timestamp()).unwrap_or_default().max(NOTHING_BEFORE);
                let oldest = self.oldest(since, closed, deadline).await?;
                let more = oldest.is_some();
                (Vec::from_iter(oldest), more)
            }
        };
        let next = transactions.last().map(Transaction::position).transpose()?;
        let mut lines = Vec::with_capacity(transactions.len());
        for transaction in transactions {
            lines.extend(self.line(transaction, deadline).await?);
        }
        Ok(SettlementPage { lines, more, next })
    }

    /// Oldest first, and whether there are more.
    async fn newer(
        &self,
        than: &SettlementPosition,
        closed: u64,
        limit: u16,
        deadline: Deadline,
    ) -> Result<(Vec<Transaction>, bool), Failed> {
        let query: Fields = vec![
            ("ending_before", than.as_str().to_owned()),
            ("created[lte]", closed.to_string()),
            ("limit", limit.clamp(1, MAX_LINES).to_string()),
        ];
        let List { mut data, has_more } = self.transactions(query, deadline).await?;
        data.reverse();
        // A page of nothing that has more would never end.
        let more = has_more && !data.is_empty();
        Ok((data, more))
    }

    async fn oldest(
        &self,
        since: u64,
        until: u64,
        deadline: Deadline,
    ) -> Result<Option<Transaction>, Failed> {
        if since > until {
            return Ok(None);
        }
        let Some(newest) = self.newest(since, until, deadline).await? else { return Ok(None) };
        // The oldest is not before `low`, and not after `high`.
        let (mut low, mut high) = (since, newest.created.clamp(since, until));
        while low < high {
            let middle = low + (high - low) / 2;
            match self.newest(since, middle, deadline).await? {
                Some(found) => high = found.created.clamp(low, middle),
                None => low = middle + 1,
            }
        }
        self.last_of_list(since, high, deadline).await
    }

    async fn newest(
        &self,
        since: u64,
        until: u64,
        deadline: Deadline,
    ) -> Result<Option<Transaction>, Failed> {
        let query: Fields = vec![
            ("created[gte]", since.to_string()),
            ("created[lte]", until.to_string()),
            ("limit", "1".to_owned()),
        ];
        Ok(self.transactions(query, deadline).await?.data.into_iter().next())
    }

    /// All of one second.
    async fn last_of_list(
        &self,
        since: u64,
        until: u64,
        deadline: Deadline,
    ) -> Result<Option<Transaction>, Failed> {
        let mut last: Option<Transaction> = None;
        for _ in 0..MAX_PAGES_OF_A_SECOND {
            let mut query: Fields = vec![
                ("created[gte]", since.to_string()),
                ("created[lte]", until.to_string()),
                ("limit", MAX_LINES.to_string()),
            ];
            query.extend(last.as_ref().map(|last| ("starting_after", last.id.to_string())));
            let List { mut data, has_more } = self.transactions(query, deadline).await?;
            let is_last = !has_more || data.is_empty();
            last = data.pop().or(last);
            if is_last {
                return Ok(last);
            }
        }
        Err(Failed::Unknown(Doubt::TooMany))
    }

    async fn transactions(&self, mut query: Fields, deadline: Deadline) -> Result<List<Transaction>, Failed> {
        query.push(("expand[]", "data.source".to_owned()));
        match self.client.get("balance_transactions", &query, deadline).await? {
            Heard::Done(page) => Ok(page),
            // A place that was given is never taken back, so this is another account, or not Stripe.
            Heard::Declined(_) | Heard::KeyTaken | Heard::NotAccepted(_) => Err(not_asked_for()),
        }
    }

    async fn line(
        &self,
        transaction: Transaction,
        deadline: Deadline,
    ) -> Result<Option<SettlementLine>, Failed> {
        let Some((moved, amount)) = self.moved(&transaction, deadline).await? else { return Ok(None) };
        let next = transaction.position()?;
        let at = i64::try_from(transaction.created).ok().and_then(|at| DateTime::from_timestamp(at, 0));
        let at = at.ok_or_else(not_asked_for)?;
        Ok(Some(SettlementLine { entry: transaction.id.to_string(), moved, amount, at, next }))
    }
}
