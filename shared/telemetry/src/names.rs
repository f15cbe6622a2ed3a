//! Every metric and span name. Names are an interface: dashboards and alerts depend on them.
//! `docs/metrics.md` is written from this file.

use crate::describe::metrics;
pub use crate::describe::{Metric, MetricKind};

metrics! {
    HTTP_REQUEST_SECONDS: Histogram, Seconds, "keyrack_http_request_seconds", ["method", "route", "status"],
        "Time to answer a request, by route pattern and status; its count is the number of requests.";

    LEDGER_BATCHES: Counter, Count, "keyrack_ledger_batches_total", ["outcome"],
        "Batches of counter changes, by what became of them.";
    LEDGER_BATCH_MEMBERS: Histogram, Count, "keyrack_ledger_batch_members", [],
        "Operations in a batch.";
    LEDGER_BATCH_SECONDS: Histogram, Seconds, "keyrack_ledger_batch_seconds", [],
        "Time of a batch from its first read to its commit.";
    LEDGER_FALLBACKS: Counter, Count, "keyrack_ledger_fallbacks_total", [],
        "Batches that met a surprise and whose members were run singly.";
    LEDGER_LOCK_TIMEOUTS: Counter, Count, "keyrack_ledger_lock_timeouts_total", [],
        "Batches that did not get a lock in time.";

    TRANSACTIONS: Counter, Count, "keyrack_transactions_total", ["name", "outcome"],
        "Database transactions by name and outcome.";
    TRANSACTION_CONFLICTS: Counter, Count, "keyrack_transaction_conflicts_total", ["name", "kind"],
        "Transactions run again after a serialization failure or a deadlock. A deadlock is a defect: alert on any.";

    EXPIRED_HOLDS: Counter, Count, "keyrack_expired_holds_total", [],
        "Holds ended by the expiry worker.";
    EXPIRY_LAG_SECONDS: Gauge, Seconds, "keyrack_expiry_lag_seconds", ["shard"],
        "Age of the oldest active hold that is past its expiry and not deferred, in the deciding clock.";
    COUNTER_DRIFT: Counter, Count, "keyrack_counter_drift_total", [],
        "Holds whose units could not be given back, since the counter was too low. Alert on any; see keyrack repair.";

    ATTEMPTS: Counter, Count, "keyrack_attempts_total", ["outcome"],
        "Payment attempts by the state that they came to.";
    PROVIDER_CALLS: Counter, Count, "keyrack_provider_calls_total", ["call", "outcome"],
        "Calls to the payment provider by outcome.";
    PROVIDER_CALL_SECONDS: Histogram, Seconds, "keyrack_provider_call_seconds", ["call"],
        "Time of a call to the payment provider.";
    TIMELINE_NOTES_LOST: Counter, Count, "keyrack_timeline_notes_lost_total", ["of"],
        "Notes for the timeline of a booking that could not be written: of a provider call asked or answered, or of a replay. Nothing else depends on them.";
    PROVIDER_CALLS_REMOVED: Counter, Count, "keyrack_provider_call_records_removed_total", [],
        "Records of provider calls removed after their retention.";
    RECONCILIATION_OPEN: Gauge, Count, "keyrack_reconciliation_open", ["shard"],
        "Attempts whose outcome is not known yet.";
    SETTLEMENT_FINDINGS_OPEN: Gauge, Count, "keyrack_settlement_findings_open", [],
        "Lines of the provider's settlement export that do not agree with what is recorded and have not come to an end. Alert on any that stays; see /v1/ops/settlement-findings.";

    NOTICES: Counter, Count, "keyrack_notices_total", ["provider", "outcome"],
        "Notices of payment providers by what became of them.";
    UNMATCHED_NOTICES: Gauge, Count, "keyrack_unmatched_notices", [],
        "Authentic notices about what is not there.";
    UNMATCHED_NOTICE_AGE_SECONDS: Gauge, Seconds, "keyrack_unmatched_notice_age_seconds", [],
        "Age of the oldest of them, in real time.";
    REFUNDS_NEEDING_ATTENTION: Gauge, Count, "keyrack_refunds_needing_attention", ["shard"],
        "Refunds that are not sent any more until an operator has looked. Alert on any.";
    CHARGES_GIVEN_UP: Gauge, Count, "keyrack_charges_given_up", ["shard"],
        "Charges of stays that could not be collected and are not tried any more: they are the hotels' staff's.";

    OUTBOX_PENDING: Gauge, Count, "keyrack_outbox_pending", ["shard"],
        "Events written and not yet published.";
    OUTBOX_AGE_SECONDS: Gauge, Seconds, "keyrack_outbox_age_seconds", ["shard"],
        "Age of the oldest event not yet published. Alert near 60 s.";
    EVENTS_PUBLISHED: Counter, Count, "keyrack_events_published_total", [],
        "Events published and marked as such.";
    RELAY_FAILURES: Counter, Count, "keyrack_relay_failures_total", [],
        "Runs of the relay in which events could not be published; they are published later.";
    DEAD_LETTERS_WAITING: Gauge, Count, "keyrack_dead_letters_waiting", [],
        "Events on which a handler could not act, and those behind them. Alert on any.";

    CHANNEL_BOOKINGS_UNMAPPED: Counter, Count, "keyrack_channel_bookings_unmapped_total", [],
        "Deliveries of channels that name what their hotel does not have, and wait for somebody.";

    PMS_BATCHES: Counter, Count, "keyrack_pms_batches_total", ["mode", "outcome"],
        "Batches of hotels' systems that were taken, repeats not counted.";
    PMS_LINES: Counter, Count, "keyrack_pms_lines_total", ["outcome"],
        "Their lines, by what each came to. Lines that are invalid name what a hotel does not have or cannot sell.";
    PMS_CONFLICTS: Counter, Count, "keyrack_pms_conflicts_total", [],
        "Nights that a batch reported below what is held and confirmed. They are the hotels' staff's.";
    PMS_BATCHES_REMOVED: Counter, Count, "keyrack_pms_batches_removed_total", [],
        "Records of batches removed after their retention.";

    HORIZON_NIGHTS_OPENED: Counter, Count, "keyrack_horizon_nights_opened_total", [],
        "Room-nights opened for sale at the far end of the horizon.";
    KEYS_REMOVED: Counter, Count, "keyrack_keys_removed_total", [],
        "Idempotency records removed after their retention.";
    GUEST_SESSIONS_REMOVED: Counter, Count, "keyrack_guest_sessions_removed_total", [],
        "Guest sessions removed some time after their end.";

    WORKER_RUNS: Counter, Count, "keyrack_worker_runs_total", ["worker", "outcome"],
        "Runs of a background worker, ok or failed.";
    WORKER_RUN_SECONDS: Histogram, Seconds, "keyrack_worker_run_seconds", ["worker"],
        "Time of one run.";
    WORKER_LAST_SUCCESS: Gauge, Seconds, "keyrack_worker_last_success_timestamp_seconds", ["worker"],
        "When a run last succeeded, in real time since 1970.";
}

/// Names of spans. HTTP requests have the span of the request logger around them.
pub mod span {
    pub const LEDGER_BATCH: &str = "ledger.batch";
    pub const PROVIDER_CALL: &str = "provider.call";
    pub const WORKER_RUN: &str = "worker.run";
}
