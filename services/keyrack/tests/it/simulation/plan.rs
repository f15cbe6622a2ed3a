//! What the people of a hotel do next: mostly what is possible, sometimes not.

use chrono::{Days, NaiveDate};
use keyrack_domain::{
    change::ChangeState,
    hold::HoldState,
    ids::{ChangeId, HoldId, PrincipalId, QuoteId, RatePlanId, RefundId, ReservationId, RoomTypeId},
    operation_key::OperationKey,
    quote::QuoteDocument,
    reservation::ReservationState,
    stay::Stay,
};
use keyrack_model::{
    Call, Cancel, ConfirmChange, Deliver, EditInventory, EditRules, GiveMoneyBack, MakeQuote, NightEdit, Pay,
    PlaceHold, PriceChange, ReleaseHold, Reservation, StartAttempt, Step, StopSell, TakeStep, Withdraw,
};
use uuid::Uuid;

use super::{
    lane::{Lane, NIGHTS, attempt_of, guest, new_ids},
    looks::MARGIN,
    wire::is_near,
};

const METHODS: [&str; 12] = [
    "pm_ok",
    "pm_ok",
    "pm_ok",
    "pm_ok",
    "pm_ok",
    "pm_declined",
    "pm_lost_response",
    "pm_capture_fails",
    "pm_duplicate_webhooks",
    "pm_reordered_webhooks",
    "pm_refund_fails_twice",
    "pm_timeout",
];
/// Payments of one hotel that are open at once: each leaves several worlds.
const OPEN: usize = 3;
const CHANNEL_BOOKINGS: usize = 6;

impl Lane {
    /// What happens at once.
    pub(super) fn plan(&mut self) -> Vec<Call> {
        let many = [1, 2, 2, 3][self.random.below(4)];
        let mut calls: Vec<Call> = Vec::new();
        for _ in 0..many {
            let pays = calls.iter().filter(|call| attempt_of(call).is_some()).count();
            let may_pay = pays < 2 && pays + self.open_attempts().len() < OPEN;
            let rival = calls.first().filter(|_| self.random.one_in(2)).cloned();
            let call = match rival {
                Some(first) => self.rival(&first),
                None => self.some_call(),
            };
            calls.extend(call.filter(|call| may_pay || attempt_of(call).is_none()));
        }
        calls
    }

    fn some_call(&mut self) -> Option<Call> {
        match self.random.below(34) {
            0..=5 => self.quote(),
            6..=11 => self.place(),
            12..=17 => self.pay(),
            18 => self.release(),
            19 | 20 => self.cancel(),
            21 | 22 => self.price(),
            23 | 24 => self.confirm(),
            25..=27 => self.step(),
            28 => self.give_money_back(),
            29 => self.deliver(),
            30 => Some(self.withdraw()),
            31 => self.edit_inventory(),
            32 => Some(self.edit_rules()),
            _ => self.random.recent(&self.sent).cloned(),
        }
    }

    /// Something else with the same hold, reservation or booking.
    fn rival(&mut self, first: &Call) -> Option<Call> {
        self.focus = match first {
            Call::Pay(call) => Some(call.start.hold.to_string()),
            Call::Release(call) => Some(call.hold.to_string()),
            Call::Cancel(call) => Some(call.reservation.to_string()),
            Call::Step(call) => Some(call.reservation.to_string()),
            Call::GiveMoneyBack(call) => Some(call.reservation.to_string()),
            Call::Price(call) => Some(call.reservation.to_string()),
            Call::Confirm(call) => {
                let change = self.world().changes.get(&call.change);
                change.map(|change| change.reservation.to_string())
            }
            _ => None,
        };
        let which = self.random.below(5);
        let call = match first {
            Call::Pay(_) | Call::Release(_) | Call::Place(_) => match which {
                0 | 1 => self.pay(),
                2 => self.place(),
                _ => self.release(),
            },
            Call::Cancel(_) | Call::Step(_) | Call::GiveMoneyBack(_) | Call::Price(_) | Call::Confirm(_) => {
                match which {
                    0 | 1 => self.cancel(),
                    2 => self.step(),
                    3 => self.confirm(),
                    _ => self.give_money_back(),
                }
            }
            Call::Deliver(_) | Call::Withdraw(_) if which < 3 => self.deliver(),
            Call::Deliver(_) | Call::Withdraw(_) => Some(self.withdraw()),
            _ => self.some_call(),
        };
        self.focus = None;
        call
    }

    fn is_in_focus(&self, id: &impl ToString) -> bool {
        self.focus.as_ref().is_none_or(|focus| *focus == id.to_string())
    }

    fn key(&mut self) -> OperationKey {
        let number = self.new_uuid().as_u128();
        format!("{}-{number:06}", self.code).parse().expect("a key")
    }

    /// Up to three nights, soon: close enough to be in each other's way, far enough to be cancelled for nothing.
    fn some_stay(&mut self) -> Option<Stay> {
        let ahead = if self.random.one_in(2) { 6 } else { 3 };
        let arrival = self.today() + Days::new(self.random.below(ahead) as u64);
        let departure = arrival + Days::new(1 + self.random.below(3) as u64);
        self.within(arrival, departure)
    }

    fn within(&self, arrival: NaiveDate, departure: NaiveDate) -> Option<Stay> {
        let end = self.first + Days::new(NIGHTS);
        (departure <= end).then(|| Stay::new(arrival, departure).ok()).flatten()
    }

    fn some_rooms(&mut self) -> Vec<(RoomTypeId, RatePlanId)> {
        let types: Vec<RoomTypeId> = self.codes.keys().copied().collect();
        let many = 1 + usize::from(self.random.one_in(3));
        let plan = RatePlanId(1 + i32::from(self.random.one_in(4)));
        (0..many).map(|_| (types[self.random.below(types.len())], plan)).collect()
    }

    fn some_document(&mut self) -> Option<QuoteDocument> {
        let (stay, rooms) = (self.some_stay()?, self.some_rooms());
        Some(self.priced(stay, &rooms))
    }

    fn quote(&mut self) -> Option<Call> {
        let principal = self.guests[self.random.below(self.guests.len())];
        let (document, key) = (self.some_document()?, self.key());
        let id = QuoteId::new(self.hotel(), self.new_uuid());
        Some(Call::Quote(MakeQuote { principal, key, document, id }))
    }

    fn place(&mut self) -> Option<Call> {
        let stale = self.random.one_in(8);
        let world = self.world();
        let known: Vec<(QuoteId, PrincipalId)> = world
            .quotes
            .iter()
            .filter(|(id, quote)| {
                self.names.of(&id).is_some()
                    && (stale || !world.now.is_past(quote.expires_at))
                    && !is_near(quote.expires_at, world.now, 2 * MARGIN)
            })
            .map(|(id, quote)| (*id, quote.principal))
            .collect();
        let holds = self.holds(HoldState::Active);
        let (quote, principal) = *self.random.recent(&known)?;
        let of_theirs: Vec<HoldId> =
            holds.into_iter().filter(|(_, owner)| *owner == principal).map(|(id, _)| id).collect();
        let replaces = if self.random.one_in(6) { self.random.recent(&of_theirs).copied() } else { None };
        let (key, id) = (self.key(), HoldId::new(self.hotel(), self.new_uuid()));
        Some(Call::Place(PlaceHold { principal, key, quote, replaces, id }))
    }

    fn holds(&self, state: HoldState) -> Vec<(HoldId, PrincipalId)> {
        let known = |(id, hold): (&HoldId, &keyrack_model::Hold)| {
            (hold.state == state && self.names.of(&id).is_some()).then_some((*id, hold.principal))
        };
        self.world().holds.iter().filter_map(known).collect()
    }

    /// Mostly one that is alive; often one that is being paid for.
    fn some_hold(&mut self) -> Option<(HoldId, PrincipalId)> {
        let open = self.open_attempts();
        let paid: Vec<HoldId> =
            open.iter().filter_map(|id| Some(self.world().attempts.get(id)?.hold)).collect();
        let wanted = if self.focus.is_none() && self.random.one_in(4) { paid } else { Vec::new() };
        let states = [HoldState::Active, HoldState::Active, HoldState::Consumed, HoldState::Expired];
        let state = if self.random.one_in(8) { states[self.random.below(4)] } else { HoldState::Active };
        let mut holds = self.holds(state);
        holds.retain(|(id, _)| self.is_in_focus(&id) && (wanted.is_empty() || wanted.contains(id)));
        self.random.recent(&holds).copied()
    }

    fn pay(&mut self) -> Option<Call> {
        let (hold, principal) = self.some_hold()?;
        let method = METHODS[self.random.below(METHODS.len())].parse().expect("a token");
        let (key, guest) = (self.key(), guest());
        let id = keyrack_domain::ids::AttemptId::new(self.hotel(), self.new_uuid());
        let start = StartAttempt { principal, key, hold, method, guest, id };
        Some(Call::Pay(Pay { start, new: new_ids(id) }))
    }

    fn release(&mut self) -> Option<Call> {
        let (hold, principal) = self.some_hold()?;
        Some(Call::Release(ReleaseHold { principal, key: self.key(), hold }))
    }

    /// Paid for, or a channel's.
    fn some_reservation(
        &mut self,
        wanted: impl Fn(&Reservation) -> bool,
    ) -> Option<(ReservationId, Reservation)> {
        let known = |(id, made): (&ReservationId, &Reservation)| {
            (self.names.of(&id).is_some() && self.is_in_focus(&id) && wanted(made))
                .then(|| (*id, made.clone()))
        };
        let known: Vec<_> = self.world().reservations.iter().filter_map(known).collect();
        self.random.recent(&known).cloned()
    }

    /// Mostly the one that it has.
    fn seen(&mut self, made: &Reservation) -> i32 {
        made.version + i32::from(self.random.one_in(12))
    }

    fn cancel(&mut self) -> Option<Call> {
        let world = self.world();
        let started = world.changes.values().filter(|change| change.state == ChangeState::Started);
        let changing: Vec<Reservation> =
            started.filter_map(|change| world.reservations.get(&change.reservation).cloned()).collect();
        // Often one that is just being changed.
        let wanted = !changing.is_empty() && self.random.one_in(2);
        let (reservation, made) =
            self.some_reservation(|made| !made.paid_by.is_empty() && (!wanted || changing.contains(made)))?;
        let room = (made.document.rooms.len() > 1 && self.random.one_in(2)).then(|| 1 + self.random.below(2));
        let principal = if self.random.one_in(5) { self.staff } else { made.principal };
        let refund = RefundId::new(self.hotel(), self.new_uuid());
        let (key, if_match) = (self.key(), self.seen(&made));
        Some(Call::Cancel(Cancel { principal, key, reservation, room, if_match, refund }))
    }

    fn price(&mut self) -> Option<Call> {
        let stands = [ReservationState::Confirmed, ReservationState::CheckedIn];
        let (reservation, made) =
            self.some_reservation(|made| !made.paid_by.is_empty() && stands.contains(&made.state))?;
        let before = made.document.stay;
        let (arrival, departure) = match self.random.below(4) {
            0 => (before.check_in() + Days::new(1), before.check_out() + Days::new(1)),
            1 => (before.check_in(), before.check_out() - Days::new(1)),
            _ => (before.check_in(), before.check_out() + Days::new(1)),
        };
        let stay = self.within(arrival, departure)?;
        let standing = (1..).zip(&made.document.rooms);
        let standing = standing.filter(|(number, _)| !made.cancelled.contains_key(number));
        let mut rooms: Vec<_> = standing.map(|(_, room)| (room.room_type_id, room.rate_plan_id)).collect();
        if rooms.len() > 1 && self.random.one_in(4) {
            rooms.pop();
        }
        let (wanted, key) = (self.priced(stay, &rooms), self.key());
        let (if_match, id) = (self.seen(&made), ChangeId::new(self.hotel(), self.new_uuid()));
        let principal = made.principal;
        Some(Call::Price(PriceChange { principal, key, reservation, if_match, wanted, id }))
    }

    fn confirm(&mut self) -> Option<Call> {
        let world = self.world();
        let known: Vec<ChangeId> = world
            .changes
            .iter()
            .filter(|(id, change)| {
                let may = change.state == ChangeState::Priced || change.state == ChangeState::Started;
                may && self.is_in_focus(&change.reservation)
                    && self.names.of(&id).is_some()
                    && !is_near(change.expires_at, world.now, 2 * MARGIN)
            })
            .map(|(id, _)| *id)
            .collect();
        let change = *self.random.recent(&known)?;
        let row = &self.world().changes[&change];
        let (costs, if_match) = (!row.charge.is_zero(), row.base_version);
        let principal = self.world().reservations[&row.reservation].principal;
        let method = costs.then(|| METHODS[self.random.below(METHODS.len())].parse().expect("a token"));
        let (hotel, uuid, key) = (self.hotel(), self.new_uuid(), self.key());
        let (hold, attempt) = (HoldId::new(hotel, uuid), keyrack_domain::ids::AttemptId::new(hotel, uuid));
        let refund = RefundId::new(hotel, uuid);
        Some(Call::Confirm(ConfirmChange { principal, key, change, method, if_match, hold, attempt, refund }))
    }

    fn step(&mut self) -> Option<Call> {
        let soon = self.today() + Days::new(1);
        let (reservation, made) = self.some_reservation(|made| {
            made.state != ReservationState::Cancelled && made.document.stay.check_in() <= soon
        })?;
        let early = self.random.one_in(2).then(|| self.today());
        let step = match made.state {
            ReservationState::CheckedIn => Step::CheckOut(early),
            ReservationState::NoShow => Step::UndoNoShow,
            _ if self.random.one_in(2) => Step::NoShow,
            _ => Step::CheckIn,
        };
        let if_match = self.random.one_in(3).then(|| self.seen(&made));
        Some(Call::Step(TakeStep { principal: self.staff, key: self.key(), reservation, step, if_match }))
    }

    fn give_money_back(&mut self) -> Option<Call> {
        let (reservation, made) = self.some_reservation(|made| !made.paid_by.is_empty())?;
        let amount = made.document.rooms.first()?.first_night;
        let (key, refund) = (self.key(), RefundId::new(self.hotel(), self.new_uuid()));
        Some(Call::GiveMoneyBack(GiveMoneyBack { principal: self.staff, key, reservation, amount, refund }))
    }

    /// One of few: they come again, changed, late and too early.
    fn some_channel_booking(&mut self) -> (keyrack_model::ChannelKey, usize) {
        let number = self.random.below(CHANNEL_BOOKINGS) + 10 * self.days_gone();
        ((self.hotel(), format!("B{number}")), number)
    }

    fn days_gone(&self) -> usize {
        usize::try_from((self.today() - self.first).num_days()).unwrap_or(0)
    }

    fn deliver(&mut self) -> Option<Call> {
        let (booking, number) = self.some_channel_booking();
        let known = self.world().channel_bookings.get(&booking).cloned();
        let highest = known.as_ref().and_then(|known| known.revision).unwrap_or(0);
        let again = known.and_then(|known| known.document).filter(|_| self.random.one_in(3));
        let document = match again {
            Some(document) => document,
            None => self.some_document()?,
        };
        let revision = (highest + [1, 1, 1, 0][self.random.below(4)]).max(1);
        let id = ReservationId::new(booking.0, Uuid::from_u128(1 << 80 | number as u128));
        Some(Call::Deliver(Deliver { principal: self.channel, booking, revision, document, id }))
    }

    fn withdraw(&mut self) -> Call {
        let (booking, _) = self.some_channel_booking();
        Call::Withdraw(Withdraw { principal: self.channel, booking })
    }

    fn some_night(&mut self) -> (RoomTypeId, NaiveDate) {
        let types: Vec<RoomTypeId> = self.codes.keys().copied().collect();
        let night = self.today() + Days::new(self.random.below(5) as u64);
        (types[self.random.below(types.len())], night.min(self.first + Days::new(NIGHTS - 1)))
    }

    fn edit_inventory(&mut self) -> Option<Call> {
        let (room_type, night) = self.some_night();
        let sellable = u32::try_from(1 + self.random.below(5)).ok()?;
        let edits = vec![NightEdit { room_type, night, sellable }];
        let (key, hotel) = (self.key(), self.hotel());
        Some(Call::Inventory(EditInventory { principal: self.staff, key, hotel, edits }))
    }

    fn edit_rules(&mut self) -> Call {
        let (room_type, night) = self.some_night();
        let stops = self.random.one_in(2);
        let edits = vec![StopSell { room_type, night, stops }];
        let (key, hotel) = (self.key(), self.hotel());
        Call::Rules(EditRules { principal: self.staff, key, hotel, edits })
    }
}
