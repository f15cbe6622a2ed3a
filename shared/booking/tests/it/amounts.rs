//! One amount from the quote to the provider's charge.

use keyrack_booking::{
    place_hold::PlaceHoldError,
    views::{ReservationView, Standing},
};
use keyrack_domain::{code::HotelCode, ids::HoldId, principal::Caller};
use keyrack_payment_simulator::Amount;

use crate::{
    desk_world::DeskWorld,
    world::{day, fresh_key, guest, hotel, percent, rate_change},
};

const STAY: (&str, &str) = ("2026-11-14", "2026-11-16");

/// Pays, and compares with what the provider has set aside and taken, in its minor units.
async fn paid(at: &DeskWorld, guest: &Caller, hold: HoldId, minor: u64, currency: &str) -> ReservationView {
    let booking = at.pay(guest, hold, "pm_ok").await;
    let Standing::Confirmed(reservation) = booking.standing else { panic!("{booking:?}") };
    let expected = Amount { amount: minor, currency: currency.to_owned() };
    for call in ["auth", "capture"] {
        let charge = at.charge(booking.attempt, call).expect("it was asked for");
        assert_eq!(charge.amount.as_ref(), Some(&expected), "{call}");
    }
    *reservation
}

/// B089: the price of the quote is held and charged, whatever the rate has become since.
#[tokio::test]
async fn b089_a_price_that_moves_after_the_quote_is_not_charged() {
    let at = DeskWorld::new().await;
    let price = |amount: &str| {
        at.world.set_rates(&at.hotel, vec![rate_change(day(STAY.0), day("2026-11-15"), amount)])
    };
    for _ in 0..6 {
        price("6500.00").await;
    }
    let guest = guest();
    let quote = at.quote(&guest, STAY).await;
    at.advance(120).await;
    price("7000.00").await;
    at.advance(180).await;
    let hold = at.hold_quote(&guest, quote, fresh_key()).await.expect("still promised").answer;
    assert_eq!(hold.total.to_string(), "14560.00");
    let reservation = paid(&at, &guest, hold.id, 1_456_000, "INR").await;
    assert_eq!(reservation.document.total, hold.total);
    let versions: Vec<_> =
        reservation.document.rooms[0].nights.iter().map(|night| night.price_version).collect();
    assert_eq!(versions, [7, 7]);
    for table in ["hold_nights", "reservation_nights"] {
        let kept = at.count(&format!("{table} WHERE price_version = 7 AND amount = 6500")).await;
        assert_eq!(kept, 2, "{table}");
    }
    at.advance(301).await;
    let late = at.hold_quote(&guest, quote, fresh_key()).await.expect_err("its promise has ended");
    assert!(matches!(late, PlaceHoldError::QuoteExpired(_)), "{late:?}");
    let anew = at.world.quote(&guest, &at.hotel, STAY).await.expect("a quote").document;
    assert_eq!((anew.total.to_string().as_str(), anew.rooms[0].nights[0].price_version), ("15680.00", 8));
    at.verify().await;
}

/// B099, B101: no factor of a hundred and no cent between quote, hold, reservation and charge.
#[tokio::test]
async fn b099_b101_every_currency_is_charged_as_it_was_quoted() {
    let at = DeskWorld::new().await;
    let cases = [
        (("HTL-411", "Asia/Tokyo", "JPY"), ("Tax", "10"), "12000", "26400", 26_400),
        (("HTL-500", "Europe/Berlin", "EUR"), ("City tax", "5.25"), "90.00", "189.46", 18_946),
        (("HTL-820", "Asia/Kuwait", "KWD"), ("Service", "15"), "38.500", "88.550", 88_550),
    ];
    for ((code, zone, currency), (label, rate), price, total, minor) in cases {
        let taxes = vec![percent(label, rate, false)];
        let created = at.world.create(hotel(code, zone, currency, taxes), code).await;
        let code: HotelCode = created.expect("a hotel").answer.code;
        at.world.price(&code, price).await;
        let guest = guest();
        let quote = at.world.quote(&guest, &code, STAY).await.expect("a quote");
        assert_eq!(quote.document.total.to_string(), total);
        let hold = at.hold_quote(&guest, quote.id, fresh_key()).await.expect("a hold").answer;
        assert_eq!(hold.total, quote.document.total);
        let reservation = paid(&at, &guest, hold.id, minor, currency).await;
        assert_eq!(reservation.document, quote.document, "{code}");
    }
    at.verify().await;
}
