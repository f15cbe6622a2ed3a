//! What a change of a stay must cost, told from the rates and plans that we set up; and what the answers to it
//! must look like.

use chrono::NaiveDate;
use keyrack_api_types::{
    change::{Change, ChangeState},
    reservation::{Reservation, ReservationState},
};
use keyrack_domain::{clock::Moment, money::Money};

use crate::{fee, hotels::Hotels, reserved::Reserved, row::Wish};

/// Of one change.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Expected {
    pub(crate) to: Wish,
    /// Of the room.
    price: Money,
    /// For the nights that go.
    penalty: Money,
    difference: Money,
    pub(crate) charge: Money,
    /// What the stay costs with all that its changes cost.
    total: Money,
}

/// What came of a step of a row's course.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Changed {
    Dates(Expected),
    Guest,
    /// The confirmation was refused, and the stay is what it was.
    SoldOut {
        night: NaiveDate,
    },
}

impl Expected {
    /// `None` where there is no price.
    pub(crate) fn of(hotels: &Hotels, booked: &Reserved, to: &Wish, at: Moment) -> Option<Self> {
        let before = &booked.wish;
        let gone = before.nights().filter(|night| !to.nights().any(|other| other == *night)).count();
        let lost = hotels.rate(before)?.times(u32::try_from(gone).ok()?)?;
        let penalty = fee::penalty(before, lost, at);
        let price = hotels.price(to)?;
        let total = price.plus(booked.fees)?.plus(penalty)?;
        let difference = total.minus(booked.total.plus(booked.fees)?)?;
        let zero = Money::zero(price.currency());
        let charge = if difference.amount() > zero.amount() { difference } else { zero };
        Some(Self { to: to.clone(), price, penalty, difference, charge, total })
    }

    /// What goes back at once.
    pub(crate) fn refund(&self) -> Money {
        let zero = Money::zero(self.difference.currency());
        let less = zero.minus(self.difference);
        less.filter(|less| less.amount() > zero.amount()).unwrap_or(zero)
    }

    /// The booking as the change leaves it, and the refunds that this makes.
    pub(crate) fn carry_out(&self, booked: &mut Reserved) -> Vec<Money> {
        booked.version += 1;
        booked.wish = self.to.clone();
        booked.total = self.price;
        booked.fees = booked.fees.plus(self.penalty).unwrap_or(booked.fees);
        if !self.charge.is_zero() {
            booked.payments.push(self.charge);
        }
        booked.give_back(self.refund())
    }

    pub(crate) fn judge_priced(&self, booked: &Reserved, told: &Change) -> Result<(), String> {
        self.judge(booked, told)?;
        if told.state == ChangeState::Priced && told.version.is_none() {
            return Ok(());
        }
        Err(format!("it is {:?} at version {:?} when it was only priced", told.state, told.version))
    }

    /// `etag` where the answer has one: a look at a change has none.
    pub(crate) fn judge_carried_out(
        &self,
        booked: &Reserved,
        told: &Change,
        etag: Option<&str>,
    ) -> Result<(), String> {
        self.judge(booked, told)?;
        let next = booked.version + 1;
        let is_paid = told.attempt_id.is_some() != self.charge.is_zero();
        let is_right = told.state == ChangeState::Completed
            && told.version == Some(next)
            && is_paid
            && etag.is_none_or(|etag| etag == quoted(next));
        if is_right {
            return Ok(());
        }
        Err(format!("it made {told:?} and ETag {etag:?} out of version {}", booked.version))
    }

    fn judge(&self, booked: &Reserved, told: &Change) -> Result<(), String> {
        let dates = (told.check_in.0, told.check_out.0) == (self.to.check_in, self.to.check_out);
        let amounts = told.difference == self.difference.into()
            && told.penalty == self.penalty.into()
            && told.charge == self.charge.into()
            && told.total == self.total.into();
        if dates && amounts && told.reservation_id == booked.reservation {
            return Ok(());
        }
        let Self { difference, penalty, charge, total, .. } = self;
        Err(format!(
            "it is {told:?}; expected {} to {}: difference {difference}, penalty {penalty}, charge {charge}, \
             total {total}",
            self.to.check_in, self.to.check_out
        ))
    }
}

/// A guest who was changed sleeps in the same stay.
pub(crate) fn judge_guest(
    booked: &Reserved,
    name: &str,
    told: &Reservation,
    etag: Option<&str>,
) -> Result<(), String> {
    let next = booked.version + 1;
    let costs = booked.total.plus(booked.fees).unwrap_or(booked.total);
    let is_right = told.id == booked.reservation
        && told.state == ReservationState::Confirmed
        && told.version == next
        && etag.is_some_and(|etag| etag == quoted(next))
        && told.guest.name == name
        && (told.check_in.0, told.check_out.0) == (booked.wish.check_in, booked.wish.check_out)
        && told.total == costs.into();
    if is_right {
        return Ok(());
    }
    let Reservation { state, version, check_in, check_out, total, .. } = told;
    Err(format!(
        "{state:?} at version {version} with ETag {etag:?}, {} to {}, for {} {}; expected version {next} and {costs}",
        check_in.0, check_out.0, total.amount, total.currency
    ))
}

/// Only a night that the stay would get can be missing.
pub(crate) fn judge_sold_out(
    booked: &Reserved,
    to: &Wish,
    (room_type, night, available): (&str, NaiveDate, u64),
) -> Result<(), String> {
    let has = |wish: &Wish| wish.nights().any(|other| other == night);
    if room_type == to.room_type.as_str() && has(to) && !has(&booked.wish) && available == 0 {
        return Ok(());
    }
    Err(format!("sold out: {room_type} on {night} with {available} available, which the change does not add"))
}

fn quoted(version: i32) -> String {
    format!("\"{version}\"")
}

#[cfg(test)]
mod tests {
    use keyrack_api_types::problem::{Action, Next};

    use super::*;
    use crate::{
        clock::Hour,
        row::{Plan, Row},
        sample::{day, euros, reserved, row, wish},
        workload::{Choice, Workload},
    };

    /// A night is 90 euros, or 81 on the plan that is never free.
    fn hotels() -> Hotels {
        Hotels::of(&Workload::choose(vec![row("2031-07-01", 1)], Choice::default())).expect("hotels")
    }

    fn expected(booked: &Reserved, check_in: &str, nights: u64, today: &str) -> Expected {
        let to = booked.wish.on(wish(check_in, nights).dates());
        Expected::of(&hotels(), booked, &to, Hour::Evening.of(day(today))).expect("a price")
    }

    /// Difference, penalty, charge, total, refund.
    fn amounts(expected: &Expected) -> [String; 5] {
        let Expected { difference, penalty, charge, total, .. } = expected;
        [*difference, *penalty, *charge, *total, expected.refund()].map(|amount| amount.to_string())
    }

    fn non_refundable() -> Reserved {
        let booked = reserved("162.00");
        Reserved { wish: Wish { plan: Plan::NonRefundable, ..booked.wish.clone() }, ..booked }
    }

    #[test]
    fn a_change_costs_the_nights_that_come_less_those_that_go_while_it_is_free() {
        let of = |check_in, nights| amounts(&expected(&reserved("180.00"), check_in, nights, "2031-07-01"));
        assert_eq!(of("2031-07-15", 3), ["90.00", "0.00", "90.00", "270.00", "0.00"]);
        assert_eq!(of("2031-07-15", 1), ["-90.00", "0.00", "0.00", "90.00", "90.00"]);
        assert_eq!(of("2031-07-16", 2), ["0.00", "0.00", "0.00", "180.00", "0.00"]);
    }

    #[test]
    fn who_is_late_or_cannot_cancel_pays_for_the_nights_that_go() {
        let late = |check_in, nights| amounts(&expected(&reserved("180.00"), check_in, nights, "2031-07-14"));
        assert_eq!(late("2031-07-15", 1), ["0.00", "90.00", "0.00", "180.00", "0.00"]);
        assert_eq!(late("2031-07-16", 2), ["90.00", "90.00", "90.00", "270.00", "0.00"]);
        let never = |nights| amounts(&expected(&non_refundable(), "2031-07-15", nights, "2031-07-01"));
        assert_eq!(never(1), ["0.00", "81.00", "0.00", "162.00", "0.00"]);
        assert_eq!(never(3), ["81.00", "0.00", "81.00", "243.00", "0.00"]);
    }

    #[test]
    fn what_was_paid_for_a_change_stays_paid_through_the_next_one() {
        let mut booked = non_refundable();
        assert_eq!(expected(&booked, "2031-07-16", 2, "2031-07-01").carry_out(&mut booked), []);
        assert_eq!((booked.version, booked.total, booked.fees), (2, euros("162.00"), euros("81.00")));
        assert_eq!(booked.payments, [euros("162.00"), euros("81.00")]);
        let longer = expected(&booked, "2031-07-16", 3, "2031-07-01");
        assert_eq!(amounts(&longer), ["81.00", "0.00", "81.00", "324.00", "0.00"]);

        let mut booked = reserved("180.00");
        assert_eq!(expected(&booked, "2031-07-15", 3, "2031-07-01").carry_out(&mut booked), []);
        let refunds = expected(&booked, "2031-07-15", 1, "2031-07-01").carry_out(&mut booked);
        assert_eq!(refunds, [euros("90.00"), euros("90.00")], "the last payment first");
        assert_eq!(booked.payments, [euros("90.00"), euros("0.00")]);
    }

    fn told(expected: &Expected, state: ChangeState, version: Option<i32>) -> Change {
        let Expected { to, penalty, difference, charge, total, .. } = expected;
        let attempt = (state == ChangeState::Completed && !charge.is_zero())
            .then(|| "att_00000007018f0000000070008000000000000001".parse().expect("an id"));
        Change {
            id: "chg_00000007018f0000000070008000000000000001".parse().expect("an id"),
            reservation_id: reserved("180.00").reservation,
            state,
            check_in: to.check_in.into(),
            check_out: to.check_out.into(),
            difference: (*difference).into(),
            penalty: (*penalty).into(),
            total: (*total).into(),
            charge: (*charge).into(),
            created_at: Hour::Evening.of(day("2031-07-01")).into(),
            expires_at: Hour::Evening.of(day("2031-07-01")).into(),
            version,
            attempt_id: attempt,
            next: Next::new(Action::None),
        }
    }

    #[test]
    fn a_price_is_right_only_with_every_amount_and_as_long_as_nothing_is_done() {
        let booked = reserved("180.00");
        let longer = expected(&booked, "2031-07-15", 3, "2031-07-01");
        let right = told(&longer, ChangeState::Priced, None);
        let judge = |told: &Change| longer.judge_priced(&booked, told).is_ok();
        assert!(judge(&right));
        for wrong in [
            Change { difference: euros("90.01").into(), ..right.clone() },
            Change { penalty: euros("0.01").into(), ..right.clone() },
            Change { charge: euros("0.00").into(), ..right.clone() },
            Change { total: euros("180.00").into(), ..right.clone() },
            Change { check_out: day("2031-07-17").into(), ..right.clone() },
            Change { state: ChangeState::Started, ..right.clone() },
            Change { version: Some(2), ..right },
        ] {
            assert!(!judge(&wrong), "{wrong:?}");
        }
    }

    #[test]
    fn a_change_is_carried_out_only_with_the_next_version_its_tag_and_its_payment() {
        let booked = reserved("180.00");
        let longer = expected(&booked, "2031-07-15", 3, "2031-07-01");
        let right = told(&longer, ChangeState::Completed, Some(2));
        let judge = |told: &Change, etag| longer.judge_carried_out(&booked, told, etag).is_ok();
        assert!(judge(&right, Some("\"2\"")) && judge(&right, None));
        assert!(!judge(&right, Some("\"1\"")) && !judge(&right, Some("")));
        assert!(!judge(&Change { version: Some(3), ..right.clone() }, None));
        assert!(!judge(&Change { state: ChangeState::Started, ..right.clone() }, None));
        assert!(!judge(&Change { attempt_id: None, ..right }, None));
    }

    #[test]
    fn sold_out_is_a_reason_only_for_a_night_that_the_change_adds() {
        let booked = reserved("180.00");
        let to = booked.wish.on(wish("2031-07-16", 2).dates());
        let judge = |room_type, night, available| {
            judge_sold_out(&booked, &to, (room_type, day(night), available)).is_ok()
        };
        assert!(judge("A", "2031-07-17", 0));
        assert!(!judge("A", "2031-07-17", 1) && !judge("B", "2031-07-17", 0));
        assert!(!judge("A", "2031-07-16", 0), "the stay has it already");
        assert!(!judge("A", "2031-07-15", 0), "the stay lets it go");
    }

    fn sleeps(name: &str) -> Reservation {
        let Reserved { reservation, wish, total, .. } = reserved("180.00");
        let text = serde_json::json!({
            "id": reservation, "state": "CONFIRMED", "version": 2, "hotel": "PT-CITY",
            "check_in": wish.check_in, "check_out": wish.check_out, "rooms": [], "charges": [], "schedule": [],
            "total": keyrack_api_types::money::Money::from(total), "refunds": [], "waiting_payments": [],
            "guest": { "name": name }, "created_at": "2031-07-01T09:00:00Z",
        });
        serde_json::from_value(text).expect("a reservation")
    }

    #[test]
    fn another_guest_sleeps_in_the_same_stay() {
        let booked = reserved("180.00");
        let judge = |told: &Reservation, etag| judge_guest(&booked, "Guest 1", told, etag).is_ok();
        let right = sleeps("Guest 1");
        assert!(judge(&right, Some("\"2\"")));
        assert!(!judge(&right, Some("\"1\"")) && !judge(&right, None));
        assert!(!judge(&sleeps("Guest 2"), Some("\"2\"")));
        assert!(!judge(&Reservation { version: 3, ..right.clone() }, Some("\"2\"")));
        assert!(!judge(&Reservation { total: euros("90.00").into(), ..right.clone() }, Some("\"2\"")));
        assert!(!judge(&Reservation { check_out: day("2031-07-18").into(), ..right }, Some("\"2\"")));
    }

    #[test]
    fn a_row_without_a_room_type_of_the_hotel_has_no_price() {
        let mut booked = reserved("180.00");
        booked.wish.room_type = "P".parse().expect("a code");
        let to = booked.wish.clone();
        let Row { created, .. } = row("2031-07-01", 1);
        assert_eq!(Expected::of(&hotels(), &booked, &to, Hour::Evening.of(created)), None);
    }
}
