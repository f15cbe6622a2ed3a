//! Keeping inventory open over the horizon: every hotel's new last night, as its own midnight passes.

use keyrack_db::{Database, DbError, PgConnection};
use keyrack_domain::{clock::Moment, horizon::Horizon, ids::HotelId};
use keyrack_store::{clock, horizon as nights, hotels, hotels::OpenedUntil, outbox};

use crate::{Fault, availability};

/// Hotels looked at in one read.
const PAGE: u16 = 500;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Rolled {
    pub hotels: usize,
    /// Room-nights opened.
    pub nights: usize,
}

/// One round over the hotels of a shard. Several at once are normal: each hotel is rolled by one of them.
pub async fn run_once(shard: &Database, horizon: Horizon) -> Result<Rolled, Fault> {
    let mut rolled = Rolled::default();
    let mut after = HotelId(0);
    loop {
        let mut connection = shard.connection().await?;
        let now = clock::now(&mut connection).await?;
        let page = hotels::opened_until(&mut connection, after, i64::from(PAGE)).await?;
        drop(connection);
        let Some(last) = page.last() else { return Ok(rolled) };
        after = last.hotel;
        for hotel in page.into_iter().filter(|hotel| is_due(hotel, horizon, now)) {
            let opened = roll(shard, horizon, hotel.hotel).await?;
            rolled.hotels += usize::from(opened > 0);
            rolled.nights += opened;
        }
    }
}

fn is_due(hotel: &OpenedUntil, horizon: Horizon, now: Moment) -> bool {
    let until = horizon.opened_until(now.date_in(hotel.zone));
    hotel.last_night.is_none_or(|last| last < until)
}

async fn roll(shard: &Database, horizon: Horizon, hotel: HotelId) -> Result<usize, Fault> {
    let opened: Result<usize, DbError> = shard
        .transaction("roll_horizon", move |connection| {
            Box::pin(async move { open(connection, horizon, hotel).await })
        })
        .await;
    Ok(opened?)
}

async fn open(connection: &mut PgConnection, horizon: Horizon, hotel: HotelId) -> Result<usize, DbError> {
    let Some(locked) = hotels::lock_opened_until(connection, hotel).await? else { return Ok(0) };
    let now = clock::now(connection).await?;
    // Another worker may have rolled it between the look and the lock.
    if !is_due(&locked, horizon, now) {
        return Ok(0);
    }
    let today = now.date_in(locked.zone);
    let until = horizon.opened_until(today);
    // From where the last round ended, however long ago: no gap.
    let first = locked.last_night.and_then(|last| last.succ_opt()).unwrap_or(today);
    let opened = nights::open_nights(connection, hotel, first, until).await?;
    hotels::set_opened_until(connection, hotel, until).await?;
    outbox::append(connection, &availability::told(hotel, &opened)).await?;
    Ok(opened.len())
}
