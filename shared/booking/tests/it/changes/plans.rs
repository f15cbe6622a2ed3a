//! Changes to another rate plan.

use keyrack_booking::{
    Settings,
    cancel::{self, Cancel, price::Wanted},
    create_hotel::RatePlanInput,
    rates::RateChange,
};
use keyrack_db::Points;
use keyrack_domain::{
    ids::ReservationId, money::Money, occupancy::RoomRequest, policy::PaymentPolicy, principal::Caller,
};

use super::{STAY, completed, price, rooms, shown};
use crate::{
    desk_world::DeskWorld,
    world::{HORIZON, day, fresh_key, guest, htl_204, rate_change, room},
};

/// HTL-204 with a plan beside FLEX that costs the same and gives nothing back.
async fn world() -> DeskWorld {
    let mut hotel = htl_204();
    hotel.rate_plans.push(RatePlanInput {
        code: "FIRM".to_owned(),
        name: "Not refundable".to_owned(),
        cancellation: Vec::new(),
        payment: PaymentPolicy::Prepay,
        deposit: None,
    });
    let settings = Settings { horizon: HORIZON, ..Settings::default() };
    let at = DeskWorld::of(hotel, Points::default(), settings).await;
    let firm = rate_change(day("2026-11-01"), day("2026-11-30"), "6500.00");
    at.world
        .set_rates(&at.hotel, vec![RateChange { rate_plan: "FIRM".parse().expect("a code"), ..firm }])
        .await;
    at
}

fn under(rate_plan: &str) -> RoomRequest {
    RoomRequest { rate_plan: rate_plan.parse().expect("a code"), ..room("RT-DLX", 2, &[]) }
}

async fn booked(at: &DeskWorld, guest: &Caller, rate_plan: &str) -> ReservationId {
    let quote = at.quote_rooms(guest, STAY, vec![under(rate_plan)]).await;
    let hold = at.hold_quote(guest, quote, fresh_key()).await.expect("a hold").answer;
    let paid = at.pay(guest, hold.id, "pm_ok").await;
    let keyrack_booking::views::Standing::Confirmed(reservation) = paid.standing else { panic!("{paid:?}") };
    reservation.id
}

async fn cancelled(at: &DeskWorld, guest: &Caller, id: ReservationId, if_match: i32) -> Money {
    let request = Cancel { reservation: id, wanted: Wanted::Whole, if_match, key: fresh_key() };
    cancel::run(&at.desk, guest, request).await.expect("cancelled").answer.refund
}

/// A room that stays keeps the terms under which it was sold, whichever plan it has from now on; a room that
/// comes has those of its own.
#[tokio::test]
async fn a_change_of_the_rate_plan_keeps_the_policy_that_was_sold() {
    let at = world().await;
    for (sold, wanted, refund) in [("FIRM", "FLEX", "0.00"), ("FLEX", "FIRM", "14560.00")] {
        let guest = guest();
        let id = booked(&at, &guest, sold).await;
        let before = shown(&at, &guest, id).await.document.rooms[0].clone();
        let change = price(&at, &guest, rooms(id, vec![under(wanted)], 1)).await;
        completed(&at, &guest, &change, None, 1).await;
        let after = shown(&at, &guest, id).await.document.rooms[0].clone();
        assert_eq!((after.rate_plan.as_str(), &after.cancellation), (wanted, &before.cancellation));
        let more = price(&at, &guest, rooms(id, vec![under(wanted), under(wanted)], 2)).await;
        completed(&at, &guest, &more, Some("pm_ok"), 2).await;
        let rooms = shown(&at, &guest, id).await.document.rooms;
        assert_eq!(rooms[0].cancellation, before.cancellation);
        assert_ne!(rooms[1].cancellation, before.cancellation, "the new room's own");
        let preview = cancel::preview(&at.desk, &guest, id).await.expect("read").expect("there");
        assert_eq!(preview.rooms[0].refund.to_string(), refund);
        // Of the two rooms one is free and the other one costs all.
        assert_eq!(cancelled(&at, &guest, id, 3).await.to_string(), "14560.00");
        at.settle_money().await;
        at.verify().await;
    }
}
