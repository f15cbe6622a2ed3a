//! What a cancellation costs, and until when: the rungs of a policy on the wall of a hotel.

use std::cmp::Reverse;

use chrono::{Days, NaiveDate};
use chrono_tz::Tz;
use rust_decimal::Decimal;

use crate::{
    clock::Moment,
    local_time,
    money::Money,
    policy::{CancellationPolicy, Penalty, Rung},
    quote::QuotedRoom,
    tax::MAX_PERCENT_DECIMALS,
};

/// At most so many rungs in one policy, and so many days before arrival.
pub const MAX_RUNGS: usize = 16;
pub const MAX_DAYS_BEFORE: u16 = 750;

/// Until `at`, that instant included, cancelling costs `penalty`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Deadline {
    pub at: Moment,
    pub penalty: Penalty,
}

/// `rung` is its place in the policy, from 0.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum PolicyFault {
    #[error("a policy has at most {MAX_RUNGS} rungs")]
    TooManyRungs,
    #[error("a rung must end later than the one before it")]
    OutOfOrder { rung: usize },
    #[error("until_days_before is at most {MAX_DAYS_BEFORE}")]
    TooEarly { rung: usize },
    #[error("a percentage is 0 to 100 with at most {MAX_PERCENT_DECIMALS} decimals")]
    Percentage { rung: usize },
}

impl Penalty {
    /// What cancelling this room costs. Rounded once, half away from zero; what goes back is the rest.
    pub fn of(self, room: &QuotedRoom) -> Money {
        match self {
            Self::None => Money::zero(room.total.currency()),
            Self::FirstNight => room.first_night,
            Self::Percent(share) => {
                let raw = room.total.amount() * share / Decimal::ONE_HUNDRED;
                Money::rounded(raw, room.total.currency())
            }
            Self::Full => room.total,
        }
    }
}

impl Rung {
    /// The last instant at which this rung applies to an arrival on `check_in`.
    pub fn deadline(&self, check_in: NaiveDate, zone: Tz) -> Moment {
        let date = check_in.checked_sub_days(Days::new(u64::from(self.until_days_before)));
        local_time::instant(date.unwrap_or(NaiveDate::MIN), self.until_time, zone)
    }
}

impl CancellationPolicy {
    /// Every rung with its instant, first to last. After the last one the whole price is due.
    pub fn deadlines(&self, check_in: NaiveDate, zone: Tz) -> Vec<Deadline> {
        let deadline = |rung: &Rung| Deadline { at: rung.deadline(check_in, zone), penalty: rung.penalty };
        self.rungs.iter().map(deadline).collect()
    }

    /// The penalty of cancelling now.
    pub fn applies_at(&self, check_in: NaiveDate, zone: Tz, now: Moment) -> Penalty {
        let open = self.rungs.iter().find(|rung| !now.is_past(rung.deadline(check_in, zone)));
        open.map_or(Penalty::Full, |rung| rung.penalty)
    }

    /// What is wrong with it as a configuration; empty when it can be used.
    pub fn faults(&self) -> Vec<PolicyFault> {
        let mut faults = Vec::new();
        if self.rungs.len() > MAX_RUNGS {
            faults.push(PolicyFault::TooManyRungs);
        }
        for (rung, step) in self.rungs.iter().enumerate() {
            if step.until_days_before > MAX_DAYS_BEFORE {
                faults.push(PolicyFault::TooEarly { rung });
            }
            if let Penalty::Percent(share) = step.penalty
                && !is_percentage(share)
            {
                faults.push(PolicyFault::Percentage { rung });
            }
        }
        let order = |rung: &Rung| (Reverse(rung.until_days_before), rung.until_time);
        let pairs = self.rungs.windows(2).enumerate();
        let swapped = pairs.filter(|(_, pair)| order(&pair[0]) >= order(&pair[1]));
        faults.extend(swapped.map(|(first, _)| PolicyFault::OutOfOrder { rung: first + 1 }));
        faults
    }
}

pub(crate) fn is_percentage(share: Decimal) -> bool {
    (Decimal::ZERO..=Decimal::ONE_HUNDRED).contains(&share)
        && share.normalize().scale() <= MAX_PERCENT_DECIMALS
}

#[cfg(test)]
mod tests {
    use chrono::NaiveTime;

    use super::*;
    use crate::{
        rule_version::RuleVersion,
        sample::{day, decimal, money, rate_plan, room_type},
    };

    fn at(text: &str) -> Moment {
        Moment(text.parse().expect("an instant"))
    }

    fn rung(until_days_before: u16, hour: u32, penalty: Penalty) -> Rung {
        Rung { until_days_before, until_time: NaiveTime::from_hms_opt(hour, 0, 0).expect("a time"), penalty }
    }

    fn sold_room(total: &str) -> QuotedRoom {
        QuotedRoom {
            room_type_id: room_type().id,
            room_type: room_type().code,
            rate_plan_id: rate_plan().id,
            rate_plan: rate_plan().code,
            adults: 2,
            children_ages: Vec::new(),
            note: None,
            nights: Vec::new(),
            total: money(total, "USD"),
            first_night: money("100", "USD"),
            cancellation: ladder(),
            payment: rate_plan().payment,
            deposit: None,
            terms_version: RuleVersion::FIRST,
        }
    }

    fn ladder() -> CancellationPolicy {
        CancellationPolicy {
            rungs: vec![
                rung(7, 18, Penalty::None),
                rung(2, 18, Penalty::Percent(decimal("50"))),
                rung(0, 12, Penalty::FirstNight),
            ],
        }
    }

    /// B094: the deadline is the hotel's, and includes its instant.
    #[test]
    fn b094_free_cancellation_ends_in_the_hotels_time_with_its_instant_included() {
        let policy = rate_plan().cancellation;
        let zone = chrono_tz::Asia::Kolkata;
        let deadlines = policy.deadlines(day("2026-11-14"), zone);
        assert_eq!(deadlines, [Deadline { at: at("2026-11-12T12:30:00Z"), penalty: Penalty::None }]);
        assert_eq!(local_time::with_offset(deadlines[0].at, zone), "2026-11-12T18:00:00+05:30");
        let cases = [
            ("2026-11-12T12:29:59Z", Penalty::None),
            ("2026-11-12T12:30:00Z", Penalty::None),
            ("2026-11-12T12:30:00.000001Z", Penalty::Full),
            ("2026-11-12T12:30:01Z", Penalty::Full),
        ];
        for (now, penalty) in cases {
            assert_eq!(policy.applies_at(day("2026-11-14"), zone, at(now)), penalty, "{now}");
        }
    }

    #[test]
    fn the_first_rung_that_has_not_passed_applies() {
        let cases = [
            ("2026-11-01T00:00:00Z", Penalty::None),
            ("2026-11-07T18:00:00Z", Penalty::None),
            ("2026-11-07T18:00:01Z", Penalty::Percent(decimal("50"))),
            ("2026-11-12T18:00:01Z", Penalty::FirstNight),
            ("2026-11-14T12:00:00Z", Penalty::FirstNight),
            ("2026-11-14T12:00:01Z", Penalty::Full),
        ];
        for (now, penalty) in cases {
            assert_eq!(ladder().applies_at(day("2026-11-14"), Tz::UTC, at(now)), penalty, "{now}");
        }
        let strict = CancellationPolicy::default();
        assert_eq!(strict.applies_at(day("2026-11-14"), Tz::UTC, at("2026-01-01T00:00:00Z")), Penalty::Full);
        assert_eq!(strict.deadlines(day("2026-11-14"), Tz::UTC), []);
    }

    /// B104: the fee is rounded by the rule, and what goes back is the rest.
    #[test]
    fn b104_half_of_an_odd_amount_loses_no_cent() {
        let cases = [("346.25", "173.13", "173.12"), ("16.61", "8.31", "8.30")];
        for (total, fee, rest) in cases {
            let room = sold_room(total);
            let penalty = Penalty::Percent(decimal("50")).of(&room);
            let refund = room.total.minus(penalty).expect("the rest");
            assert_eq!((penalty.to_string().as_str(), refund.to_string().as_str()), (fee, rest));
        }
        let room = sold_room("346.25");
        assert_eq!(Penalty::None.of(&room), money("0", "USD"));
        assert_eq!(Penalty::Full.of(&room), room.total);
        assert_eq!(Penalty::FirstNight.of(&room), room.first_night);
    }

    /// B066: of the price itself, never through a share of a share, and never below nothing.
    #[test]
    fn b066_a_percentage_is_of_the_total_and_exact() {
        let cases = [
            ("14560.00", "100", "14560.00", "0.00"),
            ("14560.00", "50", "7280.00", "7280.00"),
            ("14560.00", "0", "0.00", "14560.00"),
            ("0.01", "50", "0.01", "0.00"),
        ];
        for (total, share, fee, rest) in cases {
            let room = sold_room(total);
            let penalty = Penalty::Percent(decimal(share)).of(&room);
            let refund = room.total.minus(penalty).expect("the rest");
            assert_eq!((penalty.to_string().as_str(), refund.to_string().as_str()), (fee, rest), "{share} %");
        }
    }

    #[test]
    fn rungs_lie_strictly_in_the_order_of_their_time() {
        assert_eq!(ladder().faults(), []);
        assert_eq!(CancellationPolicy::default().faults(), []);
        let rungs = vec![
            rung(2, 18, Penalty::Percent(decimal("100.5"))),
            rung(2, 18, Penalty::Percent(decimal("0.0000001"))),
            rung(3, 18, Penalty::Percent(decimal("33.333333"))),
            rung(751, 18, Penalty::Full),
        ];
        assert_eq!(
            CancellationPolicy { rungs }.faults(),
            [
                PolicyFault::Percentage { rung: 0 },
                PolicyFault::Percentage { rung: 1 },
                PolicyFault::TooEarly { rung: 3 },
                PolicyFault::OutOfOrder { rung: 1 },
                PolicyFault::OutOfOrder { rung: 2 },
                PolicyFault::OutOfOrder { rung: 3 },
            ]
        );
        let many = CancellationPolicy { rungs: (0..17).map(|hour| rung(0, hour, Penalty::None)).collect() };
        assert_eq!(many.faults(), [PolicyFault::TooManyRungs]);
    }
}
