//! HTL-204 with its two room types, and calls written short.

use std::time::Duration;

use chrono::NaiveDate;
use keyrack_domain::{
    clock::Moment,
    code::{RatePlanCode, RoomTypeCode},
    guest::{Guest, GuestDetails},
    hold::HoldState,
    ids::{
        AttemptId, HoldId, HotelId, PrincipalId, QuoteId, RatePlanId, RefundId, ReservationId, RoomTypeId,
    },
    money::{Currency, Money},
    policy::{CancellationPolicy, PaymentPolicy},
    quote::{Charge, ChargeKind, QuoteDocument, QuotedNight, QuotedRoom},
    rule_version::RuleVersion,
    stay::Stay,
};
use keyrack_model::{
    Answer, Hotel, NewIds, Night, NightKey, Outcome, PlaceHold, Quote, ReleaseHold, Settings, StartAttempt,
    World,
};
use rust_decimal::Decimal;
use uuid::Uuid;

pub(crate) const HOTEL: HotelId = HotelId(204);
pub(crate) const DELUXE: RoomTypeId = RoomTypeId(1);
pub(crate) const STANDARD: RoomTypeId = RoomTypeId(2);
pub(crate) const ZOE: PrincipalId = PrincipalId(Uuid::from_u128(1));
pub(crate) const AARON: PrincipalId = PrincipalId(Uuid::from_u128(2));

pub(crate) fn day(of_november: u32) -> NaiveDate {
    NaiveDate::from_ymd_opt(2026, 11, of_november).expect("a day of November")
}

pub(crate) fn at(text: &str) -> Moment {
    Moment(text.parse().expect("an instant"))
}

pub(crate) fn night(room_type: RoomTypeId, of_november: u32) -> NightKey {
    NightKey { hotel: HOTEL, date: day(of_november), room_type }
}

/// Both types open on the 14th to the 20th with so many units.
pub(crate) fn world(sellable: u32) -> World {
    let mut world = World::new(Settings::default(), at("2026-01-10T06:00:00Z"));
    let zone = chrono_tz::Asia::Kolkata;
    world.hotels.insert(HOTEL, Hotel::new(zone));
    for (room_type, date) in [DELUXE, STANDARD].into_iter().flat_map(|t| (14..=20).map(move |d| (t, d))) {
        world.open_night(night(room_type, date), sellable);
    }
    world
}

/// 7,280.00 for each room and night.
pub(crate) fn document(first: u32, check_out: u32, rooms: &[RoomTypeId]) -> QuoteDocument {
    let stay = Stay::new(day(first), day(check_out)).expect("a stay");
    let amount = |nights: usize| {
        let currency: Currency = "INR".parse().expect("a currency");
        Money::exact(Decimal::from(7_280 * nights), currency).expect("money")
    };
    let room = |room_type: &RoomTypeId| QuotedRoom {
        room_type_id: *room_type,
        room_type: format!("RT-{room_type}").parse::<RoomTypeCode>().expect("a code"),
        rate_plan_id: RatePlanId(1),
        rate_plan: "FLEX".parse::<RatePlanCode>().expect("a code"),
        adults: 2,
        children_ages: Vec::new(),
        note: None,
        nights: stay.nights().map(|date| QuotedNight { date, amount: amount(1), price_version: 1 }).collect(),
        total: amount(usize::from(stay.len())),
        first_night: amount(1),
        cancellation: CancellationPolicy::default(),
        payment: PaymentPolicy::Prepay,
        deposit: None,
        terms_version: RuleVersion::FIRST,
    };
    let total = amount(rooms.len() * usize::from(stay.len()));
    let label = "rooms".to_owned();
    QuoteDocument {
        stay,
        rooms: rooms.iter().map(room).collect(),
        charges: vec![Charge { kind: ChargeKind::Room, label, amount: total, included: false, rule: None }],
        total,
        schedule: Vec::new(),
    }
}

pub(crate) fn quote_id(n: u128) -> QuoteId {
    QuoteId::new(HOTEL, Uuid::from_u128(n))
}

pub(crate) fn hold_id(n: u128) -> HoldId {
    HoldId::new(HOTEL, Uuid::from_u128(n))
}

pub(crate) fn attempt_id(n: u128) -> AttemptId {
    AttemptId::new(HOTEL, Uuid::from_u128(n))
}

pub(crate) fn new_ids(n: u128) -> NewIds {
    NewIds {
        reservation: ReservationId::new(HOTEL, Uuid::from_u128(n)),
        refund: RefundId::new(HOTEL, Uuid::from_u128(n)),
    }
}

pub(crate) fn guest(name: &str) -> Guest {
    Guest::new(GuestDetails { name: name.to_owned(), ..GuestDetails::default() }).expect("a guest")
}

/// The parts that a test wants to say in one line.
pub(crate) trait Told {
    fn quote(&mut self, n: u128, principal: PrincipalId, document: QuoteDocument);
    fn place(&mut self, n: u128, principal: PrincipalId, quote: u128, key: &str) -> Answer;
    fn release(&mut self, n: u128, principal: PrincipalId, key: &str) -> Answer;
    fn pay(&mut self, n: u128, principal: PrincipalId, hold: u128, key: &str) -> Answer;
    fn pass(&mut self, seconds: u64);
    fn counters(&self, room_type: RoomTypeId, of_november: u32) -> (u32, u32);
}

impl Told for World {
    fn quote(&mut self, n: u128, principal: PrincipalId, document: QuoteDocument) {
        let expires_at = self.now.plus(Duration::from_secs(600));
        self.quotes.insert(quote_id(n), Quote { principal, document, expires_at });
    }

    fn place(&mut self, n: u128, principal: PrincipalId, quote: u128, key: &str) -> Answer {
        let key = key.parse().expect("a key");
        self.place_hold(&PlaceHold { principal, key, quote: quote_id(quote), replaces: None, id: hold_id(n) })
    }

    fn release(&mut self, n: u128, principal: PrincipalId, key: &str) -> Answer {
        self.release_hold(&ReleaseHold { principal, key: key.parse().expect("a key"), hold: hold_id(n) })
    }

    fn pay(&mut self, n: u128, principal: PrincipalId, hold: u128, key: &str) -> Answer {
        self.start_attempt(&StartAttempt {
            principal,
            key: key.parse().expect("a key"),
            hold: hold_id(hold),
            method: "pm_ok".parse().expect("a token"),
            guest: guest("Zoë"),
            id: attempt_id(n),
        })
    }

    fn pass(&mut self, seconds: u64) {
        self.advance_to(self.now.plus(Duration::from_secs(seconds)));
    }

    /// Held and confirmed.
    fn counters(&self, room_type: RoomTypeId, of_november: u32) -> (u32, u32) {
        let Night { held, confirmed, .. } = self.nights[&night(room_type, of_november)];
        (held, confirmed)
    }
}

pub(crate) fn state_of(answer: &Answer) -> Option<HoldState> {
    match &answer.as_ref().ok()?.outcome {
        Outcome::Hold { state, .. } => Some(*state),
        _ => None,
    }
}
