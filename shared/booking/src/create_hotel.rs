//! Setting a hotel up: `POST /v1/hotels`. First its entry in the directory, then everything else in
//! one transaction on its shard.
//!
//! A crash between the two leaves an entry without a hotel. Nobody finds that hotel, and whoever
//! sets up its code next, the repeat of the same call first of all, takes the entry over.

mod input;

use std::sync::Arc;

use keyrack_db::{DbError, PgConnection};
use keyrack_domain::{
    actor::Actor,
    code::HotelCode,
    horizon::Horizon,
    hotel::HotelRef,
    hotel_profile::HotelProfile,
    ids::{HotelId, ShardId},
    operation_key::{Endpoint, OperationKey},
    principal::{Caller, Role},
};
use keyrack_store::{audit::NewAudit, clock, directory, horizon, hotels, rate_plans, room_types, taxes};

pub use self::input::{
    HotelInput, PenaltyInput, PenaltyKind, RatePlanInput, RoomTypeInput, RungInput, TaxInput,
};
use crate::{
    Answered, Fault, FieldError, KeyRefusal, availability,
    ended::Ended,
    hotel_directory::HotelDirectory,
    hotel_view::HotelView,
    key_claim::{self, Call, Done},
};

pub const ENDPOINT: Endpoint = Endpoint("POST /v1/hotels");

#[derive(Debug, thiserror::Error)]
pub enum CreateHotelError {
    /// Only operators set hotels up; told like what does not exist.
    #[error("not an operator")]
    NotAnOperator,
    #[error("the input is wrong")]
    Invalid(Vec<FieldError>),
    /// 409 `ALREADY_EXISTS`
    #[error("the code is taken")]
    CodeTaken(HotelCode),
    #[error(transparent)]
    Key(#[from] KeyRefusal),
    #[error(transparent)]
    Fault(#[from] Fault),
}

pub async fn run(
    hotels: &HotelDirectory,
    horizon: Horizon,
    caller: &Caller,
    input: HotelInput,
    key: OperationKey,
) -> Result<Answered<HotelView>, CreateHotelError> {
    if caller.role != Role::Operator {
        return Err(CreateHotelError::NotAnOperator);
    }
    // Not entered yet, so that it has no number and no shard.
    let nowhere = (HotelId(0), ShardId(0));
    let mut profile = input.check(nowhere).map_err(CreateHotelError::Invalid)?;
    let entry = enter(hotels, &profile.hotel.code).await?;
    profile.hotel = HotelRef { id: entry.hotel, shard: entry.shard, ..profile.hotel };
    let call = Call::new(hotels, entry.hotel, caller, ENDPOINT, key, &HotelView::from(profile.clone()))?;
    let database = hotels.database(&profile.hotel)?;
    let setup = Arc::new(Setup { profile, horizon, caller: caller.clone(), call });
    let outcome = database
        .transaction("create_hotel", move |connection: &mut PgConnection| {
            let setup = Arc::clone(&setup);
            Box::pin(async move { setup.run(connection).await })
        })
        .await;
    outcome.map_err(Ended::into_error)
}

/// The entry of a code that is there already, or a new one on the shard with the fewest hotels.
async fn enter(hotels: &HotelDirectory, code: &HotelCode) -> Result<directory::Entry, Fault> {
    let mut connection = hotels.shards().directory().connection().await?;
    if let Some(entry) = directory::by_code(&mut connection, code).await? {
        return Ok(entry);
    }
    let counts = directory::hotels_by_shard(&mut connection).await?;
    let count = |shard| counts.iter().find(|(other, _)| *other == shard).map_or(0, |(_, count)| *count);
    let emptiest = hotels.shards().all().map(|(id, _)| id).min_by_key(|id| (count(*id), *id));
    let shard = emptiest.ok_or_else(|| Fault::internal("no shard is configured"))?;
    drop(connection);
    let code = code.clone();
    let entering: Result<directory::Entry, DbError> = hotels
        .shards()
        .directory()
        .transaction("enter_hotel", move |connection| {
            let code = code.clone();
            Box::pin(async move { directory::enter(connection, &code, shard).await })
        })
        .await;
    Ok(entering?)
}

/// All that the transaction needs.
#[derive(Debug)]
struct Setup {
    profile: HotelProfile,
    horizon: Horizon,
    caller: Caller,
    call: Call,
}

impl Setup {
    async fn run(
        &self,
        connection: &mut PgConnection,
    ) -> Result<Answered<HotelView>, Ended<CreateHotelError>> {
        // The hotel's row comes before the key, which refers to it; it serializes copies just as well.
        match hotels::insert(connection, &self.profile).await {
            Ok(true) => {}
            Ok(false) => {
                let earlier = key_claim::recall(connection, &self.call).await?;
                let taken = || CreateHotelError::CodeTaken(self.profile.hotel.code.clone());
                return earlier.ok_or_else(|| Ended::Refused(taken()));
            }
            Err(DbError::LockTimeout(_)) => return Err(key_claim::in_progress()),
            Err(error) => return Err(error.into()),
        }
        if let Some(earlier) = key_claim::claim(connection, &self.call).await? {
            return Ok(earlier);
        }
        let done = self.write(connection).await?;
        key_claim::finish(connection, &self.call, done).await
    }

    async fn write(&self, connection: &mut PgConnection) -> Result<Done<HotelView>, DbError> {
        let HotelProfile { hotel, room_types, rate_plans, taxes, .. } = &self.profile;
        room_types::insert(connection, hotel.id, room_types).await?;
        rate_plans::insert(connection, hotel.id, rate_plans).await?;
        taxes::insert(connection, hotel.id, taxes).await?;
        let today = clock::now(connection).await?.date_in(hotel.zone);
        let until = self.horizon.opened_until(today);
        let opened = horizon::open_nights(connection, hotel.id, today, until).await?;
        hotels::set_opened_until(connection, hotel.id, until).await?;
        let view = HotelView::from(self.profile.clone());
        let after = serde_json::to_value(&view).map_err(|e| DbError::unreadable("hotel", &e))?;
        let audit = NewAudit {
            hotel: hotel.id,
            actor: Actor::Caller(self.caller.clone()),
            action: "hotel.created",
            subject: hotel.code.to_string(),
            before: None,
            after: Some(after),
        };
        Ok(Done { answer: view, audit: vec![audit], events: availability::told(hotel.id, &opened) })
    }
}
