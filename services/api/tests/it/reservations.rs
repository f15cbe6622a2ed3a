use keyrack_domain::principal::Role;

use crate::world::{Guest, STAY, World};

async fn booked(world: &World, guest: &Guest) -> String {
    let hold = world.hold(guest, STAY).await.expect(201).text_at("/id");
    world.book(guest, &hold, "pm_ok").await.expect(201).text_at("/reservation/id")
}

#[tokio::test]
async fn a_reservation_is_shown_to_its_guest_and_to_the_staff_of_its_hotel_only() {
    let world = World::new().await;
    let guest = world.guest().await;
    let path = format!("/v1/reservations/{}", booked(&world, &guest).await);
    let staff = world.credential("HTL-204", Role::Staff).await;
    let channel = world.credential("HTL-204", Role::Channel).await;
    let elsewhere = world.credential("HTL-310", Role::Staff).await;
    for token in [&guest.token, &staff, &world.operator] {
        let shown = world.get(&path).token(token).send().await.expect(200);
        assert_eq!(shown.header("etag"), Some("\"1\""));
        assert_eq!(shown.at("/state"), "CONFIRMED");
    }
    for token in [&world.guest().await.token, &channel, &elsewhere] {
        world.get(&path).token(token).send().await.expect_problem(404, "NOT_FOUND");
    }
}

#[tokio::test]
async fn a_list_gives_each_own_reservation_once_page_by_page() {
    let world = World::new().await;
    let (guest, other) = (world.guest().await, world.guest().await);
    let mut made = Vec::new();
    for _ in 0..4 {
        made.push(booked(&world, &guest).await);
    }
    booked(&world, &other).await;
    let mut found = Vec::new();
    let mut path = "/v1/reservations?limit=2".to_owned();
    loop {
        let page = world.get(&path).token(&guest.token).send().await.expect(200);
        assert!(page.text_at("/as_of").ends_with('Z'));
        let items = page.at("/items").as_array().expect("items").clone();
        found.extend(items.iter().map(|item| item["id"].as_str().expect("an id").to_owned()));
        let Some(cursor) = page.at("/next_cursor").as_str() else { break };
        path = format!("/v1/reservations?limit=2&cursor={cursor}");
    }
    assert_eq!(found, made);
}

#[tokio::test]
async fn b134_reservations_of_one_instant_are_each_listed_once_while_others_are_booked() {
    let world = World::new().await;
    let guest = world.guest().await;
    world.sellable(STAY, 50).await;
    let mut made = Vec::new();
    for _ in 0..12 {
        made.push(booked(&world, &guest).await);
    }
    world
        .database
        .execute("UPDATE reservations SET created_at = (SELECT min(created_at) FROM reservations)")
        .await;
    let mut found = Vec::new();
    let mut path = "/v1/reservations?limit=5".to_owned();
    loop {
        let page = world.get(&path).token(&guest.token).send().await.expect(200);
        let items = page.at("/items").as_array().expect("items").clone();
        found.extend(items.iter().map(|item| item["id"].as_str().expect("an id").to_owned()));
        let Some(cursor) = page.at("/next_cursor").as_str() else { break };
        path = format!("/v1/reservations?limit=5&cursor={cursor}");
        if found.len() < made.len() {
            booked(&world, &guest).await;
        }
    }
    for id in &made {
        assert_eq!(found.iter().filter(|other| *other == id).count(), 1, "{id}");
    }
    assert_eq!(found.len(), made.len() + 2);
}

#[tokio::test]
async fn a_page_that_cannot_be_is_refused() {
    let world = World::new().await;
    let guest = world.guest().await;
    let cases = [
        ("limit=0", "/limit", "OUT_OF_RANGE"),
        ("limit=101", "/limit", "OUT_OF_RANGE"),
        ("limit=65536", "/limit", "INVALID_VALUE"),
        ("limit=-1", "/limit", "INVALID_VALUE"),
        ("limit=", "/limit", "INVALID_VALUE"),
        ("cursor=nonsense", "/cursor", "INVALID_VALUE"),
        ("limit=1&limit=2", "/limit", "DUPLICATE_FIELD"),
    ];
    for (query, pointer, code) in cases {
        let answer = world.get(&format!("/v1/reservations?{query}")).token(&guest.token).send().await;
        answer.expect_invalid(pointer, code);
    }
}
