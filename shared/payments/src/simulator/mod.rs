//! The adapter of the payment simulator, over HTTP.

mod answer;
mod client;
mod notices;
mod settlement;

use async_trait::async_trait;
use keyrack_domain::{
    ids::AttemptId, method_token::MethodToken, money::Money, notice::ProviderName, page_url::PageUrl,
};
use serde::Serialize;

use self::{
    answer::{Failed, Reply, WireState},
    client::Client,
};
pub use self::{client::BadProviderUrl, notices::SimulatorNotices};
use crate::{
    deadline::Deadline,
    minor_units::MinorUnits,
    outcome::{Authorization, Capture, DeclineReason, Doubt, LookUp, NotSent, Refund, Void},
    port::PaymentProvider,
    reference::{Reference, RefundTry},
    settlement::{ChargeName, Settlement, SettlementFrom},
};

/// One pooled client. Its connections live on the runtime that first uses them, so all calls belong
/// on one runtime: a connection whose runtime stops is an answer lost.
#[derive(Debug)]
pub struct SimulatorProvider(Client);

impl SimulatorProvider {
    /// `http://127.0.0.1:40123`. Connects to nothing yet.
    pub fn new(base_url: &str) -> Result<Self, BadProviderUrl> {
        Client::new(base_url).map(Self)
    }
}

#[derive(Serialize)]
struct Authorize<'a> {
    amount: u64,
    currency: &'a str,
    method: &'a str,
}

/// A capture, a void or a refund: what it acts on, and how much of it.
#[derive(Serialize, Default)]
struct ActOn {
    #[serde(skip_serializing_if = "Option::is_none")]
    authorization: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    capture: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    amount: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    currency: Option<&'static str>,
}

/// What became of an authorization.
enum Decided {
    Asked(PageUrl),
    Done(Option<DeclineReason>),
}

fn minor(amount: Money) -> Result<MinorUnits, Failed> {
    MinorUnits::try_from(amount).map_err(|_| Failed::NotSent(NotSent::NotPositive))
}

#[async_trait]
impl PaymentProvider for SimulatorProvider {
    fn name(&self) -> ProviderName {
        ProviderName::SIMULATOR
    }

    async fn authorize(
        &self,
        attempt: AttemptId,
        amount: Money,
        method: &MethodToken,
        deadline: Deadline,
    ) -> Authorization {
        let call = async {
            let units = minor(amount)?;
            let currency = units.currency().code();
            let body = Authorize { amount: units.amount(), currency, method: method.expose() };
            let reference = Reference::Authorization(attempt);
            let reply = self.0.put("authorizations", reference, &body, deadline).await?;
            match reply.page(units) {
                Some(url) => Ok(Decided::Asked(url)),
                None => Ok(Decided::Done(reply.decided(WireState::Authorized, Some(units))?)),
            }
        };
        match call.await {
            Ok(Decided::Asked(url)) => Authorization::ActionRequired { url },
            Ok(Decided::Done(None)) => Authorization::Authorized,
            Ok(Decided::Done(Some(reason))) => Authorization::Declined(reason),
            Err(Failed::Refused(refusal)) => Authorization::Refused(refusal),
            Err(Failed::NotSent(why)) => Authorization::NotSent(why),
            Err(Failed::Unknown(doubt)) => Authorization::Unknown(doubt),
        }
    }

    async fn capture(&self, attempt: AttemptId, amount: Money, deadline: Deadline) -> Capture {
        let call = async {
            let units = minor(amount)?;
            let body = ActOn {
                authorization: Some(Reference::Authorization(attempt).to_string()),
                amount: Some(units.amount()),
                currency: Some(units.currency().code()),
                ..ActOn::default()
            };
            let reply = self.0.put("captures", Reference::Capture(attempt), &body, deadline).await?;
            reply.decided(WireState::Captured, Some(units))
        };
        match call.await {
            Ok(None) => Capture::Captured,
            Ok(Some(reason)) => Capture::Declined(reason),
            Err(Failed::Refused(refusal)) => Capture::Refused(refusal),
            Err(Failed::NotSent(why)) => Capture::NotSent(why),
            Err(Failed::Unknown(doubt)) => Capture::Unknown(doubt),
        }
    }

    async fn void(&self, attempt: AttemptId, deadline: Deadline) -> Void {
        let authorization = Some(Reference::Authorization(attempt).to_string());
        let body = ActOn { authorization, ..ActOn::default() };
        let reply = self.0.put("voids", Reference::Void(attempt), &body, deadline).await;
        match reply.and_then(|reply| reply.decided(WireState::Voided, None)) {
            Ok(None) => Void::Voided,
            // Nothing is set aside by a void, so there is nothing that a method could decline.
            Ok(Some(_)) => Void::Unknown(Doubt::NotWhatWasAsked),
            Err(Failed::Refused(refusal)) => Void::Refused(refusal),
            Err(Failed::NotSent(why)) => Void::NotSent(why),
            Err(Failed::Unknown(doubt)) => Void::Unknown(doubt),
        }
    }

    async fn refund(&self, refund: RefundTry, amount: Money, deadline: Deadline) -> Refund {
        let capture = Reference::Capture(refund.attempt).to_string();
        self.give_back(capture, Reference::Refund(refund).to_string(), amount, deadline).await
    }

    async fn look_up(&self, reference: Reference, deadline: Deadline) -> LookUp {
        let reply = self.0.get("payments", reference, deadline).await;
        match reply.and_then(Reply::standing) {
            Ok(standing) => LookUp::Stands(standing),
            Err(Failed::Refused(_)) => LookUp::Unknown(Doubt::NotWhatWasAsked),
            Err(Failed::NotSent(why)) => LookUp::Unknown(Doubt::NotAsked(why)),
            Err(Failed::Unknown(doubt)) => LookUp::Unknown(doubt),
        }
    }

    async fn settlement(&self, from: &SettlementFrom, limit: u16, deadline: Deadline) -> Settlement {
        match settlement::page(&self.0, from, limit, deadline).await {
            Ok(page) => Settlement::Page(page),
            Err(doubt) => Settlement::Unknown(doubt),
        }
    }

    async fn return_charge(&self, charge: &ChargeName, amount: Money, deadline: Deadline) -> Refund {
        self.give_back(charge.to_string(), settlement::name_of_return(charge), amount, deadline).await
    }
}

impl SimulatorProvider {
    async fn give_back(
        &self,
        capture: String,
        reference: String,
        amount: Money,
        deadline: Deadline,
    ) -> Refund {
        let call = async {
            let units = minor(amount)?;
            let body = ActOn {
                capture: Some(capture),
                amount: Some(units.amount()),
                currency: Some(units.currency().code()),
                ..ActOn::default()
            };
            let reply = self.0.put("refunds", reference, &body, deadline).await?;
            reply.decided(WireState::Refunded, Some(units))
        };
        match call.await {
            Ok(None) => Refund::Refunded,
            Ok(Some(_)) => Refund::Unknown(Doubt::NotWhatWasAsked),
            Err(Failed::Refused(refusal)) => Refund::Refused(refusal),
            Err(Failed::NotSent(why)) => Refund::NotSent(why),
            Err(Failed::Unknown(doubt)) => Refund::Unknown(doubt),
        }
    }
}
