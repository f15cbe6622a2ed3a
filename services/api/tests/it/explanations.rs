//! A quote explains itself: every line with the rule that it follows, in the edition that was used.

use keyrack_domain::principal::Role;
use serde_json::{Value, json};

use crate::{
    answer::Answer,
    world::{Guest, STAY, World},
};

async fn explain(world: &World, token: &str, quote: &str) -> Answer {
    world.get(&format!("/v1/quotes/{quote}/explain")).token(token).send().await
}

async fn quote(world: &World, guest: &Guest, rooms: Value) -> String {
    let body = json!({"hotel": "HTL-204", "check_in": STAY.0, "check_out": STAY.1, "rooms": rooms});
    let call = world.post("/v1/quotes").token(&guest.token).fresh_key();
    call.json(&body).send().await.expect(201).text_at("/id")
}

/// In the currency's smallest unit.
fn units(amount: &Value) -> i64 {
    amount.as_str().expect("an amount").replace('.', "").parse().expect("a number")
}

fn sums_to_its_total(explained: &Answer) {
    let items = |pointer: &str| explained.at(pointer).as_array().expect("items").clone();
    let owed: i64 =
        items("/lines").iter().filter(|l| l["included"] == false).map(|l| units(&l["amount"])).sum();
    let due: i64 = items("/schedule").iter().map(|due| units(&due["amount"])).sum();
    let total = units(explained.at("/total/amount"));
    assert_eq!((owed, due), (total, total), "{}", explained.text);
}

#[tokio::test]
async fn every_line_names_its_rule_and_its_version() {
    let world = World::new().await;
    let guest = world.guest().await;
    let change = json!({"room_type": "RT-DLX", "rate_plan": "FLEX", "first_night": "2026-11-15",
                        "last_night": "2026-11-15", "amount": "7000.50"});
    let edit = world.put("/v1/hotels/HTL-204/rates").token(&world.operator).fresh_key();
    edit.json(&json!({"changes": [change]})).send().await.expect(200);
    let room = json!({"room_type": "RT-DLX", "rate_plan": "FLEX", "adults": 2});
    let id = quote(&world, &guest, json!([room])).await;
    // What the hotel changes afterwards is another edition, and not the one that was sold.
    world.database.execute("UPDATE taxes SET value = 18; UPDATE rate_plans SET cancellation = '[]'").await;
    let explained = explain(&world, &guest.token, &id).await.expect(200);
    let night = |night: &str, amount: &str, version: i32| {
        json!({
            "kind": "room", "label": "RT-DLX, FLEX", "amount": amount, "included": false, "room": 1, "night": night,
            "rule": {"source": "rate", "room_type": "RT-DLX", "rate_plan": "FLEX", "version": version},
        })
    };
    let tax = |value: &str, version: i32, amount: &str| {
        let tax = json!({"kind": "percent", "label": "GST", "value": value, "included": false});
        json!({
            "kind": "tax", "label": "GST", "amount": amount, "included": false,
            "rule": {"source": "tax", "number": 1, "version": version, "tax": tax},
        })
    };
    let lines = json!([
        night("2026-11-14", "6500.00", 1),
        night("2026-11-15", "7000.50", 2),
        tax("12", 1, "1620.06"),
    ]);
    assert_eq!(explained.at("/lines"), &lines);
    assert_eq!(explained.at("/total"), &json!({"amount": "15120.56", "currency": "INR"}));
    assert_eq!(
        (explained.at("/terms/0/version"), explained.at("/terms/0/payment")),
        (&json!(1), &json!("prepay"))
    );
    assert_eq!(explained.at("/terms/0/cancellation").as_array().map(Vec::len), Some(1));
    sums_to_its_total(&explained);
    let later =
        quote(&world, &guest, json!([{"room_type": "RT-DLX", "rate_plan": "FLEX", "adults": 2}])).await;
    let later = explain(&world, &guest.token, &later).await.expect(200);
    assert_eq!(later.at("/lines/2"), &tax("18", 2, "2430.09"));
    assert_eq!((later.at("/terms/0/version"), later.at("/terms/0/cancellation")), (&json!(2), &json!([])));
    sums_to_its_total(&later);
}

#[tokio::test]
async fn the_parts_of_several_rooms_and_of_a_schedule_sum_exactly() {
    let world = World::new().await;
    let guest = world.guest().await;
    // Rates that no percentage divides evenly, taxes of every kind, some of them included.
    world
        .database
        .execute(
            "UPDATE daily_rates SET amount = amount + 0.01 * extract(day FROM stay_date), extra_child = 333.33;
             UPDATE taxes SET value = 7.77;
             INSERT INTO taxes (hotel_id, tax_id, kind, label, value, included)
             SELECT h.hotel_id, t.id, t.kind, t.label, t.value, t.included
             FROM hotels h, (VALUES (2, 'percent', 'City', 3.333, true), (3, 'per_person_night', 'Bed', 19.99, false),
                                    (4, 'per_stay', 'Linen', 0.37, false)) AS t (id, kind, label, value, included)
             WHERE h.code = 'HTL-204'",
        )
        .await;
    for plan in ["FLEX", "DEPOSIT", "AT-HOTEL"] {
        let room = |ages: Value| json!({"room_type": "RT-DLX", "rate_plan": plan, "adults": 2, "children_ages": ages});
        let id = quote(&world, &guest, json!([room(json!([])), room(json!([7])), room(json!([]))])).await;
        let explained = explain(&world, &guest.token, &id).await.expect(200);
        sums_to_its_total(&explained);
        let shown = world.get(&format!("/v1/quotes/{id}")).token(&guest.token).send().await.expect(200);
        assert_eq!(
            (shown.at("/total"), shown.at("/schedule")),
            (explained.at("/total"), explained.at("/schedule"))
        );
        let lines = explained.at("/lines").as_array().expect("lines").clone();
        assert_eq!(lines.len(), 3 * 2 + 4, "{plan}");
        assert!(lines.iter().all(|line| line["rule"]["version"].is_number()), "{plan}");
        assert_eq!(lines.iter().filter(|line| line["included"] == true).count(), 1, "{plan}");
    }
}

#[tokio::test]
async fn a_quote_is_explained_to_its_owner_the_staff_of_its_hotel_and_operators_only() {
    let world = World::new().await;
    let guest = world.guest().await;
    let id = world.quote(&guest, STAY, 1).await;
    let staff = world.credential("HTL-204", Role::Staff).await;
    for token in [&guest.token, &staff, &world.operator] {
        explain(&world, token, &id).await.expect(200);
    }
    let elsewhere = world.credential("HTL-310", Role::Staff).await;
    let (channel, pms) =
        (world.credential("HTL-204", Role::Channel).await, world.credential("HTL-204", Role::Pms).await);
    for token in [&world.guest().await.token, &elsewhere, &channel, &pms] {
        explain(&world, token, &id).await.expect_problem(404, "NOT_FOUND");
    }
    let unknown = format!("{}0", &id[..id.len() - 1]);
    if unknown != id {
        explain(&world, &world.operator, &unknown).await.expect_problem(404, "NOT_FOUND");
    }
    // The price is no longer promised, and why it was what it was can still be told.
    world.clock_ahead(601).await;
    explain(&world, &guest.token, &id).await.expect(200);
}
