//! The simulator's export, read into lines of ours.

use chrono::{DateTime, Utc};
use keyrack_domain::money::Currency;
use serde::{Deserialize, Serialize};

use super::{
    answer::{Failed, parse},
    client::Client,
};
use crate::{
    deadline::Deadline,
    minor_units::MinorUnits,
    outcome::Doubt,
    reference::Reference,
    settlement::{ChargeName, Moved, SettlementFrom, SettlementLine, SettlementPage, SettlementPosition},
};

/// So many lines fit into the longest answer that is read.
const MAX_LINES: u16 = 100;

#[derive(Serialize)]
struct Ask<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    from: Option<DateTime<Utc>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cursor: Option<&'a str>,
    limit: u16,
}

#[derive(Deserialize)]
struct Page {
    items: Vec<Line>,
    more: bool,
}

#[derive(Deserialize)]
struct Line {
    cursor: u64,
    kind: Kind,
    reference: String,
    of: Option<String>,
    by_hand: bool,
    amount: u64,
    currency: Currency,
    refunded: u64,
    at: DateTime<Utc>,
}

#[derive(Deserialize, Clone, Copy)]
#[serde(rename_all = "snake_case")]
enum Kind {
    Capture,
    Refund,
    RefundFailed,
}

/// The refund of a charge that none of our references names.
pub(super) fn name_of_return(charge: &ChargeName) -> String {
    format!("{charge}-return")
}

pub(super) async fn page(
    client: &Client,
    from: &SettlementFrom,
    limit: u16,
    deadline: Deadline,
) -> Result<SettlementPage, Doubt> {
    let (from, cursor) = match from {
        SettlementFrom::Instant(instant) => (Some(*instant), None),
        SettlementFrom::Position(position) => (None, Some(position.as_str())),
    };
    let ask = Ask { from, cursor, limit: limit.clamp(1, MAX_LINES) };
    let heard = client.page("settlement", &ask, deadline).await.and_then(|body| read(&body));
    heard.map_err(|failed| match failed {
        Failed::Unknown(doubt) => doubt,
        Failed::NotSent(why) => Doubt::NotAsked(why),
        Failed::Refused(_) => Doubt::NotWhatWasAsked,
    })
}

fn read(body: &[u8]) -> Result<SettlementPage, Failed> {
    let page: Page = parse(body)?;
    let lines: Vec<SettlementLine> = page.items.into_iter().map(line).collect::<Result<_, _>>()?;
    let next = lines.last().map(|line| line.next.clone());
    Ok(SettlementPage { lines, more: page.more, next })
}

fn line(line: Line) -> Result<SettlementLine, Failed> {
    let money = |units| {
        MinorUnits::read(units, line.currency)
            .map_err(|error| Failed::Unknown(Doubt::Unreadable(error.into())))
    };
    let (amount, refunded) = (money(line.amount)?, money(line.refunded)?);
    let kind = match line.kind {
        Kind::Capture => "capture",
        Kind::Refund => "refund",
        Kind::RefundFailed => "refund_failed",
    };
    let entry = format!("{kind}:{}", line.reference);
    let moved = match (line.kind, line.reference.parse::<Reference>()) {
        (Kind::Capture, Ok(Reference::Capture(attempt))) => Moved::Captured { attempt, refunded },
        (Kind::Capture, _) => charged(line.reference),
        (Kind::Refund, Ok(Reference::Refund(refund))) => Moved::Refunded { refund },
        (Kind::RefundFailed, Ok(Reference::Refund(refund))) => Moved::RefundFailed { refund },
        (Kind::Refund, _) => other_refund(line.reference, line.of, line.by_hand),
        (Kind::RefundFailed, _) => Moved::Other { reference: line.reference },
    };
    let next: SettlementPosition =
        line.cursor.to_string().parse().map_err(|_| Failed::Unknown(Doubt::NotWhatWasAsked))?;
    Ok(SettlementLine { entry, moved, amount, at: line.at, next })
}

/// The attempt is whom the name begins with.
fn charged(charge: String) -> Moved {
    let attempt = charge.split_once('-').and_then(|(attempt, _)| attempt.parse().ok());
    Moved::Charged { charge, attempt }
}

fn other_refund(reference: String, of: Option<String>, by_hand: bool) -> Moved {
    let capture = of.as_ref().and_then(|of| of.parse::<Reference>().ok());
    match (capture, of) {
        (Some(Reference::Capture(attempt)), _) if by_hand => {
            Moved::RefundedByHand { attempt, provider_id: reference }
        }
        (None, Some(of)) if reference == format!("{of}-return") => Moved::Returned { charge: of },
        _ => Moved::Other { reference },
    }
}
