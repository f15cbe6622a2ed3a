//! What the death of a process leaves at each named point, what a retry gets, and what is asked of the provider
//! again. `crashes.rs` lets the program die at every point of every step and asks for just this;
//! `docs/crash-points.md` is written from it.

use std::{env, fs};

use crate::crashes::{COMMITTED, POINTS};

/// What stands in the database, and at the provider, once the process is gone.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Leaves {
    AsBefore,
    Hold,
    OpenAttempt,
    OpenAttemptAndMoney,
    Reservation,
    FailedAttempt,
    EndedHold,
    CancelledReservation,
    OpenCase,
    RequestedRefund,
    SettledRefund,
}

/// What the same call with the same key gets, or who ends it where there is no call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Retry {
    NewTry,
    Original,
    PendingThenDeclined,
    PendingThenReservation,
    Reservation,
    Declined,
    NextRun,
    Refund,
}

/// What the provider may be asked a second time. Events are written in the transaction of what they tell, so that
/// one that was not committed tells nothing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Again {
    Nothing,
    RefundBySameName,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Crash {
    pub(crate) leaves: Leaves,
    pub(crate) retry: Retry,
    pub(crate) again: Again,
}

const fn crash(leaves: Leaves, retry: Retry) -> Crash {
    Crash { leaves, retry, again: Again::Nothing }
}

/// One transaction, and the points beside it at which the same holds.
#[derive(Debug)]
pub(crate) struct Step {
    pub(crate) transaction: &'static str,
    about: &'static str,
    /// At every point before its commit.
    before: Crash,
    also_before: &'static [&'static str],
    committed: Crash,
    also_committed: &'static [&'static str],
    /// Of the ledger, with all of its points; else a transaction with two.
    of_ledger: bool,
}

impl Step {
    const fn new(transaction: &'static str, about: &'static str, before: Crash, committed: Crash) -> Self {
        Self { transaction, about, before, also_before: &[], committed, also_committed: &[], of_ledger: true }
    }

    /// Each with what holds there: what `KEYRACK_ABORT_AT` takes.
    pub(crate) fn points(&self) -> Vec<(String, Crash)> {
        let names = if self.of_ledger { &POINTS[..] } else { &["before_commit", COMMITTED] };
        let of = |point: &&'static str| {
            let crash = if *point == COMMITTED { self.committed } else { self.before };
            (format!("{}.{point}", self.transaction), crash)
        };
        let beside = |names: &'static [&'static str], crash: Crash| {
            names.iter().map(move |name| ((*name).to_owned(), crash))
        };
        let own = names.iter().map(of);
        let before = beside(self.also_before, self.before);
        before.chain(own).chain(beside(self.also_committed, self.committed)).collect()
    }
}

pub(crate) const PLACE_HOLD: Step = Step::new(
    "place_hold",
    "T1, the hold",
    crash(Leaves::AsBefore, Retry::NewTry),
    crash(Leaves::Hold, Retry::Original),
);

pub(crate) const START_ATTEMPT: Step = Step {
    also_committed: &["pay.before_provider"],
    ..Step::new(
        "start_attempt",
        "T2, the attempt, before the provider is asked",
        crash(Leaves::AsBefore, Retry::NewTry),
        crash(Leaves::OpenAttempt, Retry::PendingThenDeclined),
    )
};

pub(crate) const CONFIRM: Step = Step {
    also_before: &["pay.after_provider"],
    ..Step::new(
        "confirm",
        "T3, the reservation, after the provider has captured",
        crash(Leaves::OpenAttemptAndMoney, Retry::PendingThenReservation),
        crash(Leaves::Reservation, Retry::Reservation),
    )
};

pub(crate) const FAIL_ATTEMPT: Step = Step::new(
    "fail_attempt",
    "a decline",
    crash(Leaves::OpenAttempt, Retry::PendingThenDeclined),
    crash(Leaves::FailedAttempt, Retry::Declined),
);

pub(crate) const EXPIRE_HOLD: Step = Step::new(
    "expire_hold",
    "the end of a hold",
    crash(Leaves::AsBefore, Retry::NextRun),
    crash(Leaves::EndedHold, Retry::NextRun),
);

pub(crate) const CANCEL: Step = Step::new(
    "cancel",
    "a cancellation",
    crash(Leaves::AsBefore, Retry::NewTry),
    crash(Leaves::CancelledReservation, Retry::Original),
);

pub(crate) const ALLOCATE_ANEW: Step = Step::new(
    "allocate_anew",
    "rooms for a capture that came after its hold",
    crash(Leaves::OpenCase, Retry::Reservation),
    crash(Leaves::Reservation, Retry::Reservation),
);

pub(crate) const GIVE_UP_BOOKING: Step = Step::new(
    "give_up_booking",
    "a capture that came after its hold, and goes back",
    crash(Leaves::OpenCase, Retry::Refund),
    crash(Leaves::RequestedRefund, Retry::Refund),
);

pub(crate) const SETTLE_REFUND: Step = Step {
    of_ledger: false,
    ..Step::new(
        "settle_refund",
        "the provider has given a refund back",
        Crash { leaves: Leaves::RequestedRefund, retry: Retry::Refund, again: Again::RefundBySameName },
        crash(Leaves::SettledRefund, Retry::Refund),
    )
};

const STEPS: [&Step; 9] = [
    &PLACE_HOLD,
    &START_ATTEMPT,
    &CONFIRM,
    &FAIL_ATTEMPT,
    &EXPIRE_HOLD,
    &CANCEL,
    &ALLOCATE_ANEW,
    &GIVE_UP_BOOKING,
    &SETTLE_REFUND,
];

impl Leaves {
    const fn told(self) -> &'static str {
        match self {
            Self::AsBefore => "what there was before: PostgreSQL rolls back",
            Self::Hold => "the hold, and the key with its answer",
            Self::OpenAttempt => "the attempt, PENDING_PAYMENT; nothing was taken",
            Self::OpenAttemptAndMoney => "the attempt, PENDING_PAYMENT; the money was taken",
            Self::Reservation => "the reservation",
            Self::FailedAttempt => "the attempt, FAILED; the hold as it was",
            Self::EndedHold => "the hold, EXPIRED; the units are back",
            Self::CancelledReservation => {
                "the reservation, CANCELLED; the units are back and the refund is requested"
            }
            Self::OpenCase => "the attempt, RECONCILING, under a lease",
            Self::RequestedRefund => "the refund, REQUESTED",
            Self::SettledRefund => "the refund, SUCCEEDED",
        }
    }
}

impl Retry {
    const fn told(self) -> &'static str {
        match self {
            Self::NewTry => "is a new try: 201 (200 of a cancellation), no replay",
            Self::Original => "the original answer, `Idempotency-Replayed: true`",
            Self::PendingThenDeclined => "202; after the deadline 402, and nothing was taken",
            Self::PendingThenReservation => "202; after the deadline 201, paid once",
            Self::Reservation => "201 with the reservation, paid once",
            Self::Declined => "402; another card may be tried",
            Self::NextRun => "no call waits for it: the next run of any process ends it",
            Self::Refund => "409 `BOOKING_FAILED` with the refund, once",
        }
    }
}

impl Again {
    const fn told(self) -> &'static str {
        match self {
            Self::Nothing => "no",
            Self::RefundBySameName => "the refund, by the same name: the provider knows it",
        }
    }
}

fn row(points: &[&str], about: &str, crash: Crash) -> String {
    let points = points.iter().map(|point| format!("`{point}`")).collect::<Vec<_>>().join(", ");
    let Crash { leaves, retry, again } = crash;
    format!("| {about} | {points} | {} | {} | {} |\n", leaves.told(), retry.told(), again.told())
}

fn page() -> String {
    let mut page = String::from(
        "# What a crash leaves\n\n\
         The program dies at each of these points in a test (`services/keyrack/tests/it/crashes.rs`), is started \
         again, and the call is repeated with its key: this table is what is asked for then, and is written from \
         `crash_points.rs` beside it with `make docs-tables`. `keyrack verify` is clean after each. The points of \
         other steps, and who ends them, are in [ARCHITECTURE.md](ARCHITECTURE.md#what-happens-at-each-crash).\n\n\
         | step | dies at | what is there | the retry gets | is the provider asked for it again |\n\
         | --- | --- | --- | --- | --- |\n",
    );
    for step in STEPS {
        let points = step.points();
        // One row for each run of points at which the same holds.
        for same in points.chunk_by(|(_, a), (_, b)| a.leaves == b.leaves && a.retry == b.retry) {
            let names: Vec<&str> = same.iter().map(|(name, _)| name.as_str()).collect();
            page.push_str(&row(&names, step.about, same[0].1));
        }
    }
    page
}

#[test]
fn the_page_of_crash_points_says_what_the_tests_ask_for() {
    let docs = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/crash-points.md");
    if env::var_os("KEYRACK_WRITE_DOCS").is_some() {
        fs::write(docs, page()).expect("the page is written");
    }
    let written = fs::read_to_string(docs).expect("the page");
    assert!(written == page(), "docs/crash-points.md is out of date: make docs-tables");
}
