//! How far it is: a bar on a terminal, a line now and then elsewhere.

use std::{
    sync::atomic::{AtomicUsize, Ordering},
    time::{Duration, Instant},
};

use chrono::NaiveDate;
use indicatif::{ProgressBar, ProgressStyle, style::TemplateError};

use crate::{summary::per_second, tally::Tally};

/// Where there is no terminal a line is written for each of so many parts.
const PARTS: usize = 10;

#[derive(Debug)]
pub(crate) struct Progress {
    bar: ProgressBar,
    events: usize,
    started: Instant,
    parts_told: AtomicUsize,
}

impl Progress {
    /// `events`: bookings, changes, cancellations and no-shows.
    pub(crate) fn new(events: usize) -> Result<Self, TemplateError> {
        let style =
            ProgressStyle::with_template("{wide_bar} {human_pos} of {human_len} events, {msg}, {eta} left")?;
        let bar = ProgressBar::new(u64::try_from(events).unwrap_or(u64::MAX)).with_style(style);
        bar.enable_steady_tick(Duration::from_secs(1));
        Ok(Self { bar, events, started: Instant::now(), parts_told: AtomicUsize::new(0) })
    }

    pub(crate) fn told(&self, day: NaiveDate, tally: &Tally) {
        let (done, refused, cancelled) = (tally.events(), tally.refused_in_all(), tally.endings.cancelled());
        let rate = per_second(done, self.started.elapsed());
        if !self.bar.is_hidden() {
            self.bar.set_position(u64::try_from(done).unwrap_or(u64::MAX));
            self.bar.set_message(format!("{day}, {refused} refused, {cancelled} cancelled, {rate} events/s"));
            return;
        }
        let part = done * PARTS / self.events.max(1);
        if self.parts_told.fetch_max(part, Ordering::Relaxed) < part {
            eprintln!(
                "{day}: {done} of {} events, {refused} refused, {cancelled} cancelled, {rate} events/s",
                self.events
            );
        }
    }

    pub(crate) fn end(&self) {
        self.bar.finish_and_clear();
    }
}
