//! What a guest was told in the end.

use std::borrow::Cow;

use chrono::NaiveDate;
use keyrack_domain::code::RoomTypeCode;

use crate::{reserved::Reserved, row::Unusable};

#[derive(Clone, Debug)]
pub(crate) enum Told {
    /// Quoted, held, paid and confirmed, at the price that was to be expected.
    Booked(Box<Reserved>),
    /// By the quote: 422, with the codes of all errors.
    Invalid(Vec<Cow<'static, str>>),
    /// By the hold: 409, with the night that did not fit.
    SoldOut { room_type: RoomTypeCode, night: NaiveDate, available: u32 },
    /// By the reader. The product was not asked.
    Unusable(Unusable),
}

/// Who refused.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum By {
    Reader,
    Quote,
    Hold,
}

impl Told {
    /// `None` for what was booked. The first code stands for all of them.
    pub(crate) fn refusal(&self) -> Option<(By, Cow<'static, str>)> {
        match self {
            Self::Booked(_) => None,
            Self::Invalid(codes) => {
                Some((By::Quote, codes.first().cloned().unwrap_or(Cow::Borrowed("INVALID"))))
            }
            Self::SoldOut { .. } => Some((By::Hold, Cow::Borrowed("ROOM_NIGHT_UNAVAILABLE"))),
            Self::Unusable(unusable) => Some((By::Reader, Cow::Borrowed(unusable.code()))),
        }
    }
}

impl By {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Reader => "the reader",
            Self::Quote => "the quote",
            Self::Hold => "the hold",
        }
    }
}
