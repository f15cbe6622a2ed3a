use super::*;
use crate::sample::{day, stay};

const DELUXE: RoomTypeId = RoomTypeId(1);
const STANDARD: RoomTypeId = RoomTypeId(2);
const FLEX: RatePlanId = RatePlanId(1);

/// Restrictions as the documentation tells them.
const PAGE: &str = include_str!("../../../docs/restrictions.md");

/// The cells of the table under a heading, without its head.
fn table(heading: &str) -> Vec<Vec<&'static str>> {
    let section = PAGE.split("\n## ").find(|section| section.starts_with(heading)).expect("a section");
    let rows = section.lines().filter(|line| line.starts_with('|')).skip(2);
    rows.map(|row| row.trim_matches('|').split('|').map(str::trim).collect()).collect()
}

fn limit(cell: &str) -> Option<u16> {
    if matches!(cell, "null" | "-") { None } else { Some(cell.parse().expect("a number")) }
}

fn of_deluxe(stay: Stay, today: &str, rows: &Restrictions) -> Vec<Violation> {
    violations(stay, day(today), [(DELUXE, FLEX)], rows)
}

fn told(violations: &[Violation]) -> Vec<(String, &'static str)> {
    violations.iter().map(|v| (v.night.to_string(), v.rule.as_str())).collect()
}

fn on(dates: &[&str], row: NightRestriction) -> Restrictions {
    dates.iter().map(|date| ((DELUXE, RatePlanScope::Every, day(date)), row)).collect()
}

#[test]
fn b090_every_combination_is_answered_as_the_documented_truth_table_says() {
    let rows = table("Combinations");
    assert_eq!(rows.len(), 32);
    for cells in rows {
        let row = NightRestriction {
            stop_sell: cells[0] == "yes",
            closed_to_arrival: cells[1] == "yes",
            closed_to_departure: cells[2] == "yes",
            min_stay_arrival: limit(cells[3]),
            max_stay: limit(cells[4]),
            ..NightRestriction::default()
        };
        assert_eq!(row.faults(), []);
        for (nights, expected) in [1, 3, 7, 8].into_iter().zip(&cells[5..]) {
            let stay = Stay::new(day("2026-11-14"), day("2026-11-14") + chrono::Days::new(nights));
            let stay = stay.expect("a stay");
            let dates = stay.nights().chain([stay.check_out()]);
            let all = dates.map(|date| ((DELUXE, RatePlanScope::Every, date), row)).collect();
            let found = of_deluxe(stay, "2026-11-01", &all);
            let mut rules: Vec<_> = found.iter().map(|violation| violation.rule).collect();
            rules.sort_unstable();
            rules.dedup();
            let rules: Vec<_> = rules.into_iter().map(Rule::as_str).collect();
            let rules = if rules.is_empty() { "sold".to_owned() } else { rules.join(", ") };
            assert_eq!(rules, *expected, "{nights} nights under {cells:?}");
            let stopped = found.iter().filter(|violation| violation.rule == Rule::StopSell).count();
            assert_eq!(stopped, if row.stop_sell { usize::from(stay.len()) } else { 0 });
        }
    }
}

#[test]
fn b090_each_rule_looks_at_the_dates_that_the_documentation_names() {
    let everything = NightRestriction {
        stop_sell: true,
        min_stay_arrival: Some(4),
        min_stay_through: Some(4),
        max_stay: Some(2),
        closed_to_arrival: true,
        closed_to_departure: true,
        min_advance_days: Some(20),
        max_advance_days: Some(10),
    };
    let rows = table("Where a rule looks");
    assert_eq!(rows.len(), 8);
    for cells in rows {
        for (date, expected) in ["2026-11-14", "2026-11-15", "2026-11-17"].into_iter().zip(&cells[1..4]) {
            let found = of_deluxe(stay("2026-11-14", "2026-11-17"), "2026-11-01", &on(&[date], everything));
            assert!(found.iter().all(|violation| violation.night == day(date)));
            let looks = found.iter().any(|violation| violation.rule.as_str() == cells[0]);
            assert_eq!(looks, *expected == "yes", "{} on {date}", cells[0]);
        }
    }
}

#[test]
fn b090_zero_and_crossed_limits_are_refused_as_documented() {
    for cells in table("What cannot be set") {
        let mut row = NightRestriction::default();
        for (field, value) in [(cells[0], cells[1]), (cells[2], cells[3])] {
            match field {
                "min_stay_arrival" => row.min_stay_arrival = limit(value),
                "min_stay_through" => row.min_stay_through = limit(value),
                "max_stay" => row.max_stay = limit(value),
                "min_advance_days" => row.min_advance_days = limit(value),
                "max_advance_days" => row.max_advance_days = limit(value),
                "-" => {}
                other => panic!("no field {other}"),
            }
        }
        let answer = if row.faults().is_empty() { "kept" } else { "refused" };
        assert_eq!(answer, cells[4], "{cells:?}");
    }
    let all_wrong = NightRestriction {
        min_stay_arrival: Some(0),
        min_stay_through: Some(8),
        max_stay: Some(7),
        min_advance_days: Some(751),
        max_advance_days: Some(7),
        ..NightRestriction::default()
    };
    assert_eq!(
        all_wrong.faults(),
        [
            RestrictionFault::StayLimit { field: "min_stay_arrival" },
            RestrictionFault::MinAboveMax { field: "min_stay_through" },
            RestrictionFault::AdvanceLimit { field: "min_advance_days" },
            RestrictionFault::AdvanceMinAboveMax,
        ]
    );
}

#[test]
fn b087_a_minimum_through_binds_every_night_and_one_on_arrival_only_the_first() {
    let through = NightRestriction { min_stay_through: Some(4), ..NightRestriction::default() };
    let arrival = NightRestriction { min_stay_arrival: Some(4), ..NightRestriction::default() };
    let (sunday, monday) = (stay("2026-11-15", "2026-11-17"), stay("2026-11-16", "2026-11-18"));
    let cases: [(NightRestriction, Stay, &[&str]); 4] = [
        (through, sunday, &["MIN_STAY_THROUGH"]),
        (arrival, sunday, &[]),
        (through, monday, &["MIN_STAY_THROUGH"]),
        (arrival, monday, &["MIN_STAY_ARRIVAL"]),
    ];
    for (row, stay, rules) in cases {
        let found = of_deluxe(stay, "2026-11-01", &on(&["2026-11-16"], row));
        let expected: Vec<_> = rules.iter().map(|rule| ("2026-11-16".to_owned(), *rule)).collect();
        assert_eq!(told(&found), expected);
        assert!(found.iter().all(|v| (v.required, v.given) == (Some(4), Some(2))));
    }
}

#[test]
fn rows_of_the_type_and_of_the_plan_both_apply_and_the_stricter_limit_is_told() {
    let min = |nights| NightRestriction { min_stay_arrival: Some(nights), ..NightRestriction::default() };
    let max = |nights| NightRestriction { max_stay: Some(nights), ..NightRestriction::default() };
    let night = day("2026-11-14");
    let stay = stay("2026-11-14", "2026-11-17");
    for (every, plan, told) in [(min(4), min(5), 5), (min(5), min(4), 5), (max(2), max(1), 1)] {
        let rows = [
            ((DELUXE, RatePlanScope::Every, night), every),
            ((DELUXE, RatePlanScope::Plan(FLEX), night), plan),
            ((DELUXE, RatePlanScope::Plan(RatePlanId(2)), night), min(9)),
            ((STANDARD, RatePlanScope::Every, night), min(9)),
        ];
        let found = of_deluxe(stay, "2026-11-01", &rows.into_iter().collect());
        assert_eq!(found.len(), 1, "the other plan and the other type are not asked");
        assert_eq!(found[0].required, Some(told));
    }
}

#[test]
fn violations_come_by_night_then_rule_then_room_type() {
    let row = NightRestriction {
        stop_sell: true,
        min_stay_through: Some(3),
        closed_to_departure: true,
        ..NightRestriction::default()
    };
    let dates = ["2026-11-14", "2026-11-15", "2026-11-16"];
    let rows = dates.iter().flat_map(|date| {
        [DELUXE, STANDARD].map(|room_type| ((room_type, RatePlanScope::Every, day(date)), row))
    });
    let rooms = [(STANDARD, FLEX), (DELUXE, FLEX), (DELUXE, RatePlanId(2)), (DELUXE, FLEX)];
    let found = violations(stay("2026-11-14", "2026-11-16"), day("2026-11-01"), rooms, &rows.collect());
    let told: Vec<_> = found.iter().map(|v| (v.night.to_string(), v.rule, v.room_type)).collect();
    let mut sorted = told.clone();
    sorted.sort();
    assert_eq!(told, sorted);
    assert_eq!(told.len(), 10, "two nights with two rules and a departure with one, for two types");
}

#[test]
fn the_advance_window_counts_days_from_the_hotels_today() {
    let row = NightRestriction {
        min_advance_days: Some(3),
        max_advance_days: Some(30),
        ..NightRestriction::default()
    };
    let cases = [
        ("2026-10-14", Some((Rule::TooEarly, 30, 31))),
        ("2026-10-15", None),
        ("2026-11-11", None),
        ("2026-11-12", Some((Rule::TooLate, 3, 2))),
        ("2026-11-14", Some((Rule::TooLate, 3, 0))),
        ("2026-11-15", Some((Rule::TooLate, 3, -1))),
    ];
    for (today, expected) in cases {
        let found = of_deluxe(stay("2026-11-14", "2026-11-16"), today, &on(&["2026-11-14"], row));
        let expected: Vec<_> =
            expected.iter().map(|(rule, required, given)| (*rule, Some(*required), Some(*given))).collect();
        let found: Vec<_> = found.iter().map(|v| (v.rule, v.required, v.given)).collect();
        assert_eq!(found, expected, "{today}");
    }
}

#[test]
fn a_rule_has_one_name_everywhere() {
    for rule in Rule::ALL {
        assert_eq!(Rule::from_name(rule.as_str()), Some(rule));
        assert_eq!(serde_json::to_string(&rule).expect("json"), format!("\"{}\"", rule.as_str()));
    }
    let stop_sell = NightRestriction { stop_sell: true, ..NightRestriction::default() };
    let found = of_deluxe(stay("2026-11-14", "2026-11-15"), "2026-11-01", &on(&["2026-11-14"], stop_sell));
    let json = serde_json::to_value(found).expect("json");
    let expected = serde_json::json!([{ "night": "2026-11-14", "rule": "STOP_SELL", "room_type": 1 }]);
    assert_eq!(json, expected);
}
