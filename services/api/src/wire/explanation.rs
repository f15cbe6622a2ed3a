use keyrack_api_types::{
    explanation::{ExplainedLine, ExplainedTerms, LineRule, QuoteExplanation},
    policy::rungs,
    quoted,
    schedule::ScheduledCharge,
};
use keyrack_booking::quote::Explained;
use keyrack_domain::{
    explanation::{Line, Terms},
    quote::Charge,
};

use super::hotel::tax;

pub(crate) fn explanation(explained: &Explained) -> QuoteExplanation {
    let Explained { id, hotel, zone, document } = explained;
    let terms = |Terms { rate_plan, version, room }: Terms<'_>| ExplainedTerms {
        rate_plan: rate_plan.to_string(),
        version: version.0,
        cancellation: rungs(&room.cancellation, document.stay.check_in(), *zone),
        payment: room.payment.into(),
    };
    QuoteExplanation {
        quote_id: *id,
        hotel: hotel.to_string(),
        lines: document.lines().into_iter().map(line).collect(),
        total: document.total.into(),
        terms: document.terms().into_iter().map(terms).collect(),
        schedule: document.schedule.iter().map(|due| ScheduledCharge::new(*due, *zone)).collect(),
    }
}

fn line(line: Line<'_>) -> ExplainedLine {
    match line {
        Line::Night { room, quoted, night } => {
            let (room_type, rate_plan) = (quoted.room_type.to_string(), quoted.rate_plan.to_string());
            ExplainedLine {
                kind: quoted::ChargeKind::Room,
                label: format!("{room_type}, {rate_plan}"),
                amount: night.amount.to_string(),
                included: false,
                room: Some(room),
                night: Some(night.date.into()),
                rule: Some(LineRule::Rate { room_type, rate_plan, version: night.price_version }),
            }
        }
        Line::Tax { charge, rule } => {
            let (number, version) = (rule.number, rule.tax.version.0);
            of_charge(charge, Some(LineRule::Tax { number, version, tax: tax(rule.tax.clone()) }))
        }
        Line::Other(charge) => of_charge(charge, None),
    }
}

fn of_charge(charge: &Charge, rule: Option<LineRule>) -> ExplainedLine {
    let quoted::Charge { kind, label, amount, included } = charge.clone().into();
    ExplainedLine { kind, label, amount, included, room: None, night: None, rule }
}
