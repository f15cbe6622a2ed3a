//! What the port promises where the customer has to act, for adapters of providers that ask customers.
//! [`customer_conformance!`](crate::customer_conformance) makes a test of each.

use async_trait::async_trait;
use keyrack_domain::{ids::AttemptId, method_token::MethodToken};

use super::{Control, Provider, ProviderControl, Wish, look_up, price, soon, taken};
use crate::{Authorization, Capture, Reference, Refusal, Standing, Void};

/// The customer's side.
#[async_trait]
pub trait CustomerControl: ProviderControl {
    /// A method whose customer is asked first.
    fn asking(&self) -> MethodToken;
    /// The customer goes through with it, or does not. False: told that the session is over.
    async fn decide(&self, attempt: AttemptId, completes: bool) -> bool;
}

type Customer<'a> = &'a dyn CustomerControl;

#[macro_export]
macro_rules! customer_conformance {
    ($world:path) => {
        $crate::customer_conformance!($world;
            a_customer_who_completes_has_paid
            a_customer_who_goes_back_has_declined
            b019_an_expired_session_takes_nothing
            a_session_is_expired_once_and_what_was_completed_before_is_voided
        );
    };
    ($world:path; $($check:ident)*) => {$(
        #[tokio::test]
        async fn $check() {
            let (provider, control) = $world().await;
            $crate::conformance::customer::$check(&provider, &control).await;
        }
    )*};
}

async fn asked(provider: Provider<'_>, customer: Customer<'_>) -> AttemptId {
    let attempt = customer.fresh_attempt();
    for _ in 0..2 {
        let answer = provider.authorize(attempt, price(), &customer.asking(), soon()).await;
        assert!(matches!(answer, Authorization::ActionRequired { .. }), "{answer:?}");
    }
    let waits = Standing::ActionRequired { amount: price() };
    assert_eq!(look_up(provider, Reference::Authorization(attempt)).await, waits);
    let answer = provider.capture(attempt, price(), soon()).await;
    assert!(matches!(answer, Capture::Refused(Refusal::NothingToActOn)), "{answer:?}");
    attempt
}

pub async fn a_customer_who_completes_has_paid(provider: Provider<'_>, customer: Customer<'_>) {
    let attempt = asked(provider, customer).await;
    assert!(customer.decide(attempt, true).await);
    let set_aside = Standing::Authorized { amount: price() };
    assert_eq!(look_up(provider, Reference::Authorization(attempt)).await, set_aside);
    let answer = provider.authorize(attempt, price(), &customer.asking(), soon()).await;
    assert!(matches!(answer, Authorization::Authorized), "{answer:?}");
    let answer = provider.capture(attempt, price(), soon()).await;
    assert!(matches!(answer, Capture::Captured), "{answer:?}");
    assert_eq!(look_up(provider, Reference::Capture(attempt)).await, taken());
}

pub async fn a_customer_who_goes_back_has_declined(provider: Provider<'_>, customer: Customer<'_>) {
    let attempt = asked(provider, customer).await;
    assert!(customer.decide(attempt, false).await);
    assert_eq!(look_up(provider, Reference::Authorization(attempt)).await, Standing::Declined);
    let answer = provider.authorize(attempt, price(), &customer.asking(), soon()).await;
    assert!(matches!(answer, Authorization::Declined(_)), "{answer:?}");
}

pub async fn b019_an_expired_session_takes_nothing(provider: Provider<'_>, customer: Customer<'_>) {
    let attempt = asked(provider, customer).await;
    for _ in 0..2 {
        let answer = provider.expire_session(attempt, soon()).await;
        assert!(matches!(answer, Void::Voided), "{answer:?}");
    }
    assert!(!customer.decide(attempt, true).await, "the customer is told that it is over");
    assert_eq!(look_up(provider, Reference::Authorization(attempt)).await, Standing::Voided);
    let answer = provider.capture(attempt, price(), soon()).await;
    assert!(matches!(answer, Capture::Refused(Refusal::Voided)), "{answer:?}");
    assert_eq!(customer.captures(attempt).await, 0);
}

pub async fn a_session_is_expired_once_and_what_was_completed_before_is_voided(
    provider: Provider<'_>,
    customer: Customer<'_>,
) {
    let attempt = asked(provider, customer).await;
    assert!(customer.decide(attempt, true).await);
    let answer = provider.expire_session(attempt, soon()).await;
    assert!(matches!(answer, Void::Voided), "{answer:?}");
    assert_eq!(look_up(provider, Reference::Authorization(attempt)).await, Standing::Voided);

    let control: Control<'_> = customer;
    let paid = super::authorized(provider, control, Wish::Accept).await;
    let answer = provider.capture(paid, price(), soon()).await;
    assert!(matches!(answer, Capture::Captured), "{answer:?}");
    let answer = provider.expire_session(paid, soon()).await;
    assert!(matches!(answer, Void::Refused(Refusal::AlreadyCaptured)), "{answer:?}");
}
