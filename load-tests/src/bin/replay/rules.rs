//! What the product must answer, told from the row alone. Every answer is judged by it: a booking
//! that should have been refused is as wrong as a refusal without a reason.

use chrono::{Days, NaiveDate};

use crate::{row::Wish, told::Told};

/// Of every room. The table does not tell how many its rooms take; five fit for all of its stays but a
/// few groups that were entered as one room.
pub(crate) const MAX_ADULTS: u16 = 4;
pub(crate) const MAX_CHILDREN: u16 = 3;
pub(crate) const MAX_GUESTS: u16 = 5;

/// As the API promises.
const MAX_NIGHTS: i64 = 90;
pub(crate) const HORIZON_DAYS: u64 = 750;

/// The codes of everything that forbids this stay on the day of its booking; empty where it can be sold.
pub(crate) fn broken(wish: &Wish, today: NaiveDate) -> Vec<&'static str> {
    let nights = (wish.check_out - wish.check_in).num_days();
    let adults_fit = (1..=MAX_ADULTS).contains(&wish.adults);
    let children = wish.children_ages.len();
    let all_fit = children <= usize::from(MAX_CHILDREN)
        && usize::from(wish.adults) + children <= usize::from(MAX_GUESTS);
    let horizon = today.checked_add_days(Days::new(HORIZON_DAYS)).unwrap_or(NaiveDate::MAX);
    let rules = [
        ("INVALID_STAY", (1..=MAX_NIGHTS).contains(&nights)),
        ("OCCUPANCY", adults_fit && all_fit),
        ("OUT_OF_HORIZON", wish.last_night().is_none_or(|last| last <= horizon)),
    ];
    rules.into_iter().filter(|(_, kept)| !kept).map(|(code, _)| code).collect()
}

/// Whether the answer can be right. Whether a night was really sold out is seen when the day's bookings are made.
pub(crate) fn judge(wish: &Wish, today: NaiveDate, told: &Told) -> Result<(), String> {
    let broken = broken(wish, today);
    match told {
        Told::Booked(_) if broken.is_empty() => Ok(()),
        Told::Booked(_) => Err(format!("booked, although it must be refused: {}", broken.join(", "))),
        Told::Invalid(codes) => {
            let without_cause: Vec<_> =
                codes.iter().filter(|code| !broken.contains(&code.as_ref())).collect();
            if without_cause.is_empty() && !codes.is_empty() {
                Ok(())
            } else {
                Err(format!("refused as {codes:?}, but what is wrong with it is {broken:?}"))
            }
        }
        Told::SoldOut { .. } if !broken.is_empty() => {
            Err(format!("sold out, although it must be refused as {}", broken.join(", ")))
        }
        Told::SoldOut { room_type, night, available } => {
            let names_the_night =
                *room_type == wish.room_type && wish.nights().any(|wanted| wanted == *night);
            match (names_the_night, available) {
                (true, 0) => Ok(()),
                (true, left) => Err(format!("sold out on {night} with {left} available")),
                (false, _) => Err(format!("sold out: {room_type} on {night}, which nobody wanted")),
            }
        }
        Told::Unusable(_) => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use super::*;
    use crate::sample::{day, reserved, wish};

    const TODAY: &str = "2031-05-01";

    fn codes(wish: &Wish) -> Vec<&'static str> {
        broken(wish, day(TODAY))
    }

    #[test]
    fn what_cannot_be_sold_is_known_beforehand() {
        assert_eq!(codes(&wish(TODAY, 90)), [""; 0]);
        assert_eq!(codes(&wish(TODAY, 0)), ["INVALID_STAY"]);
        assert_eq!(codes(&wish(TODAY, 91)), ["INVALID_STAY"]);
        assert_eq!(codes(&Wish { adults: 0, ..wish(TODAY, 0) }), ["INVALID_STAY", "OCCUPANCY"]);
        assert_eq!(codes(&Wish { adults: 5, ..wish(TODAY, 1) }), ["OCCUPANCY"]);
        assert_eq!(codes(&Wish { children_ages: vec![8; 4], ..wish(TODAY, 1) }), ["OCCUPANCY"]);
        assert_eq!(codes(&Wish { adults: 3, children_ages: vec![1; 3], ..wish(TODAY, 1) }), ["OCCUPANCY"]);
        let last = (day(TODAY) + Days::new(HORIZON_DAYS)).to_string();
        assert_eq!(codes(&wish(&last, 1)), [""; 0]);
        assert_eq!(codes(&wish(&last, 2)), ["OUT_OF_HORIZON"]);
    }

    #[test]
    fn an_answer_is_right_only_for_its_reason() {
        let judged = |wish: &Wish, told: &Told| judge(wish, day(TODAY), told).is_ok();
        let (fits, without_night) = (wish(TODAY, 2), wish(TODAY, 0));
        let booked = || Told::Booked(Box::new(reserved("180.00")));
        let invalid = |code: &'static str| Told::Invalid(vec![Cow::Borrowed(code)]);
        let sold_out = |night: &str, available| Told::SoldOut {
            room_type: "A".parse().expect("a code"),
            night: day(night),
            available,
        };
        assert!(judged(&fits, &booked()));
        assert!(judged(&fits, &sold_out("2031-05-02", 0)));
        assert!(judged(&without_night, &invalid("INVALID_STAY")));
        for (wish, told) in [
            (&without_night, booked()),
            (&without_night, invalid("OCCUPANCY")),
            (&without_night, sold_out(TODAY, 0)),
            (&fits, invalid("INVALID_STAY")),
            (&fits, Told::Invalid(Vec::new())),
            (&fits, sold_out("2031-05-02", 1)),
            (&fits, sold_out("2031-05-03", 0)),
        ] {
            assert!(!judged(wish, &told), "{wish:?} {told:?}");
        }
    }
}
