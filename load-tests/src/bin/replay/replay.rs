//! The replay: day by day in the order in which the bookings were made and ended, many guests at a time.

use std::{
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Instant,
};

use futures::{StreamExt, stream};
use secrecy::SecretString;

use crate::{
    api::Api,
    clock::{self, Hour},
    closing::Closing,
    ending::Ending,
    guest,
    hotels::Hotels,
    progress::Progress,
    reserved::Reserved,
    row::{Row, Wish},
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

/// A booking that ends today.
type Due<'w> = (Ending, &'w Row, &'w Wish, Reserved);

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
        let mut tally = tally.into_inner().unwrap_or_else(PoisonError::into_inner);
        tally.stopped = stopped;
        tally
    }

    async fn replay_day(
        &self,
        day: &Day,
        rates: &mut RateCard<'_>,
        tally: &Mutex<Tally>,
        progress: &Progress,
    ) -> Result<(), Stopped> {
        self.may_go_on(tally)?;
        if !day.rows.is_empty() {
            self.make_bookings(day, rates, tally, progress).await?;
        }
        self.end_bookings(day, tally, progress).await
    }

    async fn make_bookings(
        &self,
        day: &Day,
        rates: &mut RateCard<'_>,
        tally: &Mutex<Tally>,
        progress: &Progress,
    ) -> Result<(), Stopped> {
        clock::move_to(self.api, self.operator, Hour::Morning.of(day.date)).await?;
        rates.reach(day.date, day.last_night().unwrap_or(day.date)).await?;
        let bookings = stream::iter(&day.rows).map(|row| async move {
            self.may_go_on(tally)?;
            let outcome = guest::book(self.api, self.hotels, row).await;
            let mut tally = lock(tally);
            tally.note(row, outcome);
            progress.told(day.date, &tally);
            Ok(())
        });
        // Those under way when one stops are finished all the same: their outcome is to be counted.
        let ended: Vec<Result<(), Stopped>> = bookings.buffer_unordered(self.clients).collect().await;
        lock(tally).check_sold_out(self.hotels);
        ended.into_iter().collect()
    }

    /// Cancellations and no-shows, all mixed. The clock stays where nobody has anything to end.
    async fn end_bookings(
        &self,
        day: &Day,
        tally: &Mutex<Tally>,
        progress: &Progress,
    ) -> Result<(), Stopped> {
        let due = due(day, &mut lock(tally));
        if !due.is_empty() {
            let at = Hour::Evening.of(day.date);
            clock::move_to(self.api, self.operator, at).await?;
            let closings = stream::iter(&due).map(|(ending, row, wish, booked)| async move {
                self.may_go_on(tally)?;
                let (api, operator, number) = (self.api, self.operator, row.number);
                let outcome = Closing { api, operator, number, wish, booked, at }.run(*ending).await;
                let mut tally = lock(tally);
                tally.note_closed(row, *ending, outcome);
                progress.told(day.date, &tally);
                Ok(())
            });
            let ended: Vec<Result<(), Stopped>> = closings.buffer_unordered(self.clients).collect().await;
            ended.into_iter().collect::<Result<(), Stopped>>()?;
        }
        progress.told(day.date, &lock(tally));
        Ok(())
    }

    fn may_go_on(&self, tally: &Mutex<Tally>) -> Result<(), Stopped> {
        if self.stop.load(Ordering::Relaxed) {
            return Err(Stopped::Interrupted);
        }
        if Instant::now() > self.give_up_at {
            return Err(Stopped::OutOfTime);
        }
        lock(tally).is_bearable()
    }
}

fn due<'w>(day: &'w Day, tally: &mut Tally) -> Vec<Due<'w>> {
    let due = day.endings.iter().filter_map(|(ending, row)| {
        let reserved = tally.take_ending(*ending, row)?;
        Some((*ending, row, row.wish.as_ref().ok()?, reserved))
    });
    due.collect()
}

fn lock(tally: &Mutex<Tally>) -> MutexGuard<'_, Tally> {
    tally.lock().unwrap_or_else(PoisonError::into_inner)
}
