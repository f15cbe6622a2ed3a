//! Who the demo hotels are. HTL-204 is the worked example of the documentation.

use chrono::Weekday;
use keyrack_domain::{
    code::{NotACode, RatePlanCode, RoomTypeCode},
    policy::{LateCapture, PaymentPolicy},
    tax::TaxKind,
};
use rust_decimal::Decimal;

use crate::create_hotel::{
    HotelInput, PenaltyInput, PenaltyKind, RatePlanInput, RoomTypeInput, RungInput, TaxInput,
};

#[derive(Debug)]
pub(super) struct Demo {
    pub(super) hotel: HotelInput,
    /// One after the other: a later one wins.
    pub(super) prices: Vec<Price>,
}

#[derive(Debug)]
pub(super) struct Price {
    pub(super) room_type: RoomTypeCode,
    pub(super) rate_plan: RatePlanCode,
    /// `None`: every night.
    pub(super) weekdays: Option<Vec<Weekday>>,
    pub(super) amount: &'static str,
    pub(super) extra_adult: &'static str,
    pub(super) extra_child: &'static str,
}

const DELUXE: &str = "RT-DLX";
const STANDARD: &str = "RT-STD";
const FLEX: &str = "FLEX";
const SAVER: &str = "SAVER";
const DEPOSIT: &str = "DEPOSIT";
const AT_HOTEL: &str = "AT-HOTEL";

/// What the hotels differ in; each has two room types and a flexible and a cheaper plan.
struct Sketch {
    code: &'static str,
    name: &'static str,
    city: &'static str,
    time_zone: &'static str,
    currency: &'static str,
    /// Millionths of a degree.
    place: (i64, i64),
    taxes: Vec<TaxInput>,
    units: (u32, u32),
    /// Of the deluxe and the standard room: flexible, saver, extra adult, extra child.
    deluxe: [&'static str; 4],
    standard: [&'static str; 4],
    /// Friday and Saturday nights of the deluxe room under the saver plan.
    weekend: Option<&'static str>,
    /// Also a plan with a deposit and one that is paid at the property, at the flexible price.
    pays_later: bool,
}

pub(super) fn demos() -> Result<Vec<Demo>, NotACode> {
    sketches().into_iter().map(Sketch::demo).collect()
}

fn sketches() -> Vec<Sketch> {
    let mut sketches = asia();
    sketches.extend(elsewhere());
    sketches
}

fn asia() -> Vec<Sketch> {
    vec![
        Sketch {
            code: "HTL-204",
            name: "Lakeside Residency",
            city: "Bengaluru",
            time_zone: "Asia/Kolkata",
            currency: "INR",
            place: (12_971_600, 77_594_600),
            taxes: vec![tax(TaxKind::Percent, "GST", "12", false)],
            units: (5, 5),
            deluxe: ["6500.00", "5850.00", "1500.00", "750.00"],
            standard: ["6500.00", "5850.00", "1500.00", "750.00"],
            weekend: None,
            pays_later: true,
        },
        Sketch {
            code: "HTL-411",
            name: "Sumida Garden Hotel",
            city: "Tokyo",
            time_zone: "Asia/Tokyo",
            currency: "JPY",
            place: (35_710_100, 139_810_700),
            taxes: vec![tax(TaxKind::Percent, "Consumption tax", "10", false)],
            units: (12, 20),
            deluxe: ["12000", "10800", "4000", "2000"],
            standard: ["9800", "8800", "3500", "1800"],
            weekend: None,
            pays_later: false,
        },
        Sketch {
            code: "HTL-820",
            name: "Pearl Coast Hotel",
            city: "Kuwait City",
            time_zone: "Asia/Kuwait",
            currency: "KWD",
            place: (29_375_900, 47_977_400),
            taxes: vec![tax(TaxKind::Percent, "Service charge", "15", false)],
            units: (6, 10),
            deluxe: ["38.500", "34.650", "9.750", "4.500"],
            standard: ["29.750", "26.775", "8.250", "4.125"],
            weekend: None,
            pays_later: false,
        },
    ]
}

fn elsewhere() -> Vec<Sketch> {
    vec![
        Sketch {
            code: "HTL-310",
            name: "Russell Square House",
            city: "London",
            time_zone: "Europe/London",
            currency: "GBP",
            place: (51_521_700, -126_200),
            taxes: vec![tax(TaxKind::Percent, "VAT", "20", true)],
            units: (10, 18),
            deluxe: ["120.00", "108.00", "30.00", "15.00"],
            standard: ["95.00", "85.50", "25.00", "12.50"],
            weekend: None,
            pays_later: false,
        },
        Sketch {
            code: "HTL-714",
            name: "Diamond Head Beach Resort",
            city: "Honolulu",
            time_zone: "Pacific/Honolulu",
            currency: "USD",
            place: (21_262_600, -157_806_000),
            taxes: vec![
                tax(TaxKind::Percent, "General excise tax", "4.712", false),
                tax(TaxKind::Percent, "Transient accommodations tax", "10.25", false),
                tax(TaxKind::PerNight, "Resort fee", "35.00", false),
            ],
            units: (15, 25),
            deluxe: ["329.00", "296.00", "60.00", "25.00"],
            standard: ["249.00", "224.00", "55.00", "25.00"],
            weekend: Some("326.00"),
            pays_later: false,
        },
        Sketch {
            code: "HTL-715",
            name: "Viaduct Harbour Hotel",
            city: "Auckland",
            time_zone: "Pacific/Auckland",
            currency: "NZD",
            place: (-36_843_200, 174_762_200),
            taxes: vec![tax(TaxKind::Percent, "GST", "15", true)],
            units: (8, 14),
            deluxe: ["265.00", "238.50", "45.00", "20.00"],
            standard: ["199.00", "179.00", "40.00", "20.00"],
            weekend: Some("258.00"),
            pays_later: false,
        },
    ]
}

fn tax(kind: TaxKind, label: &str, value: &str, included: bool) -> TaxInput {
    let (label, value) = (label.to_owned(), value.to_owned());
    TaxInput { kind, label, value, included, from_amount: None, to_amount: None }
}

impl Sketch {
    fn demo(self) -> Result<Demo, NotACode> {
        let mut prices = Vec::new();
        for (room_type, [flex, saver, extra_adult, extra_child]) in
            [(DELUXE, self.deluxe), (STANDARD, self.standard)]
        {
            let later = [(DEPOSIT, flex), (AT_HOTEL, flex)].into_iter().filter(|_| self.pays_later);
            for (rate_plan, amount) in [(FLEX, flex), (SAVER, saver)].into_iter().chain(later) {
                let (room_type, rate_plan) = (room_type.parse()?, rate_plan.parse()?);
                prices.push(Price { room_type, rate_plan, weekdays: None, amount, extra_adult, extra_child });
            }
        }
        if let Some(amount) = self.weekend {
            let [_, _, extra_adult, extra_child] = self.deluxe;
            let weekdays = Some(vec![Weekday::Fri, Weekday::Sat]);
            let (room_type, rate_plan) = (DELUXE.parse()?, SAVER.parse()?);
            prices.push(Price { room_type, rate_plan, weekdays, amount, extra_adult, extra_child });
        }
        Ok(Demo { hotel: self.hotel(), prices })
    }

    fn hotel(self) -> HotelInput {
        let mut rate_plans = vec![flexible(), saver()];
        if self.pays_later {
            rate_plans.extend([with_deposit(), at_the_hotel()]);
        }
        let degrees = |millionths| Some(Decimal::new(millionths, 6));
        HotelInput {
            code: self.code.to_owned(),
            name: self.name.to_owned(),
            time_zone: self.time_zone.to_owned(),
            currency: self.currency.to_owned(),
            city: self.city.to_owned(),
            latitude: degrees(self.place.0),
            longitude: degrees(self.place.1),
            late_capture: LateCapture::default(),
            taxes: self.taxes,
            room_types: vec![
                room_type(DELUXE, "Deluxe room", (3, 2, 4), self.units.0),
                room_type(STANDARD, "Standard room", (2, 1, 3), self.units.1),
            ],
            rate_plans,
        }
    }
}

/// `most`: adults, children, guests.
fn room_type(code: &str, name: &str, most: (u16, u16, u16), units: u32) -> RoomTypeInput {
    let (max_adults, max_children, max_occupancy) = most;
    let (code, name, base_occupancy) = (code.to_owned(), name.to_owned(), 2);
    RoomTypeInput { code, name, base_occupancy, max_adults, max_children, max_occupancy, units }
}

/// Free to cancel until two days before arrival at 18:00.
fn flexible() -> RatePlanInput {
    let until_time = "18:00".to_owned();
    let penalty = PenaltyInput { kind: PenaltyKind::None, value: None };
    RatePlanInput {
        code: FLEX.to_owned(),
        name: "Flexible".to_owned(),
        cancellation: vec![RungInput { until_days_before: 2, until_time, penalty }],
        payment: PaymentPolicy::Prepay,
        deposit: None,
    }
}

fn saver() -> RatePlanInput {
    RatePlanInput {
        code: SAVER.to_owned(),
        name: "Saver, non-refundable".to_owned(),
        cancellation: Vec::new(),
        payment: PaymentPolicy::Prepay,
        deposit: None,
    }
}

/// 30 % at booking, and the balance seven days before the arrival.
fn with_deposit() -> RatePlanInput {
    RatePlanInput {
        code: DEPOSIT.to_owned(),
        name: "Flexible, with a deposit".to_owned(),
        payment: PaymentPolicy::Deposit,
        ..flexible()
    }
}

fn at_the_hotel() -> RatePlanInput {
    RatePlanInput {
        code: AT_HOTEL.to_owned(),
        name: "Flexible, paid at the hotel".to_owned(),
        payment: PaymentPolicy::AtProperty,
        ..flexible()
    }
}
