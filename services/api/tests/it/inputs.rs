//! Bodies that are right as they are.

use serde_json::{Value, json};

use crate::world::STAY;

/// `POST /v1/quotes`: the worked example.
pub(crate) fn stay() -> Value {
    let room = json!({"room_type": "RT-DLX", "rate_plan": "FLEX", "adults": 2});
    json!({"hotel": "HTL-204", "check_in": STAY.0, "check_out": STAY.1, "rooms": [room]})
}

/// `POST /v1/bookings`
pub(crate) fn booking(hold: &str, method: &str) -> Value {
    json!({
        "hold_id": hold,
        "payment": {"method_token": method},
        "guest": {"name": "Zoë Nguyễn", "email": "zoe@example.org"},
    })
}

/// `POST /v1/hotels`: HTL-900, with one room.
pub(crate) fn new_hotel() -> Value {
    json!({
        "code": "HTL-900", "name": "New", "time_zone": "Europe/Paris", "currency": "EUR", "city": "Paris", "taxes": [],
        "room_types": [{
            "code": "STD", "name": "Room", "max_adults": 2, "max_children": 0, "max_occupancy": 2, "units": 1,
        }],
        "rate_plans": [{"code": "FLEX", "name": "Flexible", "cancellation": [], "payment": "prepay"}],
    })
}

/// As a channel brings the stay of the worked example.
pub(crate) fn channel_booking() -> Value {
    json!({
        "revision": 1,
        "check_in": "2026-11-14",
        "check_out": "2026-11-16",
        "rooms": [{"room_type": "RT-DLX", "rate_plan": "FLEX", "adults": 2, "children_ages": []}],
        "guest": {"name": "Asha Rao"},
        "total": {"amount": "14560.00", "currency": "INR"},
    })
}

/// Two nights of RT-DLX, 4 units each.
pub(crate) fn pms_batch(sequence: i64) -> Value {
    let night = |night: &str| json!({"room_type": "RT-DLX", "night": night, "sellable": 4});
    json!({"sequence": sequence, "mode": "absolute", "nights": [night("2026-11-14"), night("2026-11-15")]})
}
