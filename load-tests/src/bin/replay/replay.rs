//! The replay: day by day in the order in which the bookings were made, many guests at a time.

use std::{
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Instant,
};

use futures::{StreamExt, stream};
use secrecy::SecretString;

use crate::{
    api::Api,
    clock, guest,
    hotels::Hotels,
    progress::Progress,
    set_up::RateCard,
    tally::{Stopped, Tally},
    workload::{Day, Workload},
};

#[derive(Debug)]
pub(crate) struct Replay<'a> {
    pub(crate) api: &'a Api,
    pub(crate) operator: &'a SecretString,
    pub(crate) hotels: &'a Hotels,
    pub(crate) clients: usize,
    pub(crate) give_up_at: Instant,
    /// Somebody wants it to end.
    pub(crate) stop: &'a AtomicBool,
}

impl Replay<'_> {
    pub(crate) async fn run(&self, workload: &Workload, progress: &Progress) -> Tally {
        let tally = Mutex::new(Tally::default());
        let mut rates = RateCard::new(self.api, self.operator, self.hotels);
        let mut stopped = None;
        for day in &workload.days {
            if let Err(why) = self.replay_day(day, &mut rates, &tally, progress).await {
                stopped = Some(why);
                break;
            }
        }
        let tally = tally.into_inner().unwrap_or_else(PoisonError::into_inner);
        Tally { stopped, ..tally }
    }

    async fn replay_day(
        &self,
        day: &Day,
        rates: &mut RateCard<'_>,
        tally: &Mutex<Tally>,
        progress: &Progress,
    ) -> Result<(), Stopped> {
        self.may_go_on(tally)?;
        clock::move_to(self.api, self.operator, day.date).await?;
        rates.reach(day.date, day.last_night().unwrap_or(day.date)).await?;
        let bookings = stream::iter(&day.rows).map(|row| async move {
            self.may_go_on(tally)?;
            let outcome = guest::book(self.api, self.hotels, row).await;
            let mut tally = tally.lock().unwrap_or_else(PoisonError::into_inner);
            tally.note(row, outcome);
            progress.told(day.date, &tally);
            Ok(())
        });
        // Those under way when one stops are finished all the same: their outcome is to be counted.
        let ended: Vec<Result<(), Stopped>> = bookings.buffer_unordered(self.clients).collect().await;
        ended.into_iter().collect()
    }

    fn may_go_on(&self, tally: &Mutex<Tally>) -> Result<(), Stopped> {
        if self.stop.load(Ordering::Relaxed) {
            return Err(Stopped::Interrupted);
        }
        if Instant::now() > self.give_up_at {
            return Err(Stopped::OutOfTime);
        }
        tally.lock().unwrap_or_else(PoisonError::into_inner).is_bearable()
    }
}
