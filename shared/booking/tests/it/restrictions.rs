//! Setting and reading restrictions.

use keyrack_booking::{
    Fault, FieldError,
    night_range::NightRange,
    nights_query::NightsQuery,
    restrictions::{
        self, NightRestrictionView, Patch, RestrictionChange, RestrictionPatch, SetRestrictions,
        SetRestrictionsError,
    },
};
use keyrack_domain::{code::HotelCode, restriction::NightRestriction};
use serde_json::json;

use crate::world::{HORIZON, World, day, fresh_key, htl_204};

const NONE: RestrictionPatch = RestrictionPatch {
    stop_sell: Patch::Keep,
    min_stay_arrival: Patch::Keep,
    min_stay_through: Patch::Keep,
    max_stay: Patch::Keep,
    closed_to_arrival: Patch::Keep,
    closed_to_departure: Patch::Keep,
    min_advance_days: Patch::Keep,
    max_advance_days: Patch::Keep,
};

fn change(rate_plan: Option<&str>, nights: (&str, &str), patch: RestrictionPatch) -> RestrictionChange {
    RestrictionChange {
        room_type: "RT-DLX".parse().expect("a code"),
        rate_plan: rate_plan.map(|code| code.parse().expect("a code")),
        range: NightRange::new(day(nights.0), day(nights.1), None),
        patch,
    }
}

async fn set(
    world: &World,
    hotel: &HotelCode,
    changes: Vec<RestrictionChange>,
) -> Result<(), SetRestrictionsError> {
    let request = SetRestrictions { hotel: hotel.clone(), changes, key: fresh_key() };
    restrictions::set(&world.hotels, HORIZON, &world.operator, request).await.map(drop)
}

async fn read(world: &World, hotel: &HotelCode) -> Vec<NightRestrictionView> {
    let query = NightsQuery {
        room_type: "RT-DLX".parse().expect("a code"),
        rate_plan: None,
        first_night: day("2026-11-01"),
        last_night: day("2026-11-30"),
    };
    restrictions::read(&world.hotels, &world.operator, hotel, &query).await.expect("restrictions")
}

fn told(error: &SetRestrictionsError) -> Vec<(&str, &str)> {
    let SetRestrictionsError::Invalid(faults) = error else { panic!("not invalid: {error:?}") };
    faults.iter().map(|FieldError { pointer, code, .. }| (pointer.as_str(), *code)).collect()
}

async fn world() -> (World, HotelCode) {
    let world = World::new().await;
    let hotel = world.create(htl_204(), "open").await.expect("a hotel").answer.code;
    (world, hotel)
}

#[tokio::test]
async fn what_is_absent_stays_what_is_null_goes_and_a_row_that_says_nothing_is_removed() {
    let (world, hotel) = world().await;
    let both = RestrictionPatch { stop_sell: Patch::Set(true), min_stay_through: Patch::Set(3), ..NONE };
    set(&world, &hotel, vec![change(None, ("2026-11-14", "2026-11-14"), both)]).await.expect("set");
    let cleared = RestrictionPatch { stop_sell: Patch::Clear, ..NONE };
    set(&world, &hotel, vec![change(None, ("2026-11-14", "2026-11-14"), cleared)]).await.expect("set");
    let rows = read(&world, &hotel).await;
    let three = NightRestriction { min_stay_through: Some(3), ..NightRestriction::default() };
    assert_eq!(rows.iter().map(|row| row.restriction).collect::<Vec<_>>(), [three]);
    let nothing = RestrictionPatch { min_stay_through: Patch::Clear, ..NONE };
    set(&world, &hotel, vec![change(None, ("2026-11-13", "2026-11-15"), nothing)]).await.expect("set");
    assert_eq!(read(&world, &hotel).await, []);
    assert_eq!(world.database().value("SELECT count(*) FROM restrictions").await, 0);
}

#[tokio::test]
async fn a_plans_rows_stand_beside_those_of_the_room_type() {
    let (world, hotel) = world().await;
    let two = RestrictionPatch { min_stay_arrival: Patch::Set(2), ..NONE };
    let closed = RestrictionPatch { closed_to_arrival: Patch::Set(true), ..NONE };
    let night = ("2026-11-14", "2026-11-14");
    set(&world, &hotel, vec![change(None, night, two), change(Some("FLEX"), night, closed)])
        .await
        .expect("set");
    let rows: Vec<_> = read(&world, &hotel)
        .await
        .into_iter()
        .map(|row| {
            (
                row.rate_plan.map(String::from),
                row.restriction.min_stay_arrival,
                row.restriction.closed_to_arrival,
            )
        })
        .collect();
    assert_eq!(rows, [(None, Some(2), false), (Some("FLEX".to_owned()), None, true)]);
}

/// B090: 0 is no limit that can be set, and a minimum above the maximum contradicts itself, also
/// together with what an earlier call has set.
#[tokio::test]
async fn b090_limits_of_nothing_and_contradictions_are_refused_where_they_stand() {
    let (world, hotel) = world().await;
    let zero = RestrictionPatch { min_stay_arrival: Patch::Set(0), max_stay: Patch::Set(91), ..NONE };
    let crossed = RestrictionPatch { min_stay_through: Patch::Set(8), max_stay: Patch::Set(7), ..NONE };
    let night = ("2026-11-14", "2026-11-14");
    let refused = set(
        &world,
        &hotel,
        vec![change(None, night, zero), change(None, night, crossed), change(None, night, NONE)],
    );
    let expected = [
        ("/changes/0/min_stay_arrival", "OUT_OF_RANGE"),
        ("/changes/0/max_stay", "OUT_OF_RANGE"),
        ("/changes/1/min_stay_through", "MIN_ABOVE_MAX"),
        ("/changes/2", "EMPTY"),
    ];
    assert_eq!(told(&refused.await.expect_err("refused")), expected);
    let seven = RestrictionPatch { max_stay: Patch::Set(7), ..NONE };
    set(&world, &hotel, vec![change(None, ("2026-11-14", "2026-11-20"), seven)]).await.expect("set");
    let eight = RestrictionPatch { min_stay_through: Patch::Set(8), ..NONE };
    let refused = set(&world, &hotel, vec![change(None, ("2026-11-10", "2026-11-30"), eight)]).await;
    let refused = refused.expect_err("contradicts");
    assert_eq!(told(&refused), [("/changes/0/min_stay_through", "MIN_ABOVE_MAX")]);
    let SetRestrictionsError::Invalid(faults) = &refused else { panic!("{refused:?}") };
    assert!(faults[0].detail.contains("2026-11-14"), "{}", faults[0].detail);
    assert_eq!(read(&world, &hotel).await.len(), 7, "nothing of it was set");
    let wider = RestrictionPatch { min_stay_through: Patch::Set(8), max_stay: Patch::Clear, ..NONE };
    set(&world, &hotel, vec![change(None, ("2026-11-10", "2026-11-30"), wider)]).await.expect("both at once");
}

#[tokio::test]
async fn the_morning_after_the_last_night_can_be_closed_to_departure_and_no_later_one() {
    let (world, hotel) = world().await;
    let closed = RestrictionPatch { closed_to_departure: Patch::Set(true), ..NONE };
    set(&world, &hotel, vec![change(None, ("2027-07-05", "2027-07-05"), closed)]).await.expect("the morning");
    let refused = set(&world, &hotel, vec![change(None, ("2027-07-06", "2027-07-06"), closed)]).await;
    assert_eq!(told(&refused.expect_err("beyond")), [("/changes/0/last_night", "OUT_OF_HORIZON")]);
}

#[tokio::test]
async fn an_edit_is_audited_with_before_and_after_and_told_to_the_world() {
    let (world, hotel) = world().await;
    let closed = RestrictionPatch { stop_sell: Patch::Set(true), ..NONE };
    set(&world, &hotel, vec![change(None, ("2026-11-14", "2026-11-15"), closed)]).await.expect("set");
    let open = RestrictionPatch { stop_sell: Patch::Clear, ..NONE };
    set(&world, &hotel, vec![change(None, ("2026-11-14", "2026-11-15"), open)]).await.expect("set");
    let audit = "SELECT before #> '{0,restriction,stop_sell}' AS before, before #>> '{0,last_night}' AS last,
                        after #> '{0,restriction,stop_sell}' AS after
                 FROM audit WHERE action = 'restrictions.set' ORDER BY entry_id DESC LIMIT 1";
    let expected = json!({"before": true, "last": "2026-11-15", "after": false});
    assert_eq!(world.database().rows(audit).await, [expected]);
    // What says nothing any more is told as well: the projection must forget it.
    let event = "SELECT payload #> '{nights,1}' FROM outbox WHERE type = 'restrictions.changed' ORDER BY seq DESC LIMIT 1";
    let told = world.database().value(event).await;
    assert_eq!(
        (&told["night"], &told["stop_sell"], &told["rate_plan_id"]),
        (&json!("2026-11-15"), &json!(false), &json!(0))
    );
}

/// Two edits of one night that has no row yet keep what each has set.
#[tokio::test]
async fn edits_at_once_of_different_rules_of_one_night_lose_nothing() {
    let (world, hotel) = world().await;
    let patches = [
        RestrictionPatch { stop_sell: Patch::Set(true), ..NONE },
        RestrictionPatch { min_stay_through: Patch::Set(2), ..NONE },
        RestrictionPatch { max_stay: Patch::Set(9), ..NONE },
        RestrictionPatch { closed_to_arrival: Patch::Set(true), ..NONE },
    ];
    let (world, hotel) = (&world, &hotel);
    let edits = patches.map(|patch| async move {
        let change = change(None, ("2026-11-14", "2026-11-14"), patch);
        // On a slow machine the lock is not had in time; then nothing was done.
        while let Err(error) = set(world, hotel, vec![change.clone()]).await {
            assert!(matches!(error, SetRestrictionsError::Fault(Fault::Busy { .. })), "{error:?}");
        }
    });
    futures::future::join_all(edits).await;
    let all = NightRestriction {
        stop_sell: true,
        min_stay_through: Some(2),
        max_stay: Some(9),
        closed_to_arrival: true,
        ..NightRestriction::default()
    };
    assert_eq!(read(world, hotel).await.iter().map(|row| row.restriction).collect::<Vec<_>>(), [all]);
}
