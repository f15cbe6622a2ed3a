//! `type` of a problem is the address of its page, served by the API itself.

use keyrack_api_types::code::Code;

/// Markdown.
pub const fn page(code: Code) -> &'static str {
    match code {
        Code::Malformed => include_str!("../../../docs/problems/malformed.md"),
        Code::IdempotencyKeyRequired => include_str!("../../../docs/problems/idempotency_key_required.md"),
        Code::IdempotencyKeyInvalid => include_str!("../../../docs/problems/idempotency_key_invalid.md"),
        Code::Unauthenticated => include_str!("../../../docs/problems/unauthenticated.md"),
        Code::PaymentDeclined => include_str!("../../../docs/problems/payment_declined.md"),
        Code::NotFound => include_str!("../../../docs/problems/not_found.md"),
        Code::MethodNotAllowed => include_str!("../../../docs/problems/method_not_allowed.md"),
        Code::RequestTimeout => include_str!("../../../docs/problems/request_timeout.md"),
        Code::Conflict => include_str!("../../../docs/problems/conflict.md"),
        Code::RoomNightUnavailable => include_str!("../../../docs/problems/room_night_unavailable.md"),
        Code::RestrictionViolated => include_str!("../../../docs/problems/restriction_violated.md"),
        Code::HoldNotActive => include_str!("../../../docs/problems/hold_not_active.md"),
        Code::AttemptInProgress => include_str!("../../../docs/problems/attempt_in_progress.md"),
        Code::BookingFailed => include_str!("../../../docs/problems/booking_failed.md"),
        Code::ChangeInProgress => include_str!("../../../docs/problems/change_in_progress.md"),
        Code::ChangeFailed => include_str!("../../../docs/problems/change_failed.md"),
        Code::BookingInactive => include_str!("../../../docs/problems/booking_inactive.md"),
        Code::StaleRevision => include_str!("../../../docs/problems/stale_revision.md"),
        Code::SequenceGap => include_str!("../../../docs/problems/sequence_gap.md"),
        Code::BelowCommitted => include_str!("../../../docs/problems/below_committed.md"),
        Code::OperationInProgress => include_str!("../../../docs/problems/operation_in_progress.md"),
        Code::IdempotencyKeyExpired => include_str!("../../../docs/problems/idempotency_key_expired.md"),
        Code::AlreadyExists => include_str!("../../../docs/problems/already_exists.md"),
        Code::QuoteExpired => include_str!("../../../docs/problems/quote_expired.md"),
        Code::HoldExpired => include_str!("../../../docs/problems/hold_expired.md"),
        Code::ChangeExpired => include_str!("../../../docs/problems/change_expired.md"),
        Code::VersionConflict => include_str!("../../../docs/problems/version_conflict.md"),
        Code::PayloadTooLarge => include_str!("../../../docs/problems/payload_too_large.md"),
        Code::UnsupportedMediaType => include_str!("../../../docs/problems/unsupported_media_type.md"),
        Code::Invalid => include_str!("../../../docs/problems/invalid.md"),
        Code::IdempotencyKeyReused => include_str!("../../../docs/problems/idempotency_key_reused.md"),
        Code::PreconditionRequired => include_str!("../../../docs/problems/precondition_required.md"),
        Code::HoldLimit => include_str!("../../../docs/problems/hold_limit.md"),
        Code::Internal => include_str!("../../../docs/problems/internal.md"),
        Code::HotNightBusy => include_str!("../../../docs/problems/hot_night_busy.md"),
        Code::HotelMoving => include_str!("../../../docs/problems/hotel_moving.md"),
        Code::Overloaded => include_str!("../../../docs/problems/overloaded.md"),
        Code::Unavailable => include_str!("../../../docs/problems/unavailable.md"),
    }
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeSet, fs};

    use super::*;

    #[test]
    fn every_code_has_a_page_that_says_its_name_status_and_meaning() {
        for code in Code::ALL {
            let page = page(*code);
            let start = format!("# {}\n\nHTTP {}: {}\n\n", code.as_str(), code.status(), code.title());
            assert!(page.starts_with(&start), "{}", code.as_str());
            assert!(page.contains(code.meaning()), "{}", code.as_str());
            assert!(page.contains("\n## What to do\n"), "{}", code.as_str());
        }
    }

    #[test]
    fn every_page_belongs_to_a_code() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/problems");
        let files =
            fs::read_dir(folder).expect("the folder").map(|entry| entry.expect("an entry").file_name());
        let pages: BTreeSet<_> = files.map(|name| name.into_string().expect("plain text")).collect();
        let expected: BTreeSet<_> = Code::ALL.iter().map(|code| format!("{}.md", code.page())).collect();
        assert_eq!(pages, expected);
    }
}
