use proptest::prelude::*;

use super::*;
use crate::sample::{currency, day, decimal, money, rate_plan, request, room_type, stay, tax};

fn rates(check_in: &str, amounts: &[&str], code: &str) -> BTreeMap<NaiveDate, DailyRate> {
    let rate = |amount: &&str| DailyRate {
        amount: money(amount, code),
        extra_adult: money("50", code),
        extra_child: money("20", code),
        price_version: 7,
    };
    day(check_in).iter_days().zip(amounts.iter().map(rate)).collect()
}

/// One room of the sample type for two adults at these nightly amounts.
fn quote(amounts: &[&str], code: &str, taxes: &[Tax]) -> QuoteDocument {
    let (request, room_type, rate_plan) = (request(2, &[]), room_type(), rate_plan());
    let rates = rates("2026-11-14", amounts, code);
    let room = PricedRoom { request: &request, room_type: &room_type, rate_plan: &rate_plan, rates: &rates };
    let check_out = day("2026-11-14") + chrono::Days::new(u64::try_from(amounts.len()).expect("few nights"));
    let stay = Stay::new(day("2026-11-14"), check_out).expect("a stay");
    price(stay, &[room], taxes, currency(code)).expect("a price")
}

fn lines(document: &QuoteDocument) -> Vec<(String, String)> {
    document.charges.iter().map(|line| (line.label.clone(), line.amount.to_string())).collect()
}

fn line(label: &str, amount: &str) -> (String, String) {
    (label.to_owned(), amount.to_owned())
}

#[test]
fn the_worked_example_is_14560_rupees() {
    let document = quote(&["6500", "6500"], "INR", &[tax(TaxKind::Percent, "12", false)]);
    assert_eq!(lines(&document), [line("RT-DLX, FLEX, 2 nights", "13000.00"), line("GST", "1560.00")]);
    assert_eq!(document.total, money("14560.00", "INR"));
    assert_eq!(document.rooms[0].nights[1].date, day("2026-11-15"));
    assert_eq!(document.rooms[0].nights[1].price_version, 7);
}

#[test]
fn b091_the_tax_included_london_stay_costs_its_nights() {
    let document = quote(&["120"; 31], "GBP", &[tax(TaxKind::Percent, "20", true)]);
    assert_eq!(lines(&document), [line("RT-DLX, FLEX, 31 nights", "3720.00"), line("GST", "620.00")]);
    assert_eq!(document.total, money("3720.00", "GBP"));
    assert!(document.charges[1].included);
}

#[test]
fn b099_yen_have_no_decimals() {
    let document = quote(&["12000", "12000"], "JPY", &[tax(TaxKind::Percent, "10", false)]);
    assert_eq!(document.total.to_string(), "26400");
    assert!(Money::parse("26400.50", currency("JPY")).is_err());
}

/// B101: the tax of the quote is the sum of the nightly lines, each rounded.
#[test]
fn b101_percentages_on_top_are_rounded_per_night() {
    let document = quote(&["90", "90"], "USD", &[tax(TaxKind::Percent, "5.25", false)]);
    assert_eq!(document.charges[1].amount, money("9.46", "USD"));
    assert_eq!(document.total, money("189.46", "USD"));
}

#[test]
fn b103_taxes_round_half_away_from_zero() {
    for (amount, percent, tax_amount) in
        [("0.25", "10", "0.03"), ("20.10", "5", "1.01"), ("53.50", "5", "2.68"), ("1.25", "10", "0.13")]
    {
        let document = quote(&[amount], "EUR", &[tax(TaxKind::Percent, percent, false)]);
        assert_eq!(document.charges[1].amount.to_string(), tax_amount, "{percent} % of {amount}");
    }
}

#[test]
fn base_places_are_filled_by_adults_first() {
    let room_type = RoomType { max_adults: 4, max_children: 4, max_occupancy: 8, ..room_type() };
    let rates = rates("2026-11-14", &["100"], "EUR");
    // (adults, children, nightly amount): two base places at 100, an adult 50, a child 20.
    let cases = [(1, 0, "100"), (2, 0, "100"), (1, 1, "100"), (1, 2, "120"), (2, 1, "120"), (3, 2, "190")];
    for (adults, children, amount) in cases {
        let ages = vec![9; children];
        let nightly = nightly_amount(&request(adults, &ages), &room_type, &rates[&day("2026-11-14")]);
        assert_eq!(nightly, Some(money(amount, "EUR")), "{adults} adults, {children} children");
    }
}

#[test]
fn fixed_amounts_are_charged_per_night_per_guest_or_once_per_room() {
    for (kind, each) in
        [(TaxKind::PerNight, "15.00"), (TaxKind::PerPersonNight, "30.00"), (TaxKind::PerStay, "5.00")]
    {
        let document = quote(&["100", "100", "100"], "EUR", &[tax(kind, "5", false)]);
        assert_eq!(document.charges[1].amount.to_string(), each, "{kind:?}");
        assert_eq!(document.charges[1].kind, ChargeKind::Fee);
        assert_eq!(document.total, money("300", "EUR").plus(money(each, "EUR")).expect("a sum"));
    }
    let included = quote(&["100", "100"], "EUR", &[tax(TaxKind::PerNight, "5", true)]);
    assert_eq!(included.charges[1].amount.to_string(), "10.00");
    assert_eq!(included.total, money("200", "EUR"));
}

#[test]
fn a_slab_looks_at_each_nights_own_amount() {
    let low = Tax { to_amount: Some(money("7500", "INR")), ..tax(TaxKind::Percent, "12", false) };
    let high =
        Tax { from_amount: low.to_amount, label: "GST 18".to_owned(), ..tax(TaxKind::Percent, "18", false) };
    let document = quote(&["7499.99", "7500"], "INR", &[low.clone(), high.clone()]);
    let room = line("RT-DLX, FLEX, 2 nights", "14999.99");
    assert_eq!(lines(&document), [room, line("GST", "900.00"), line("GST 18", "1350.00")]);
    let cheap = quote(&["100"], "INR", &[low, high]);
    assert_eq!(cheap.charges.len(), 2, "a tax that never applied has no line");
}

#[test]
fn included_percentages_share_one_net_amount_and_are_rounded_once() {
    let city = Tax { label: "City".to_owned(), ..tax(TaxKind::Percent, "5", true) };
    let document = quote(&["100", "100", "100"], "EUR", &[tax(TaxKind::Percent, "20", true), city]);
    // Net 240: 20 % are 48, 5 % are 12. Rounded per night they would be the same here;
    // the next case is where they are not.
    assert_eq!(lines(&document)[1..], [line("GST", "48.00"), line("City", "12.00")]);
    assert_eq!(document.total, money("300", "EUR"));
    let thirds = quote(&["0.10", "0.10", "0.10"], "EUR", &[tax(TaxKind::Percent, "20", true)]);
    assert_eq!(thirds.charges[1].amount.to_string(), "0.05", "three times 0.0166.. is 0.05, not 0.06");
}

#[test]
fn included_slabs_divide_each_night_by_its_own_sum() {
    let luxury = Tax {
        label: "Luxury".to_owned(),
        from_amount: Some(money("130", "EUR")),
        ..tax(TaxKind::Percent, "10", true)
    };
    let document = quote(&["120", "130"], "EUR", &[tax(TaxKind::Percent, "20", true), luxury]);
    // 120 is 100 + 20; 130 is 100 + 20 + 10.
    assert_eq!(lines(&document)[1..], [line("GST", "40.00"), line("Luxury", "10.00")]);
}

#[test]
fn every_night_without_a_rate_is_named() {
    let (request, room_type, rate_plan) = (request(2, &[]), room_type(), rate_plan());
    let mut rates = rates("2026-11-14", &["1", "1", "1"], "EUR");
    rates.remove(&day("2026-11-15"));
    let room = PricedRoom { request: &request, room_type: &room_type, rate_plan: &rate_plan, rates: &rates };
    let priced = price(stay("2026-11-14", "2026-11-18"), &[room, room], &[], currency("EUR"));
    let missing = |room, night| MissingRate { room, night: day(night) };
    let expected = [(0, "2026-11-15"), (0, "2026-11-17"), (1, "2026-11-15"), (1, "2026-11-17")];
    assert_eq!(
        priced,
        Err(PricingError::NoRate(expected.map(|(room, night)| missing(room, night)).to_vec()))
    );
}

#[test]
fn b107_a_quote_has_one_to_ten_rooms() {
    let (request, room_type, rate_plan) = (request(2, &[]), room_type(), rate_plan());
    let rates = rates("2026-11-14", &["100"], "EUR");
    let room = PricedRoom { request: &request, room_type: &room_type, rate_plan: &rate_plan, rates: &rates };
    for (rooms, fits) in [(0, false), (1, true), (10, true), (11, false)] {
        let priced = price(stay("2026-11-14", "2026-11-15"), &vec![room; rooms], &[], currency("EUR"));
        assert_eq!(priced.is_ok(), fits, "{rooms} rooms");
    }
}

#[test]
fn an_amount_beyond_the_range_is_an_error_and_not_a_panic() {
    let (request, room_type, rate_plan) = (request(2, &[]), room_type(), rate_plan());
    let rates = rates("2026-11-14", &["999999999999999", "999999999999999"], "EUR");
    let room = PricedRoom { request: &request, room_type: &room_type, rate_plan: &rate_plan, rates: &rates };
    let taxes = [tax(TaxKind::Percent, "100", false)];
    for (check_out, taxes) in [("2026-11-16", &taxes[..0]), ("2026-11-15", &taxes[..])] {
        let priced = price(stay("2026-11-14", check_out), &[room], taxes, currency("EUR"));
        assert_eq!(priced, Err(PricingError::TooLarge));
    }
    let foreign = price(stay("2026-11-14", "2026-11-15"), &[room], &[], currency("USD"));
    assert_eq!(foreign, Err(PricingError::TooLarge));
}

#[test]
fn b081_no_quote_of_zero_exists() {
    let (request, room_type, rate_plan) = (request(2, &[]), room_type(), rate_plan());
    let rates = rates("2026-11-14", &["0"], "EUR");
    let room = PricedRoom { request: &request, room_type: &room_type, rate_plan: &rate_plan, rates: &rates };
    let priced = price(stay("2026-11-14", "2026-11-15"), &[room], &[], currency("EUR"));
    assert_eq!(priced, Err(PricingError::NothingToPay));
}

fn any_tax(code: &'static str) -> impl Strategy<Value = Tax> {
    let kind = prop::sample::select(TaxKind::ALL.to_vec());
    let slab = (prop::option::of(0_u32..400_000), prop::option::of(1_u32..400_000));
    (kind, 0_i64..100_000_000, any::<bool>(), slab).prop_map(move |(kind, value, included, (from, width))| {
        let unit = |minor: u32| {
            let decimals = currency(code).decimals();
            Money::exact(Decimal::new(i64::from(minor), decimals), currency(code)).expect("money")
        };
        let value = match kind {
            TaxKind::Percent => Decimal::new(value, 6),
            _ => Decimal::new(value / 10_000, currency(code).decimals()),
        };
        let to_amount = width.map(|width| unit(from.unwrap_or(0) + width));
        Tax { value, included, from_amount: from.map(unit), to_amount, ..tax(kind, "0", false) }
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    /// Whatever is configured: the lines that are not included are the total, included shares are
    /// never more than the rooms cost, and every amount has the currency's decimals.
    #[test]
    fn lines_sum_exactly_to_the_total(
        (code, taxes, minor) in prop::sample::select(vec!["JPY", "EUR", "KWD"]).prop_flat_map(|code| (
            Just(code),
            prop::collection::vec(any_tax(code), 0..5),
            prop::collection::vec(prop::collection::vec(1_i64..1_000_000, 5), 1..4),
        )),
        guests in (1_u16..3, prop::collection::vec(0_u8..18, 0..3)),
    ) {
        let scale = currency(code).decimals();
        let amount = |minor: i64| Money::exact(Decimal::new(minor, scale), currency(code)).expect("money");
        let rate = |minor: &i64| DailyRate {
            amount: amount(*minor), extra_adult: amount(99), extra_child: amount(33), price_version: 1,
        };
        let (request, room_type, rate_plan) = (request(guests.0, &guests.1), room_type(), rate_plan());
        let nights = |minor: &Vec<i64>| day("2026-11-14").iter_days().zip(minor.iter().map(rate)).collect();
        let rates: Vec<BTreeMap<_, _>> = minor.iter().map(nights).collect();
        let room = |rates| PricedRoom { request: &request, room_type: &room_type, rate_plan: &rate_plan, rates };
        let rooms: Vec<_> = rates.iter().map(room).collect();
        let document = price(stay("2026-11-14", "2026-11-19"), &rooms, &taxes, currency(code)).expect("a price");

        let sum = |wanted: &dyn Fn(&Charge) -> bool| -> Decimal {
            document.charges.iter().filter(|line| wanted(line)).map(|line| line.amount.amount()).sum()
        };
        prop_assert_eq!(sum(&|line| !line.included), document.total.amount());
        let rooms_cost = sum(&|line| line.kind == ChargeKind::Room);
        let shares = sum(&|line| line.included && line.kind == ChargeKind::Tax);
        // Each share is rounded for itself: at most half a unit too much per tax.
        let rounding = Decimal::new(5, scale + 1) * Decimal::from(taxes.len());
        prop_assert!(shares <= rooms_cost + rounding, "{shares} of {rooms_cost}");
        prop_assert!(document.charges.iter().all(|line| line.amount.amount().scale() == scale));
        prop_assert_eq!(document.total.amount(), decimal(&document.total.to_string()));
    }
}

/// What a room costs alone: the shares of all rooms are the whole, and the first night has its own taxes.
#[test]
fn the_rooms_shares_sum_to_the_total_and_the_first_night_carries_its_taxes() {
    let taxes = [
        tax(TaxKind::Percent, "12", false),
        tax(TaxKind::Percent, "5", true),
        tax(TaxKind::PerNight, "10", false),
        tax(TaxKind::PerPersonNight, "3", false),
        tax(TaxKind::PerStay, "99", false),
    ];
    let document = quote(&["100", "200"], "EUR", &taxes);
    let room = &document.rooms[0];
    // 300 + 36 of GST, 2 x 10 a night, 2 x 2 x 3 a person and night, 99 once.
    assert_eq!((room.total, room.total), (document.total, money("467.00", "EUR")));
    assert_eq!(room.first_night, money("128.00", "EUR"));
}
