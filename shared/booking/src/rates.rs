//! Prices by night: `PUT` and `GET /v1/hotels/{h}/rates`. Every edit of a night raises its
//! `price_version`, also one that sets what was there: quotes name the version that they used.

mod plan;
mod runs;

use std::{collections::BTreeMap, sync::Arc};

use chrono::NaiveDate;
use keyrack_db::{DbError, PgConnection};
use keyrack_domain::{
    actor::Actor,
    code::{HotelCode, RatePlanCode, RoomTypeCode},
    event::{Event, NightRate, RatesChanged},
    horizon::Horizon,
    hotel::HotelRef,
    hotel_profile::HotelProfile,
    money::Money,
    operation_key::{Endpoint, OperationKey},
    pricing::DailyRate,
    principal::Caller,
};
use keyrack_store::{
    audit::NewAudit, clock, daily_rates, daily_rates::RateKey, hotels, outbox::NewEvent, room_types,
};
use serde::Serialize;

use self::plan::Wanted;
pub use self::runs::{NightRateView, RateRun, RatesSet};
use crate::{
    Answered, Fault, FieldError, KeyRefusal,
    ended::Ended,
    hotel_directory::{HotelDirectory, NoHotel},
    key_claim::{self, Call, Done},
    night_range::{self, NightRange},
    nights_query::{self, NightsQuery, NightsQueryError},
};

pub const ENDPOINT: Endpoint = Endpoint("PUT /v1/hotels/{hotel}/rates");

/// Nights told in one event; a message has a bounded size.
const NIGHTS_PER_EVENT: usize = 1_000;

#[derive(Clone, Debug)]
pub struct SetRates {
    pub hotel: HotelCode,
    /// A later change wins over an earlier one of the same night.
    pub changes: Vec<RateChange>,
    pub key: OperationKey,
}

/// Amounts as they were written, in the hotel's currency.
#[derive(Clone, Debug)]
pub struct RateChange {
    pub room_type: RoomTypeCode,
    pub rate_plan: RatePlanCode,
    pub range: NightRange,
    pub amount: String,
    /// `None`: as it is; nothing where the night had no rate.
    pub extra_adult: Option<String>,
    pub extra_child: Option<String>,
}

#[derive(Debug, thiserror::Error)]
pub enum SetRatesError {
    /// Also for everybody but the hotel's staff and operators.
    #[error("no such hotel")]
    HotelNotFound,
    #[error("the input is wrong")]
    Invalid(Vec<FieldError>),
    #[error(transparent)]
    Key(#[from] KeyRefusal),
    #[error(transparent)]
    Fault(#[from] Fault),
}

impl From<NoHotel> for SetRatesError {
    fn from(error: NoHotel) -> Self {
        match error {
            NoHotel::NotFound => Self::HotelNotFound,
            NoHotel::Fault(fault) => Self::Fault(fault),
        }
    }
}

pub async fn set(
    hotels: &HotelDirectory,
    horizon: Horizon,
    caller: &Caller,
    request: SetRates,
) -> Result<Answered<RatesSet>, SetRatesError> {
    let hotel = hotels.by_code(&request.hotel).await?;
    if !caller.runs(hotel.id) {
        return Err(SetRatesError::HotelNotFound);
    }
    let changes = plan::read(&request.changes, hotel.currency).map_err(SetRatesError::Invalid)?;
    let call = Call::new(hotels, hotel.id, caller, ENDPOINT, request.key, &changes)?;
    let database = hotels.database(&hotel)?;
    let edit = Arc::new(Edit { hotel, horizon, caller: caller.clone(), changes });
    key_claim::once(database, "set_rates", call, move |connection| {
        let edit = Arc::clone(&edit);
        Box::pin(async move { edit.run(connection).await })
    })
    .await
}

/// In order of plan and date; a night without a rate is absent.
pub async fn read(
    hotels: &HotelDirectory,
    caller: &Caller,
    hotel: &HotelCode,
    query: &NightsQuery,
) -> Result<Vec<NightRateView>, NightsQueryError> {
    let asked = nights_query::resolve(hotels, caller, hotel, query).await?;
    let hotel = &asked.profile.hotel;
    let mut connection = hotels.database(hotel)?.connection().await.map_err(Fault::from)?;
    let nights = (query.first_night, query.last_night);
    let (room_type, rate_plan) = (asked.room_type, asked.rate_plan);
    let rows =
        daily_rates::of_room_type(&mut connection, hotel.id, hotel.currency, room_type, rate_plan, nights)
            .await;
    let rows = rows.map_err(Fault::from)?;
    let rates = RatesSet::new(&asked.profile, rows.iter().map(|(key, rate)| (key, rate)));
    Ok(rates.map_err(Fault::from)?.nights().collect())
}

/// A change whose amounts have been read. Its serialization is what a key's repeat is compared by.
#[derive(Clone, Debug, Serialize)]
struct Change {
    room_type: RoomTypeCode,
    rate_plan: RatePlanCode,
    range: NightRange,
    amount: Money,
    extra_adult: Option<Money>,
    extra_child: Option<Money>,
}

#[derive(Debug)]
struct Edit {
    hotel: Arc<HotelRef>,
    horizon: Horizon,
    caller: Caller,
    changes: Vec<Change>,
}

impl Edit {
    async fn run(&self, connection: &mut PgConnection) -> Result<Done<RatesSet>, Ended<SetRatesError>> {
        let hotel = self.hotel.as_ref();
        let today = clock::now(connection).await?.date_in(hotel.zone);
        let profile = hotels::profile(connection, hotel.id, hotel.shard).await?;
        let profile = profile.ok_or(Ended::Refused(SetRatesError::HotelNotFound))?;
        let wanted =
            self.wanted(&profile, today).map_err(|faults| Ended::Refused(SetRatesError::Invalid(faults)))?;
        let mut types: Vec<_> = wanted.keys().map(|key| key.room_type).collect();
        types.dedup();
        room_types::lock(connection, hotel.id, &types).await?;
        let keys: Vec<RateKey> = wanted.keys().copied().collect();
        let before = daily_rates::read(connection, hotel.id, hotel.currency, &keys).await?;
        let after = plan::apply(&wanted, &before)?;
        daily_rates::set(connection, hotel.id, &after).await?;
        Ok(self.done(&profile, &before, &after)?)
    }

    fn wanted(
        &self,
        profile: &HotelProfile,
        today: NaiveDate,
    ) -> Result<BTreeMap<RateKey, Wanted>, Vec<FieldError>> {
        let ranges = self.changes.iter().map(|change| &change.range);
        let mut faults = night_range::faults_today(ranges, today, self.horizon.last_night(today));
        faults.extend(plan::unknown_codes(&self.changes, profile));
        if faults.is_empty() { Ok(plan::fold(&self.changes, profile)) } else { Err(faults) }
    }

    fn done(
        &self,
        profile: &HotelProfile,
        before: &BTreeMap<RateKey, DailyRate>,
        after: &BTreeMap<RateKey, DailyRate>,
    ) -> Result<Done<RatesSet>, DbError> {
        let answer = RatesSet::new(profile, after)?;
        let json = |rates: &RatesSet| {
            serde_json::to_value(rates).map(Some).map_err(|e| DbError::unreadable("audit entry", &e))
        };
        let audit = NewAudit {
            hotel: self.hotel.id,
            actor: Actor::Caller(self.caller.clone()),
            action: "rates.set",
            subject: self.hotel.code.to_string(),
            before: json(&RatesSet::new(profile, before)?)?,
            after: json(&answer)?,
        };
        Ok(Done { answer, audit: vec![audit], events: self.events(after) })
    }

    fn events(&self, after: &BTreeMap<RateKey, DailyRate>) -> Vec<NewEvent> {
        let nights = after.iter().map(|(key, rate)| NightRate {
            room_type_id: key.room_type,
            rate_plan_id: key.rate_plan,
            night: key.night,
            amount: rate.amount,
            price_version: rate.price_version,
        });
        let nights: Vec<NightRate> = nights.collect();
        let event = |nights: &[NightRate]| NewEvent {
            hotel: self.hotel.id,
            event: Event::RatesChanged(RatesChanged { nights: nights.to_vec() }),
        };
        nights.chunks(NIGHTS_PER_EVENT).map(event).collect()
    }
}
