//! The counters as the staff sees them, from the authority: `GET /v1/hotels/{h}/inventory`.

use keyrack_domain::{code::HotelCode, principal::Caller};
use keyrack_store::inventory_read;

use crate::{
    Fault,
    edit_inventory::NightView,
    hotel_directory::HotelDirectory,
    nights_query::{self, NightsQuery, NightsQueryError},
};

/// In date order; a night without a row is not for sale and absent.
pub async fn read(
    hotels: &HotelDirectory,
    caller: &Caller,
    hotel: &HotelCode,
    query: &NightsQuery,
) -> Result<Vec<NightView>, NightsQueryError> {
    let asked = nights_query::resolve(hotels, caller, hotel, query).await?;
    let hotel = &asked.profile.hotel;
    let mut connection = hotels.database(hotel)?.connection().await.map_err(Fault::from)?;
    let nights = (query.first_night, query.last_night);
    let rows = inventory_read::of_room_type(&mut connection, hotel.id, asked.room_type, nights).await;
    let count = |counter: i32| u32::try_from(counter).unwrap_or(0);
    let view = |(night, counters): (_, keyrack_store::nights::Night)| NightView {
        room_type: query.room_type.clone(),
        night,
        sellable: count(counters.sellable),
        held: count(counters.held),
        confirmed: count(counters.confirmed),
        reported: counters.reported.map(count),
    };
    Ok(rows.map_err(Fault::from)?.into_iter().map(view).collect())
}
