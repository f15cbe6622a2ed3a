//! The sandbox's hotels: different zones, currencies and ways of taxing, with rates for the whole
//! horizon, no restrictions and nothing booked.

mod hotels;

use chrono::NaiveDate;
use keyrack_domain::{
    code::HotelCode, horizon::Horizon, hotel_profile::HotelProfile, operation_key::OperationKey,
    principal::Caller,
};
use keyrack_store::{clock, daily_rates};

use self::hotels::{Demo, demos};
use crate::{
    Fault, create_hotel,
    create_hotel::CreateHotelError,
    hotel_directory::{HotelDirectory, NoHotel},
    hotel_view,
    night_range::NightRange,
    rates::{self, RateChange, SetRates, SetRatesError},
};

#[derive(Debug, thiserror::Error)]
pub enum SeedError {
    #[error("a demo hotel cannot be set up")]
    Hotel(#[from] CreateHotelError),
    #[error("the rates of a demo hotel cannot be set")]
    Rates(#[from] SetRatesError),
    #[error("the name of a demo hotel cannot be used")]
    Name,
    #[error(transparent)]
    Fault(#[from] Fault),
}

impl From<NoHotel> for SeedError {
    fn from(error: NoHotel) -> Self {
        match error {
            NoHotel::NotFound => Self::Name,
            NoHotel::Fault(fault) => Self::Fault(fault),
        }
    }
}

/// Sets up what is missing, as an operator, and answers with the codes of all demo hotels. What is
/// there stays as it is, edited or not.
pub async fn seed(
    hotels: &HotelDirectory,
    horizon: Horizon,
    operator: &Caller,
) -> Result<Vec<HotelCode>, SeedError> {
    let mut codes = Vec::new();
    for demo in demos().map_err(|_| SeedError::Name)? {
        let code: HotelCode = demo.hotel.code.parse().map_err(|_| SeedError::Name)?;
        match hotels.by_code(&code).await {
            Ok(_) => {}
            Err(NoHotel::NotFound) => {
                let key = key(&code, "hotel")?;
                create_hotel::run(hotels, horizon, operator, demo.hotel.clone(), key).await?;
            }
            Err(NoHotel::Fault(fault)) => return Err(fault.into()),
        }
        set_rates(hotels, horizon, operator, &code, &demo).await?;
        codes.push(code);
    }
    Ok(codes)
}

/// All rates of a hotel are set in one transaction, so that one night's tells about all of them.
async fn set_rates(
    hotels: &HotelDirectory,
    horizon: Horizon,
    operator: &Caller,
    code: &HotelCode,
    demo: &Demo,
) -> Result<(), SeedError> {
    let profile = hotel_view::profile(hotels, code).await?;
    let (today, has_rates) = look(hotels, &profile, horizon).await?;
    if has_rates {
        return Ok(());
    }
    let (first, last) = (today, horizon.last_night(today));
    let changes = demo.prices.iter().map(|price| RateChange {
        room_type: price.room_type.clone(),
        rate_plan: price.rate_plan.clone(),
        range: NightRange::new(first, last, price.weekdays.clone()),
        amount: price.amount.to_owned(),
        extra_adult: Some(price.extra_adult.to_owned()),
        extra_child: Some(price.extra_child.to_owned()),
    });
    let request = SetRates { hotel: code.clone(), changes: changes.collect(), key: key(code, "rates")? };
    rates::set(hotels, horizon, operator, request).await?;
    Ok(())
}

/// The hotel's today, and whether its first room type has any rate from then on.
async fn look(
    hotels: &HotelDirectory,
    profile: &HotelProfile,
    horizon: Horizon,
) -> Result<(NaiveDate, bool), Fault> {
    let hotel = &profile.hotel;
    let mut connection = hotels.database(hotel)?.connection().await?;
    let today = clock::now(&mut connection).await?.date_in(hotel.zone);
    let Some(room_type) = profile.room_types.first() else { return Ok((today, false)) };
    let nights = (today, horizon.last_night(today));
    let (id, currency) = (hotel.id, hotel.currency);
    let rates = daily_rates::of_room_type(&mut connection, id, currency, room_type.id, None, nights).await?;
    Ok((today, !rates.is_empty()))
}

/// The same in every process: two that seed at once are one call and its repeat.
fn key(code: &HotelCode, what: &str) -> Result<OperationKey, SeedError> {
    format!("demo-{code}-{what}").parse().map_err(|_| SeedError::Name)
}
