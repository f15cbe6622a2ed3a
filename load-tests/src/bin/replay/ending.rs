//! How a row ended that did not become a stay.

use chrono::NaiveDate;

use crate::row::{Line, NotABooking, wrong};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Ending {
    /// By the guest, on this day.
    Cancelled(NaiveDate),
    /// The guest did not come. Marked on this day, the one after the arrival: until midnight a guest may
    /// still come.
    NoShow(NaiveDate),
}

impl Ending {
    pub(crate) fn read(
        line: &Line,
        created: NaiveDate,
        check_in: NaiveDate,
    ) -> Result<Option<Self>, NotABooking> {
        let ending = match line.reservation_status.as_str() {
            "Check-Out" => None,
            "Canceled" => Some(Self::Cancelled(cancelled_on(line, created, check_in)?)),
            "No-Show" => {
                Some(Self::NoShow(check_in.succ_opt().ok_or_else(|| wrong("arrival_date", &check_in))?))
            }
            other => return Err(wrong("reservation_status", other)),
        };
        if line.is_canceled == u8::from(ending.is_some()) {
            Ok(ending)
        } else {
            Err(wrong("is_canceled", &line.is_canceled))
        }
    }

    pub(crate) const fn date(self) -> NaiveDate {
        match self {
            Self::Cancelled(date) | Self::NoShow(date) => date,
        }
    }

    /// Whether this night can be sold again afterwards: of a no-show those that have passed cannot.
    pub(crate) fn frees(self, night: NaiveDate) -> bool {
        match self {
            Self::Cancelled(_) => true,
            Self::NoShow(marked) => night >= marked,
        }
    }
}

/// From the day of booking to that of the arrival.
fn cancelled_on(line: &Line, created: NaiveDate, check_in: NaiveDate) -> Result<NaiveDate, NotABooking> {
    let date = line.reservation_status_date.parse().ok();
    let possible = date.filter(|date| (created..=check_in).contains(date));
    possible.ok_or_else(|| wrong("reservation_status_date", &line.reservation_status_date))
}
