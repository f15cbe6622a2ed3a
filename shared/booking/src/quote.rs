//! The quote: a price promise for 600 s that claims nothing. `POST /v1/quotes`, `GET /v1/quotes/{id}`.

pub(crate) mod check;

use std::{collections::BTreeMap, sync::Arc};

use chrono::NaiveDate;
use chrono_tz::Tz;
use keyrack_db::{DbError, PgConnection};
use keyrack_domain::{
    clock::Moment,
    code::{HotelCode, RoomTypeCode},
    horizon::Horizon,
    hotel::HotelRef,
    hotel_profile::HotelProfile,
    ids::{HotelId, QuoteId, RoomTypeId},
    occupancy::RoomRequest,
    operation_key::{Endpoint, OperationKey},
    pricing::{self, DailyRate, PricedRoom, PricingError},
    principal::{Caller, Role},
    quote::{QuoteDocument, VALID_FOR},
    restriction::{Violation, violations},
    schedule,
    stay::Stay,
};
use keyrack_store::{
    clock, hotels, nights,
    nights::NightKey,
    quotes::{self, QuoteRow},
};
use serde::{Deserialize, Serialize};

use self::check::Chosen;
pub(crate) use self::check::{dates, misfit};
use crate::{
    Answered, Fault, FieldError, KeyRefusal,
    ended::Ended,
    entropy,
    hotel_directory::{HotelDirectory, NoHotel},
    key_claim::{self, Call, Done},
    offer,
};

pub const ENDPOINT: Endpoint = Endpoint("POST /v1/quotes");

#[derive(Clone, Debug)]
pub struct QuoteInput {
    pub hotel: HotelCode,
    pub check_in: NaiveDate,
    pub check_out: NaiveDate,
    pub rooms: Vec<RoomRequest>,
}

/// What the promise is, and, for information only, what was to be had when it was read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct QuoteView {
    pub id: QuoteId,
    pub hotel: HotelCode,
    /// In which its deadlines are told.
    pub zone: Tz,
    pub document: QuoteDocument,
    pub created_at: Moment,
    /// Valid while now <= expires_at.
    pub expires_at: Moment,
    /// Per room type and night, in that order. The hold alone decides.
    pub available: Vec<AvailableNight>,
    pub availability_as_of: Moment,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AvailableNight {
    pub room_type: RoomTypeId,
    pub night: NaiveDate,
    pub available: u32,
}

#[derive(Debug, thiserror::Error)]
pub enum QuoteError {
    /// Also for the credential of another hotel.
    #[error("no such hotel")]
    HotelNotFound,
    #[error("the input is wrong")]
    Invalid(Vec<FieldError>),
    /// 409 `RESTRICTION_VIOLATED`, with everything that is in the way.
    #[error("a restriction is in the way")]
    Restricted(Vec<Violation<RoomTypeCode>>),
    #[error(transparent)]
    Key(#[from] KeyRefusal),
    #[error(transparent)]
    Fault(#[from] Fault),
}

impl From<NoHotel> for QuoteError {
    fn from(error: NoHotel) -> Self {
        match error {
            NoHotel::NotFound => Self::HotelNotFound,
            NoHotel::Fault(fault) => Self::Fault(fault),
        }
    }
}

pub async fn make(
    hotels: &HotelDirectory,
    horizon: Horizon,
    caller: &Caller,
    input: QuoteInput,
    key: OperationKey,
) -> Result<Answered<QuoteView>, QuoteError> {
    let hotel = hotels.by_code(&input.hotel).await?;
    if !may_quote(caller, hotel.id) {
        return Err(QuoteError::HotelNotFound);
    }
    let (stay, rooms) = check::shape(input).map_err(QuoteError::Invalid)?;
    let call = Call::new(hotels, hotel.id, caller, ENDPOINT, key, &(stay, &rooms))?;
    let database = hotels.database(&hotel)?;
    let asked = Arc::new(Asked { hotel, horizon, caller: caller.clone(), stay, rooms });
    key_claim::once(database, "make_quote", call, move |connection| {
        let asked = Arc::clone(&asked);
        Box::pin(async move { asked.run(connection).await })
    })
    .await
}

/// Its owner's; anybody else's is not found. An expired one is still shown.
pub async fn find(hotels: &HotelDirectory, caller: &Caller, id: QuoteId) -> Result<Option<QuoteView>, Fault> {
    let Some(hotel) = hotel_of(hotels, id).await? else { return Ok(None) };
    let mut connection = hotels.database(&hotel)?.connection().await?;
    let found = quotes::read(&mut connection, [&id]).await?.pop();
    match found.filter(|quote| quote.principal == caller.principal) {
        Some(quote) => Ok(Some(view(&mut connection, &hotel, quote).await?)),
        None => Ok(None),
    }
}

/// A quote as it was made, for whoever asks why it costs what it does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explained {
    pub id: QuoteId,
    pub hotel: HotelCode,
    pub zone: Tz,
    pub document: QuoteDocument,
}

/// Its owner's, the staff's of its hotel, and operators'; anybody else's is not found.
pub async fn explain(
    hotels: &HotelDirectory,
    caller: &Caller,
    id: QuoteId,
) -> Result<Option<Explained>, Fault> {
    let Some(hotel) = hotel_of(hotels, id).await? else { return Ok(None) };
    let mut connection = hotels.database(&hotel)?.connection().await?;
    let found = quotes::read(&mut connection, [&id]).await?.pop();
    let may_see = |quote: &QuoteRow| match caller.role {
        Role::Operator => true,
        Role::Staff if caller.hotel == Some(hotel.id) => true,
        Role::Guest | Role::Staff | Role::Channel | Role::Pms | Role::Provider => {
            quote.principal == caller.principal
        }
    };
    let (code, zone) = (hotel.code.clone(), hotel.zone);
    Ok(found.filter(may_see).map(|quote| Explained { id, hotel: code, zone, document: quote.document }))
}

async fn hotel_of(hotels: &HotelDirectory, id: QuoteId) -> Result<Option<Arc<HotelRef>>, Fault> {
    match hotels.by_id(id.hotel()).await {
        Ok(hotel) => Ok(Some(hotel)),
        Err(NoHotel::NotFound) => Ok(None),
        Err(NoHotel::Fault(fault)) => Err(fault),
    }
}

/// Guests anywhere; whoever belongs to a hotel there, except those that sell nothing.
fn may_quote(caller: &Caller, hotel: HotelId) -> bool {
    match caller.role {
        Role::Guest | Role::Operator => true,
        Role::Staff | Role::Channel => caller.hotel == Some(hotel),
        Role::Pms | Role::Provider => false,
    }
}

#[derive(Debug)]
struct Asked {
    hotel: Arc<HotelRef>,
    horizon: Horizon,
    caller: Caller,
    stay: Stay,
    rooms: Vec<RoomRequest>,
}

impl Asked {
    async fn run(&self, connection: &mut PgConnection) -> Result<Done<QuoteView>, Ended<QuoteError>> {
        let refused = |error| Ended::Refused(error);
        let now = clock::now(connection).await?;
        let today = now.date_in(self.hotel.zone);
        let profile = hotels::profile(connection, self.hotel.id, self.hotel.shard).await?;
        let profile = profile.ok_or(Ended::Refused(QuoteError::HotelNotFound))?;
        let rooms = check::content(self.stay, &self.rooms, &profile, today, self.horizon)
            .map_err(|faults| refused(QuoteError::Invalid(faults)))?;
        let rates = offer::rates(connection, &self.hotel, self.stay, &rooms).await?;
        let in_the_way = self.in_the_way(connection, &rooms, &rates, today).await?;
        if !in_the_way.is_empty() {
            return Err(refused(QuoteError::Restricted(in_the_way)));
        }
        let mut document = self.price(&rooms, &rates, &profile).map_err(refused)?;
        document.schedule = schedule::of(&document, self.hotel.zone, now);
        let quote = QuoteRow {
            id: QuoteId::new(self.hotel.id, entropy::id()),
            principal: self.caller.principal,
            document,
            created_at: now,
            expires_at: now.plus(VALID_FOR),
        };
        quotes::insert(connection, &quote).await?;
        let answer = view(connection, &self.hotel, quote).await?;
        Ok(Done { answer, audit: Vec::new(), events: Vec::new() })
    }

    /// Restrictions and nights without a rate, in date order.
    async fn in_the_way(
        &self,
        connection: &mut PgConnection,
        rooms: &[Chosen<'_>],
        rates: &[BTreeMap<NaiveDate, DailyRate>],
        today: NaiveDate,
    ) -> Result<Vec<Violation<RoomTypeCode>>, DbError> {
        let rows = offer::rules(connection, self.hotel.id, self.stay, rooms).await?;
        let asked = rooms.iter().map(|room| (room.room_type.id, room.rate_plan.id));
        let told = |broken: Violation| {
            let room = rooms.iter().find(|room| room.room_type.id == broken.room_type)?;
            Some(broken.told(room.room_type.code.clone()))
        };
        let broken = violations(self.stay, today, asked, &rows);
        let mut found: Vec<_> = broken.into_iter().filter_map(told).collect();
        found.extend(offer::without_rate(self.stay, rooms, rates));
        found.extend(offer::in_conflict(connection, self.hotel.id, self.stay, rooms).await?);
        found.sort_unstable();
        found.dedup();
        Ok(found)
    }

    fn price(
        &self,
        rooms: &[Chosen<'_>],
        rates: &[BTreeMap<NaiveDate, DailyRate>],
        profile: &HotelProfile,
    ) -> Result<QuoteDocument, QuoteError> {
        let priced = rooms.iter().zip(rates).map(|(room, rates)| PricedRoom {
            request: room.request,
            room_type: room.room_type,
            rate_plan: room.rate_plan,
            rates,
        });
        let priced: Vec<PricedRoom<'_>> = priced.collect();
        pricing::price(self.stay, &priced, &profile.taxes, profile.hotel.currency).map_err(
            |error| match error {
                PricingError::TooLarge => {
                    let rule = "cost more together than any amount we handle";
                    QuoteError::Invalid(vec![FieldError::new("/rooms", "TOO_LARGE", rule)])
                }
                // A rate of nothing is as good as none: no hold of zero is ever placed.
                PricingError::NothingToPay => {
                    let without = rooms.iter().flat_map(|room| offer::no_rate(room, self.stay.nights()));
                    QuoteError::Restricted(without.collect())
                }
                // Both were asked before.
                PricingError::RoomCount | PricingError::NoRate(_) => Fault::internal(error).into(),
            },
        )
    }
}

/// The quote with what is to be had now.
async fn view(
    connection: &mut PgConnection,
    hotel: &HotelRef,
    quote: QuoteRow,
) -> Result<QuoteView, DbError> {
    let QuoteRow { id, document, created_at, expires_at, .. } = quote;
    let room_types = document.units_by_room_type().into_keys();
    let key = |room_type, date| NightKey { hotel: hotel.id, room_type, date };
    let wanted =
        room_types.flat_map(|room_type| document.stay.nights().map(move |date| key(room_type, date)));
    let wanted: Vec<NightKey> = wanted.collect();
    let found: BTreeMap<NightKey, _> = nights::read(connection, &wanted).await?.into_iter().collect();
    let available = wanted.iter().map(|key| AvailableNight {
        room_type: key.room_type,
        night: key.date,
        // A night without a row is not for sale.
        available: found.get(key).map_or(0, |night| u32::try_from(night.available()).unwrap_or(0)),
    });
    let available = available.collect();
    let availability_as_of = clock::now(connection).await?;
    let (hotel, zone) = (hotel.code.clone(), hotel.zone);
    Ok(QuoteView { id, hotel, zone, document, created_at, expires_at, available, availability_as_of })
}
