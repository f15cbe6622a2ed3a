//! A database after years: filled behind the constraints' back, which only the plans have to do with.

use keyrack_testkit::TestDatabase;

pub(crate) async fn database() -> TestDatabase {
    let database = TestDatabase::new().await;
    database.execute(INVENTORY).await;
    database.execute(HOLDS).await;
    database.execute(BOOKINGS).await;
    database.execute("VACUUM ANALYZE").await;
    database
}

const INVENTORY: &str = "
    SET session_replication_role = replica;
    INSERT INTO hotels (hotel_id, code, name, time_zone, currency, city)
        SELECT h, 'HTL-' || h, 'A hotel', 'UTC', 'EUR', 'A city' FROM generate_series(1, 200) h;
    INSERT INTO room_night_inventory (hotel_id, room_type_id, stay_date, sellable)
        SELECT h, r, date '2026-01-10' + n, 5
        FROM generate_series(1, 200) h, generate_series(1, 7) r, generate_series(0, 749) n;
    INSERT INTO restrictions (hotel_id, room_type_id, stay_date, min_stay_through)
        SELECT h, r, date '2026-01-10' + n, 2
        FROM generate_series(1, 200) h, generate_series(1, 7) r, generate_series(0, 40) n";

/// One hold in ten is ACTIVE.
const HOLDS: &str = "
    SET session_replication_role = replica;
    INSERT INTO quotes (hotel_id, quote_id, principal_id, document, created_at, expires_at)
        SELECT 1 + n % 200, gen_random_uuid(), gen_random_uuid(), '{}', now(), now() + interval '600 s'
        FROM generate_series(1, 60000) n;
    INSERT INTO holds (hotel_id, hold_id, principal_id, quote_id, state, check_in, check_out, total, currency,
                       created_at, expires_at, closed_at)
        SELECT 1 + n % 200, gen_random_uuid(), gen_random_uuid(), gen_random_uuid(),
               CASE WHEN n % 10 = 0 THEN 'ACTIVE' ELSE 'EXPIRED' END, date '2026-02-01', date '2026-02-03', 1, 'EUR',
               now(), now() + interval '600 s' + n * interval '1 ms', CASE WHEN n % 10 = 0 THEN NULL ELSE now() END
        FROM generate_series(1, 60000) n;
    INSERT INTO hold_nights (hotel_id, hold_id, room, stay_date, room_type_id, rate_plan_id, amount, price_version)
        SELECT hotel_id, hold_id, 1, check_in, 1, 1, 1, 1 FROM holds;
    INSERT INTO idempotency_keys (hotel_id, principal_id, endpoint, idempotency_key, try_id, fingerprint,
                                  contract_version, answer, created_at)
        SELECT hotel_id, principal_id, 'POST /v1/holds', 'K', gen_random_uuid(), decode(repeat('00', 32), 'hex'), 1,
               '{}', created_at FROM holds";

/// One attempt in a hundred is open; one event in a hundred waits.
const BOOKINGS: &str = "
    SET session_replication_role = replica;
    INSERT INTO payment_attempts (hotel_id, attempt_id, purpose, hold_id, principal_id, endpoint, idempotency_key,
                                  try_id, fingerprint, contract_version, state, amount, currency, method_token, guest,
                                  deadline_at, created_at, decided_at, captured)
        SELECT hotel_id, gen_random_uuid(), 'booking', hold_id, principal_id, 'POST /v1/bookings', 'P', gen_random_uuid(),
               decode(repeat('00', 32), 'hex'), 1,
               CASE WHEN n % 200 = 0 THEN 'PENDING_PAYMENT' WHEN n % 200 = 100 THEN 'RECONCILING' ELSE 'CONFIRMED' END,
               1, 'EUR', 'pm_ok', '{}', created_at + n * interval '1 ms', created_at,
               CASE WHEN n % 100 = 0 THEN NULL ELSE created_at END, CASE WHEN n % 100 = 0 THEN 0 ELSE 1 END
        FROM (SELECT *, row_number() OVER () AS n FROM holds) AS h;
    INSERT INTO reservations (hotel_id, reservation_id, principal_id, hold_id, attempt_id, state, check_in, check_out,
                              total, currency, guest, document, created_at)
        SELECT a.hotel_id, gen_random_uuid(), a.principal_id, a.hold_id, a.attempt_id, 'CONFIRMED', date '2026-02-01',
               date '2026-02-03', 1, 'EUR', '{}', '{}', a.created_at
        FROM payment_attempts a WHERE a.state = 'CONFIRMED';
    INSERT INTO outbox (hotel_id, event_id, type, version, payload, created_at, published_at)
        SELECT 1 + n % 200, gen_random_uuid(), 'hold.placed', 1, '{}', now(), CASE WHEN n % 100 = 0 THEN NULL ELSE now() END
        FROM generate_series(1, 100000) n";
