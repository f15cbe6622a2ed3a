//! What a channel delivers, and what is wrong with it whatever the day.

use chrono::{NaiveDate, NaiveTime};
use keyrack_domain::{
    code::{RatePlanCode, RoomTypeCode},
    guest::Guest,
    hotel::{RatePlan, RoomType},
    hotel_profile::HotelProfile,
    money::{Currency, Money},
    occupancy::RoomRequest,
    operation_key::{Endpoint, Fingerprint},
    policy::{CancellationPolicy, PaymentPolicy, Penalty, Rung},
    quote::{Charge, ChargeKind, MAX_ROOMS, QuoteDocument, QuotedNight, QuotedRoom},
    rule_version::RuleVersion,
    spread::spread,
    stay::Stay,
    text::check_line,
};
use keyrack_ledger::Delivery;
use serde::{Deserialize, Serialize};

use crate::{Fault, FieldError, key};

const ENDPOINT: Endpoint = Endpoint("PUT /v1/hotels/{hotel}/channel-bookings/{channel}/{booking_id}");

/// The longest name for a room type or plan that a channel may use, in code points: it is kept where the
/// hotel does not know it.
const MAX_NAME: usize = 64;

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Delivered {
    pub revision: i64,
    pub check_in: NaiveDate,
    pub check_out: NaiveDate,
    pub rooms: Vec<DeliveredRoom>,
    pub guest: Guest,
    /// As it was written.
    pub total: String,
    pub currency: String,
}

/// With the channel's words for what it has sold, which may not be those of the hotel.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct DeliveredRoom {
    pub room_type: String,
    /// Left out: the hotel's first plan.
    pub rate_plan: Option<String>,
    pub adults: u16,
    pub children_ages: Vec<u8>,
}

/// What is to be booked.
#[derive(Clone, Debug)]
pub struct Wanted {
    pub guest: Guest,
    pub document: QuoteDocument,
}

/// Why it cannot be placed: the names that the hotel does not have.
pub(crate) type Unmapped = Vec<FieldError>;

/// Of everything but the revision, since a repeat may carry another one.
pub(super) fn fingerprint(delivered: &Delivered) -> Result<Fingerprint, Fault> {
    // An amount is the same however many zeros it was written with.
    let currency: Option<Currency> = delivered.currency.parse().ok();
    let total = currency.and_then(|currency| Money::parse(&delivered.total, currency).ok());
    let Delivered { check_in, check_out, rooms, guest, .. } = delivered;
    key::fingerprint(ENDPOINT, &(check_in, check_out, rooms, guest, total))
}

pub(super) fn as_it_came(delivered: &Delivered) -> Result<Delivery, Fault> {
    serde_json::to_value(delivered).map(Delivery).map_err(Fault::internal)
}

/// Everything that is wrong at once. Names that the hotel does not have are no fault of the form: nothing
/// is guessed for them, and the booking waits for somebody.
pub(super) fn read(
    delivered: &Delivered,
    profile: &HotelProfile,
) -> Result<Result<Wanted, Unmapped>, Vec<FieldError>> {
    let mut faults = Vec::new();
    if delivered.revision < 0 {
        faults.push(FieldError::new("/revision", "OUT_OF_RANGE", "must not be below 0"));
    }
    let stay = Stay::new(delivered.check_in, delivered.check_out)
        .map_err(|fault| faults.push(FieldError::new("/check_out", "INVALID_STAY", fault.to_string())))
        .ok();
    if delivered.rooms.is_empty() || delivered.rooms.len() > MAX_ROOMS {
        let rule = format!("must have 1 to {MAX_ROOMS} entries, one for each room");
        faults.push(FieldError::new("/rooms", "OUT_OF_RANGE", rule));
    }
    let total = total(delivered, profile.hotel.currency).map_err(|fault| faults.push(fault)).ok();
    let mut unmapped = Vec::new();
    let mut rooms = Vec::new();
    for (n, room) in delivered.rooms.iter().enumerate() {
        rooms.extend(chosen(room, &format!("/rooms/{n}"), profile, &mut faults, &mut unmapped));
    }
    match (stay, total) {
        _ if !faults.is_empty() => Err([faults, unmapped].concat()),
        _ if !unmapped.is_empty() => Ok(Err(unmapped)),
        (Some(stay), Some(total)) => {
            let document = document(stay, &rooms, total).ok_or_else(|| vec![too_large()])?;
            Ok(Ok(Wanted { guest: delivered.guest.clone(), document }))
        }
        _ => Err(faults),
    }
}

fn too_large() -> FieldError {
    FieldError::new("/total/amount", "TOO_LARGE", "is larger than any amount we handle")
}

fn total(delivered: &Delivered, currency: Currency) -> Result<Money, FieldError> {
    if delivered.currency != currency.code() {
        let rule = format!("must be {}, the currency of the hotel", currency.code());
        return Err(FieldError::new("/total/currency", "CURRENCY", rule));
    }
    Money::parse(&delivered.total, currency).map_err(|fault| {
        let code = match fault {
            keyrack_domain::money::InvalidAmount::NotADecimal => "INVALID_AMOUNT",
            keyrack_domain::money::InvalidAmount::TooManyDecimals => "TOO_MANY_DECIMALS",
            keyrack_domain::money::InvalidAmount::TooLarge => "TOO_LARGE",
        };
        FieldError::new("/total/amount", code, fault.to_string())
    })
}

struct Chosen<'a> {
    room: &'a DeliveredRoom,
    room_type: &'a RoomType,
    rate_plan: &'a RatePlan,
}

fn chosen<'a>(
    room: &'a DeliveredRoom,
    at: &str,
    profile: &'a HotelProfile,
    faults: &mut Vec<FieldError>,
    unmapped: &mut Vec<FieldError>,
) -> Option<Chosen<'a>> {
    let names = [("room_type", Some(&room.room_type)), ("rate_plan", room.rate_plan.as_ref())];
    for (field, name) in names {
        if let Some(Err(fault)) = name.map(|name| check_line(name, MAX_NAME)) {
            faults.push(FieldError::new(format!("{at}/{field}"), fault.code(), fault.to_string()));
            return None;
        }
    }
    let code: Option<RoomTypeCode> = room.room_type.parse().ok();
    let room_type = code.and_then(|code| profile.room_type(&code));
    if room_type.is_none() {
        let rule = format!("{} is no room type of this hotel", room.room_type);
        unmapped.push(FieldError::new(format!("{at}/room_type"), "UNKNOWN_ROOM_TYPE", rule));
    }
    let rate_plan = match &room.rate_plan {
        None => profile.rate_plans.first(),
        Some(name) => {
            let code: Option<RatePlanCode> = name.parse().ok();
            code.and_then(|code| profile.rate_plan(&code))
        }
    };
    if rate_plan.is_none() {
        let name = room.rate_plan.as_deref().unwrap_or("the first one");
        let rule = format!("{name} is no rate plan of this hotel");
        unmapped.push(FieldError::new(format!("{at}/rate_plan"), "UNKNOWN_RATE_PLAN", rule));
    }
    let (room_type, rate_plan) = (room_type?, rate_plan?);
    let request = RoomRequest {
        room_type: room_type.code.clone(),
        rate_plan: rate_plan.code.clone(),
        adults: room.adults,
        children_ages: room.children_ages.clone(),
        note: None,
    };
    let misfits = request.faults(room_type);
    faults.extend(misfits.into_iter().map(|fault| crate::quote::misfit(at, fault)));
    Some(Chosen { room, room_type, rate_plan })
}

/// The channel's own total, spread over the nights of all rooms. What its guest paid there, and what that
/// costs when the guest does not come, is between the two: here nothing is charged and nothing kept.
fn document(stay: Stay, rooms: &[Chosen<'_>], total: Money) -> Option<QuoteDocument> {
    let nights = usize::from(stay.len());
    let shares = spread(total, rooms.len() * nights);
    let rooms: Vec<QuotedRoom> = rooms
        .iter()
        .zip(shares.chunks(nights.max(1)))
        .map(|(chosen, shares)| quoted(chosen, stay, shares))
        .collect::<Option<_>>()?;
    let charges = rooms.iter().map(room_line).collect();
    // The channel has been paid, or will be: nothing is due here.
    Some(QuoteDocument { stay, rooms, charges, total, schedule: Vec::new() })
}

fn quoted(chosen: &Chosen<'_>, stay: Stay, shares: &[Money]) -> Option<QuotedRoom> {
    let night = |(date, amount): (NaiveDate, &Money)| QuotedNight {
        date,
        amount: *amount,
        // No rate of the hotel's was used.
        price_version: 0,
    };
    let first = *shares.first()?;
    Some(QuotedRoom {
        room_type_id: chosen.room_type.id,
        room_type: chosen.room_type.code.clone(),
        rate_plan_id: chosen.rate_plan.id,
        rate_plan: chosen.rate_plan.code.clone(),
        adults: chosen.room.adults,
        children_ages: chosen.room.children_ages.clone(),
        note: None,
        nights: stay.nights().zip(shares).map(night).collect(),
        total: shares.iter().try_fold(Money::zero(first.currency()), |sum, share| sum.plus(*share))?,
        first_night: first,
        cancellation: free_to_cancel(),
        payment: PaymentPolicy::Prepay,
        deposit: None,
        terms_version: RuleVersion::FIRST,
    })
}

/// To the end of the day of arrival, which is as long as anything can be cancelled.
fn free_to_cancel() -> CancellationPolicy {
    let until_time = NaiveTime::from_hms_opt(23, 59, 59).unwrap_or(NaiveTime::MIN);
    CancellationPolicy { rungs: vec![Rung { until_days_before: 0, until_time, penalty: Penalty::None }] }
}

fn room_line(room: &QuotedRoom) -> Charge {
    let nights = match room.nights.len() {
        1 => "1 night".to_owned(),
        n => format!("{n} nights"),
    };
    let label = format!("{}, {}, {nights}", room.room_type, room.rate_plan);
    Charge { kind: ChargeKind::Room, label, amount: room.total, included: false, rule: None }
}
