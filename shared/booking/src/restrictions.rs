//! Rules for new sales: `PUT` and `GET /v1/hotels/{h}/restrictions`. What a change does not name stays
//! as it is; `null` clears. They never touch what is held or booked.

mod plan;
mod runs;

use std::sync::Arc;

use chrono::NaiveDate;
use keyrack_db::{DbError, PgConnection};
use keyrack_domain::{
    actor::Actor,
    code::{HotelCode, RatePlanCode, RoomTypeCode},
    event::{Event, NightRules, RestrictionsChanged},
    horizon::Horizon,
    hotel::HotelRef,
    hotel_profile::HotelProfile,
    operation_key::{Endpoint, OperationKey},
    principal::Caller,
    restriction::{RatePlanScope, Restrictions},
};
use keyrack_store::{
    audit::NewAudit, clock, hotels, outbox::NewEvent, restrictions, restrictions::Window, room_types,
};
use serde::Serialize;

use self::plan::Patches;
pub use self::runs::{NightRestrictionView, RestrictionRun, RestrictionsSet};
use crate::{
    Answered, Fault, FieldError, KeyRefusal,
    ended::Ended,
    hotel_directory::{HotelDirectory, NoHotel},
    key_claim::{self, Call, Done},
    night_range::{self, NightRange},
    nights_query::{self, NightsQuery, NightsQueryError},
};

pub const ENDPOINT: Endpoint = Endpoint("PUT /v1/hotels/{hotel}/restrictions");

/// Nights told in one event; a message has a bounded size.
const NIGHTS_PER_EVENT: usize = 1_000;

#[derive(Clone, Debug)]
pub struct SetRestrictions {
    pub hotel: HotelCode,
    /// Applied one after the other.
    pub changes: Vec<RestrictionChange>,
    pub key: OperationKey,
}

#[derive(Clone, Debug, Serialize)]
pub struct RestrictionChange {
    pub room_type: RoomTypeCode,
    /// `None`: the room type under every plan.
    pub rate_plan: Option<RatePlanCode>,
    pub range: NightRange,
    pub patch: RestrictionPatch,
}

#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct RestrictionPatch {
    pub stop_sell: Patch<bool>,
    pub min_stay_arrival: Patch<u16>,
    pub min_stay_through: Patch<u16>,
    pub max_stay: Patch<u16>,
    pub closed_to_arrival: Patch<bool>,
    pub closed_to_departure: Patch<bool>,
    pub min_advance_days: Patch<u16>,
    pub max_advance_days: Patch<u16>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub enum Patch<T> {
    /// As it is.
    #[default]
    Keep,
    Clear,
    Set(T),
}

#[derive(Debug, thiserror::Error)]
pub enum SetRestrictionsError {
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

impl From<NoHotel> for SetRestrictionsError {
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
    request: SetRestrictions,
) -> Result<Answered<RestrictionsSet>, SetRestrictionsError> {
    let hotel = hotels.by_code(&request.hotel).await?;
    if !caller.runs(hotel.id) {
        return Err(SetRestrictionsError::HotelNotFound);
    }
    let faults = plan::faults(&request.changes);
    if !faults.is_empty() {
        return Err(SetRestrictionsError::Invalid(faults));
    }
    let call = Call::new(hotels, hotel.id, caller, ENDPOINT, request.key, &request.changes)?;
    let database = hotels.database(&hotel)?;
    let edit = Arc::new(Edit { hotel, horizon, caller: caller.clone(), changes: request.changes });
    key_claim::once(database, "set_restrictions", call, move |connection| {
        let edit = Arc::clone(&edit);
        Box::pin(async move { edit.run(connection).await })
    })
    .await
}

/// In order of plan, those of every plan first, and date; a night without a rule is absent.
pub async fn read(
    hotels: &HotelDirectory,
    caller: &Caller,
    hotel: &HotelCode,
    query: &NightsQuery,
) -> Result<Vec<NightRestrictionView>, NightsQueryError> {
    let asked = nights_query::resolve(hotels, caller, hotel, query).await?;
    let hotel = &asked.profile.hotel;
    let mut connection = hotels.database(hotel)?.connection().await.map_err(Fault::from)?;
    let window = Window {
        hotel: hotel.id,
        room_type: asked.room_type,
        first: query.first_night,
        last: query.last_night,
    };
    let rows = restrictions::in_windows(&mut connection, &[window]).await.map_err(Fault::from)?;
    let mut rows = rows.into_values().next().unwrap_or_default();
    if let Some(plan) = asked.rate_plan {
        rows.retain(|(_, scope, _), _| *scope == RatePlanScope::Plan(plan));
    }
    Ok(RestrictionsSet::new(&asked.profile, &rows).map_err(Fault::from)?.nights().collect())
}

#[derive(Debug)]
struct Edit {
    hotel: Arc<HotelRef>,
    horizon: Horizon,
    caller: Caller,
    changes: Vec<RestrictionChange>,
}

impl Edit {
    async fn run(
        &self,
        connection: &mut PgConnection,
    ) -> Result<Done<RestrictionsSet>, Ended<SetRestrictionsError>> {
        let invalid = |faults| Ended::Refused(SetRestrictionsError::Invalid(faults));
        let hotel = self.hotel.as_ref();
        let today = clock::now(connection).await?.date_in(hotel.zone);
        let profile = hotels::profile(connection, hotel.id, hotel.shard).await?;
        let profile = profile.ok_or(Ended::Refused(SetRestrictionsError::HotelNotFound))?;
        let patches = self.patches(&profile, today).map_err(invalid)?;
        let mut types: Vec<_> = patches.keys().map(|(room_type, _, _)| *room_type).collect();
        types.dedup();
        room_types::lock(connection, hotel.id, &types).await?;
        let keys: Vec<_> = patches.keys().copied().collect();
        let before = restrictions::read(connection, hotel.id, &keys).await?;
        let after = plan::apply(&self.changes, &patches, &before).map_err(invalid)?;
        restrictions::replace(connection, hotel.id, &before, &after).await?;
        Ok(self.done(&profile, &before, &after)?)
    }

    fn patches(&self, profile: &HotelProfile, today: NaiveDate) -> Result<Patches, Vec<FieldError>> {
        let ranges = self.changes.iter().map(|change| &change.range);
        // The morning after the last night can be closed to departure.
        let last = self.horizon.opened_until(today);
        let mut faults = night_range::faults_today(ranges, today, last);
        faults.extend(plan::unknown_codes(&self.changes, profile));
        if faults.is_empty() { Ok(plan::by_night(&self.changes, profile)) } else { Err(faults) }
    }

    fn done(
        &self,
        profile: &HotelProfile,
        before: &Restrictions,
        after: &Restrictions,
    ) -> Result<Done<RestrictionsSet>, DbError> {
        let answer = RestrictionsSet::new(profile, after)?;
        let json = |rows: &RestrictionsSet| {
            serde_json::to_value(rows).map(Some).map_err(|e| DbError::unreadable("audit entry", &e))
        };
        let audit = NewAudit {
            hotel: self.hotel.id,
            actor: Actor::Caller(self.caller.clone()),
            action: "restrictions.set",
            subject: self.hotel.code.to_string(),
            before: json(&RestrictionsSet::new(profile, before)?)?,
            after: json(&answer)?,
        };
        Ok(Done { answer, audit: vec![audit], events: self.events(after) })
    }

    fn events(&self, after: &Restrictions) -> Vec<NewEvent> {
        let nights = after.iter().map(|((room_type_id, rate_plan_id, night), restriction)| NightRules {
            room_type_id: *room_type_id,
            rate_plan_id: *rate_plan_id,
            night: *night,
            restriction: *restriction,
        });
        let nights: Vec<NightRules> = nights.collect();
        let event = |nights: &[NightRules]| NewEvent {
            hotel: self.hotel.id,
            event: Event::RestrictionsChanged(RestrictionsChanged { nights: nights.to_vec() }),
        };
        nights.chunks(NIGHTS_PER_EVENT).map(event).collect()
    }
}
