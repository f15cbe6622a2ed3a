//! A night whose counter does not carry the holds that stand on it. Nothing is changed, never a clamp:
//! somebody is told, and `keyrack repair` recomputes the counter.

use std::collections::BTreeMap;

use keyrack_domain::ids::{HoldId, HotelId, ReservationId};
use keyrack_ledger::{Facts, NightKey, UnitNight};
use keyrack_telemetry::names;

use crate::{Fault, availability::night_of};

/// The first night, in lock order, whose counter does not carry these held units: giving them back would
/// drive it negative. Certain only under the locks of the hold and its nights.
pub(crate) fn of(facts: &Facts, hotel: HotelId, units: &[UnitNight]) -> Option<NightKey> {
    let mut wanted = BTreeMap::new();
    for unit in units {
        *wanted.entry(night_of(hotel, unit)).or_insert(0) += 1;
    }
    wanted
        .into_iter()
        .find(|(key, count)| facts.nights.get(key).is_none_or(|night| night.held < *count))
        .map(|(key, _)| key)
}

pub(crate) fn report(hold: HoldId, night: NightKey) {
    metrics::counter!(names::COUNTER_DRIFT).increment(1);
    tracing::error!(
        %hold,
        hotel_id = night.hotel.0,
        room_type_id = night.room_type.0,
        night = %night.date,
        "counter drift: the night does not carry the hold; it stays ACTIVE until repaired"
    );
}

/// What a caller hears whose hold drifted.
pub(crate) fn fault(hold: HoldId, night: NightKey) -> Fault {
    report(hold, night);
    Fault::internal(Drifted::Hold(hold))
}

/// What a caller hears whose reservation the night does not carry.
pub(crate) fn of_reservation(reservation: ReservationId, night: NightKey) -> Fault {
    metrics::counter!(names::COUNTER_DRIFT).increment(1);
    tracing::error!(
        %reservation,
        hotel_id = night.hotel.0,
        room_type_id = night.room_type.0,
        night = %night.date,
        "counter drift: the night does not carry the reservation; it stays as it is until repaired"
    );
    Fault::internal(Drifted::Reservation(reservation))
}

#[derive(Debug, thiserror::Error)]
enum Drifted {
    #[error("the counters do not carry hold {0}")]
    Hold(HoldId),
    #[error("the counters do not carry reservation {0}")]
    Reservation(ReservationId),
}
