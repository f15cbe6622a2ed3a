//! Each invariant broken on its own, behind the application's back: `verify` names that, and only that.

use keyrack_domain::ids::RefundId;

use crate::season::Season;

impl Season {
    /// What `verify` tells after the statements.
    async fn after(&self, statements: &str) -> Vec<String> {
        self.at.database().execute(statements).await;
        let report = self.verify().await;
        let told: Vec<_> = report
            .told()
            .map(|(code, invariant, violation)| format!("{code}, {invariant}: {violation}"))
            .collect();
        assert_eq!(report.exit_code(), u8::from(!told.is_empty()), "{report}");
        told
    }
}

const SUMS: &str = "held is the units of ACTIVE holds, confirmed those of reservation nights not given back";

#[tokio::test]
async fn a_counter_that_is_not_the_sum_of_its_facts() {
    let season = Season::new().await;
    let told = season.after("UPDATE room_night_inventory SET held = held + 1 WHERE stay_date = '2026-11-14' AND room_type_id = 1").await;
    let expected = format!(
        "HTL-204, invariant 1: RT-DLX 2026-11-14: {SUMS}; \
         expected held 2, confirmed 1, found held 3, confirmed 1 of sellable 5"
    );
    assert_eq!(told, [expected]);
}

#[tokio::test]
async fn a_confirmed_counter_that_is_not_the_sum_of_its_facts() {
    let season = Season::new().await;
    let told = season.after("UPDATE room_night_inventory SET confirmed = 0 WHERE stay_date = '2026-11-15' AND room_type_id = 1").await;
    let expected = format!(
        "HTL-204, invariant 1: RT-DLX 2026-11-15: {SUMS}; \
         expected held 2, confirmed 1, found held 2, confirmed 0 of sellable 5"
    );
    assert_eq!(told, [expected]);
}

#[tokio::test]
async fn units_on_a_night_that_has_no_row() {
    let season = Season::new().await;
    let told = season
        .after("DELETE FROM room_night_inventory WHERE stay_date = '2026-11-14' AND room_type_id = 1")
        .await;
    let expected = "HTL-204, invariant 1: RT-DLX 2026-11-14: units are claimed only where the night has a row; \
                    expected held 2, confirmed 1, found no row";
    assert_eq!(told, [expected]);
}

/// Nothing is available before and after, so no event is missing.
#[tokio::test]
async fn an_oversold_night() {
    let season = Season::new().await;
    let told = season
        .after(
            "ALTER TABLE room_night_inventory DROP CONSTRAINT room_night_never_oversold;
             UPDATE room_night_inventory SET sellable = 2 WHERE stay_date = '2026-11-14' AND room_type_id = 1;
             INSERT INTO outbox (hotel_id, event_id, type, version, payload, created_at)
             SELECT hotel_id, gen_random_uuid(), 'inventory.changed', 1,
                    '{\"nights\": [{\"room_type_id\": 1, \"night\": \"2026-11-14\", \"available\": 0}]}', now()
             FROM hotels",
        )
        .await;
    let expected = "HTL-204, invariant 1: RT-DLX 2026-11-14: held and confirmed are within sellable; \
                    expected held 2, confirmed 1, found held 2, confirmed 1 of sellable 2";
    assert_eq!(told, [expected]);
}

#[tokio::test]
async fn money_that_nobody_keeps_and_nobody_gives_back() {
    let season = Season::new().await;
    let failed = season.failed;
    let told = season
        .after(&format!(
            "UPDATE payment_attempts SET captured = 100 WHERE attempt_id = '{uuid}';
             INSERT INTO payment_history (hotel_id, attempt_id, kind, amount, currency, reference, at)
             SELECT hotel_id, attempt_id, 'captured', 100, currency, 'found', now()
             FROM payment_attempts WHERE attempt_id = '{uuid}'",
            uuid = failed.uuid()
        ))
        .await;
    let rule = "captured is kept, refunded, due back, or in an open case; expected 100 INR, found 0 INR";
    assert_eq!(told, [format!("HTL-204, invariant 2: {failed}: {rule}")]);
}

#[tokio::test]
async fn a_promise_that_is_not_the_sum_of_its_refunds() {
    let season = Season::new().await;
    let due = season.refund_due;
    let told = season
        .after(&format!(
            "UPDATE payment_attempts SET refund_committed = 1 WHERE attempt_id = '{}'",
            due.uuid()
        ))
        .await;
    let rule = "refund_committed is the sum of its refunds; expected 14560 INR, found 1 INR";
    assert_eq!(told, [format!("HTL-204, invariant 2: {due}: {rule}")]);
}

#[tokio::test]
async fn a_capture_that_the_history_does_not_know() {
    let season = Season::new().await;
    let confirmed = season.confirmed;
    let told = season
        .after(&format!(
            "ALTER TABLE payment_history DISABLE TRIGGER USER;
             DELETE FROM payment_history WHERE attempt_id = '{}'",
            confirmed.uuid()
        ))
        .await;
    let rule = "captured is what the payment history tells; expected 0 INR, found 14560 INR";
    assert_eq!(told, [format!("HTL-204, invariant 2: {confirmed}: {rule}")]);
}

#[tokio::test]
async fn a_confirmation_that_did_not_take_its_amount() {
    let season = Season::new().await;
    let confirmed = season.confirmed;
    let told = season
        .after(&format!(
            "ALTER TABLE payment_attempts DROP CONSTRAINT attempts_confirmed_is_paid;
             UPDATE payment_attempts SET amount = amount + 1 WHERE attempt_id = '{}'",
            confirmed.uuid()
        ))
        .await;
    let rule = "a CONFIRMED attempt captured its amount; expected 14561 INR, found 14560 INR";
    assert_eq!(told, [format!("HTL-204, invariant 2: {confirmed}: {rule}")]);
}

#[tokio::test]
async fn a_confirmed_attempt_without_a_reservation() {
    let season = Season::new().await;
    let failed = season.failed;
    let told = season.after(&confirm(&season)).await;
    let rule = "an attempt to book is CONFIRMED exactly when it made a reservation; \
                expected a reservation, or another state, found CONFIRMED without one";
    assert_eq!(told, [format!("HTL-204, invariant 2: {failed}: {rule}")]);
}

/// Makes the failed attempt one that has paid, its event and history with it.
fn confirm(season: &Season) -> String {
    format!(
        "UPDATE payment_attempts SET state = 'CONFIRMED', failure = NULL, captured = amount
         WHERE attempt_id = '{uuid}';
         INSERT INTO payment_history (hotel_id, attempt_id, kind, amount, currency, reference, at)
         SELECT hotel_id, attempt_id, 'captured', amount, currency, 'found', now()
         FROM payment_attempts WHERE attempt_id = '{uuid}';
         DELETE FROM outbox WHERE type = 'attempt.failed' AND payload ->> 'attempt_id' = '{id}';",
        uuid = season.failed.uuid(),
        id = season.failed
    )
}

#[tokio::test]
async fn an_attempt_called_refunded_whose_refund_is_not_through() {
    let season = Season::new().await;
    let refunded = season.refunded;
    let refund = format!("SELECT refund_id FROM refunds WHERE attempt_id = '{}'", refunded.uuid());
    let refund = season.at.database().value(&refund).await;
    let refund = RefundId::new(refunded.hotel(), refund.as_str().expect("an id").parse().expect("an id"));
    let told = season
        .after(&format!(
            "UPDATE refunds SET state = 'REQUESTED', settled_at = NULL WHERE attempt_id = '{}';
             DELETE FROM outbox WHERE type = 'refund.succeeded'",
            refunded.uuid()
        ))
        .await;
    let rule = "an attempt is REFUNDED exactly when all its refunds SUCCEEDED; \
                expected all refunds SUCCEEDED, or another state, found REFUNDED without them";
    let of_refund = "a refund SUCCEEDED exactly when its last movement says so; expected REQUESTED, \
                     found refund_succeeded";
    let expected = [
        format!("HTL-204, invariant 2: {refunded}: {rule}"),
        format!("HTL-204, invariant 6: {refund}: {of_refund}"),
    ];
    assert_eq!(told, expected);
}

#[tokio::test]
async fn a_refund_in_another_currency() {
    let season = Season::new().await;
    let due = season.refund_due;
    let told = season
        .after(&format!("UPDATE refunds SET currency = 'USD' WHERE attempt_id = '{}'", due.uuid()))
        .await;
    let rule = "a refund is in the currency of its attempt; expected INR, found USD";
    assert_eq!(told, [format!("HTL-204, invariant 2: {due}: {rule}")]);
}

#[tokio::test]
async fn two_reservations_of_one_hold() {
    let season = Season::new().await;
    let statements = format!(
        "{} ALTER TABLE reservations DROP CONSTRAINT reservations_one_per_hold;
         INSERT INTO reservations
         SELECT hotel_id, '00000000-0000-7000-8000-000000000007', principal_id, hold_id, '{}', state, version,
                check_in, check_out, total, currency, guest, document, created_at
         FROM reservations;
         INSERT INTO reservation_rooms
         SELECT hotel_id, '00000000-0000-7000-8000-000000000007', room, total, penalty, cancelled_at
         FROM reservation_rooms;
         INSERT INTO outbox (hotel_id, event_id, type, version, payload, created_at)
         SELECT hotel_id, gen_random_uuid(), type, version,
                payload || jsonb_build_object(
                    'reservation_id', concat('res_', lpad(to_hex(hotel_id), 8, '0'), '00000000000070008000000000000007'),
                    'nights', '[]'::jsonb),
                created_at
         FROM outbox WHERE type = 'reservation.confirmed'",
        confirm(&season),
        season.failed.uuid()
    );
    let told = season.after(&statements).await;
    let rule = "a hold has at most one reservation or change; expected one at most, found 2";
    assert_eq!(told, [format!("HTL-204, invariant 3: {}: {rule}", season.consumed)]);
}

#[tokio::test]
async fn two_open_attempts_of_one_hold() {
    let season = Season::new().await;
    let hold = season.paying;
    let told = season
        .after(&format!(
            "DROP INDEX attempts_one_open_per_hold;
             INSERT INTO payment_attempts
             SELECT (jsonb_populate_record(a, jsonb_build_object(
                 'attempt_id', '00000000-0000-7000-8000-000000000007', 'idempotency_key', 'another'))).*
             FROM payment_attempts a WHERE hold_id = '{}';
             INSERT INTO outbox (hotel_id, event_id, type, version, payload, created_at)
             SELECT hotel_id, gen_random_uuid(), type, version,
                    payload || jsonb_build_object('attempt_id',
                        concat('att_', lpad(to_hex(hotel_id), 8, '0'), '00000000000070008000000000000007')),
                    created_at
             FROM outbox WHERE type = 'attempt.started' AND payload ->> 'hold_id' = '{hold}'",
            hold.uuid()
        ))
        .await;
    let rule = "a hold has at most one open attempt; expected one at most, found 2";
    assert_eq!(told, [format!("HTL-204, invariant 3: {hold}: {rule}")]);
}

#[tokio::test]
async fn a_consumed_hold_without_a_reservation() {
    let season = Season::new().await;
    let told = season
        .after(&format!(
            "UPDATE holds SET state = 'CONSUMED' WHERE hold_id = '{}';
             DELETE FROM outbox WHERE type = 'hold.released'",
            season.released.uuid()
        ))
        .await;
    let rule = "a hold is CONSUMED exactly when a reservation or a change of one took it over; \
                expected a reservation, or another state, found CONSUMED without one";
    assert_eq!(told, [format!("HTL-204, invariant 3: {}: {rule}", season.released)]);
}

#[tokio::test]
async fn a_change_whose_event_was_lost() {
    let season = Season::new().await;
    let (hold, attempt) = (season.released, season.failed);
    let told = season
        .after(&format!(
            "DELETE FROM outbox WHERE type = 'hold.placed' AND payload ->> 'hold_id' = '{hold}';
             DELETE FROM outbox WHERE type = 'attempt.failed' AND payload ->> 'attempt_id' = '{attempt}'"
        ))
        .await;
    let lost = |name, id: &dyn std::fmt::Display| {
        format!("HTL-204, invariant 4: {name} of {id}: each change has one event; expected 1, found 0")
    };
    assert_eq!(told, [lost("attempt.failed", &attempt), lost("hold.placed", &hold)]);
}

/// A published event counts like one that waits.
#[tokio::test]
async fn published_events_are_not_lost() {
    let season = Season::new().await;
    assert!(season.after("UPDATE outbox SET published_at = now()").await.is_empty());
}

#[tokio::test]
async fn an_event_of_something_that_never_was() {
    let season = Season::new().await;
    let nobody = season.active.to_string().replace("hld_", "res_");
    let told = season
        .after(&format!(
            "INSERT INTO outbox (hotel_id, event_id, type, version, payload, created_at)
             SELECT hotel_id, gen_random_uuid(), 'reservation.confirmed', 1,
                    '{{\"reservation_id\": \"{nobody}\", \"nights\": []}}', now()
             FROM hotels"
        ))
        .await;
    let rule = "each change has one event; expected none, since nothing has that id, found 1";
    assert_eq!(told, [format!("HTL-204, invariant 4: reservation.confirmed of {nobody}: {rule}")]);
}

#[tokio::test]
async fn an_event_id_that_stands_twice() {
    let season = Season::new().await;
    let told = season
        .after(
            "INSERT INTO outbox (hotel_id, event_id, type, version, payload, created_at)
             SELECT hotel_id, event_id, 'rates.changed', version, payload, created_at
             FROM outbox WHERE type = 'rates.changed' LIMIT 1",
        )
        .await;
    let [twice] = told.as_slice() else { panic!("{told:?}") };
    assert!(twice.starts_with("HTL-204, invariant 4: rates.changed of "), "{twice}");
    assert!(twice.ends_with(": an event's id stands once; expected 1, found 2"), "{twice}");
}

#[tokio::test]
async fn an_edit_of_the_inventory_that_was_never_told() {
    let season = Season::new().await;
    let told = season.after("UPDATE room_night_inventory SET sellable = 6 WHERE stay_date = '2026-11-14' AND room_type_id = 1").await;
    let expected = "HTL-204, invariant 4: RT-DLX 2026-11-14: the last event of a night tells what is available; \
                    expected 3, found 2";
    assert_eq!(told, [expected]);
}

#[tokio::test]
async fn a_refund_above_what_was_captured() {
    let season = Season::new().await;
    let told = season
        .after(&format!(
            "ALTER TABLE payment_attempts DROP CONSTRAINT attempts_refund_within_capture;
             UPDATE refunds SET amount = amount + 1 WHERE attempt_id = '{uuid}';
             UPDATE payment_attempts SET refund_committed = captured + 1 WHERE attempt_id = '{uuid}'",
            uuid = season.refund_due.uuid()
        ))
        .await;
    let [above] = told.as_slice() else { panic!("{told:?}") };
    assert!(above.starts_with("HTL-204, invariant 6: ref_"), "{above}");
    let rule = ": a refund is within what was captured; expected at most 14560 INR, found 14561 INR";
    assert!(above.ends_with(rule), "{above}");
}

#[tokio::test]
async fn refunds_that_together_are_above_what_was_captured() {
    let season = Season::new().await;
    let due = season.refund_due;
    let told = season
        .after(&format!(
            "ALTER TABLE payment_attempts DROP CONSTRAINT attempts_refund_within_capture;
             INSERT INTO refunds
             SELECT (jsonb_populate_record(r, jsonb_build_object(
                 'refund_id', '00000000-0000-7000-8000-000000000007', 'number', 2, 'amount', 10))).*
             FROM refunds r WHERE attempt_id = '{uuid}';
             UPDATE payment_attempts SET refund_committed = captured + 10 WHERE attempt_id = '{uuid}';
             INSERT INTO outbox (hotel_id, event_id, type, version, payload, created_at)
             SELECT hotel_id, gen_random_uuid(), type, version,
                    payload || jsonb_build_object('refund_id',
                        concat('ref_', lpad(to_hex(hotel_id), 8, '0'), '00000000000070008000000000000007')),
                    created_at
             FROM outbox WHERE type = 'refund.requested' AND payload ->> 'attempt_id' = '{due}'",
            uuid = due.uuid()
        ))
        .await;
    let rule =
        "all refunds together are within what was captured; expected at most 14560 INR, found 14570 INR";
    assert_eq!(told, [format!("HTL-204, invariant 6: {due}: {rule}")]);
}

/// B070: the head says one thing, its rooms another.
#[tokio::test]
async fn b070_a_reservation_cancelled_in_its_head_and_not_in_its_rooms() {
    let season = Season::new().await;
    let told = season.after("UPDATE reservations SET state = 'CANCELLED'").await;
    let rule = "a reservation is CANCELLED exactly when none of its rooms stands; \
                expected a room that stands, or another end, found CANCELLED with 1 rooms";
    assert!(matches!(told.as_slice(), [only] if only.ends_with(rule)), "{told:?}");
}

#[tokio::test]
async fn money_kept_for_a_room_that_was_cancelled_for_less() {
    let season = Season::new().await;
    let told = season
        .after(
            "UPDATE reservation_rooms SET cancelled_at = now(), penalty = 1, refund = 0;
             UPDATE reservations SET state = 'CANCELLED';
             UPDATE reservation_nights SET given_back_at = now();
             UPDATE room_night_inventory SET confirmed = 0;
             DELETE FROM outbox WHERE type <> 'hold.placed'",
        )
        .await;
    let rule = "no more is kept than for rooms that stand and fees of those cancelled; expected 1 INR, found 14560 INR";
    assert_eq!(told.iter().filter(|line| line.ends_with(rule)).count(), 1, "{told:?}");
}
