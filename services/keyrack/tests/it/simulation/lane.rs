//! One hotel with its guests, staff and channel. Its calls are judged one group after the other: those of a group run
//! at the same time, and the model looks for an order of them that explains every answer.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use chrono::{Days, NaiveDate};
use futures::future::join_all;
use keyrack_domain::{
    attempt::AttemptState,
    clock::Moment,
    guest::{Guest, GuestDetails},
    hotel_profile::HotelProfile,
    ids::{AttemptId, HotelId, PrincipalId, RatePlanId, RefundId, ReservationId, RoomTypeId},
    occupancy::RoomRequest,
    pricing::{self, DailyRate, PricedRoom},
    quote::QuoteDocument,
    stay::Stay,
};
use keyrack_model::{
    Answer, Call, Happening, Hotel, NewIds, NightKey, ProviderAnswer, ProviderRecord, Settings, World,
    Worlds, invariants,
};
use keyrack_store::daily_rates::{self, RateKey};
use reqwest::Client;
use serde_json::Value;
use uuid::Uuid;

use super::{
    installation::Installation,
    sending,
    telling::in_short,
    wire::{Names, Request, Told},
};
use crate::random::Random;

/// Nights that are sold, from the first day on, and units of each at the beginning.
pub(super) const NIGHTS: u64 = 16;
pub(super) const UNITS: u32 = 3;
const GUESTS: usize = 4;
pub(super) struct Lane {
    pub(super) code: String,
    pub(super) profile: HotelProfile,
    rates: BTreeMap<RateKey, DailyRate>,
    pub(super) codes: BTreeMap<RoomTypeId, String>,
    pub(super) first: NaiveDate,
    pub(super) random: Random,
    pub(super) worlds: Worlds,
    pub(super) names: Names,
    pub(super) guests: Vec<PrincipalId>,
    pub(super) staff: PrincipalId,
    pub(super) channel: PrincipalId,
    pub(super) tokens: BTreeMap<PrincipalId, String>,
    pub(super) http: Client,
    /// What was asked, oldest first.
    pub(super) sent: Vec<Call>,
    /// Of these nobody knows whether they happened.
    pub(super) unheard: Vec<Call>,
    made: u128,
    /// What the next call shall be about, where something is happening to it.
    pub(super) focus: Option<String>,
    pub(super) log: Vec<String>,
}

/// A call, and what its caller knows of it.
pub(super) struct Sent {
    pub(super) call: Call,
    /// A try of it was not answered.
    pub(super) in_doubt: bool,
    pub(super) told: Option<Told>,
}

impl Lane {
    pub(super) async fn new(at: &Installation, code: &str, mut random: Random) -> Self {
        let hotels = at.hotels();
        let reference = hotels.by_code(&code.parse().expect("a code")).await.expect("the hotel");
        let mut connection = at.database().database().connection().await.expect("a connection");
        let profile = keyrack_store::hotels::profile(&mut connection, reference.id, reference.shard).await;
        let profile = profile.expect("a read").expect("the hotel");
        let now = at.now().await;
        let first = now.date_in(reference.zone);
        let plans = profile.room_types.iter().flat_map(|t| [1, 2].map(|plan| (t.id, RatePlanId(plan))));
        let keys: Vec<RateKey> = plans
            .flat_map(|(room_type, rate_plan)| {
                (0..NIGHTS).map(move |n| RateKey { room_type, rate_plan, night: first + Days::new(n) })
            })
            .collect();
        let rates = daily_rates::read(&mut connection, reference.id, reference.currency, &keys).await;
        let principal = |n: usize| PrincipalId(Uuid::from_u128(n as u128 + 1));
        let (staff, channel) = (principal(100), principal(101));
        let guests: Vec<PrincipalId> = (0..GUESTS).map(principal).collect();
        let http = Client::builder().no_proxy().timeout(sending::SILENCE).pool_max_idle_per_host(0).build();
        let mut lane = Self {
            code: code.to_owned(),
            rates: rates.expect("rates"),
            codes: profile.room_types.iter().map(|t| (t.id, t.code.to_string())).collect(),
            worlds: Worlds::new(world(&profile, now, first, staff)),
            names: Names::default(),
            tokens: BTreeMap::from([
                (staff, at.token(&format!("staff:{code}"))),
                (channel, at.token(&format!("channel:{code}"))),
            ]),
            profile,
            first,
            random: random.split(),
            guests,
            staff,
            channel,
            http: http.expect("a client"),
            sent: Vec::new(),
            unheard: Vec::new(),
            made: 0,
            focus: None,
            log: Vec::new(),
        };
        lane.open(at).await;
        lane
    }

    /// Sessions for the guests, and few enough units that they are in each other's way.
    async fn open(&mut self, at: &Installation) {
        for guest in self.guests.clone() {
            let answer =
                self.http.post(sending::url(at, 0, "/v1/guest-sessions")).send().await.expect("an answer");
            let session: Value = serde_json::from_str(&answer.text().await.expect("a body")).expect("JSON");
            self.tokens.insert(guest, session["token"].as_str().expect("a token").to_owned());
        }
        let last = self.first + Days::new(NIGHTS - 1);
        for code in self.codes.values() {
            let change = serde_json::json!({
                "room_type": code, "first_night": self.first, "last_night": last, "sellable": UNITS,
            });
            let request = Request {
                who: self.staff,
                method: reqwest::Method::PUT,
                path: format!("/v1/hotels/{}/inventory", self.code),
                key: Some(format!("open-{code}")),
                if_match: None,
                json: serde_json::json!({ "changes": [change] }),
            };
            let told = self.send(at, 0, &request).await.expect("an answer");
            assert_eq!(told.status, 200, "{told:?}");
        }
    }

    pub(super) fn hotel(&self) -> HotelId {
        self.profile.hotel.id
    }

    pub(super) fn world(&self) -> &World {
        self.worlds.any().expect("a world")
    }

    pub(super) fn today(&self) -> NaiveDate {
        self.world().now.date_in(self.profile.hotel.zone)
    }

    pub(super) fn new_uuid(&mut self) -> Uuid {
        self.made += 1000;
        Uuid::from_u128(self.made)
    }

    pub(super) fn priced(&self, stay: Stay, rooms: &[(RoomTypeId, RatePlanId)]) -> QuoteDocument {
        let requests: Vec<RoomRequest> =
            rooms.iter().map(|(room_type, plan)| self.room(*room_type, *plan)).collect();
        let rate = |(room_type, rate_plan), night| self.rates[&RateKey { room_type, rate_plan, night }];
        let rates: Vec<BTreeMap<NaiveDate, DailyRate>> = rooms
            .iter()
            .map(|kind| stay.nights().map(|night| (night, rate(*kind, night))).collect())
            .collect();
        let priced = |(place, (room_type, plan)): (usize, &(RoomTypeId, RatePlanId))| PricedRoom {
            request: &requests[place],
            room_type: self.profile.room_type_by_id(*room_type).expect("a room type"),
            rate_plan: self.profile.rate_plan_by_id(*plan).expect("a plan"),
            rates: &rates[place],
        };
        let priced: Vec<PricedRoom<'_>> = rooms.iter().enumerate().map(priced).collect();
        let currency = self.profile.hotel.currency;
        pricing::price(stay, &priced, &self.profile.taxes, currency).expect("a price")
    }

    fn room(&self, room_type: RoomTypeId, plan: RatePlanId) -> RoomRequest {
        RoomRequest {
            room_type: self.codes[&room_type].parse().expect("a code"),
            rate_plan: self.profile.rate_plan_by_id(plan).expect("a plan").code.clone(),
            adults: 2,
            children_ages: Vec::new(),
            note: None,
        }
    }

    /// These calls at the same time, and the verdict. `kills`: a process may die under them.
    pub(super) async fn run(&mut self, at: &Installation, calls: Vec<Call>, kills: bool) {
        let mut chances: Vec<Random> = calls.iter().map(|_| self.random.split()).collect();
        let sent: Vec<Sent> = {
            let lane = &*self;
            let each =
                calls.into_iter().zip(&mut chances).map(|(call, chance)| lane.insist(at, call, chance));
            join_all(each).await.into_iter().flatten().collect()
        };
        self.judge(at, &sent, kills);
        for Sent { call, told, .. } in sent {
            if told.is_none() {
                self.unheard.push(call.clone());
            }
            self.sent.push(call);
        }
    }

    fn judge(&mut self, at: &Installation, sent: &[Sent], kills: bool) {
        for Sent { call, told, in_doubt } in sent {
            let heard =
                told.as_ref().map_or_else(String::new, |told| format!("{} {}", told.status, told.body));
            let doubt = if *in_doubt { "(in doubt) " } else { "" };
            self.log.push(format!("{doubt}{}\n    -> {heard}", in_short(call)));
            if let Some(told) = told
                && !self.names.learn_from(call, told)
            {
                self.contradiction("two names for one thing");
            }
            if let (Call::Price(call), Some(told)) = (call, told)
                && told.status == 201
            {
                let names = &mut self.names;
                names.is_called(&format!("of {}", call.id), &told.body["reservation_id"]);
            }
        }
        let names = &self.names;
        let mut happenings: Vec<Happening<'_>> = Vec::new();
        for Sent { call, told, in_doubt } in sent {
            let mut last = None;
            if *in_doubt {
                last = Some(happenings.len());
                happenings.push(Happening::new(move |world| vec![asked(call, world).0]).perhaps());
                if let Some((attempt, new)) = attempt_of(call) {
                    happenings
                        .push(settles(attempt, new, self.taken(at, attempt)).after(happenings.len() - 1));
                    last = Some(happenings.len() - 1);
                }
            }
            let Some(told) = told else { continue };
            let heard = Happening::new(move |world| hears(call, told, names, world));
            // What a dead process had begun may have come after the answer to a later try.
            happenings.push(if let (Some(last), false) = (last, kills) { heard.after(last) } else { heard });
            if let (Some((attempt, new)), true) = (attempt_of(call), told.is_standing()) {
                happenings.push(settles(attempt, new, self.taken(at, attempt)).after(happenings.len() - 1));
                let stands = Happening::look(move |world| {
                    let answer = call.ask(&mut world.clone());
                    answer.is_ok_and(|answered| told.tells(&answered.outcome, names))
                });
                happenings.push(stands.after(happenings.len() - 1));
                // What was open when it was told may have ended before another call.
                if told.status == 202 {
                    let ends = settles(attempt, new, self.taken(at, attempt));
                    happenings.push(ends.after(happenings.len() - 1));
                }
            }
        }
        // The provider tells by itself what it has taken.
        for attempt in self.open_attempts() {
            if sent.iter().any(|sent| self.may_meet(&sent.call, attempt)) {
                happenings.push(self.settled(at, attempt));
            }
        }
        let explained = self.worlds.happen(&happenings);
        drop(happenings);
        if !explained {
            self.contradiction("no order of these calls explains what was told");
        }
    }

    /// Whether the end of a payment that was open before can change what this call is told.
    fn may_meet(&self, call: &Call, attempt: AttemptId) -> bool {
        self.worlds.iter().filter_map(|world| world.attempts.get(&attempt)).any(|row| match call {
            Call::Quote(_) | Call::Rules(_) => false,
            // Then units go back, or others come, and the reservation is another.
            _ if row.change.is_some() => true,
            Call::Place(call) => call.principal == row.principal,
            Call::Pay(call) => call.start.hold == row.hold && call.start.id != attempt,
            Call::Release(call) => call.hold == row.hold,
            _ => false,
        })
    }

    /// Perhaps it is, since the provider tells by itself what it took.
    pub(super) fn settled(&self, at: &Installation, attempt: AttemptId) -> Happening<'static> {
        settles(attempt, new_ids(attempt), self.taken(at, attempt))
    }

    /// Whether the provider has taken it, where it is known by name.
    fn taken(&self, at: &Installation, attempt: AttemptId) -> Option<bool> {
        self.names.of(&attempt).map(|name| at.has_captured(name))
    }

    /// In some world.
    pub(super) fn open_attempts(&self) -> BTreeSet<AttemptId> {
        let open = self.worlds.iter().flat_map(|world| {
            world.attempts.iter().filter(|(_, attempt)| attempt.state.is_open()).map(|(id, _)| *id)
        });
        open.collect()
    }

    /// Whoever gave up asks again: after that nothing is in doubt.
    pub(super) async fn hear_everything(&mut self, at: &Installation) {
        while let Some(call) = self.unheard.pop() {
            let mut chance = self.random.split();
            // Another two in doubt keep it from giving up once more.
            let spare = std::mem::take(&mut self.unheard);
            self.unheard = vec![call.clone(), call.clone()];
            let sent = self.insist(at, call, &mut chance).await;
            self.unheard = spare;
            let sent: Vec<Sent> = sent.into_iter().collect();
            self.judge(at, &sent, true);
        }
    }

    pub(super) fn check_invariants(&self) {
        for world in self.worlds.iter() {
            let breaches = invariants(world);
            assert_eq!(breaches, [], "the model itself is wrong, after:\n{}", self.log.join("\n"));
        }
    }
}

fn world(profile: &HotelProfile, now: Moment, first: NaiveDate, staff: PrincipalId) -> World {
    let settings = Settings { late_capture: keyrack_model::LateCapture::Reallocate, ..Settings::default() };
    let mut world = World::new(settings, now);
    let mut hotel = Hotel::new(profile.hotel.zone);
    hotel.taxes.clone_from(&profile.taxes);
    hotel.staff.insert(staff);
    world.hotels.insert(profile.hotel.id, hotel);
    for room_type in &profile.room_types {
        for night in 0..NIGHTS {
            let date = first + Days::new(night);
            world.open_night(NightKey { hotel: profile.hotel.id, date, room_type: room_type.id }, UNITS);
        }
    }
    world
}

pub(super) fn guest() -> Guest {
    let details = GuestDetails {
        name: "Asha Rao".to_owned(),
        email: Some("asha@example.com".to_owned()),
        ..GuestDetails::default()
    };
    Guest::new(details).expect("a guest")
}

fn asked(call: &Call, world: &Arc<World>) -> (Arc<World>, Answer) {
    let mut after = World::clone(world);
    let answer = call.ask(&mut after);
    let is_new = answer.as_ref().is_ok_and(|answered| !answered.replayed);
    // What is refused or repeated changes nothing, but for channels: their calls have no key.
    let changes = is_new || matches!(call, Call::Deliver(_) | Call::Withdraw(_));
    (if changes { Arc::new(after) } else { Arc::clone(world) }, answer)
}

/// The world after it, where it is told this. How a payment stands is told later than it was opened.
fn hears(call: &Call, told: &Told, names: &Names, world: &Arc<World>) -> Vec<Arc<World>> {
    let (after, answer) = asked(call, world);
    let agrees = match &answer {
        Ok(answered)
            if attempt_of(call).is_some_and(|(attempt, _)| after.attempts.contains_key(&attempt)) =>
        {
            told.is_standing() && answered.replayed == told.replayed
        }
        _ => told.agrees_with(&answer, names),
    };
    agrees.then_some(after).into_iter().collect()
}

/// What a call pays with, where it pays, and what may come of that.
pub(super) fn attempt_of(call: &Call) -> Option<(AttemptId, NewIds)> {
    match call {
        Call::Pay(call) => Some((call.start.id, call.new)),
        Call::Confirm(call) if call.method.is_some() => Some((call.attempt, new_ids(call.attempt))),
        _ => None,
    }
}

pub(super) fn new_ids(attempt: AttemptId) -> NewIds {
    NewIds {
        reservation: ReservationId::new(attempt.hotel(), attempt.uuid()),
        refund: RefundId::new(attempt.hotel(), Uuid::from_u128(attempt.uuid().as_u128() + 500)),
    }
}

/// Perhaps what came of a payment is written down, by whatever way. Where the provider's book is known, only what
/// stands in it.
fn settles(attempt: AttemptId, new: NewIds, taken: Option<bool>) -> Happening<'static> {
    Happening::new(move |world| {
        let mut may = Vec::new();
        let state = |world: &World| world.attempts.get(&attempt).map(|attempt| attempt.state);
        for (answer, is_taken) in [(ProviderAnswer::Captured, true), (ProviderAnswer::Declined, false)] {
            let is_so = taken.is_none_or(|taken| taken == is_taken);
            // What a failed attempt takes all the same goes back.
            let goes_on = |state: AttemptState| state.is_open() || is_taken && state == AttemptState::Failed;
            if !is_so || !state(world).is_some_and(goes_on) {
                continue;
            }
            let mut settled = World::clone(world);
            let _ = settled.settle(attempt, answer, new);
            if state(&settled) == Some(AttemptState::Reconciling) {
                // What had no room is resolved at once.
                let mut resolved = settled.clone();
                let _ = resolved.reconcile(attempt, ProviderRecord::Captured, new);
                may.push(Arc::new(resolved));
            }
            may.push(Arc::new(settled));
        }
        may
    })
    .perhaps()
}
