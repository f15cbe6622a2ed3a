//! What the port promises, as checks that every adapter must pass against its provider (a simulated
//! one, or a provider's own test mode). [`provider_conformance!`](crate::provider_conformance) makes
//! a test of each.
//!
//! Each check is given a fresh world and fails by a panic that says what was promised.

#![expect(clippy::expect_used, reason = "a check that cannot be set up has failed")]

pub mod customer;
pub mod settlement;

use std::time::Duration;

use async_trait::async_trait;
use futures::future::join_all;
use keyrack_domain::{ids::AttemptId, method_token::MethodToken, money::Money};

use crate::{
    Authorization, Capture, Deadline, LookUp, NotSent, PaymentProvider, Reference, Refund, RefundTry,
    Refusal, Standing, Void,
};

/// How a check wants its payment method to behave.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Wish {
    Accept,
    Decline,
    /// The authorization is received, and nothing comes of it.
    Silence,
    /// The capture happens, its answer is lost.
    LoseResponse,
    /// The capture waits until it is released.
    Slow,
    FailCapture,
    /// Not a method of this provider.
    Unissued,
}

/// What a provider is able to, beyond what the port asks of every one. A check asks for no more than that.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Abilities {
    /// A copy of a call that is being worked on waits for its answer; else its outcome may be unknown.
    pub copies_wait: bool,
    /// A capture that is under way is told from an authorization, and is not voided.
    pub tells_a_capture_under_way: bool,
    /// All, a part of it, and the currency: charged and given back exactly.
    pub amounts: &'static [(&'static str, &'static str, &'static str)],
}

impl Abilities {
    pub const EVERY: Self = Self {
        copies_wait: true,
        tells_a_capture_under_way: true,
        amounts: &[
            ("26400", "13200", "JPY"),
            ("14560.10", "0.01", "INR"),
            ("1.500", "0.001", "KWD"),
            ("90071992547409.93", "90071992547409.93", "EUR"),
        ],
    };
}

/// The other side of a check: steers the provider and looks into it.
#[async_trait]
pub trait ProviderControl: Send + Sync {
    fn abilities(&self) -> Abilities {
        Abilities::EVERY
    }
    fn fresh_attempt(&self) -> AttemptId;
    fn method(&self, wish: Wish) -> MethodToken;
    /// Until so many calls under the reference have arrived and wait.
    async fn until_waiting(&self, reference: Reference, calls: u32);
    /// Lets a waiting call take effect. When this returns it has.
    async fn release(&self, reference: Reference);
    /// How often the provider was asked under this reference.
    async fn calls(&self, reference: Reference) -> u32;
    /// How many captures the provider has made for this attempt, under whatever reference.
    async fn captures(&self, attempt: AttemptId) -> usize;
}

type Provider<'a> = &'a dyn PaymentProvider;
type Control<'a> = &'a dyn ProviderControl;

/// One `#[tokio::test]` a check. `$world` is a function that starts a provider and returns a future
/// of `(impl PaymentProvider, impl ProviderControl)`.
#[macro_export]
macro_rules! provider_conformance {
    ($world:path) => {
        $crate::provider_conformance!($world;
            a_payment_is_set_aside_and_taken_once
            repeated_calls_are_the_same_charge
            concurrent_repeats_are_one_charge
            a_decline_is_definite_and_final
            a_method_that_was_not_issued_is_refused
            a_lost_answer_is_unknown_and_the_look_up_finds_the_capture
            silence_is_unknown_within_the_deadline
            a_void_overtakes_an_authorization_that_still_travels
            retries_of_a_slow_capture_are_one_charge
            a_capture_under_way_is_not_voided
            a_capture_that_fails_leaves_only_the_authorization
            after_a_void_nothing_is_taken
            what_is_taken_is_not_voided
            a_reference_is_never_another_charge
            refunds_never_exceed_the_capture
            a_repeated_refund_gives_back_once
            b099_b105_amounts_are_exact_in_every_currency
            without_a_deadline_left_nothing_is_sent
            only_more_than_nothing_is_charged
        );
    };
    ($world:path; $($check:ident)*) => {$(
        #[tokio::test]
        async fn $check() {
            let (provider, control) = $world().await;
            $crate::conformance::$check(&provider, &control).await;
        }
    )*};
}

/// Longer than any answer takes that is not withheld.
fn soon() -> Deadline {
    Deadline::after(Duration::from_secs(20))
}

/// For calls that get no answer.
fn at_once() -> Deadline {
    Deadline::after(Duration::from_millis(300))
}

fn money(text: &str, currency: &str) -> Money {
    let currency = currency.parse().expect("a currency");
    Money::parse(text, currency).expect("an amount")
}

/// The worked example.
fn price() -> Money {
    money("14560.00", "INR")
}

/// All of it, nothing given back.
fn taken() -> Standing {
    Standing::Captured { amount: price(), refunded: Money::zero(price().currency()) }
}

/// Of twenty calls, so many were done and of so many nothing is known.
const fn is_one_and_its_copies(done: usize, unknown: usize, copies_wait: bool) -> bool {
    done == 20 || (!copies_wait && done >= 1 && done + unknown == 20)
}

async fn look_up(provider: Provider<'_>, reference: Reference) -> Standing {
    match provider.look_up(reference, soon()).await {
        LookUp::Stands(standing) => standing,
        LookUp::Unknown(doubt) => panic!("{reference} could not be looked up: {doubt:?}"),
    }
}

async fn authorized(provider: Provider<'_>, control: Control<'_>, wish: Wish) -> AttemptId {
    let attempt = control.fresh_attempt();
    let answer = provider.authorize(attempt, price(), &control.method(wish), soon()).await;
    assert!(matches!(answer, Authorization::Authorized), "{answer:?}");
    attempt
}

async fn captured(provider: Provider<'_>, control: Control<'_>) -> AttemptId {
    let attempt = authorized(provider, control, Wish::Accept).await;
    let answer = provider.capture(attempt, price(), soon()).await;
    assert!(matches!(answer, Capture::Captured), "{answer:?}");
    attempt
}

pub async fn a_payment_is_set_aside_and_taken_once(provider: Provider<'_>, control: Control<'_>) {
    let attempt = control.fresh_attempt();
    for reference in [Reference::Authorization(attempt), Reference::Capture(attempt)] {
        assert_eq!(look_up(provider, reference).await, Standing::Nothing);
    }
    let answer = provider.authorize(attempt, price(), &control.method(Wish::Accept), soon()).await;
    assert!(matches!(answer, Authorization::Authorized), "{answer:?}");
    let set_aside = Standing::Authorized { amount: price() };
    assert_eq!(look_up(provider, Reference::Authorization(attempt)).await, set_aside);
    assert_eq!(look_up(provider, Reference::Capture(attempt)).await, Standing::Nothing);

    let answer = provider.capture(attempt, price(), soon()).await;
    assert!(matches!(answer, Capture::Captured), "{answer:?}");
    for reference in [Reference::Authorization(attempt), Reference::Capture(attempt)] {
        assert_eq!(look_up(provider, reference).await, taken());
    }
    assert_eq!(control.captures(attempt).await, 1);
}

pub async fn repeated_calls_are_the_same_charge(provider: Provider<'_>, control: Control<'_>) {
    let attempt = captured(provider, control).await;
    for _ in 0..2 {
        let answer = provider.authorize(attempt, price(), &control.method(Wish::Accept), soon()).await;
        assert!(matches!(answer, Authorization::Authorized), "{answer:?}");
        let answer = provider.capture(attempt, price(), soon()).await;
        assert!(matches!(answer, Capture::Captured), "{answer:?}");
    }
    assert_eq!(control.calls(Reference::Capture(attempt)).await, 3);
    assert_eq!(control.captures(attempt).await, 1);
}

pub async fn concurrent_repeats_are_one_charge(provider: Provider<'_>, control: Control<'_>) {
    let attempt = control.fresh_attempt();
    let method = control.method(Wish::Accept);
    let waits = control.abilities().copies_wait;
    let answers = join_all((0..20).map(|_| provider.authorize(attempt, price(), &method, soon()))).await;
    let done = answers.iter().filter(|answer| matches!(answer, Authorization::Authorized)).count();
    let unknown = answers.iter().filter(|answer| matches!(answer, Authorization::Unknown(_))).count();
    assert!(is_one_and_its_copies(done, unknown, waits), "{answers:?}");
    let answers = join_all((0..20).map(|_| provider.capture(attempt, price(), soon()))).await;
    let done = answers.iter().filter(|answer| matches!(answer, Capture::Captured)).count();
    let unknown = answers.iter().filter(|answer| matches!(answer, Capture::Unknown(_))).count();
    assert!(is_one_and_its_copies(done, unknown, waits), "{answers:?}");
    assert_eq!(control.captures(attempt).await, 1);
    assert_eq!(look_up(provider, Reference::Authorization(attempt)).await, taken());
}

pub async fn a_decline_is_definite_and_final(provider: Provider<'_>, control: Control<'_>) {
    let attempt = control.fresh_attempt();
    for _ in 0..2 {
        let answer = provider.authorize(attempt, price(), &control.method(Wish::Decline), soon()).await;
        assert!(matches!(answer, Authorization::Declined(_)), "{answer:?}");
    }
    assert_eq!(look_up(provider, Reference::Authorization(attempt)).await, Standing::Declined);
    let answer = provider.capture(attempt, price(), soon()).await;
    assert!(matches!(answer, Capture::Refused(Refusal::NothingToActOn)), "{answer:?}");
    assert_eq!(control.captures(attempt).await, 0);
}

pub async fn a_method_that_was_not_issued_is_refused(provider: Provider<'_>, control: Control<'_>) {
    let attempt = control.fresh_attempt();
    let answer = provider.authorize(attempt, price(), &control.method(Wish::Unissued), soon()).await;
    assert!(matches!(answer, Authorization::Refused(Refusal::UnknownMethod)), "{answer:?}");
    assert_eq!(look_up(provider, Reference::Authorization(attempt)).await, Standing::Nothing);
}

/// B053: what was unknown is asked for by exactly its reference, and is there once.
pub async fn a_lost_answer_is_unknown_and_the_look_up_finds_the_capture(
    provider: Provider<'_>,
    control: Control<'_>,
) {
    let attempt = authorized(provider, control, Wish::LoseResponse).await;
    let answer = provider.capture(attempt, price(), soon()).await;
    assert!(matches!(answer, Capture::Unknown(_)), "{answer:?}");
    assert_eq!(look_up(provider, Reference::Capture(attempt)).await, taken());
    assert_eq!(look_up(provider, Reference::Authorization(attempt)).await, taken());
    // A resolver that captures again instead of asking does not charge again either.
    let answer = provider.capture(attempt, price(), soon()).await;
    assert!(matches!(answer, Capture::Unknown(_) | Capture::Captured), "{answer:?}");
    assert_eq!(control.captures(attempt).await, 1);
}

pub async fn silence_is_unknown_within_the_deadline(provider: Provider<'_>, control: Control<'_>) {
    let attempt = control.fresh_attempt();
    let answer = provider.authorize(attempt, price(), &control.method(Wish::Silence), at_once()).await;
    assert!(matches!(answer, Authorization::Unknown(_)), "{answer:?}");
    assert_eq!(look_up(provider, Reference::Authorization(attempt)).await, Standing::Nothing);
    assert_eq!(look_up(provider, Reference::Capture(attempt)).await, Standing::Nothing);
    assert_eq!(control.captures(attempt).await, 0);
}

/// The cancel by reference that lets a resolver say `FAILED`: a late request finds the door shut.
pub async fn a_void_overtakes_an_authorization_that_still_travels(
    provider: Provider<'_>,
    control: Control<'_>,
) {
    let attempt = control.fresh_attempt();
    let answer = provider.void(attempt, soon()).await;
    assert!(matches!(answer, Void::Voided), "{answer:?}");
    assert_eq!(look_up(provider, Reference::Authorization(attempt)).await, Standing::Voided);
    let answer = provider.authorize(attempt, price(), &control.method(Wish::Accept), soon()).await;
    assert!(matches!(answer, Authorization::Refused(Refusal::Voided)), "{answer:?}");

    let attempt = control.fresh_attempt();
    let silent = control.method(Wish::Silence);
    tokio::select! {
        answer = provider.authorize(attempt, price(), &silent, soon()) => panic!("it waits: {answer:?}"),
        () = control.until_waiting(Reference::Authorization(attempt), 1) => {}
    }
    let answer = provider.void(attempt, soon()).await;
    assert!(matches!(answer, Void::Voided), "{answer:?}");
    assert_eq!(look_up(provider, Reference::Authorization(attempt)).await, Standing::Voided);
    let answer = provider.capture(attempt, price(), soon()).await;
    assert!(matches!(answer, Capture::Refused(Refusal::Voided)), "{answer:?}");
}

/// B055: four tries of one capture at a provider that is slower than our patience.
pub async fn retries_of_a_slow_capture_are_one_charge(provider: Provider<'_>, control: Control<'_>) {
    let attempt = authorized(provider, control, Wish::Slow).await;
    let capture = Reference::Capture(attempt);
    for calls in 1..=3 {
        tokio::select! {
            answer = provider.capture(attempt, price(), soon()) => panic!("it waits: {answer:?}"),
            () = control.until_waiting(capture, calls) => {}
        }
    }
    let answer = provider.capture(attempt, price(), at_once()).await;
    assert!(matches!(answer, Capture::Unknown(_)), "{answer:?}");
    assert_eq!(control.captures(attempt).await, 0);
    let set_aside = Standing::Authorized { amount: price() };
    assert_eq!(look_up(provider, Reference::Authorization(attempt)).await, set_aside);

    control.release(capture).await;
    assert_eq!(look_up(provider, capture).await, taken());
    let answer = provider.capture(attempt, price(), soon()).await;
    assert!(matches!(answer, Capture::Captured), "{answer:?}");
    assert_eq!(control.captures(attempt).await, 1);
}

pub async fn a_capture_under_way_is_not_voided(provider: Provider<'_>, control: Control<'_>) {
    let attempt = authorized(provider, control, Wish::Slow).await;
    let capture = Reference::Capture(attempt);
    tokio::select! {
        answer = provider.capture(attempt, price(), soon()) => panic!("it waits: {answer:?}"),
        () = control.until_waiting(capture, 1) => {}
    }
    let answer = provider.void(attempt, soon()).await;
    if control.abilities().tells_a_capture_under_way {
        assert!(matches!(answer, Void::Refused(Refusal::CaptureInProgress)), "{answer:?}");
        control.release(capture).await;
        assert_eq!(look_up(provider, Reference::Authorization(attempt)).await, taken());
    } else {
        // It has not arrived yet, and finds the door shut.
        assert!(matches!(answer, Void::Voided), "{answer:?}");
        control.release(capture).await;
        assert_eq!(look_up(provider, Reference::Authorization(attempt)).await, Standing::Voided);
        assert_eq!(control.captures(attempt).await, 0);
    }
}

pub async fn a_capture_that_fails_leaves_only_the_authorization(
    provider: Provider<'_>,
    control: Control<'_>,
) {
    let attempt = authorized(provider, control, Wish::FailCapture).await;
    for _ in 0..2 {
        let answer = provider.capture(attempt, price(), soon()).await;
        assert!(matches!(answer, Capture::Declined(_)), "{answer:?}");
    }
    assert_eq!(look_up(provider, Reference::Capture(attempt)).await, Standing::Nothing);
    let set_aside = Standing::Authorized { amount: price() };
    assert_eq!(look_up(provider, Reference::Authorization(attempt)).await, set_aside);
    let answer = provider.void(attempt, soon()).await;
    assert!(matches!(answer, Void::Voided), "{answer:?}");
}

pub async fn after_a_void_nothing_is_taken(provider: Provider<'_>, control: Control<'_>) {
    let attempt = authorized(provider, control, Wish::Accept).await;
    for _ in 0..2 {
        let answer = provider.void(attempt, soon()).await;
        assert!(matches!(answer, Void::Voided), "{answer:?}");
    }
    assert_eq!(look_up(provider, Reference::Authorization(attempt)).await, Standing::Voided);
    let answer = provider.capture(attempt, price(), soon()).await;
    assert!(matches!(answer, Capture::Refused(Refusal::Voided)), "{answer:?}");
    assert_eq!(control.captures(attempt).await, 0);
}

pub async fn what_is_taken_is_not_voided(provider: Provider<'_>, control: Control<'_>) {
    let attempt = captured(provider, control).await;
    let answer = provider.void(attempt, soon()).await;
    assert!(matches!(answer, Void::Refused(Refusal::AlreadyCaptured)), "{answer:?}");
    assert_eq!(look_up(provider, Reference::Capture(attempt)).await, taken());
}

pub async fn a_reference_is_never_another_charge(provider: Provider<'_>, control: Control<'_>) {
    let attempt = authorized(provider, control, Wish::Accept).await;
    let method = control.method(Wish::Accept);
    let answer = provider.authorize(attempt, money("14560.01", "INR"), &method, soon()).await;
    assert!(matches!(answer, Authorization::Refused(Refusal::ReferenceTaken)), "{answer:?}");
    let answer = provider.capture(attempt, money("14560.01", "INR"), soon()).await;
    assert!(matches!(answer, Capture::Refused(Refusal::ExceedsWhatIsThere)), "{answer:?}");
    let answer = provider.capture(attempt, price(), soon()).await;
    assert!(matches!(answer, Capture::Captured), "{answer:?}");
    let answer = provider.capture(attempt, money("1.00", "INR"), soon()).await;
    assert!(matches!(answer, Capture::Refused(Refusal::ReferenceTaken)), "{answer:?}");
    assert_eq!(look_up(provider, Reference::Capture(attempt)).await, taken());
}

pub async fn refunds_never_exceed_the_capture(provider: Provider<'_>, control: Control<'_>) {
    let attempt = captured(provider, control).await;
    let refund = |number| RefundTry { attempt, number, try_number: 1 };
    let answer = provider.refund(refund(1), money("14000.00", "INR"), soon()).await;
    assert!(matches!(answer, Refund::Refunded), "{answer:?}");
    let answer = provider.refund(refund(2), money("560.01", "INR"), soon()).await;
    assert!(matches!(answer, Refund::Refused(Refusal::ExceedsWhatIsThere)), "{answer:?}");
    assert_eq!(look_up(provider, refund(2).into()).await, Standing::Nothing);
    let half = Standing::Captured { amount: price(), refunded: money("14000.00", "INR") };
    assert_eq!(look_up(provider, Reference::Capture(attempt)).await, half);

    let again = RefundTry { attempt, number: 2, try_number: 2 };
    let answer = provider.refund(again, money("560.00", "INR"), soon()).await;
    assert!(matches!(answer, Refund::Refunded), "{answer:?}");
    let all = Standing::Captured { amount: price(), refunded: price() };
    assert_eq!(look_up(provider, Reference::Authorization(attempt)).await, all);

    let nothing_taken = authorized(provider, control, Wish::Accept).await;
    let of_nothing = RefundTry { attempt: nothing_taken, number: 1, try_number: 1 };
    let answer = provider.refund(of_nothing, price(), soon()).await;
    assert!(matches!(answer, Refund::Refused(Refusal::NothingToActOn)), "{answer:?}");
}

pub async fn a_repeated_refund_gives_back_once(provider: Provider<'_>, control: Control<'_>) {
    let attempt = captured(provider, control).await;
    let refund = RefundTry { attempt, number: 1, try_number: 1 };
    let part = money("560.00", "INR");
    let answers = join_all((0..20).map(|_| provider.refund(refund, part, soon()))).await;
    let done = answers.iter().filter(|answer| matches!(answer, Refund::Refunded)).count();
    let unknown = answers.iter().filter(|answer| matches!(answer, Refund::Unknown(_))).count();
    assert!(is_one_and_its_copies(done, unknown, control.abilities().copies_wait), "{answers:?}");
    let answer = provider.refund(refund, money("560.01", "INR"), soon()).await;
    assert!(matches!(answer, Refund::Refused(Refusal::ReferenceTaken)), "{answer:?}");
    let standing = look_up(provider, Reference::Capture(attempt)).await;
    assert_eq!(standing, Standing::Captured { amount: price(), refunded: part });
    assert_eq!(look_up(provider, refund.into()).await, Standing::Refunded { amount: part });
}

pub async fn b099_b105_amounts_are_exact_in_every_currency(provider: Provider<'_>, control: Control<'_>) {
    let method = control.method(Wish::Accept);
    for &(all, part, currency) in control.abilities().amounts {
        let (attempt, all, part) = (control.fresh_attempt(), money(all, currency), money(part, currency));
        let answer = provider.authorize(attempt, all, &method, soon()).await;
        assert!(matches!(answer, Authorization::Authorized), "{all:?}: {answer:?}");
        let answer = provider.capture(attempt, all, soon()).await;
        assert!(matches!(answer, Capture::Captured), "{all:?}: {answer:?}");
        let refund = RefundTry { attempt, number: 1, try_number: 1 };
        let answer = provider.refund(refund, part, soon()).await;
        assert!(matches!(answer, Refund::Refunded), "{part:?}: {answer:?}");
        let standing = look_up(provider, Reference::Capture(attempt)).await;
        assert_eq!(standing, Standing::Captured { amount: all, refunded: part });
    }
}

pub async fn without_a_deadline_left_nothing_is_sent(provider: Provider<'_>, control: Control<'_>) {
    let attempt = control.fresh_attempt();
    let past = Deadline::after(Duration::ZERO);
    let answer = provider.authorize(attempt, price(), &control.method(Wish::Accept), past).await;
    assert!(matches!(answer, Authorization::NotSent(NotSent::DeadlinePassed)), "{answer:?}");
    assert_eq!(control.calls(Reference::Authorization(attempt)).await, 0);
}

pub async fn only_more_than_nothing_is_charged(provider: Provider<'_>, control: Control<'_>) {
    let attempt = control.fresh_attempt();
    let nothing = Money::zero(price().currency());
    let answer = provider.authorize(attempt, nothing, &control.method(Wish::Accept), soon()).await;
    assert!(matches!(answer, Authorization::NotSent(NotSent::NotPositive)), "{answer:?}");
    assert_eq!(control.calls(Reference::Authorization(attempt)).await, 0);
}
