use std::collections::BTreeMap;

use chrono::NaiveDate;
use keyrack_api_types::{
    policy::{PaymentPolicy, rungs},
    quote::{Quote, QuoteCancellation, QuoteNight, QuoteRoom},
    schedule::ScheduledCharge,
};
use keyrack_booking::quote::QuoteView;
use keyrack_domain::{
    code::RatePlanCode,
    ids::{QuoteId, RoomTypeId},
    quote::{QuotedNight, QuotedRoom},
};

pub(crate) fn quote(view: QuoteView) -> Quote {
    let cancellation = cancellation(&view);
    // That of all rooms: a mixture is refused.
    let payment = view.document.rooms.first().map_or(PaymentPolicy::Prepay, |room| room.payment.into());
    let zone = view.zone;
    let QuoteView { id, hotel, document, created_at, expires_at, available, availability_as_of, .. } = view;
    let available = available.iter().map(|night| ((night.room_type, night.night), night.available)).collect();
    Quote {
        id,
        hotel: hotel.into(),
        check_in: document.stay.check_in().into(),
        check_out: document.stay.check_out().into(),
        rooms: document.rooms.into_iter().map(|quoted| room(quoted, &available)).collect(),
        charges: document.charges.into_iter().map(Into::into).collect(),
        total: document.total.into(),
        cancellation,
        payment,
        schedule: document.schedule.into_iter().map(|due| ScheduledCharge::new(due, zone)).collect(),
        created_at: created_at.into(),
        expires_at: expires_at.into(),
        availability_as_of: availability_as_of.into(),
    }
}

/// Of each plan once, in the order of the rooms; told on the wall of the hotel.
fn cancellation(view: &QuoteView) -> Vec<QuoteCancellation> {
    let mut told: Vec<&RatePlanCode> = Vec::new();
    let mut cancellation = Vec::new();
    for room in &view.document.rooms {
        if told.contains(&&room.rate_plan) {
            continue;
        }
        told.push(&room.rate_plan);
        let rungs = rungs(&room.cancellation, view.document.stay.check_in(), view.zone);
        let of_plan = |rung| QuoteCancellation { rate_plan: room.rate_plan.to_string(), rung };
        cancellation.extend(rungs.into_iter().map(of_plan));
    }
    cancellation
}

fn room(quoted: QuotedRoom, available: &BTreeMap<(RoomTypeId, NaiveDate), u32>) -> QuoteRoom {
    let QuotedRoom { room_type_id, room_type, rate_plan, adults, children_ages, note, nights, .. } = quoted;
    let night = |QuotedNight { date, amount, price_version }| QuoteNight {
        date: NaiveDate::into(date),
        amount: amount.to_string(),
        price_version,
        available: available.get(&(room_type_id, date)).copied().unwrap_or(0),
    };
    QuoteRoom {
        room_type: room_type.into(),
        rate_plan: rate_plan.into(),
        adults,
        children_ages,
        note,
        nights: nights.into_iter().map(night).collect(),
    }
}

pub(crate) fn quote_path(id: QuoteId) -> String {
    format!("/v1/quotes/{id}")
}
