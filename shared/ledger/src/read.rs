//! Steps 1 and 4: reading what decisions need, without a lock and under it.

use keyrack_db::{DbError, PgConnection, Points};
use keyrack_domain::ids::ReservationId;
use keyrack_store::{
    attempts, changes, channel_bookings, clock, facts as reads, holds, nights,
    nights::NightKey,
    pms_batches::{self, BatchKey},
    pms_conflicts, provider_events, quotes, reservation_rooms,
    reservation_rooms::{RoomRow, SoldUnit},
    reservations,
    reservations::ReservationRow,
    scheduled_charges,
};

use crate::{Facts, HoldFacts, Needs, Operation, ReservationFacts};

/// A quote tells the nights, an attempt its hold, a hold its units: more rounds than that are a defect.
const ROUNDS: usize = 5;

/// Step 1. Everything the members need, as it stands now, without a lock.
pub(crate) async fn without_locks<O: Operation>(
    connection: &mut PgConnection,
    members: &[O],
    points: &Points,
    name: &'static str,
) -> Result<Facts, DbError> {
    let mut facts = Facts::at(clock::now(connection).await?);
    for _ in 0..ROUNDS {
        let mut wanted = Needs::default();
        for member in members {
            wanted.add(&member.needs(&facts));
        }
        let missing = wanted.beyond(&facts.asked);
        if missing.is_empty() {
            return Ok(facts);
        }
        read_missing(connection, &mut facts, &missing).await?;
        facts.asked.add(&missing);
        points.reach(name, "while_reading").await;
    }
    Ok(facts)
}

async fn read_missing(
    connection: &mut PgConnection,
    facts: &mut Facts,
    missing: &Needs,
) -> Result<(), DbError> {
    if !missing.channel_bookings.is_empty() {
        read_channel_bookings(connection, facts, &missing.channel_bookings).await?;
    }
    read_batches(connection, facts, &missing.pms_batches).await?;
    if !missing.quotes.is_empty() {
        let rows = quotes::read(connection, &missing.quotes).await?;
        facts.quotes.extend(rows.into_iter().map(|row| (row.id, row)));
    }
    if !missing.reservations.is_empty() {
        let rows = reservations::read(connection, &missing.reservations).await?;
        read_what_stands(connection, facts, rows).await?;
    }
    if !missing.changes.is_empty() {
        let rows = changes::read(connection, &missing.changes).await?;
        facts.changes.extend(rows.into_iter().map(|row| (row.id, row)));
    }
    if !missing.attempts.is_empty() {
        let rows = attempts::read(connection, &missing.attempts).await?;
        facts.attempts.extend(rows.into_iter().map(|row| (row.id, row)));
    }
    if !missing.holds.is_empty() {
        let rows = holds::read(connection, &missing.holds).await?;
        let with_units =
            |row: holds::HoldRow| (row.id, HoldFacts { row, units: Vec::new(), open_attempt: None });
        facts.holds.extend(rows.into_iter().map(with_units));
        for (id, unit) in holds::units(connection, &missing.holds).await? {
            if let Some(hold) = facts.holds.get_mut(&id) {
                hold.units.push(unit);
            }
        }
        read_open_attempts(connection, facts, &missing.holds).await?;
    }
    let known: Vec<NightKey> = missing.looked_at.union(&missing.nights).copied().collect();
    if !known.is_empty() {
        facts.nights.extend(nights::read(connection, &known).await?);
        read_conflicts(connection, facts, &known).await?;
    }
    read_soft(connection, facts, missing).await
}

async fn read_batches(
    connection: &mut PgConnection,
    facts: &mut Facts,
    wanted: &std::collections::BTreeSet<BatchKey>,
) -> Result<(), DbError> {
    for batch in wanted {
        facts.pms_batches.insert(*batch, pms_batches::read(connection, *batch).await?);
    }
    Ok(())
}

/// A night with a reported number is read with the conflict that waits there; of all others nothing is asked.
async fn read_conflicts(
    connection: &mut PgConnection,
    facts: &mut Facts,
    among: impl IntoIterator<Item = &NightKey>,
) -> Result<(), DbError> {
    let mut reported = Vec::new();
    for key in among {
        facts.conflicts.remove(key);
        if facts.nights.get(key).is_some_and(|night| night.reported.is_some()) {
            reported.push(*key);
        }
    }
    if !reported.is_empty() {
        let waiting = pms_conflicts::waiting(connection, &reported).await?;
        facts.conflicts.extend(waiting.into_iter().map(|row| (row.night, row)));
    }
    Ok(())
}

/// An identifier that nobody has used has no row.
async fn read_channel_bookings(
    connection: &mut PgConnection,
    facts: &mut Facts,
    wanted: &std::collections::BTreeSet<keyrack_domain::channel_booking::ChannelBookingKey>,
) -> Result<(), DbError> {
    facts.channel_bookings.retain(|key, _| !wanted.contains(key));
    let rows = channel_bookings::read(connection, wanted).await?;
    facts.channel_bookings.extend(rows.into_iter().map(|row| (row.key.clone(), row)));
    Ok(())
}

/// Rooms and units change only under their reservation's lock.
async fn read_what_stands(
    connection: &mut PgConnection,
    facts: &mut Facts,
    rows: Vec<ReservationRow>,
) -> Result<(), DbError> {
    let ids: Vec<ReservationId> = rows.iter().map(|row| row.id).collect();
    let fresh = |row: ReservationRow| ReservationFacts {
        row,
        rooms: Vec::new(),
        units: Vec::new(),
        given_back: Vec::new(),
        paid_by: Vec::new(),
        started_change: None,
        charges: Vec::new(),
    };
    facts.reservations.extend(rows.into_iter().map(|row| (row.id, fresh(row))));
    for (id, room) in reservation_rooms::read(connection, &ids).await? {
        if let Some(reservation) = facts.reservations.get_mut(&id) {
            reservation.rooms.push(room);
        }
    }
    for (id, attempt) in attempts::that_paid(connection, &ids).await? {
        if let Some(reservation) = facts.reservations.get_mut(&id) {
            reservation.paid_by.push(attempt);
        }
    }
    for (id, change) in changes::started(connection, &ids).await? {
        if let Some(reservation) = facts.reservations.get_mut(&id) {
            reservation.started_change = Some(change);
        }
    }
    for charge in scheduled_charges::read(connection, &ids).await? {
        if let Some(reservation) = facts.reservations.get_mut(&charge.reservation) {
            reservation.charges.push(charge);
        }
    }
    for (id, SoldUnit { unit, is_given_back }) in reservation_rooms::units(connection, &ids).await? {
        let Some(reservation) = facts.reservations.get_mut(&id) else { continue };
        let stands = |room: &RoomRow| room.room == unit.room && room.cancelled.is_none();
        if !is_given_back {
            reservation.units.push(unit);
        } else if reservation.rooms.iter().any(stands) {
            reservation.given_back.push(unit);
        }
    }
    Ok(())
}

/// What is never locked by a row lock of its own: restrictions, what a principal holds, and recorded notices,
/// which are written under the lock of their attempt.
async fn read_soft(connection: &mut PgConnection, facts: &mut Facts, wanted: &Needs) -> Result<(), DbError> {
    if !wanted.restrictions.is_empty() {
        for (hotel, rows) in &mut facts.restrictions {
            let hotel = *hotel;
            rows.retain(|(room_type, _, date), _| {
                !wanted.restrictions.contains(&NightKey { hotel, room_type: *room_type, date: *date })
            });
        }
        for (key, scope, rule) in reads::restrictions(connection, &wanted.restrictions).await? {
            facts.restrictions.entry(key.hotel).or_default().insert((key.room_type, scope, key.date), rule);
        }
    }
    if !wanted.notices.is_empty() {
        facts.notices.extend(provider_events::recorded(connection, &wanted.notices).await?);
    }
    if !wanted.caps.is_empty() {
        for cap in &wanted.caps {
            facts.own_holds.insert(*cap, Vec::new());
        }
        for hold in reads::own_holds(connection, &wanted.caps).await? {
            facts.own_holds.entry((hold.id.hotel(), hold.principal)).or_default().push(hold);
        }
    }
    Ok(())
}

async fn read_open_attempts(
    connection: &mut PgConnection,
    facts: &mut Facts,
    of: &std::collections::BTreeSet<keyrack_domain::ids::HoldId>,
) -> Result<(), DbError> {
    for id in of {
        if let Some(hold) = facts.holds.get_mut(id) {
            hold.open_attempt = None;
        }
    }
    for (id, attempt) in holds::open_attempts(connection, of).await? {
        if let Some(hold) = facts.holds.get_mut(&id) {
            hold.open_attempt = Some(attempt);
        }
    }
    Ok(())
}

/// Step 4. Locks the aggregates in order, the waiting locks first, then those of members that yield,
/// passing over what somebody else has; then reads again what the decisions rest on. Returns the
/// yielding holds that were passed over.
pub(crate) async fn lock_aggregates(
    connection: &mut PgConnection,
    facts: &mut Facts,
    waiting: &Needs,
    yielding: &Needs,
) -> Result<std::collections::BTreeSet<keyrack_domain::ids::HoldId>, DbError> {
    let mut passed_over = &yielding.holds - &waiting.holds;
    let candidates = passed_over.clone();
    let mut locked = Vec::new();
    // The identifiers' locks are had: from here on nobody else writes these.
    if !waiting.channel_bookings.is_empty() {
        read_channel_bookings(connection, facts, &waiting.channel_bookings).await?;
    }
    read_batches(connection, facts, &waiting.pms_batches).await?;
    // A batch before this one may have been committed since the first look: a night that stood at its number then,
    // and is not locked for that, need not stand there now.
    if !waiting.pms_batches.is_empty() && !waiting.looked_at.is_empty() {
        let looked_at: Vec<NightKey> = waiting.looked_at.iter().copied().collect();
        facts.nights.extend(nights::read(connection, &looked_at).await?);
        read_conflicts(connection, facts, &looked_at).await?;
    }
    if !waiting.reservations.is_empty() {
        let rows = reservations::lock(connection, &waiting.reservations).await?;
        read_what_stands(connection, facts, rows).await?;
    }
    if !waiting.changes.is_empty() {
        for row in changes::lock(connection, &waiting.changes).await? {
            facts.changes.insert(row.id, row);
        }
    }
    if !waiting.holds.is_empty() {
        locked = holds::lock(connection, &waiting.holds).await?;
    }
    if !waiting.attempts.is_empty() {
        for row in attempts::lock(connection, &waiting.attempts).await? {
            facts.attempts.insert(row.id, row);
        }
    }
    if !candidates.is_empty() {
        locked.extend(holds::lock_free(connection, &candidates).await?);
    }
    for row in locked {
        passed_over.remove(&row.id);
        if let Some(hold) = facts.holds.get_mut(&row.id) {
            hold.row = row;
        }
    }
    let held = &waiting.holds | &yielding.holds;
    if !held.is_empty() {
        read_open_attempts(connection, facts, &held).await?;
    }
    read_soft(connection, facts, waiting).await?;
    facts.now = clock::now(connection).await?;
    Ok(passed_over)
}

/// Step 5. Locks the nights in order and reads them as they are then.
pub(crate) async fn lock_nights(
    connection: &mut PgConnection,
    facts: &mut Facts,
    wanted: &Needs,
) -> Result<(), DbError> {
    if wanted.nights.is_empty() {
        return Ok(());
    }
    let locked = nights::lock(connection, &wanted.nights).await?;
    // A night that vanished between the read and the lock is not for sale.
    facts.nights.retain(|key, _| !wanted.nights.contains(key));
    facts.nights.extend(locked);
    read_conflicts(connection, facts, &wanted.nights).await
}
