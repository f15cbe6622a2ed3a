//! Invariant 1: held is the sum over ACTIVE holds, confirmed over reservation nights not given back, and
//! together they are never above sellable. A hold past its end that nobody has released yet still counts.

use keyrack_db::{DbError, PgConnection};
use keyrack_domain::ids::HotelId;

use super::{Subject, Violation, Violations, pms};
use crate::drift::{self, NightDrift};

pub async fn counters(
    connection: &mut PgConnection,
    hotel: HotelId,
    shown: i64,
) -> Result<Violations, DbError> {
    let (nights, total) = drift::nights(connection, hotel, Some(shown)).await?;
    let counters = Violations { total, first: nights.into_iter().map(violation).collect() };
    Ok(counters.and(pms::pms(connection, hotel, shown).await?, shown))
}

fn violation(drift: NightDrift) -> Violation {
    let facts = drift.facts;
    let expected = format!("held {}, confirmed {}", facts.held, facts.confirmed);
    let (rule, found) = match drift.counters {
        None => ("units are claimed only where the night has a row", "no row".to_owned()),
        Some(night) => {
            let agree = (night.held, night.confirmed) == (facts.held, facts.confirmed);
            let rule = if agree {
                "held and confirmed are within sellable"
            } else {
                "held is the units of ACTIVE holds, confirmed those of reservation nights not given back"
            };
            let found =
                format!("held {}, confirmed {} of sellable {}", night.held, night.confirmed, night.sellable);
            (rule, found)
        }
    };
    let subject = Subject::Night { room_type: drift.key.room_type, code: drift.code, night: drift.key.date };
    Violation { subject, rule: rule.to_owned(), expected, found }
}
