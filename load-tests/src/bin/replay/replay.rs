//! The replay: day by day in the order in which the bookings were made, changed and ended, many guests at a time.

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
    changing::Changing,
    clock::{self, Hour},
    closing::Closing,
    course::Change,
    ending::Ending,
    guest,
    hotels::Hotels,
    progress::Progress,
    reserved::Reserved,
    row::Row,
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
type Due<'w> = (Ending, &'w Row, Reserved);

/// A booking that is changed today, and how.
type Changeable<'w> = (&'w [Change], &'w Row, Reserved);

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
        let is_evening = self.change_bookings(day, tally, progress).await?;
        self.end_bookings(day, is_evening, tally, progress).await
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

    /// In the evening, too, and before what ends: many a booking is changed and cancelled on one day. Whether it
    /// has become evening: the clock goes on from there, and is never moved back.
    async fn change_bookings(
        &self,
        day: &Day,
        tally: &Mutex<Tally>,
        progress: &Progress,
    ) -> Result<bool, Stopped> {
        let changeable = changeable(day, &mut lock(tally));
        if changeable.is_empty() {
            return Ok(false);
        }
        clock::move_to(self.api, self.operator, Hour::Evening.of(day.date)).await?;
        let rows = stream::iter(changeable).map(|(changes, row, booked)| async move {
            let ended = self.change_booking((changes, row, booked), day, tally).await;
            progress.told(day.date, &lock(tally));
            ended
        });
        let ended: Vec<Result<(), Stopped>> = rows.buffer_unordered(self.clients).collect().await;
        lock(tally).end_changes(self.hotels);
        ended.into_iter().collect::<Result<(), Stopped>>()?;
        Ok(true)
    }

    /// One after the other: each needs the version that the one before has made.
    async fn change_booking(
        &self,
        (changes, row, mut booked): Changeable<'_>,
        day: &Day,
        tally: &Mutex<Tally>,
    ) -> Result<(), Stopped> {
        let (api, hotels, number, at) = (self.api, self.hotels, row.number, Hour::Evening.of(day.date));
        for (done, change) in changes.iter().enumerate() {
            self.may_go_on(tally)?;
            let outcome = Changing { api, hotels, number, booked: &booked, at, change: *change }.run().await;
            let mut tally = lock(tally);
            let Some(standing) = tally.note_changed(row, booked, outcome) else {
                tally.changes.unbooked += changes.len() - done - 1;
                return Ok(());
            };
            booked = standing;
        }
        lock(tally).put_back(row, booked);
        Ok(())
    }

    /// Cancellations and no-shows, all mixed. The clock stays where nobody has anything to end.
    async fn end_bookings(
        &self,
        day: &Day,
        is_evening: bool,
        tally: &Mutex<Tally>,
        progress: &Progress,
    ) -> Result<(), Stopped> {
        let due = due(day, &mut lock(tally));
        if !due.is_empty() {
            let at = Hour::Evening.of(day.date);
            if !is_evening {
                clock::move_to(self.api, self.operator, at).await?;
            }
            let closings = stream::iter(&due).map(|(ending, row, booked)| async move {
                self.may_go_on(tally)?;
                let (api, operator, number) = (self.api, self.operator, row.number);
                let outcome = Closing { api, operator, number, booked, at }.run(*ending).await;
                let mut tally = lock(tally);
                tally.note_closed(row, booked, *ending, outcome);
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

fn changeable<'w>(day: &'w Day, tally: &mut Tally) -> Vec<Changeable<'w>> {
    let taken = day.changed.iter().filter_map(|(changes, row)| {
        let booked = tally.take_changing(changes.len(), row)?;
        Some((changes.as_slice(), row, booked))
    });
    taken.collect()
}

fn due<'w>(day: &'w Day, tally: &mut Tally) -> Vec<Due<'w>> {
    let due = day.endings.iter().filter_map(|(ending, row)| {
        let reserved = tally.take_ending(*ending, row)?;
        Some((*ending, row, reserved))
    });
    due.collect()
}

fn lock(tally: &Mutex<Tally>) -> MutexGuard<'_, Tally> {
    tally.lock().unwrap_or_else(PoisonError::into_inner)
}
