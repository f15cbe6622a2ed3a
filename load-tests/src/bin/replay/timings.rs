//! How long calls took, and how many were sent.

use std::{
    sync::{Mutex, PoisonError},
    time::Duration,
};

use hdrhistogram::{CreationError, Histogram};

/// Longer ones count as so long.
const LONGEST: Duration = Duration::from_secs(600);

/// What is measured by itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Step {
    /// Hotels, rates and the look at the counters and the provider's book.
    SetUp,
    Clock,
    Session,
    Quote,
    Hold,
    Booking,
    /// How a booking or a change stands whose outcome was not known at first.
    LookUp,
    PriceChange,
    ConfirmChange,
    ChangeGuest,
    Preview,
    Cancel,
    NoShow,
}

impl Step {
    pub(crate) const ALL: [Self; 13] = [
        Self::Session,
        Self::Quote,
        Self::Hold,
        Self::Booking,
        Self::LookUp,
        Self::PriceChange,
        Self::ConfirmChange,
        Self::ChangeGuest,
        Self::Preview,
        Self::Cancel,
        Self::NoShow,
        Self::Clock,
        Self::SetUp,
    ];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::SetUp => "set-up, rates, counters",
            Self::Clock => "moving the clock",
            Self::Session => "guest session",
            Self::Quote => "quote",
            Self::Hold => "hold (T1)",
            Self::Booking => "booking (T2, pay, T3)",
            Self::LookUp => "looking up an outcome",
            Self::PriceChange => "pricing a change",
            Self::ConfirmChange => "confirming a change",
            Self::ChangeGuest => "changing the guest",
            Self::Preview => "cancellation preview",
            Self::Cancel => "cancellation",
            Self::NoShow => "marking a no-show",
        }
    }
}

#[derive(Debug)]
pub(crate) struct Timings(Mutex<Vec<(Step, Histogram<u64>)>>);

/// Three digits are exact.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Figures {
    pub(crate) step: Step,
    pub(crate) calls: u64,
    pub(crate) p50: Duration,
    pub(crate) p99: Duration,
    pub(crate) longest: Duration,
}

impl Timings {
    pub(crate) fn new() -> Result<Self, CreationError> {
        let histogram = |step| Ok((step, Histogram::new_with_bounds(1, micros(LONGEST), 3)?));
        Ok(Self(Mutex::new(Step::ALL.into_iter().map(histogram).collect::<Result<_, _>>()?)))
    }

    pub(crate) fn record(&self, step: Step, took: Duration) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, histogram)) = all.iter_mut().find(|(other, _)| *other == step) {
            histogram.saturating_record(micros(took));
        }
    }

    /// Of the steps that occurred.
    pub(crate) fn figures(&self) -> Vec<Figures> {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let figures = |(step, histogram): &(Step, Histogram<u64>)| Figures {
            step: *step,
            calls: histogram.len(),
            p50: Duration::from_micros(histogram.value_at_quantile(0.5)),
            p99: Duration::from_micros(histogram.value_at_quantile(0.99)),
            longest: Duration::from_micros(histogram.max()),
        };
        all.iter().filter(|(_, histogram)| !histogram.is_empty()).map(figures).collect()
    }
}

fn micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}
