//! Stays that are not prepaid: a deposit and its balance, or pay at the property. Each later charge is taken once,
//! and what the guest has paid in the end is what the stay cost.

mod broken;
mod changed;
mod collected;
mod desk;
mod ended;

use keyrack_booking::{
    Settings,
    cancel::{self, Cancel, operation::Cancellation, price::Wanted},
    collect_charge::{self, Collected},
    create_hotel::{HotelInput, PenaltyInput, PenaltyKind, RungInput},
    front_desk::{self, StepRequest, operation::Step},
    paid_at_desk::{self, PaidAtDesk, PaidAtDeskError},
    reservations,
    views::{ReservationView, Standing},
};
use keyrack_db::Points;
use keyrack_domain::{
    ids::ReservationId,
    policy::PaymentPolicy,
    principal::Caller,
    schedule::{ChargeState, DueKind},
};
use keyrack_payment_simulator::{Kind, State};

use crate::{
    desk_world::DeskWorld,
    world::{HORIZON, fresh_key, htl_204, room},
};

/// 14,560.00: a deposit of 4,368.00 and a balance of 10,192.00.
const STAY: (&str, &str) = ("2026-11-14", "2026-11-16");

/// 2026-11-07 begins at the hotel.
const BALANCE_DUE: &str = "2026-11-06T18:30:00Z";

/// The arrival's midnight has passed: no guest came.
const MISSED: &str = "2026-11-15T06:00:00Z";

const FREE: &str = "2026-06-01T00:00:00Z";
const HALF: &str = "2026-11-01T00:00:00Z";
const FULL: &str = "2026-11-13T00:00:00Z";

/// HTL-204 with FLEX paid in this way: free until thirty days before, then half, and all from two days before.
fn hotel(payment: PaymentPolicy) -> HotelInput {
    let mut hotel = htl_204();
    let rung = |until_days_before, kind, value: Option<&str>| RungInput {
        until_days_before,
        until_time: "18:00".to_owned(),
        penalty: PenaltyInput { kind, value: value.map(str::to_owned) },
    };
    hotel.rate_plans[0].payment = payment;
    hotel.rate_plans[0].cancellation =
        vec![rung(30, PenaltyKind::None, None), rung(2, PenaltyKind::Percent, Some("50"))];
    hotel
}

async fn world(payment: PaymentPolicy) -> DeskWorld {
    world_with(payment, Points::default()).await
}

async fn world_with(payment: PaymentPolicy, points: Points) -> DeskWorld {
    DeskWorld::of(hotel(payment), points, Settings { horizon: HORIZON, ..Settings::default() }).await
}

async fn book(at: &DeskWorld, guest: &Caller, rooms: usize, method: &str) -> ReservationView {
    let quote = at.quote_rooms(guest, STAY, vec![room("RT-DLX", 2, &[]); rooms]).await;
    let hold = at.hold_quote(guest, quote, fresh_key()).await.expect("a hold").answer;
    let booking = at.pay(guest, hold.id, method).await;
    let Standing::Confirmed(reservation) = booking.standing else { panic!("{booking:?}") };
    *reservation
}

async fn collect(at: &DeskWorld) -> Collected {
    collect_charge::run_once(&at.desk, at.ledger()).await.expect("charges are collected")
}

async fn shown(at: &DeskWorld, guest: &Caller, id: ReservationId) -> ReservationView {
    reservations::find(&at.desk, guest, id).await.expect("it is read").expect("it is there")
}

/// Kind, amount and state of each charge.
async fn charges(at: &DeskWorld, guest: &Caller, id: ReservationId) -> Vec<(DueKind, String, ChargeState)> {
    let shown = shown(at, guest, id).await;
    shown.schedule.iter().map(|charge| (charge.kind, charge.amount.to_string(), charge.state)).collect()
}

fn charge(kind: DueKind, amount: &str, state: ChargeState) -> (DueKind, String, ChargeState) {
    (kind, amount.to_owned(), state)
}

async fn cancel(
    at: &DeskWorld,
    guest: &Caller,
    id: ReservationId,
    wanted: Wanted,
    if_match: i32,
) -> Cancellation {
    let request = Cancel { reservation: id, wanted, if_match, key: fresh_key() };
    cancel::run(&at.desk, guest, request).await.expect("cancelled").answer
}

/// What the provider has taken, less what it has given back, in minor units.
fn kept_by_the_provider(at: &DeskWorld) -> i64 {
    let charges = at.simulator.simulator().charges("", None, 1_000);
    let captured = charges.iter().filter(|c| (c.kind, c.state) == (Kind::Capture, State::Captured));
    let whole = |minor: u64| i64::try_from(minor).expect("small");
    captured.map(|c| whole(c.amount.as_ref().expect("an amount").amount) - whole(c.refunded)).sum()
}

/// From now on this method pays, whatever the booking was made with.
async fn pay_with(at: &DeskWorld, method: &str) {
    at.database().execute(&format!("UPDATE payment_attempts SET method_token = '{method}'")).await;
}

async fn step(at: &DeskWorld, reservation: ReservationId, step: Step) {
    let request =
        StepRequest { hotel: at.hotel.clone(), reservation, step, if_match: None, key: fresh_key() };
    front_desk::run(&at.desk, &at.world.operator, request).await.expect("a step");
}

async fn paid_at_desk(
    at: &DeskWorld,
    reservation: ReservationId,
    number: i16,
) -> Result<(), PaidAtDeskError> {
    let request = PaidAtDesk { hotel: at.hotel.clone(), reservation, number, key: fresh_key() };
    paid_at_desk::run(&at.desk, &at.world.operator, request).await.map(|_| ())
}
