//! One of the two: makes batches, runs them, and keeps in mind what they came to.

use std::{
    collections::{BTreeMap, VecDeque},
    sync::{MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use keyrack_booking::{
    cancel::{
        operation::{CancelAnswer, CancelOp},
        price::Wanted,
    },
    change::{Change, ChangeAnswer},
    channel_booking::{
        self, Delivered, Delivery,
        operation::{BookAnswer, ChannelBookOp},
        withdrawal::{ChannelCancelOp, WithdrawAnswer},
    },
    confirm::ConfirmAnswer,
    edit_inventory::operation::{EditAnswer, EditInventoryOp},
    expire::{ExpireAnswer, ExpireOp},
    place_hold::operation::{HoldAnswer, PlaceHoldOp},
    release::operation::ReleaseAnswer,
    staff_refund::{StaffRefundAnswer, StaffRefundOp},
    start_attempt::operation::AttemptAnswer,
};
use keyrack_domain::{
    actor::Actor,
    ids::{QuoteId, RefundId, ReservationId, RoomTypeId},
    money::Money,
};
use keyrack_ledger::{Ledger, LedgerError, NightKey, Outcome};
use uuid::Uuid;

use futures::future::join_all;

use super::{Held, Shared};
use crate::{
    batches::{claim, completion, hold, release, start},
    channel_world::{self, address},
    world::{day, room},
};

/// Batches of one process under way together.
const AT_ONCE: usize = 4;

pub(crate) struct Seen {
    pub(crate) worst: Duration,
    pub(crate) did: BTreeMap<&'static str, u32>,
}

pub(crate) struct Driver<'s> {
    shared: &'s Shared,
    ledger: &'s Ledger,
    random: u64,
    /// Asking for one takes longer than holding it, so some are held again; the newest first.
    quotes: VecDeque<(usize, QuoteId)>,
    seen: Seen,
}

impl<'s> Driver<'s> {
    pub(crate) fn new(shared: &'s Shared, ledger: &'s Ledger, seed: u64) -> Self {
        let kinds = [
            "placed",
            "replaced",
            "released",
            "expired",
            "opened",
            "confirmed",
            "edited",
            "cancelled",
            "paid back",
            "delivered",
            "modified",
            "withdrawn",
        ];
        let seen = Seen { worst: Duration::ZERO, did: kinds.map(|kind| (kind, 0)).into() };
        Self {
            shared,
            ledger,
            random: 0x9E37_79B9_7F4A_7C15_u64.wrapping_mul(seed),
            quotes: VecDeque::new(),
            seen,
        }
    }

    /// Several batches at once: with two alone a wrong order would hardly ever close a circle, with a
    /// third that both wait for it does as soon as that one commits.
    pub(crate) async fn run(mut self, until: Instant) -> Seen {
        while Instant::now() < until {
            let mut batches = Vec::new();
            for _ in 0..AT_ONCE {
                batches.push(self.batch().await);
            }
            let ledger = self.ledger;
            let runs = batches.into_iter().map(|batch| async move {
                let (asked, started) = (batch.clone(), Instant::now());
                let answers = ledger.run_batch(batch).await;
                (started.elapsed(), asked, answers)
            });
            for (took, asked, answers) in join_all(runs).await {
                self.seen.worst = self.seen.worst.max(took);
                for (change, answer) in asked.into_iter().zip(answers) {
                    self.note(&change, answer);
                }
            }
            if self.draw(8) == 0 {
                self.shared.at.advance(301).await;
                self.quotes.clear();
            }
        }
        self.seen
    }

    async fn batch(&mut self) -> Vec<Change> {
        let mut batch = Vec::new();
        for _ in 0..=self.draw(12) {
            batch.extend(self.member().await);
        }
        batch
    }

    async fn member(&mut self) -> Option<Change> {
        match self.draw(15) {
            0 => self.some_hold().map(|held| {
                release(&self.shared.guests[held.who], held.hold, &format!("R{}", held.hold.uuid())).into()
            }),
            1 | 2 => self.some_hold().map(|held| ExpireOp { hold: held.hold, as_drift: false }.into()),
            3 => self.some_hold().map(|held| {
                start(&self.shared.guests[held.who], held.hold, &format!("P{}", held.hold.uuid())).into()
            }),
            4 => self.paid_for().map(Into::into),
            5 => Some(self.edit().await.into()),
            6 => Some(self.cancel().await?.into()),
            7 => Some(self.pay_back().await?.into()),
            8 | 9 => Some(self.deliver().await.into()),
            10 => Some(self.withdraw().await.into()),
            _ => Some(self.place().await.into()),
        }
    }

    fn paid_for(&mut self) -> Option<keyrack_booking::confirm::ConfirmOp> {
        let open: Vec<Held> = self.held().iter().filter(|held| held.attempt.is_some()).copied().collect();
        let held = (!open.is_empty()).then(|| open[self.draw(open.len())])?;
        held.attempt.map(|attempt| completion(attempt, held.total))
    }

    /// One room or two, of one type or both, in both orders; now and then in place of a hold of the same guest.
    async fn place(&mut self) -> PlaceHoldOp {
        let rooms: &[&str] =
            [&["RT-STD", "RT-DLX"][..], &["RT-DLX", "RT-STD"], &["RT-DLX"], &["RT-STD"]][self.draw(4)];
        let rooms = rooms.iter().map(|room_type| room(room_type, 2, &[])).collect();
        let first = 14 + self.draw(5);
        let last = first + 1 + self.draw(20 - first);
        let stay = (format!("2026-11-{first}"), format!("2026-11-{last}"));
        let replaces = if self.draw(3) == 0 { self.some_hold() } else { None };
        let who = replaces.map_or_else(|| self.draw(self.shared.guests.len()), |held| held.who);
        let guest = &self.shared.guests[who];
        let known = self.quotes.iter().find(|(of, _)| *of == who).map(|(_, quote)| *quote);
        let quote = match known.filter(|_| self.draw(4) > 0) {
            Some(quote) => quote,
            None => self.shared.at.quote_rooms(guest, (&stay.0, &stay.1), rooms).await,
        };
        self.quotes.push_front((who, quote));
        let key = format!("K{}", self.draw(150));
        PlaceHoldOp { replaces: replaces.map(|held| held.hold), ..hold(guest, quote, &key) }
    }

    /// All of a reservation or one room of it, as somebody sees it who looked some time ago.
    async fn cancel(&mut self) -> Option<CancelOp> {
        let reservation = self.some_reservation()?;
        let wanted = [Wanted::Whole, Wanted::Room(1), Wanted::Room(2)][self.draw(3)];
        let hotel = self.shared.at.world.hotels.by_code(&self.shared.at.hotel).await.expect("the hotel");
        let operator = &self.shared.at.world.operator;
        let key = format!("X{}", self.draw(100));
        Some(CancelOp {
            claim: claim(operator, "POST /v1/reservations/{id}/cancel", &key, hotel.id, Uuid::now_v7()),
            refund: RefundId::new(hotel.id, Uuid::now_v7()),
            hotel: hotel.as_ref().clone(),
            caller: operator.clone(),
            reservation,
            wanted,
            if_match: if self.draw(3) == 0 { 2 } else { 1 },
        })
    }

    /// Some booking of the channel, new to it or known, by some revision of it.
    async fn deliver(&mut self) -> ChannelBookOp {
        let rooms: &[&str] = [&["RT-STD", "RT-DLX"][..], &["RT-DLX"], &["RT-STD"]][self.draw(3)];
        let first = 14 + self.draw(5);
        let last = first + 1 + self.draw(20 - first);
        let stay = (format!("2026-11-{first}"), format!("2026-11-{last}"));
        let rooms = rooms.iter().map(|room_type| channel_world::room(room_type)).collect();
        let revision = i64::try_from(self.draw(6)).expect("small");
        let delivered = Delivered { rooms, revision, ..channel_world::delivered((&stay.0, &stay.1)) };
        // Few enough that bookings are met again while they stand, and modified.
        let booking = format!("X{}", self.draw(20));
        let at = &self.shared.at;
        let caller = &self.shared.channel.caller;
        let asked = channel_booking::operation(&at.desk, caller, address(at, &booking), &delivered);
        asked.await.expect("a delivery")
    }

    async fn withdraw(&mut self) -> ChannelCancelOp {
        let ChannelBookOp { hotel, caller, key, try_id, .. } = self.deliver().await;
        ChannelCancelOp { hotel, caller, key, try_id }
    }

    async fn pay_back(&mut self) -> Option<StaffRefundOp> {
        let reservation = self.some_reservation()?;
        let hotel = self.shared.at.world.hotels.by_code(&self.shared.at.hotel).await.expect("the hotel");
        let operator = &self.shared.at.world.operator;
        let key = Uuid::now_v7().to_string();
        let amount = ["1.00", "3000.00", "9000.00"][self.draw(3)];
        Some(StaffRefundOp {
            claim: claim(operator, "POST refunds", &key, hotel.id, Uuid::now_v7()),
            caller: operator.clone(),
            reservation,
            refund: RefundId::new(hotel.id, Uuid::now_v7()),
            amount: Money::parse(amount, hotel.currency).expect("an amount"),
            reason: "goodwill".to_owned(),
        })
    }

    fn some_reservation(&mut self) -> Option<ReservationId> {
        let reserved = self.reserved().clone();
        (!reserved.is_empty()).then(|| reserved[self.draw(reserved.len())])
    }

    fn reserved(&self) -> MutexGuard<'s, Vec<ReservationId>> {
        self.shared.reserved.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Two nights of each room type, to about what they carry.
    async fn edit(&mut self) -> EditInventoryOp {
        let hotel = self.shared.at.world.hotels.by_code(&self.shared.at.hotel).await.expect("the hotel").id;
        let mut wanted = BTreeMap::new();
        for (number, code) in [(1, "RT-DLX"), (2, "RT-STD")] {
            for _ in 0..2 {
                let night = format!("2026-11-{}", 14 + self.draw(6));
                let (_, _, confirmed) = self.shared.at.counters_of(code, &night).await;
                let sellable =
                    i32::try_from(confirmed).unwrap_or(0) + 4 + i32::try_from(self.draw(12)).unwrap_or(0);
                wanted.insert(NightKey { hotel, room_type: RoomTypeId(number), date: day(&night) }, sellable);
            }
        }
        let code = |text: &str| text.parse().expect("a code");
        let operator = &self.shared.at.world.operator;
        EditInventoryOp {
            hotel,
            claim: claim(
                operator,
                "PUT /v1/hotels/{hotel}/inventory",
                &Uuid::now_v7().to_string(),
                hotel,
                Uuid::now_v7(),
            ),
            actor: Actor::Caller(operator.clone()),
            codes: [(RoomTypeId(1), code("RT-DLX")), (RoomTypeId(2), code("RT-STD"))].into(),
            faults: Vec::new(),
            wanted,
        }
    }

    fn note(&mut self, change: &Change, answer: Result<Outcome<ChangeAnswer>, LedgerError>) {
        let answer = match answer {
            Ok(Outcome::Answered(answer)) => answer,
            Ok(_) => return,
            Err(error) => {
                use keyrack_db::DbError::{LockTimeout, TryLockTimeout};
                let late = matches!(error.source, LockTimeout(_) | TryLockTimeout);
                assert!(late, "only a lock may be late: {error:?}");
                return;
            }
        };
        let what = match answer {
            ChangeAnswer::PlaceHold(HoldAnswer::Placed(view)) => {
                let Change::PlaceHold(asked) = change else { panic!("{change:?}") };
                let owner = |guest: &keyrack_domain::principal::Caller| guest.principal == asked.principal;
                let who = self.shared.guests.iter().position(owner).expect("one of the guests");
                let mut held = self.held();
                held.push(Held { who, hold: view.id, total: view.total, attempt: None });
                // Old ones are over, and holds that are over are not the point.
                let old = held.len().saturating_sub(60);
                held.drain(..old);
                if asked.replaces.is_some() { "replaced" } else { "placed" }
            }
            ChangeAnswer::StartAttempt(AttemptAnswer::Opened(row)) => {
                for held in self.held().iter_mut().filter(|held| Some(held.hold) == row.hold) {
                    held.attempt = Some(row.id);
                }
                "opened"
            }
            ChangeAnswer::Release(ReleaseAnswer::Ended(_)) => "released",
            ChangeAnswer::Expire(ExpireAnswer::Expired) => "expired",
            ChangeAnswer::Confirm(ConfirmAnswer::Confirmed) => {
                let Change::Confirm(asked) = change else { panic!("{change:?}") };
                let mut reserved = self.reserved();
                reserved.push(asked.reservation);
                let old = reserved.len().saturating_sub(20);
                reserved.drain(..old);
                "confirmed"
            }
            ChangeAnswer::ChannelBook(BookAnswer::Booked(booked)) => match booked.delivery {
                Delivery::Created => "delivered",
                Delivery::Modified => "modified",
                Delivery::Repeated => return,
            },
            ChangeAnswer::ChannelCancel(WithdrawAnswer::Withdrawn(withdrawn)) if !withdrawn.before => {
                "withdrawn"
            }
            ChangeAnswer::Cancel(CancelAnswer::Cancelled(_)) => "cancelled",
            ChangeAnswer::StaffRefund(StaffRefundAnswer::Requested(_)) => "paid back",
            ChangeAnswer::EditInventory(EditAnswer::Edited(_)) => "edited",
            // The counters carry every hold that was ever placed here: an alarm would be a false one.
            ChangeAnswer::Release(ReleaseAnswer::Drift(_))
            | ChangeAnswer::Expire(ExpireAnswer::Drift(_))
            | ChangeAnswer::ChannelBook(BookAnswer::Drift(..))
            | ChangeAnswer::ChannelCancel(WithdrawAnswer::Drift(..))
            | ChangeAnswer::Cancel(CancelAnswer::Drift(_)) => {
                panic!("a drift alarm: {change:?}")
            }
            _ => return,
        };
        *self.seen.did.entry(what).or_default() += 1;
    }

    fn some_hold(&mut self) -> Option<Held> {
        let held = self.held().clone();
        (!held.is_empty()).then(|| held[self.draw(held.len())])
    }

    fn held(&self) -> MutexGuard<'s, Vec<Held>> {
        self.shared.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn draw(&mut self, bound: usize) -> usize {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        usize::try_from(self.random % bound as u64).unwrap_or(0)
    }
}
