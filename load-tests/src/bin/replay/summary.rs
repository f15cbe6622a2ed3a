//! What a person reads at the end.

use std::{process::ExitStatus, time::Duration};

use indicatif::{HumanCount, HumanDuration};
use keyrack_domain::money::Currency;

use crate::{
    accounts::{Changes, Endings},
    charges::Book,
    counters::Compared,
    sandbox::Verified,
    tally::{Tally, with_sources},
    timings::{Step, Timings},
    workload::Census,
};

/// Lines of a report of `verify`.
const REPORT_LINES: usize = 40;

pub(crate) fn rows(census: Census, tally: &Tally) {
    let line = |count: usize, what: &str| println!("{:>9}  {what}", count_of(count));
    println!();
    line(census.in_archive, "rows in the archive");
    if census.left_out_earlier > 0 {
        line(census.left_out_earlier, "left out: booked earlier than asked for (--from)");
    }
    if census.left_out_cancelled > 0 {
        line(
            census.left_out_cancelled,
            "left out: cancelled later, or the guest did not come (--without-cancelled)",
        );
    }
    if census.not_chosen > 0 {
        line(census.not_chosen, "left out: booked later than the rows asked for (--rows)");
    }
    let not_reached = census.chosen - tally.replayed();
    if not_reached > 0 {
        line(not_reached, "not reached");
    }
    line(tally.replayed(), "replayed");
    line(tally.booked, "booked");
    line(tally.refused_in_all(), "refused");
    for ((by, code), count) in &tally.refused {
        println!("{:>9}    {code}, by {}: {}", count_of(*count), by.name(), reason(code));
    }
    line(tally.wrong, "answered wrongly");
    if census.changes > 0 {
        changes(census, &tally.changes);
    }
    if census.endings > 0 {
        endings(census, &tally.endings);
    }
    if tally.not_full > 0 {
        line(tally.not_full, "nights were told to be sold out and were not full");
    }
    for wrong in &tally.shown {
        println!("           {wrong}");
    }
    if let Some(stopped) = &tally.stopped {
        println!("\nStopped before the last row: {}", with_sources(stopped));
    }
}

fn changes(census: Census, changes: &Changes) {
    let line = |count: usize, what: &str| println!("{:>9}  {what}", count_of(count));
    println!();
    line(census.changes, "changes of these rows");
    if census.changes_beyond > 0 {
        line(census.changes_beyond, "more in the table, beyond the most that are made of one row");
    }
    line(changes.made(), "made");
    line(changes.with_payment, "  of the dates, with a payment");
    line(changes.with_refund, "  of the dates, with a refund");
    line(changes.without_money, "  of the dates, and no money moved");
    line(changes.guests, "  of the guest's details");
    line(changes.sold_out, "refused: a night was sold out");
    line(changes.unbooked, "changes of bookings that were refused");
    let not_reached = census.changes - changes.in_all();
    if not_reached > 0 {
        line(not_reached, "not reached");
    }
    line(changes.wrong, "answered wrongly");
}

fn endings(census: Census, endings: &Endings) {
    let line = |count: usize, what: &str| println!("{:>9}  {what}", count_of(count));
    println!();
    line(census.endings, "cancellations and no-shows of these rows");
    line(endings.cancelled_free, "cancelled, free");
    line(endings.cancelled_with_fee, "cancelled, with a fee");
    line(endings.no_shows, "no-shows");
    line(endings.cancelled_unbooked, "cancellations of bookings that were refused");
    line(endings.no_shows_unbooked, "no-shows of bookings that were refused");
    let not_reached = census.endings - endings.in_all();
    if not_reached > 0 {
        line(not_reached, "not reached");
    }
    line(endings.wrong, "answered wrongly");
}

/// What the hotels keep by our tally, and what the provider's book says.
pub(crate) fn money(tally: &Tally, book: &Book, currency: Currency) -> bool {
    println!();
    for (hotel, account) in &tally.accounts {
        println!(
            "{}: {} {currency} sold, {} refunded, {} kept",
            hotel.code(),
            account.sold,
            account.refunded,
            account.kept()
        );
    }
    let expected = Book::expected(tally);
    let agrees = *book == expected;
    if agrees {
        println!("money: the payment provider keeps {} {currency}, as it should", book.kept(currency));
    } else {
        println!("money: the payment provider's book differs");
        println!("           it has {}", book.in_words(currency));
        println!("           expected {}", expected.in_words(currency));
    }
    agrees
}

/// Why that reason occurs in this table.
fn reason(code: &str) -> &'static str {
    match code {
        "INVALID_STAY" => "no night between arrival and departure, or more than 90",
        "OCCUPANCY" => "no adult, or more guests than a room takes",
        "OUT_OF_HORIZON" => "booked further ahead than the hotel sells",
        "ROOM_NIGHT_UNAVAILABLE" => "a night was sold out",
        "NEGATIVE_RATE" => "the price is negative",
        "CHILDREN_NOT_GIVEN" => "the table does not tell how many children",
        _ => "see the page of the code",
    }
}

/// `elapsed` is that of the replay, without set-up and checks.
pub(crate) fn calls(timings: &Timings, elapsed: Duration) {
    println!("\n{:<24}{:>9}{:>12}{:>12}{:>12}", "calls", "sent", "p50 ms", "p99 ms", "longest ms");
    for figures in timings.figures() {
        println!(
            "{:<24}{:>9}{:>12}{:>12}{:>12}",
            figures.step.name(),
            HumanCount(figures.calls).to_string(),
            millis(figures.p50),
            millis(figures.p99),
            millis(figures.longest)
        );
    }
    let holds =
        timings.figures().into_iter().find(|figures| figures.step == Step::Hold).map_or(0, |hold| hold.calls);
    let holds = usize::try_from(holds).unwrap_or(usize::MAX);
    println!("\n{} holds/s over {}", per_second(holds, elapsed), HumanDuration(elapsed));
}

pub(crate) fn counters(compared: &Compared) {
    let nights = count_of(compared.nights);
    if compared.differences == 0 {
        println!("counters: {nights} room-nights are as the guests were told");
        return;
    }
    println!("counters: {} of {nights} room-nights differ", count_of(compared.differences));
    for difference in &compared.shown {
        println!("           {difference}");
    }
}

pub(crate) fn verified(verified: &Verified) {
    println!("keyrack verify: {}", status(verified.status));
    // The log tells why it could not check; when all is well it would only stand in the way.
    let log = if verified.status.success() { "" } else { verified.log.as_str() };
    let lines: Vec<&str> = verified.report.lines().chain(log.lines()).collect();
    for line in lines.iter().take(REPORT_LINES) {
        println!("           {line}");
    }
    if let Some(more) = lines.len().checked_sub(REPORT_LINES).filter(|more| *more > 0) {
        println!("           and {more} lines more");
    }
}

fn status(status: ExitStatus) -> String {
    match status.code() {
        Some(0) => "clean".to_owned(),
        Some(1) => "violations (exit code 1)".to_owned(),
        Some(2) => "could not check (exit code 2)".to_owned(),
        _ => status.to_string(),
    }
}

fn count_of(count: usize) -> String {
    HumanCount(u64::try_from(count).unwrap_or(u64::MAX)).to_string()
}

/// With one decimal.
pub(crate) fn per_second(count: usize, elapsed: Duration) -> String {
    let tenths = count as u128 * 10_000 / elapsed.as_millis().max(1);
    format!("{}.{}", tenths / 10, tenths % 10)
}

fn millis(duration: Duration) -> String {
    let tenths = duration.as_micros() / 100;
    format!("{}.{}", tenths / 10, tenths % 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_have_one_decimal() {
        assert_eq!(per_second(1_999, Duration::from_secs(100)), "19.9");
        assert_eq!(per_second(3, Duration::ZERO), "3000.0");
        assert_eq!(millis(Duration::from_micros(12_345)), "12.3");
    }
}
