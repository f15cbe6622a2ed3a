use super::*;

fn day(text: &str) -> NaiveDate {
    text.parse().expect("a date")
}

fn night(night: &str) -> LineInput {
    LineInput {
        room_type: "RT-DLX".to_owned(),
        night: Some(day(night)),
        sellable: Some(4),
        ..LineInput::default()
    }
}

fn range(first: &str, last: &str) -> LineInput {
    LineInput { night: None, first_night: Some(day(first)), last_night: Some(day(last)), ..night(first) }
}

fn batch(mode: BatchMode, lines: Vec<LineInput>) -> BatchInput {
    BatchInput { sequence: 885, mode, window: None, lines }
}

fn told(input: BatchInput) -> Vec<(String, &'static str)> {
    let faults = read(input).expect_err("a refusal");
    faults.into_iter().map(|fault| (fault.pointer, fault.code)).collect()
}

fn absolute(lines: Vec<LineInput>) -> Vec<(String, &'static str)> {
    told(batch(BatchMode::Absolute, lines))
}

#[test]
fn a_line_is_one_night_or_a_range_with_its_weekdays() {
    let weekend =
        LineInput { weekdays: Some(vec![Weekday::Sat, Weekday::Sun]), ..range("2026-11-16", "2026-11-29") };
    let read = read(batch(BatchMode::Absolute, vec![night("2026-11-14"), weekend])).expect("a batch");
    let nights: Vec<usize> = read.lines.iter().map(|line| line.nights.len()).collect();
    assert_eq!(nights, [1, 4]);
}

#[test]
fn what_cannot_be_meant_is_refused_by_its_place() {
    let line = night("2026-11-14");
    let cases = [
        (vec![LineInput { night: None, ..line.clone() }], "/nights/0", "INVALID_RANGE"),
        (
            vec![LineInput { last_night: Some(day("2026-11-15")), ..line.clone() }],
            "/nights/0",
            "INVALID_RANGE",
        ),
        (vec![LineInput { weekdays: Some(vec![]), ..line.clone() }], "/nights/0", "INVALID_RANGE"),
        (vec![range("2026-11-15", "2026-11-14")], "/nights/0/last_night", "INVALID_RANGE"),
        (vec![LineInput { sellable: None, ..line.clone() }], "/nights/0/sellable", "REQUIRED"),
        (vec![LineInput { change: Some(1), ..line.clone() }], "/nights/0/change", "NOT_ALLOWED"),
        (vec![], "/nights", "OUT_OF_RANGE"),
        (vec![line.clone(), line], "/nights/1", "DUPLICATE_NIGHT"),
        (
            vec![range("2026-11-14", "2026-11-16"), range("2026-11-16", "2026-11-18")],
            "/nights/1",
            "DUPLICATE_NIGHT",
        ),
    ];
    for (lines, pointer, code) in cases {
        assert_eq!(absolute(lines.clone()), [(pointer.to_owned(), code)], "{lines:?}");
    }
}

#[test]
fn a_batch_is_bounded_in_lines_and_in_nights_and_an_endless_range_is_not_walked() {
    assert_eq!(absolute(vec![night("2026-11-14"); 10_001]), [("/nights".to_owned(), "OUT_OF_RANGE")]);
    let years = |count| {
        (0..count).map(|n| LineInput { room_type: format!("RT-{n}"), ..range("2026-01-01", "2026-12-31") })
    };
    assert!(read(batch(BatchMode::Absolute, years(27).collect())).is_ok());
    for lines in [years(28).collect(), vec![range("2026-11-14", "9999-12-31")]] {
        assert_eq!(absolute(lines), [("/nights".to_owned(), "TOO_MANY_NIGHTS")]);
    }
}

#[test]
fn a_window_belongs_to_a_full_batch_and_a_change_to_a_delta() {
    let window = Window { first_night: day("2026-11-14"), last_night: day("2026-11-13") };
    let with = |mode, window| BatchInput { window, ..batch(mode, vec![night("2026-11-14")]) };
    assert_eq!(told(with(BatchMode::Full, None)), [("/window".to_owned(), "REQUIRED")]);
    let backwards = told(with(BatchMode::Full, Some(window)));
    assert_eq!(backwards, [("/window/last_night".to_owned(), "INVALID_RANGE")]);
    assert_eq!(told(with(BatchMode::Absolute, Some(window))), [("/window".to_owned(), "NOT_ALLOWED")]);
    let delta = told(batch(BatchMode::Delta, vec![night("2026-11-14")]));
    let expected = [("/nights/0/change", "REQUIRED"), ("/nights/0/sellable", "NOT_ALLOWED")];
    assert_eq!(delta, expected.map(|(pointer, code)| (pointer.to_owned(), code)));
    let zero = BatchInput { sequence: 0, ..batch(BatchMode::Absolute, vec![night("2026-11-14")]) };
    assert_eq!(told(zero), [("/sequence".to_owned(), "OUT_OF_RANGE")]);
}
