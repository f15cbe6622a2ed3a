//! The provider port, its adapters, the names of references, one conformance suite.
//!
//! A call to a provider crosses a network that loses requests and answers, so every call can end in
//! three ways: the provider said yes or no, which is definite; nothing was sent, which is definite
//! too; or nobody knows. The port keeps the three apart in its types, because money is decided by
//! the difference: on a definite no another card may be tried, on an unknown one only
//! [`look_up`](PaymentProvider::look_up) by our own reference may tell.

pub mod conformance;
mod deadline;
mod exchange;
mod minor_units;
mod notice;
mod outcome;
mod port;
mod provider_ids;
mod reference;
mod settlement;
mod signature;
mod simulator;
mod stripe;

pub use self::{
    deadline::Deadline,
    minor_units::{MinorUnits, NotCharged},
    notice::{Fact, NotAccepted, Notice, NoticeReader},
    outcome::{
        Authorization, BoxError, Capture, DeclineReason, Doubt, LookUp, NotSent, Refund, Refusal, Standing,
        Void,
    },
    port::PaymentProvider,
    provider_ids::{ForgetfulIds, NotAProviderId, ProviderId, ProviderIds},
    reference::{NotOurReference, Reference, RefundTry},
    settlement::{
        ChargeName, Moved, NotAName, Settlement, SettlementFrom, SettlementLine, SettlementPage,
        SettlementPosition,
    },
    signature::{BadSignatureSettings, SignatureCheck, sign},
    simulator::{BadProviderUrl, SimulatorNotices, SimulatorProvider},
    stripe::{
        API_VERSION as STRIPE_API_VERSION, BadStripeSettings, StripeNotices, StripeProvider, StripeSettings,
    },
};
