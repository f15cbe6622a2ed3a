//! What a cancellation must cost, told from the row and the plans that we set up, without the product's own
//! arithmetic; and what its answers must look like.

use chrono::{Days, Timelike};
use chrono_tz::Tz;
use keyrack_api_types::{
    cancellation::{Cancellation, CancellationPreview, CancelledRoom},
    money,
    reservation::ReservationState,
};
use keyrack_domain::{clock::Moment, money::Money};

use crate::{
    reserved::Reserved,
    row::{Plan, Wish},
};

/// Of both hotels.
pub(crate) const ZONE: Tz = chrono_tz::Europe::Lisbon;

/// The flexible plan is free until this day before the arrival, at this hour on the hotel's wall. After
/// it, and on the non-refundable plan from the first minute on, everything is kept.
pub(crate) const FREE_UNTIL_DAYS_BEFORE: u64 = 1;
pub(crate) const FREE_UNTIL_HOUR: u32 = 18;

/// Of cancelling at `at`.
pub(crate) fn penalty(wish: &Wish, total: Money, at: Moment) -> Money {
    let local = at.0.with_timezone(&ZONE);
    let last_day = wish.check_in.checked_sub_days(Days::new(FREE_UNTIL_DAYS_BEFORE));
    let now = (Some(local.date_naive()), local.num_seconds_from_midnight());
    let is_free = wish.plan == Plan::Flexible && now <= (last_day, FREE_UNTIL_HOUR * 3600);
    if is_free { Money::zero(total.currency()) } else { total }
}

/// The amounts, where the answer is right.
pub(crate) fn judge_cancelled(
    booked: &Reserved,
    at: Moment,
    told: &Cancellation,
) -> Result<(Money, Money), String> {
    if told.reservation_id != booked.reservation || told.state != ReservationState::Cancelled {
        return Err(format!("{} is {:?} after its cancellation", told.reservation_id, told.state));
    }
    if told.version <= booked.version {
        return Err(format!("the version is {} after a cancellation at {}", told.version, booked.version));
    }
    judge_amounts(booked, at, (&told.rooms, &told.penalty, &told.refund))
}

/// The reservation stands, so it must be as its guest saw it last.
pub(crate) fn judge_preview(booked: &Reserved, told: &CancellationPreview) -> Result<(), String> {
    if told.reservation_id != booked.reservation || told.state != ReservationState::Confirmed {
        return Err(format!("{} is {:?} before its cancellation", told.reservation_id, told.state));
    }
    if told.version != booked.version {
        return Err(format!("the version is {} and was {}", told.version, booked.version));
    }
    judge_amounts(booked, told.as_of.0, (&told.rooms, &told.penalty, &told.refund)).map(drop)
}

fn judge_amounts(
    booked: &Reserved,
    at: Moment,
    (rooms, penalty, refund): (&[CancelledRoom], &money::Money, &money::Money),
) -> Result<(Money, Money), String> {
    let keeps = self::penalty(&booked.wish, booked.total, at);
    let goes_back = booked.total.minus(keeps).unwrap_or(keeps);
    let room = CancelledRoom { room: 1, penalty: keeps.to_string(), refund: goes_back.to_string() };
    let is_right = *penalty == keeps.into() && *refund == goes_back.into() && rooms == [room];
    if is_right {
        return Ok((keeps, goes_back));
    }
    Err(format!(
        "at {at} it costs {} {}, and {} {} goes back, with {rooms:?}; expected {keeps} and {goes_back}",
        penalty.amount, penalty.currency, refund.amount, refund.currency
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        clock::Hour,
        sample::{day, euros, reserved, wish},
    };

    fn at(text: &str) -> Moment {
        Moment(text.parse().expect("an instant"))
    }

    fn keeps(wish: &Wish, at: Moment) -> String {
        penalty(wish, euros("180.00"), at).to_string()
    }

    #[test]
    fn the_flexible_plan_is_free_until_the_evening_before_by_the_hotels_clock() {
        let (winter, summer) = (wish("2031-01-15", 2), wish("2031-07-15", 2));
        assert_eq!(keeps(&winter, at("2031-01-14T18:00:00Z")), "0.00");
        assert_eq!(keeps(&winter, at("2031-01-14T18:00:01Z")), "180.00");
        assert_eq!(keeps(&summer, at("2031-07-14T17:00:00Z")), "0.00");
        assert_eq!(keeps(&summer, at("2031-07-14T17:00:01Z")), "180.00");
        assert_eq!(keeps(&summer, at("2031-07-15T09:00:00Z")), "180.00");
        // The evening of the replay lies on both sides of it.
        assert_eq!(keeps(&winter, Hour::Evening.of(day("2031-01-14"))), "0.00");
        assert_eq!(keeps(&summer, Hour::Evening.of(day("2031-07-14"))), "180.00");
        assert_eq!(keeps(&summer, Hour::Evening.of(day("2031-07-13"))), "0.00");
    }

    #[test]
    fn the_other_plan_is_never_free() {
        let wish = Wish { plan: Plan::NonRefundable, ..wish("2031-07-15", 2) };
        assert_eq!(keeps(&wish, at("2030-01-01T00:00:00Z")), "180.00");
    }

    fn cancelled(penalty: &str, refund: &str) -> Cancellation {
        Cancellation {
            reservation_id: reserved("180.00").reservation,
            state: ReservationState::Cancelled,
            version: 2,
            rooms: vec![CancelledRoom { room: 1, penalty: penalty.to_owned(), refund: refund.to_owned() }],
            penalty: euros(penalty).into(),
            refund: euros(refund).into(),
            due: euros("0.00").into(),
        }
    }

    #[test]
    fn a_cancellation_is_right_only_with_the_fee_of_its_time_and_everything_else_given_back() {
        let judge = |told: &Cancellation, at| judge_cancelled(&reserved("180.00"), at, told).is_ok();
        let (early, late) = (at("2031-07-01T17:30:00Z"), at("2031-07-14T17:30:00Z"));
        let (free, full) = (cancelled("0.00", "180.00"), cancelled("180.00", "0.00"));
        assert!(judge(&free, early) && judge(&full, late));
        assert!(!judge(&free, late) && !judge(&full, early));
        assert!(!judge(&cancelled("0.00", "179.99"), early));
        assert!(!judge(&cancelled("90.00", "90.00"), early));
        assert!(!judge(&Cancellation { version: 1, ..free.clone() }, early));
        assert!(!judge(&Cancellation { state: ReservationState::Confirmed, ..free.clone() }, early));
        assert!(!judge(&Cancellation { rooms: Vec::new(), ..free.clone() }, early));
        assert!(!judge(&Cancellation { rooms: full.rooms, ..free.clone() }, early));
        let rupees = money::Money { currency: "INR".to_owned(), ..free.refund.clone() };
        assert!(!judge(&Cancellation { refund: rupees, ..free }, early));
    }

    #[test]
    fn a_preview_tells_what_a_cancellation_at_its_instant_costs() {
        let Cancellation { reservation_id, rooms, penalty, refund, due, .. } = cancelled("0.00", "180.00");
        let preview = |as_of: &str| CancellationPreview {
            reservation_id,
            state: ReservationState::Confirmed,
            version: 1,
            rooms: rooms.clone(),
            penalty: penalty.clone(),
            refund: refund.clone(),
            due: due.clone(),
            as_of: at(as_of).into(),
        };
        let judge = |told: &CancellationPreview| judge_preview(&reserved("180.00"), told).is_ok();
        let right = preview("2031-07-14T17:00:00Z");
        assert!(judge(&right));
        assert!(!judge(&preview("2031-07-14T17:00:01Z")));
        assert!(!judge(&CancellationPreview { version: 2, ..right.clone() }));
        assert!(!judge(&CancellationPreview { state: ReservationState::Cancelled, ..right }));
    }
}
