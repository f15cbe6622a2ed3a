//! One round of a batch: the steps in order, in one transaction.

use std::collections::{BTreeSet, HashSet};

use keyrack_db::{DbError, PgConnection, Points};
use keyrack_domain::{channel_booking::ChannelBookingKey, ids::HoldId};
use keyrack_store::{keys::NewKey, nights::NightKey, pms_batches::BatchKey};

use crate::{
    Changes, Decision, Facts, KeyHome, Needs, Operation, Outcome, Settings,
    claim::{cap_lock, connector_lock, identifier_lock, key_lock, look_up, try_locks},
    operation::{Found, Grounds},
    read,
    write::Sheet,
};

/// Where a member stands after a round.
#[derive(Clone, Debug)]
pub(crate) enum Seat<A> {
    Done(Outcome<A>),
    /// Starts again at step 1.
    Again(After),
}

/// What a member waits for before it starts again.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum After {
    Nothing,
    /// The end of another call with its key.
    Key,
    /// The end of another call about the same booking of a channel, or of the same hotel system.
    Identifier,
    /// The end of another call of the same principal at the hotel.
    Cap,
    /// The members before it, which fill the batch.
    Turn,
}

/// Nights that the members of one batch may need together.
const MAX_NIGHTS: usize = 500;

pub(crate) struct Round<'r, O: Operation> {
    members: &'r [O],
    settings: Settings,
    points: &'r Points,
    name: &'static str,
    facts: Facts,
    seats: Vec<Option<Seat<O::Answer>>>,
}

impl<'r, O: Operation> Round<'r, O> {
    pub(crate) async fn run(
        connection: &mut PgConnection,
        members: &'r [O],
        settings: Settings,
        points: &'r Points,
    ) -> Result<Vec<Seat<O::Answer>>, DbError> {
        let name = name_of(members);
        let facts = read::without_locks(connection, members, points, name).await?;
        points.reach(name, "after_read").await;
        let mut round = Self { members, settings, points, name, facts, seats: vec![None; members.len()] };
        round.turn_away_strangers();
        round.answer_repeats(connection).await?;
        round.admit_one_per_key();
        round.admit_one_per_identifier();
        round.refuse_the_hopeless();
        round.bound_nights();
        round.claim_keys(connection).await?;
        points.reach(name, "after_claim").await;
        round.lock_rows(connection).await?;
        points.reach(name, "after_rows_locked").await;
        round.lock_nights(connection).await?;
        points.reach(name, "after_nights_locked").await;
        let sheet = round.fold();
        round.write(connection, sheet).await?;
        // Safety of the default: the fold seats every member that was still open.
        Ok(round.seats.into_iter().map(|seat| seat.unwrap_or(Seat::Again(After::Nothing))).collect())
    }

    /// Members without an answer yet, in order of arrival.
    fn open(&self) -> Vec<usize> {
        (0..self.members.len()).filter(|place| self.seats[*place].is_none()).collect()
    }

    /// What belongs to somebody else is not there, whatever stands under the key.
    fn turn_away_strangers(&mut self) {
        for place in self.open() {
            if let Some(answer) = self.members[place].unseen(&self.facts) {
                self.seats[place] = Some(Seat::Done(Outcome::Answered(answer)));
            }
        }
    }

    /// Step 1, its last read: who repeats an earlier call drops out with that call's answer.
    async fn answer_repeats(&mut self, connection: &mut PgConnection) -> Result<(), DbError> {
        for (place, found) in self.records(connection).await? {
            let outcome = self.repeat(place, &found)?;
            self.seats[place] = Some(Seat::Done(outcome));
        }
        Ok(())
    }

    /// Open members whose key is recorded.
    async fn records(&self, connection: &mut PgConnection) -> Result<Vec<(usize, Found)>, DbError> {
        let (places, claims): (Vec<usize>, Vec<_>) = self
            .open()
            .into_iter()
            .filter_map(|place| self.members[place].key().map(|claim| (place, claim)))
            .unzip();
        let found = look_up(connection, &claims).await?;
        Ok(places.into_iter().zip(found).filter_map(|(place, found)| Some((place, found?))).collect())
    }

    fn repeat(&self, place: usize, found: &Found) -> Result<Outcome<O::Answer>, DbError> {
        let member = &self.members[place];
        let Some(claim) = member.key() else { return Ok(Outcome::KeyInProgress) };
        if found.try_id() == claim.try_id {
            return Ok(Outcome::Answered(member.replay(found)?));
        }
        if !found.is_of(claim.fingerprint) {
            return Ok(Outcome::KeyReused);
        }
        if found.is_older_than(self.settings.replay_window, self.facts.now) {
            return Ok(Outcome::KeyExpired);
        }
        Ok(Outcome::Replayed(member.replay(found)?))
    }

    /// Of members that share a key only the first enters; the others wait for its answer, since they may
    /// not even be refused before it.
    fn admit_one_per_key(&mut self) {
        let mut entered = BTreeSet::new();
        for place in self.open() {
            if let Some(claim) = self.members[place].key()
                && !entered.insert(&claim.scope)
            {
                self.seats[place] = Some(Seat::Again(After::Key));
            }
        }
    }

    /// The same for the identifiers of channels' bookings.
    fn admit_one_per_identifier(&mut self) {
        let mut entered: BTreeSet<ChannelBookingKey> = BTreeSet::new();
        for place in self.open() {
            let wanted = self.members[place].needs(&self.facts).channel_bookings;
            if wanted.is_disjoint(&entered) {
                entered.extend(wanted);
            } else {
                self.seats[place] = Some(Seat::Again(After::Identifier));
            }
        }
    }

    /// Step 2. What cannot succeed is refused on the plain read and leaves nothing behind, where its grounds
    /// allow that; for want of units only where no member gives back to that night.
    fn refuse_the_hopeless(&mut self) {
        let decisions: Vec<(usize, Decision<O::Answer>)> =
            self.open().into_iter().map(|place| (place, self.members[place].decide(&self.facts))).collect();
        let given_back: BTreeSet<NightKey> = decisions
            .iter()
            .filter_map(|(_, decision)| match decision {
                Decision::Commit(changes, _) => Some(changes.gives_back()),
                Decision::Refuse { .. } => None,
            })
            .flatten()
            .collect();
        for (place, decision) in decisions {
            let Decision::Refuse { answer, grounds } = decision else { continue };
            let is_final = match grounds {
                Grounds::Row => true,
                Grounds::Units(nights) => !nights.iter().any(|night| given_back.contains(night)),
                Grounds::Locks => false,
            };
            if is_final {
                self.seats[place] = Some(Seat::Done(Outcome::Answered(answer)));
            }
        }
    }

    /// The batch locks a bounded number of nights; from the first member that goes past it, all wait for
    /// the next round, so that none overtakes.
    fn bound_nights(&mut self) {
        let mut wanted = BTreeSet::new();
        let mut full = false;
        for (turn, place) in self.open().into_iter().enumerate() {
            wanted.extend(self.members[place].needs(&self.facts).nights);
            full |= turn > 0 && wanted.len() > MAX_NIGHTS;
            if full {
                self.seats[place] = Some(Seat::Again(After::Turn));
            }
        }
    }

    /// Step 3. Whoever does not get all its locks leaves and waits outside; the next statement looks the
    /// keys up again, and who is found starts again at step 1.
    async fn claim_keys(&mut self, connection: &mut PgConnection) -> Result<(), DbError> {
        let locks: Vec<(usize, Vec<(i64, After)>)> =
            self.open().into_iter().map(|place| (place, self.locks_of(place))).collect();
        let wanted: Vec<i64> = locks.iter().flat_map(|(_, of)| of.iter().map(|(lock, _)| *lock)).collect();
        if wanted.is_empty() {
            return Ok(());
        }
        let had: HashSet<i64> = try_locks(connection, wanted).await?;
        for (place, locks) in locks {
            if let Some((_, after)) = locks.into_iter().find(|(lock, _)| !had.contains(lock)) {
                self.seats[place] = Some(Seat::Again(after));
            }
        }
        for (place, _) in self.records(connection).await? {
            self.seats[place] = Some(Seat::Again(After::Nothing));
        }
        Ok(())
    }

    /// Each with what its owner is waited for as; the key first, since who waits for it may be told so.
    fn locks_of(&self, place: usize) -> Vec<(i64, After)> {
        let member = &self.members[place];
        let needs = member.needs(&self.facts);
        let key = member.key().map(|claim| (key_lock(&claim.scope), After::Key));
        let bookings = needs.channel_bookings.iter().map(|key| (identifier_lock(key), After::Identifier));
        let cap = |(hotel, principal): &(_, _)| (cap_lock(*hotel, *principal), After::Cap);
        let connector = |batch: &BatchKey| (connector_lock(batch), After::Identifier);
        let batches = needs.pms_batches.iter().map(connector);
        key.into_iter().chain(bookings).chain(batches).chain(needs.caps.iter().map(cap)).collect()
    }

    /// Step 4. Whose hold was passed over leaves; who now needs a row that is not locked starts again.
    async fn lock_rows(&mut self, connection: &mut PgConnection) -> Result<(), DbError> {
        let (mut waiting, mut yielding) = (Needs::default(), Needs::default());
        for place in self.open() {
            let member = &self.members[place];
            let needs = member.needs(&self.facts);
            if member.yields() { yielding.add(&needs) } else { waiting.add(&needs) }
        }
        if waiting.is_empty() && yielding.is_empty() {
            return Ok(());
        }
        let passed_over: BTreeSet<HoldId> =
            read::lock_aggregates(connection, &mut self.facts, &waiting, &yielding).await?;
        waiting.add(&yielding);
        for place in self.open() {
            let member = &self.members[place];
            let needs = member.needs(&self.facts);
            if member.yields() && !needs.holds.is_disjoint(&passed_over) {
                self.seats[place] = Some(Seat::Done(Outcome::PassedOver));
            } else if !needs.aggregates_within(&waiting) {
                self.seats[place] = Some(Seat::Again(After::Nothing));
            }
        }
        Ok(())
    }

    /// Step 5. The lock time-out applies; a batch that runs into it falls back to its members singly.
    async fn lock_nights(&mut self, connection: &mut PgConnection) -> Result<(), DbError> {
        let mut wanted = Needs::default();
        for place in self.open() {
            wanted.add(&self.members[place].needs(&self.facts));
        }
        read::lock_nights(connection, &mut self.facts, &wanted).await
    }

    /// Step 6. In order of arrival; each decision changes what the next one sees.
    fn fold(&mut self) -> Sheet {
        let mut sheet = Sheet::default();
        for place in self.open() {
            let member = &self.members[place];
            let answer = match member.decide(&self.facts) {
                Decision::Refuse { answer, .. } => answer,
                Decision::Commit(mut changes, answer) => {
                    self.facts.apply(&changes);
                    if let Some(key) = record_of(member, &mut changes) {
                        sheet.add_key(key);
                    }
                    let settled = self.facts.settle(&changes);
                    sheet.add(changes);
                    sheet.add(settled);
                    answer
                }
            };
            self.seats[place] = Some(Seat::Done(Outcome::Answered(answer)));
        }
        sheet
    }

    /// Steps 7 and 8. The runner commits.
    async fn write(&self, connection: &mut PgConnection, sheet: Sheet) -> Result<(), DbError> {
        if sheet.is_empty() {
            return Ok(());
        }
        sheet.write_counters(connection).await?;
        self.points.reach(self.name, "after_counters").await;
        sheet.write_rows(connection, self.facts.now).await?;
        self.points.reach(self.name, "after_rows_written").await;
        Ok(())
    }
}

/// The key's row, where the answer does not live on an attempt.
fn record_of<O: Operation>(member: &O, changes: &mut Changes) -> Option<NewKey> {
    let claim = member.key().filter(|claim| claim.home == KeyHome::Keys)?;
    Some(NewKey {
        scope: claim.scope.clone(),
        try_id: claim.try_id,
        fingerprint: claim.fingerprint,
        answer: changes.answer.take()?,
    })
}

pub(crate) fn name_of<O: Operation>(members: &[O]) -> &'static str {
    match members {
        [only] => only.name(),
        _ => "batch",
    }
}
