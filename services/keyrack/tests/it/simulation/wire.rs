//! The model's calls and answers as HTTP writes them.

use std::collections::BTreeMap;

use keyrack_domain::{
    clock::Moment,
    ids::{PrincipalId, RoomTypeId},
    money::Money,
    operation_key::OperationKey,
    quote::{QuoteDocument, QuotedRoom},
};
use keyrack_model::{Answer, Answered, Call, Delivery, Outcome, Refusal, Step};
use reqwest::Method;
use serde_json::{Value, json};

pub(super) struct Request {
    pub(super) who: PrincipalId,
    pub(super) method: Method,
    pub(super) path: String,
    /// What has no key of its own gets one all the same.
    pub(super) key: Option<String>,
    pub(super) if_match: Option<i32>,
    pub(super) json: Value,
}

/// What was answered.
#[derive(Clone, Debug)]
pub(super) struct Told {
    pub(super) status: u16,
    pub(super) replayed: bool,
    pub(super) body: Value,
}

/// The model names things before they exist; the product's names become known with the first answer that tells
/// one, and never change.
#[derive(Default)]
pub(super) struct Names(BTreeMap<String, String>);

impl Names {
    pub(super) fn of(&self, id: &impl ToString) -> Option<&str> {
        self.0.get(&id.to_string()).map(String::as_str)
    }

    /// False where it was told otherwise before.
    fn learn(&mut self, id: &impl ToString, told: &Value) -> bool {
        let Some(told) = told.as_str() else { return true };
        self.0.entry(id.to_string()).or_insert_with(|| told.to_owned()) == told
    }

    pub(super) fn is_called(&mut self, id: &str, told: &Value) {
        self.learn(&id, told);
    }

    /// What an answer tells of the things that the call may have made.
    pub(super) fn learn_from(&mut self, call: &Call, told: &Told) -> bool {
        let body = &told.body;
        let made = (200..300).contains(&told.status);
        match call {
            Call::Quote(call) if made => self.learn(&call.id, &body["id"]),
            Call::Place(call) if made => self.learn(&call.id, &body["id"]),
            Call::Price(call) if made => self.learn(&call.id, &body["id"]),
            Call::Deliver(call) if made => self.learn(&call.id, &body["reservation"]["id"]),
            Call::Confirm(call) if made || told.is_standing() => {
                self.learn(&call.attempt, &body["attempt_id"])
            }
            Call::Pay(call) if made => {
                self.learn(&call.start.id, &body["id"])
                    && self.learn(&call.new.reservation, &body["reservation"]["id"])
            }
            Call::Pay(call) if told.is_standing() => self.learn(&call.start.id, &body["attempt_id"]),
            _ => true,
        }
    }
}

impl Told {
    pub(super) fn code(&self) -> &str {
        self.body["code"].as_str().unwrap_or_default()
    }

    /// How a payment stands, be it well or not; no refusal of the call.
    pub(super) fn is_standing(&self) -> bool {
        self.status < 300 || ["PAYMENT_DECLINED", "BOOKING_FAILED", "CHANGE_FAILED"].contains(&self.code())
    }

    pub(super) fn agrees_with(&self, answer: &Answer, names: &Names) -> bool {
        match answer {
            Err(refusal) => self.refuses_as(refusal),
            Ok(Answered { outcome, replayed }) => *replayed == self.replayed && self.tells(outcome, names),
        }
    }

    fn refuses_as(&self, refusal: &Refusal) -> bool {
        let shortage = match refusal {
            // Who comes after all is told the night alone.
            Refusal::RoomNightUnavailable(short) if self.body["available"].is_u64() => {
                self.body["night"] == json!(short.night)
                    && (self.body["requested"] == short.requested
                        && self.body["available"] == short.available)
            }
            Refusal::RoomNightUnavailable(short) => self.body["night"] == json!(short.night),
            Refusal::StaleRevision(known) => self.body["revision"] == *known,
            Refusal::VersionConflict(version) => self.body["current"]["version"] == *version,
            Refusal::Conflict(state) => self.body["state"] == state.as_str(),
            _ => true,
        };
        (self.status, self.code()) == refusal.http() && shortage
    }

    pub(super) fn tells(&self, outcome: &Outcome, names: &Names) -> bool {
        let body = &self.body;
        let ok = self.status == 200;
        let is = |field: &str, money: &Money| body[field]["amount"] == money.to_string();
        match outcome {
            Outcome::Quoted { total } => self.status == 201 && is("total", total),
            Outcome::Hold { id, state, total, .. } => {
                self.status < 300
                    && body["state"] == state.as_str()
                    && is("total", total)
                    && body["id"].as_str() == names.of(&id)
            }
            Outcome::Pending { .. } | Outcome::ChangePending { .. } => self.status == 202,
            Outcome::Confirmed { reservation, .. } => {
                self.status == 201 && body["reservation"]["id"].as_str() == names.of(&reservation)
            }
            Outcome::Declined { .. } | Outcome::ChangeDeclined { .. } => self.status == 402,
            Outcome::BookingFailed { .. } => self.code() == "BOOKING_FAILED",
            Outcome::ChangeFailed { .. } => self.code() == "CHANGE_FAILED",
            Outcome::InventoryEdited | Outcome::RulesEdited => ok,
            Outcome::Cancelled { state, version, penalty, refund, .. } => {
                ok && body["state"] == state.as_str()
                    && body["version"] == *version
                    && is("penalty", penalty)
                    && is("refund", refund)
            }
            Outcome::Stepped { state, version, .. } => {
                ok && body["state"] == state.as_str() && body["version"] == *version
            }
            Outcome::RefundRequested { amount, .. } => {
                self.status == 201 && body["refund"]["amount"]["amount"] == amount.to_string()
            }
            Outcome::ChangePriced { difference, penalty, total, charge, .. } => {
                self.status == 201
                    && is("difference", difference)
                    && is("penalty", penalty)
                    && is("total", total)
                    && is("charge", charge)
            }
            Outcome::Changed { version, .. } => {
                ok && body["state"] == "COMPLETED" && body["version"] == json!(version)
            }
            Outcome::Delivered { reservation, delivery, .. } => {
                (self.status == 201) == (*delivery == Delivery::Created)
                    && body["reservation"]["id"].as_str() == names.of(&reservation)
            }
            Outcome::Withdrawn { before, .. } => ok && body["already_cancelled"] == *before,
        }
    }
}

/// `None` where the call names what nobody has heard of.
pub(super) fn request(
    call: &Call,
    hotel: &str,
    codes: &BTreeMap<RoomTypeId, String>,
    names: &Names,
) -> Option<Request> {
    match call {
        Call::Deliver(_) | Call::Withdraw(_) => Some(of_channel(call, hotel)),
        Call::Inventory(_) | Call::Rules(_) => Some(of_nights(call, hotel, codes)),
        Call::Step(_) | Call::GiveMoneyBack(_) => of_desk(call, hotel, names),
        Call::Confirm(call) => confirm(call, names),
        _ => of_guest(call, hotel, names),
    }
}

impl Request {
    fn new(who: PrincipalId, method: Method, path: String, json: Value) -> Self {
        Self { who, method, path, key: None, if_match: None, json }
    }

    fn key(self, key: &OperationKey) -> Self {
        Self { key: Some(key.as_str().to_owned()), ..self }
    }

    fn seen(self, version: Option<i32>) -> Self {
        Self { if_match: version, ..self }
    }
}

fn of_guest(call: &Call, hotel: &str, names: &Names) -> Option<Request> {
    let reservation = |id| Some(format!("/v1/reservations/{}", names.of(id)?));
    Some(match call {
        Call::Quote(call) => {
            let mut json = stay_and_rooms(&call.document);
            json["hotel"] = json!(hotel);
            Request::new(call.principal, Method::POST, "/v1/quotes".to_owned(), json).key(&call.key)
        }
        Call::Place(call) => {
            let mut json = json!({ "quote_id": names.of(&call.quote)? });
            if let Some(old) = call.replaces {
                json["replaces"] = json!(names.of(&old)?);
            }
            Request::new(call.principal, Method::POST, "/v1/holds".to_owned(), json).key(&call.key)
        }
        Call::Release(call) => {
            let path = format!("/v1/holds/{}", names.of(&call.hold)?);
            Request::new(call.principal, Method::DELETE, path, Value::Null).key(&call.key)
        }
        Call::Pay(call) => {
            let call = &call.start;
            let payment = json!({ "method_token": call.method.expose() });
            let json = json!({"hold_id": names.of(&call.hold)?, "payment": payment, "guest": guest()});
            Request::new(call.principal, Method::POST, "/v1/bookings".to_owned(), json).key(&call.key)
        }
        Call::Cancel(call) => {
            let room = call.room.map_or_else(String::new, |room| format!("/rooms/{room}"));
            let path = format!("{}{room}/cancel", reservation(&call.reservation)?);
            let request = Request::new(call.principal, Method::POST, path, Value::Null);
            request.key(&call.key).seen(Some(call.if_match))
        }
        Call::Price(call) => {
            let path = format!("{}/changes", reservation(&call.reservation)?);
            let json = stay_and_rooms(&call.wanted);
            let request = Request::new(call.principal, Method::POST, path, json);
            request.key(&call.key).seen(Some(call.if_match))
        }
        _ => return None,
    })
}

fn of_desk(call: &Call, hotel: &str, names: &Names) -> Option<Request> {
    let path = |id, what| Some(format!("/v1/hotels/{hotel}/reservations/{}/{what}", names.of(id)?));
    match call {
        Call::Step(call) => {
            let (step, json) = match call.step {
                Step::CheckIn => ("check-in", Value::Null),
                Step::CheckOut(None) => ("check-out", json!({})),
                Step::CheckOut(date) => ("check-out", json!({ "check_out": date })),
                Step::NoShow => ("no-show", Value::Null),
                Step::UndoNoShow => ("no-show/undo", Value::Null),
            };
            let request = Request::new(call.principal, Method::POST, path(&call.reservation, step)?, json);
            Some(request.key(&call.key).seen(call.if_match))
        }
        Call::GiveMoneyBack(call) => {
            let json = json!({"amount": call.amount.to_string(), "reason": "goodwill"});
            let path = path(&call.reservation, "refunds")?;
            Some(Request::new(call.principal, Method::POST, path, json).key(&call.key))
        }
        _ => None,
    }
}

fn of_channel(call: &Call, hotel: &str) -> Request {
    let path = |booking: &str| format!("/v1/hotels/{hotel}/channel-bookings/OTA/{booking}");
    match call {
        Call::Deliver(call) => {
            let total = call.document.total;
            let mut json = stay_and_rooms(&call.document);
            json["revision"] = json!(call.revision);
            json["guest"] = guest();
            json["total"] = json!({"amount": total.to_string(), "currency": total.currency().code()});
            Request::new(call.principal, Method::PUT, path(&call.booking.1), json)
        }
        Call::Withdraw(call) => {
            Request::new(call.principal, Method::DELETE, path(&call.booking.1), Value::Null)
        }
        other => panic!("no channel asks for {other:?}"),
    }
}

fn of_nights(call: &Call, hotel: &str, codes: &BTreeMap<RoomTypeId, String>) -> Request {
    let edit = |room_type: &RoomTypeId, night, what: &str, value: Value| {
        let mut edit = json!({"room_type": codes[room_type], "first_night": night, "last_night": night});
        edit[what] = value;
        edit
    };
    let (who, key, what, changes): (_, _, _, Vec<Value>) = match call {
        Call::Inventory(call) => {
            let edits = call.edits.iter();
            let edits = edits.map(|e| edit(&e.room_type, e.night, "sellable", json!(e.sellable)));
            (call.principal, &call.key, "inventory", edits.collect())
        }
        Call::Rules(call) => {
            let edits = call.edits.iter();
            let edits = edits.map(|e| edit(&e.room_type, e.night, "stop_sell", json!(e.stops)));
            (call.principal, &call.key, "restrictions", edits.collect())
        }
        other => panic!("no edit of nights: {other:?}"),
    };
    let path = format!("/v1/hotels/{hotel}/{what}");
    Request::new(who, Method::PUT, path, json!({ "changes": changes })).key(key)
}

/// Its path is that of the reservation too, which the change's text names after a space.
fn confirm(call: &keyrack_model::ConfirmChange, names: &Names) -> Option<Request> {
    let reservation = names.of(&format!("of {}", call.change))?;
    let path = format!("/v1/reservations/{reservation}/changes/{}/confirm", names.of(&call.change)?);
    let json = call
        .method
        .as_ref()
        .map_or(json!({}), |method| json!({ "payment": { "method_token": method.expose() } }));
    let request = Request::new(call.principal, Method::POST, path, json);
    Some(request.key(&call.key).seen(Some(call.if_match)))
}

fn guest() -> Value {
    json!({"name": "Asha Rao", "email": "asha@example.com"})
}

fn stay_and_rooms(document: &QuoteDocument) -> Value {
    let room = |room: &QuotedRoom| {
        json!({"room_type": room.room_type.as_str(), "rate_plan": room.rate_plan.as_str(),
               "adults": room.adults, "children_ages": room.children_ages})
    };
    let (stay, rooms) = (document.stay, document.rooms.iter().map(room).collect::<Vec<_>>());
    json!({"check_in": stay.check_in(), "check_out": stay.check_out(), "rooms": rooms})
}

/// A deadline that is near: nobody could say on which side of it a call was.
pub(super) fn is_near(deadline: Moment, now: Moment, margin: std::time::Duration) -> bool {
    !now.is_past(deadline.plus(margin)) && now.plus(margin).is_past(deadline)
}
