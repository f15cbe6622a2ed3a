//! Notes of what the provider is asked, for the timeline of a booking. Written beside every transaction, before a
//! call is sent and when it has ended: a call whose process died is seen as asked and not answered. A note that
//! cannot be written is given up within a bound and counted; it never fails a payment.

use std::{future::Future, time::Duration};

use keyrack_db::DbError;
use keyrack_payments::{Doubt, NotSent, Reference, Refusal, Standing};
use keyrack_store::provider_calls::{self, CallEnd, CallRow};
use keyrack_telemetry::names;
use tokio::runtime::Handle;
use tokio_util::task::TaskTracker;

use crate::{Fault, entropy, hotel_directory::HotelDirectory};

/// For so long a payment waits for its note, twice a call at the most.
const PATIENCE: Duration = Duration::from_millis(250);

#[derive(Clone, Debug)]
pub(crate) struct CallNotes {
    hotels: HotelDirectory,
    runtime: Handle,
    work: TaskTracker,
}

impl CallNotes {
    pub(crate) const fn new(hotels: HotelDirectory, runtime: Handle, work: TaskTracker) -> Self {
        Self { hotels, runtime, work }
    }

    /// Before the call leaves.
    pub(crate) async fn asked(&self, call: &'static str, reference: Reference) -> CallRow {
        let row = CallRow {
            id: entropy::id(),
            attempt: reference.attempt(),
            call,
            reference: reference.to_string(),
        };
        let (notes, note) = (self.clone(), row.clone());
        self.in_time("asked", async move { notes.write(note, None).await }).await;
        row
    }

    pub(crate) async fn answered(&self, row: CallRow, end: CallEnd) {
        let notes = self.clone();
        self.in_time("answered", async move { notes.write(row, Some(end)).await }).await;
    }

    /// A transaction of its own, since only in one a lock and a statement have their bounds.
    async fn write(&self, row: CallRow, end: Option<CallEnd>) -> Result<(), Fault> {
        let hotel = self.hotels.by_id(row.attempt.hotel()).await.map_err(Fault::internal)?;
        let written: Result<(), DbError> = self
            .hotels
            .database(&hotel)?
            .transaction("note_provider_call", move |connection| {
                let (row, end) = (row.clone(), end.clone());
                Box::pin(async move {
                    match end {
                        None => provider_calls::asked(connection, &row).await,
                        Some(end) => provider_calls::answered(connection, &row, &end).await,
                    }
                })
            })
            .await;
        Ok(written?)
    }

    /// The writing goes on when nobody waits for it any more, and is waited for at a stop.
    pub(crate) async fn in_time(
        &self,
        of: &'static str,
        note: impl Future<Output = Result<(), Fault>> + Send + 'static,
    ) {
        let writing = self.work.spawn_on(
            async move {
                if let Err(fault) = note.await {
                    metrics::counter!(names::TIMELINE_NOTES_LOST, "of" => of).increment(1);
                    tracing::warn!(of, error = %fault, "a note for the timeline is lost");
                }
            },
            &self.runtime,
        );
        // Either way the payment goes on.
        let _waited = tokio::time::timeout(PATIENCE, writing).await;
    }
}

pub(crate) fn end(outcome: &'static str, detail: Option<&str>) -> CallEnd {
    CallEnd { outcome, detail: detail.map(str::to_owned) }
}

pub(crate) const fn refusal(why: Refusal) -> &'static str {
    match why {
        Refusal::UnknownMethod => "unknown_method",
        Refusal::ReferenceTaken => "reference_taken",
        Refusal::NothingToActOn => "nothing_to_act_on",
        Refusal::Voided => "voided",
        Refusal::AlreadyCaptured => "already_captured",
        Refusal::CaptureInProgress => "capture_in_progress",
        Refusal::ExceedsWhatIsThere => "exceeds_what_is_there",
        Refusal::Invalid => "invalid",
        Refusal::RefundFailed => "refund_failed",
    }
}

pub(crate) const fn not_sent(why: &NotSent) -> &'static str {
    match why {
        NotSent::DeadlinePassed => "deadline_passed",
        NotSent::NotReachable(_) => "not_reachable",
        NotSent::NotPositive => "not_positive",
        NotSent::NotChargeable => "not_chargeable",
        NotSent::KeyForgotten => "key_forgotten",
    }
}

pub(crate) const fn doubt(why: &Doubt) -> &'static str {
    match why {
        Doubt::NoAnswerInTime => "no_answer_in_time",
        Doubt::ConnectionLost(_) => "connection_lost",
        Doubt::Status(_) => "status",
        Doubt::TooLarge => "too_large",
        Doubt::Unreadable(_) => "unreadable",
        Doubt::NotWhatWasAsked => "not_what_was_asked",
        Doubt::Undecided => "undecided",
        Doubt::CustomerMustAct => "customer_must_act",
        Doubt::TooMany => "too_many",
        Doubt::NoPlaceToLook => "no_place_to_look",
        Doubt::NotAsked(_) => "not_asked",
    }
}

pub(crate) const fn standing(found: &Standing) -> &'static str {
    match found {
        Standing::Nothing => "nothing",
        Standing::Authorized { .. } => "authorized",
        Standing::ActionRequired { .. } => "action_required",
        Standing::Captured { .. } => "captured",
        Standing::Voided => "voided",
        Standing::Declined => "declined",
        Standing::Refunded { .. } => "refunded",
    }
}
