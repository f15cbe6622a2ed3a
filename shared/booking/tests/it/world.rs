//! Hotels to test with: one or two shards, the first being the directory too.

use std::collections::BTreeMap;

use chrono::NaiveDate;
use keyrack_booking::{
    Answered,
    create_hotel::{
        self, CreateHotelError, HotelInput, PenaltyInput, PenaltyKind, RatePlanInput, RoomTypeInput,
        RungInput, TaxInput,
    },
    hotel_directory::HotelDirectory,
    hotel_view::HotelView,
    night_range::NightRange,
    quote::{self, QuoteError, QuoteInput, QuoteView},
    rates::{self, RateChange, SetRates},
    restrictions::{self, RestrictionChange, RestrictionPatch, SetRestrictions},
    sandbox_clock,
};
use keyrack_db::Shards;
use keyrack_domain::{
    clock::Moment,
    code::HotelCode,
    horizon::Horizon,
    ids::{PrincipalId, ShardId},
    occupancy::RoomRequest,
    operation_key::OperationKey,
    policy::{LateCapture, PaymentPolicy},
    principal::{Caller, Role},
    tax::TaxKind,
};
use keyrack_testkit::TestDatabase;
use uuid::Uuid;

/// That of the field cases.
pub(crate) const HORIZON: Horizon = Horizon::days(540);

/// Where the clock of every test starts.
const START: &str = "2026-01-10T06:00:00Z";

pub(crate) struct World {
    pub(crate) databases: Vec<TestDatabase>,
    pub(crate) hotels: HotelDirectory,
    pub(crate) operator: Caller,
}

impl World {
    pub(crate) async fn new() -> Self {
        Self::with_shards(1).await
    }

    pub(crate) async fn with_shards(count: i32) -> Self {
        let mut databases = Vec::new();
        let mut shards = BTreeMap::new();
        for number in 1..=count {
            let database = TestDatabase::new().await;
            shards.insert(ShardId(number), database.database());
            databases.push(database);
        }
        let hotels = HotelDirectory::new(Shards::new(databases[0].database(), shards));
        sandbox_clock::start(hotels.shards(), at(START)).await.expect("the clock starts");
        Self { databases, hotels, operator: caller(Role::Operator) }
    }

    /// The first shard's database.
    pub(crate) fn database(&self) -> &TestDatabase {
        &self.databases[0]
    }

    pub(crate) async fn clock(&self, instant: &str) {
        let to = sandbox_clock::Move::To(at(instant));
        sandbox_clock::advance(self.hotels.shards(), to).await.expect("the clock goes forward");
    }

    pub(crate) async fn create(
        &self,
        hotel: HotelInput,
        key: &str,
    ) -> Result<Answered<HotelView>, CreateHotelError> {
        create_hotel::run(&self.hotels, HORIZON, &self.operator, hotel, self::key(key)).await
    }

    /// With one price for all its nights.
    pub(crate) async fn open(&self, hotel: HotelInput, amount: &str) -> HotelCode {
        let code = self.create(hotel, "open").await.expect("a hotel").answer.code;
        self.price(&code, amount).await;
        code
    }

    pub(crate) async fn price(&self, hotel: &HotelCode, amount: &str) {
        let zone = self.hotels.by_code(hotel).await.expect("the hotel").zone;
        let today = self.now().await.date_in(zone);
        let change = rate_change(today, HORIZON.last_night(today), amount);
        self.set_rates(hotel, vec![change]).await;
    }

    pub(crate) async fn set_rates(&self, hotel: &HotelCode, changes: Vec<RateChange>) {
        let request = SetRates { hotel: hotel.clone(), changes, key: fresh_key() };
        rates::set(&self.hotels, HORIZON, &self.operator, request).await.expect("rates are set");
    }

    /// Of RT-DLX, on one date; under one plan, or under every plan.
    pub(crate) async fn restrict(
        &self,
        hotel: &HotelCode,
        rate_plan: Option<&str>,
        date: &str,
        patch: RestrictionPatch,
    ) {
        let change = RestrictionChange {
            room_type: "RT-DLX".parse().expect("a code"),
            rate_plan: rate_plan.map(|code| code.parse().expect("a code")),
            range: NightRange::new(day(date), day(date), None),
            patch,
        };
        let request = SetRestrictions { hotel: hotel.clone(), changes: vec![change], key: fresh_key() };
        restrictions::set(&self.hotels, HORIZON, &self.operator, request)
            .await
            .expect("restrictions are set");
    }

    pub(crate) async fn now(&self) -> Moment {
        let now = self.database().value("SELECT keyrack_now()").await;
        at(now.as_str().expect("an instant"))
    }

    pub(crate) async fn quote(
        &self,
        guest: &Caller,
        hotel: &HotelCode,
        stay: (&str, &str),
    ) -> Result<QuoteView, QuoteError> {
        let made = quote::make(&self.hotels, HORIZON, guest, asked(hotel, stay), fresh_key()).await;
        made.map(|answered| answered.answer)
    }
}

pub(crate) fn at(instant: &str) -> Moment {
    Moment(instant.parse().expect("an instant"))
}

pub(crate) fn day(text: &str) -> NaiveDate {
    text.parse().expect("a date")
}

pub(crate) fn key(text: &str) -> OperationKey {
    text.parse().expect("a key")
}

pub(crate) fn fresh_key() -> OperationKey {
    key(&Uuid::new_v4().to_string())
}

pub(crate) fn caller(role: Role) -> Caller {
    Caller { principal: PrincipalId(Uuid::new_v4()), role, hotel: None, request_id: "req-1".to_owned() }
}

pub(crate) fn guest() -> Caller {
    caller(Role::Guest)
}

/// One room for two adults.
pub(crate) fn asked(hotel: &HotelCode, stay: (&str, &str)) -> QuoteInput {
    QuoteInput {
        hotel: hotel.clone(),
        check_in: day(stay.0),
        check_out: day(stay.1),
        rooms: vec![room("RT-DLX", 2, &[])],
    }
}

pub(crate) fn room(room_type: &str, adults: u16, children_ages: &[u8]) -> RoomRequest {
    RoomRequest {
        room_type: room_type.parse().expect("a code"),
        rate_plan: "FLEX".parse().expect("a code"),
        adults,
        children_ages: children_ages.to_vec(),
        note: None,
    }
}

pub(crate) fn rate_change(first: NaiveDate, last: NaiveDate, amount: &str) -> RateChange {
    RateChange {
        room_type: "RT-DLX".parse().expect("a code"),
        rate_plan: "FLEX".parse().expect("a code"),
        range: NightRange::new(first, last, None),
        amount: amount.to_owned(),
        extra_adult: None,
        extra_child: None,
    }
}

/// The worked example: Asia/Kolkata, INR, 12 % GST on top.
pub(crate) fn htl_204() -> HotelInput {
    hotel("HTL-204", "Asia/Kolkata", "INR", vec![percent("GST", "12", false)])
}

pub(crate) fn hotel(code: &str, time_zone: &str, currency: &str, taxes: Vec<TaxInput>) -> HotelInput {
    HotelInput {
        code: code.to_owned(),
        name: "A hotel".to_owned(),
        time_zone: time_zone.to_owned(),
        currency: currency.to_owned(),
        city: "A city".to_owned(),
        latitude: None,
        longitude: None,
        late_capture: LateCapture::Refund,
        taxes,
        room_types: vec![room_type("RT-DLX"), room_type("RT-STD")],
        rate_plans: vec![RatePlanInput {
            code: "FLEX".to_owned(),
            name: "Flexible".to_owned(),
            cancellation: vec![RungInput {
                until_days_before: 2,
                until_time: "18:00".to_owned(),
                penalty: PenaltyInput { kind: PenaltyKind::None, value: None },
            }],
            payment: PaymentPolicy::Prepay,
            deposit: None,
        }],
    }
}

pub(crate) fn percent(label: &str, value: &str, included: bool) -> TaxInput {
    TaxInput {
        kind: TaxKind::Percent,
        label: label.to_owned(),
        value: value.to_owned(),
        included,
        from_amount: None,
        to_amount: None,
    }
}

fn room_type(code: &str) -> RoomTypeInput {
    RoomTypeInput {
        code: code.to_owned(),
        name: "A room".to_owned(),
        base_occupancy: 2,
        max_adults: 2,
        max_children: 2,
        max_occupancy: 3,
        units: 5,
    }
}
