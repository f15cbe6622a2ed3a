//! A hotel as it was written, and the check that names everything that is wrong with it.

use std::{collections::BTreeSet, fmt};

use chrono::{NaiveTime, Timelike};
use chrono_tz::Tz;
use keyrack_domain::{
    cancellation::PolicyFault,
    code::{NotACode, RatePlanCode, RoomTypeCode},
    hotel::{HotelRef, RatePlan, RoomType},
    hotel_profile::{HotelProfile, Place},
    ids::{HotelId, RatePlanId, RoomTypeId, ShardId},
    money::{Currency, Money},
    policy::{CancellationPolicy, DepositPart, DepositTerms, LateCapture, PaymentPolicy, Penalty, Rung},
    rule_version::RuleVersion,
    schedule::TermsFault,
    tax::{Tax, TaxFault, TaxKind},
    text::check_line,
};
use rust_decimal::Decimal;

use crate::{FieldError, amount::amount_error};

/// Most that a hotel may have of each.
const MAX_ROOM_TYPES: usize = 50;
const MAX_RATE_PLANS: usize = 20;
const MAX_TAXES: usize = 20;
/// Code points of a name.
const MAX_NAME: usize = 255;
/// As in the CHECKs of `room_types`.
const MAX_GUESTS: u16 = 100;
const MAX_UNITS: u32 = 100_000;
const PLACE_DECIMALS: u32 = 6;

/// Texts are as they came; all of them are read here.
#[derive(Clone, Debug)]
pub struct HotelInput {
    pub code: String,
    pub name: String,
    pub time_zone: String,
    pub currency: String,
    pub city: String,
    pub latitude: Option<Decimal>,
    pub longitude: Option<Decimal>,
    pub late_capture: LateCapture,
    pub taxes: Vec<TaxInput>,
    pub room_types: Vec<RoomTypeInput>,
    pub rate_plans: Vec<RatePlanInput>,
}

#[derive(Clone, Debug)]
pub struct TaxInput {
    pub kind: TaxKind,
    pub label: String,
    pub value: String,
    pub included: bool,
    pub from_amount: Option<String>,
    pub to_amount: Option<String>,
}

#[derive(Clone, Debug)]
pub struct RoomTypeInput {
    pub code: String,
    pub name: String,
    pub base_occupancy: u16,
    pub max_adults: u16,
    pub max_children: u16,
    pub max_occupancy: u16,
    pub units: u32,
}

#[derive(Clone, Debug)]
pub struct RatePlanInput {
    pub code: String,
    pub name: String,
    pub cancellation: Vec<RungInput>,
    pub payment: PaymentPolicy,
    /// Of a deposit plan, and of no other; 30 % and seven days where they are left out.
    pub deposit: Option<DepositInput>,
}

#[derive(Clone, Debug, Default)]
pub struct DepositInput {
    /// One of the two at most.
    pub percent: Option<String>,
    pub amount: Option<String>,
    pub balance_due_days_before: Option<u16>,
}

#[derive(Clone, Debug)]
pub struct RungInput {
    pub until_days_before: u16,
    /// `18:00`, or with seconds.
    pub until_time: String,
    pub penalty: PenaltyInput,
}

#[derive(Clone, Debug)]
pub struct PenaltyInput {
    pub kind: PenaltyKind,
    /// Of `Percent`, and of no other.
    pub value: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PenaltyKind {
    None,
    FirstNight,
    Percent,
    Full,
}

/// Collects what is wrong and goes on, so that all of it is told at once.
#[derive(Default)]
struct Check(Vec<FieldError>);

impl Check {
    fn wrong(&mut self, pointer: impl Into<String>, code: &'static str, detail: impl fmt::Display) {
        self.0.push(FieldError::new(pointer, code, detail.to_string()));
    }

    fn keep<T, E: fmt::Display>(
        &mut self,
        pointer: impl Into<String>,
        code: &'static str,
        read: Result<T, E>,
    ) -> Option<T> {
        read.map_err(|error| self.wrong(pointer, code, error)).ok()
    }

    fn line(&mut self, pointer: impl Into<String>, text: &str) {
        if let Err(fault) = check_line(text, MAX_NAME) {
            self.wrong(pointer, fault.code(), fault);
        }
    }

    fn count(&mut self, pointer: &str, len: usize, min: usize, max: usize) {
        if len < min || len > max {
            self.wrong(pointer, "OUT_OF_RANGE", format!("must have {min} to {max} entries"));
        }
    }

    /// Codes of one kind name one thing each.
    fn once<C: Ord>(&mut self, seen: &mut BTreeSet<C>, pointer: String, code: Option<C>) {
        if code.is_some_and(|code| !seen.insert(code)) {
            self.wrong(pointer, "DUPLICATE", "is the code of an earlier entry");
        }
    }
}

impl HotelInput {
    /// The hotel, numbered and placed as `entry` says, or everything that is wrong with it.
    pub(super) fn check(self, entry: (HotelId, ShardId)) -> Result<HotelProfile, Vec<FieldError>> {
        let mut check = Check::default();
        let code = check.keep("/code", "INVALID_CODE", self.code.parse());
        check.line("/name", &self.name);
        check.line("/city", &self.city);
        let zone = self
            .time_zone
            .parse::<Tz>()
            .map_err(|_| "must be a zone of the IANA database, such as Asia/Kolkata");
        let zone = check.keep("/time_zone", "UNKNOWN_TIME_ZONE", zone);
        let currency = check.keep("/currency", "UNKNOWN_CURRENCY", self.currency.parse::<Currency>());
        let place = place(&mut check, self.latitude, self.longitude);
        let taxes = taxes(&mut check, &self.taxes, currency);
        let room_types = room_types(&mut check, &self.room_types);
        let rate_plans = rate_plans(&mut check, &self.rate_plans, currency);
        let ((id, shard), (Some(code), Some(zone), Some(currency))) = (entry, (code, zone, currency)) else {
            return Err(check.0);
        };
        if !check.0.is_empty() {
            return Err(check.0);
        }
        let hotel = HotelRef { id, shard, code, zone, currency };
        Ok(HotelProfile {
            hotel,
            name: self.name,
            city: self.city,
            place,
            late_capture: self.late_capture,
            room_types,
            rate_plans,
            taxes,
        })
    }
}

fn place(check: &mut Check, latitude: Option<Decimal>, longitude: Option<Decimal>) -> Option<Place> {
    let ends = [("/latitude", latitude, 90), ("/longitude", longitude, 180)];
    for (pointer, degrees, limit) in ends {
        if degrees.is_some_and(|degrees| degrees.abs() > Decimal::from(limit)) {
            check.wrong(pointer, "OUT_OF_RANGE", format!("must be -{limit} to {limit} degrees"));
        }
    }
    match (latitude, longitude) {
        (Some(latitude), Some(longitude)) => Some(Place {
            latitude: latitude.round_dp(PLACE_DECIMALS).normalize(),
            longitude: longitude.round_dp(PLACE_DECIMALS).normalize(),
        }),
        (None, None) => None,
        (Some(_), None) => {
            check.wrong("/longitude", "MISSING", "must be given together with latitude");
            None
        }
        (None, Some(_)) => {
            check.wrong("/latitude", "MISSING", "must be given together with longitude");
            None
        }
    }
}

fn taxes(check: &mut Check, inputs: &[TaxInput], currency: Option<Currency>) -> Vec<Tax> {
    check.count("/taxes", inputs.len(), 0, MAX_TAXES);
    let numbered = inputs.iter().take(MAX_TAXES).enumerate();
    numbered.filter_map(|(n, input)| tax(check, &format!("/taxes/{n}"), input, currency)).collect()
}

fn tax(check: &mut Check, at: &str, input: &TaxInput, currency: Option<Currency>) -> Option<Tax> {
    let value = check.keep(format!("{at}/value"), "INVALID_AMOUNT", decimal(&input.value));
    // Amounts cannot be read without a currency, whose fault is told already.
    let currency = currency?;
    let mut slab = |field: &str, text: &Option<String>| match text.as_deref() {
        Some(text) => match Money::parse(text, currency) {
            Ok(amount) => Some(Some(amount)),
            Err(error) => {
                check.0.push(amount_error(format!("{at}/{field}"), error));
                None
            }
        },
        None => Some(None),
    };
    let (from, to) = (slab("from_amount", &input.from_amount), slab("to_amount", &input.to_amount));
    let (value, from_amount, to_amount) = (value?.normalize(), from?, to?);
    let tax = Tax {
        kind: input.kind,
        label: input.label.clone(),
        value,
        included: input.included,
        from_amount,
        to_amount,
        version: RuleVersion::FIRST,
    };
    for fault in tax.faults(currency) {
        let (field, code) = match fault {
            TaxFault::Label(fault) => ("label", fault.code()),
            TaxFault::Percentage => ("value", "INVALID_PERCENTAGE"),
            TaxFault::Amount => ("value", "INVALID_AMOUNT"),
            TaxFault::Slab => ("to_amount", "INVALID_RANGE"),
        };
        check.wrong(format!("{at}/{field}"), code, fault);
    }
    Some(tax)
}

/// Digits with a point at most, as amounts are written; of no currency.
fn decimal(text: &str) -> Result<Decimal, &'static str> {
    let plain = (1..=32).contains(&text.len())
        && text.bytes().all(|b| b.is_ascii_digit() || b == b'.')
        && text.starts_with(|c: char| c.is_ascii_digit())
        && text.ends_with(|c: char| c.is_ascii_digit());
    let rule = "must be a plain decimal number such as \"12\" or \"5.25\"";
    if plain { Decimal::from_str_exact(text).map_err(|_| rule) } else { Err(rule) }
}

fn room_types(check: &mut Check, inputs: &[RoomTypeInput]) -> Vec<RoomType> {
    check.count("/room_types", inputs.len(), 1, MAX_ROOM_TYPES);
    let mut seen = BTreeSet::new();
    let mut room_types = Vec::new();
    for ((n, input), id) in inputs.iter().take(MAX_ROOM_TYPES).enumerate().zip(1..) {
        let at = format!("/room_types/{n}");
        let code: Result<RoomTypeCode, NotACode> = input.code.parse();
        let code = check.keep(format!("{at}/code"), "INVALID_CODE", code);
        check.once(&mut seen, format!("{at}/code"), code.clone());
        check.line(format!("{at}/name"), &input.name);
        occupancy(check, &at, input);
        if input.units > MAX_UNITS {
            check.wrong(format!("{at}/units"), "OUT_OF_RANGE", format!("must be at most {MAX_UNITS}"));
        }
        room_types.extend(code.map(|code| RoomType {
            id: RoomTypeId(id),
            code,
            name: input.name.clone(),
            base_occupancy: input.base_occupancy,
            max_adults: input.max_adults,
            max_children: input.max_children,
            max_occupancy: input.max_occupancy,
            units: input.units,
        }));
    }
    room_types
}

fn occupancy(check: &mut Check, at: &str, input: &RoomTypeInput) {
    let numbers = [
        ("base_occupancy", input.base_occupancy, 1),
        ("max_adults", input.max_adults, 1),
        ("max_children", input.max_children, 0),
    ];
    for (field, number, min) in numbers {
        if !(min..=MAX_GUESTS).contains(&number) {
            check.wrong(format!("{at}/{field}"), "OUT_OF_RANGE", format!("must be {min} to {MAX_GUESTS}"));
        }
    }
    let most = input.max_adults.saturating_add(input.max_children);
    if !(input.max_adults..=most).contains(&input.max_occupancy) {
        let rule = "must be max_adults at least, and max_adults with max_children at most";
        check.wrong(format!("{at}/max_occupancy"), "OUT_OF_RANGE", rule);
    }
}

fn rate_plans(check: &mut Check, inputs: &[RatePlanInput], currency: Option<Currency>) -> Vec<RatePlan> {
    check.count("/rate_plans", inputs.len(), 1, MAX_RATE_PLANS);
    let mut seen = BTreeSet::new();
    let mut rate_plans = Vec::new();
    for ((n, input), id) in inputs.iter().take(MAX_RATE_PLANS).enumerate().zip(1..) {
        let at = format!("/rate_plans/{n}");
        let code: Result<RatePlanCode, NotACode> = input.code.parse();
        let code = check.keep(format!("{at}/code"), "INVALID_CODE", code);
        check.once(&mut seen, format!("{at}/code"), code.clone());
        check.line(format!("{at}/name"), &input.name);
        let cancellation = cancellation(check, &format!("{at}/cancellation"), &input.cancellation);
        let deposit = deposit(check, &format!("{at}/deposit"), input, currency);
        rate_plans.extend(code.map(|code| RatePlan {
            id: RatePlanId(id),
            code,
            name: input.name.clone(),
            cancellation,
            payment: input.payment,
            deposit,
            version: RuleVersion::FIRST,
        }));
    }
    rate_plans
}

/// Amounts cannot be judged without a currency, whose fault is told already.
fn deposit(
    check: &mut Check,
    at: &str,
    input: &RatePlanInput,
    currency: Option<Currency>,
) -> Option<DepositTerms> {
    if input.payment != PaymentPolicy::Deposit {
        if input.deposit.is_some() {
            check.wrong(at, "NOT_ALLOWED", "belongs to a plan that is paid by deposit");
        }
        return None;
    }
    let usual = DepositTerms::default();
    let given = input.deposit.clone().unwrap_or_default();
    let part = match (&given.percent, &given.amount) {
        (None, None) => Some(usual.part),
        (Some(share), None) => {
            let share = check.keep(format!("{at}/percent"), "INVALID_PERCENTAGE", decimal(share));
            share.map(|share| DepositPart::Percent(share.normalize()))
        }
        (None, Some(amount)) => {
            let amount = check.keep(format!("{at}/amount"), "INVALID_AMOUNT", decimal(amount));
            amount.map(|amount| DepositPart::Amount(amount.normalize()))
        }
        (Some(_), Some(_)) => {
            check.wrong(at, "NOT_ALLOWED", "is a percent or an amount, not both");
            None
        }
    };
    let balance_due_days_before = given.balance_due_days_before.unwrap_or(usual.balance_due_days_before);
    let terms = DepositTerms { part: part?, balance_due_days_before };
    for fault in terms.faults(currency?) {
        let (field, code) = match fault {
            TermsFault::Percentage => ("percent", "INVALID_PERCENTAGE"),
            TermsFault::Amount => ("amount", "INVALID_AMOUNT"),
            TermsFault::TooEarly => ("balance_due_days_before", "OUT_OF_RANGE"),
        };
        check.wrong(format!("{at}/{field}"), code, fault);
    }
    Some(terms)
}

fn cancellation(check: &mut Check, at: &str, inputs: &[RungInput]) -> CancellationPolicy {
    let rung = |(n, input): (usize, &RungInput)| {
        let time = NaiveTime::parse_from_str(&input.until_time, "%H:%M")
            .or_else(|_| NaiveTime::parse_from_str(&input.until_time, "%H:%M:%S"))
            .ok()
            // A leap second is no time on a hotel's wall.
            .filter(|time| time.nanosecond() < 1_000_000_000)
            .ok_or("must be a time of day such as 18:00");
        let until_time = check.keep(format!("{at}/{n}/until_time"), "INVALID_TIME", time);
        let penalty = penalty(check, &format!("{at}/{n}/penalty/value"), &input.penalty);
        let (until_time, penalty) = until_time.zip(penalty)?;
        Some(Rung { until_days_before: input.until_days_before, until_time, penalty })
    };
    // All of them are read before the first that is wrong ends it.
    let rungs: Vec<Option<Rung>> = inputs.iter().enumerate().map(rung).collect();
    let Some(rungs) = rungs.into_iter().collect() else { return CancellationPolicy::default() };
    let policy = CancellationPolicy { rungs };
    for fault in policy.faults() {
        let (pointer, code) = match fault {
            PolicyFault::TooManyRungs => (at.to_owned(), "OUT_OF_RANGE"),
            PolicyFault::OutOfOrder { rung } => (format!("{at}/{rung}"), "OUT_OF_ORDER"),
            PolicyFault::TooEarly { rung } => (format!("{at}/{rung}/until_days_before"), "OUT_OF_RANGE"),
            PolicyFault::Percentage { rung } => (format!("{at}/{rung}/penalty/value"), "INVALID_PERCENTAGE"),
        };
        check.wrong(pointer, code, fault);
    }
    policy
}

fn penalty(check: &mut Check, at: &str, input: &PenaltyInput) -> Option<Penalty> {
    let penalty = match (input.kind, &input.value) {
        (PenaltyKind::Percent, Some(share)) => {
            let share = check.keep(at, "INVALID_PERCENTAGE", decimal(share));
            return share.map(|share| Penalty::Percent(share.normalize()));
        }
        (PenaltyKind::Percent, None) => {
            check.wrong(at, "MISSING", "must be given with percent");
            return None;
        }
        (PenaltyKind::None, _) => Penalty::None,
        (PenaltyKind::FirstNight, _) => Penalty::FirstNight,
        (PenaltyKind::Full, _) => Penalty::Full,
    };
    if input.value.is_some() {
        check.wrong(at, "NOT_ALLOWED", "belongs to percent only");
    }
    Some(penalty)
}
