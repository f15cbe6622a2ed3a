//! The sandbox's clock, moved from one day of booking to the next.

use std::time::Duration;

use chrono::NaiveDate;
use keyrack_api_types::sandbox::SandboxClock;
use reqwest::{Method, StatusCode};
use secrecy::SecretString;
use serde_json::{Value, json};

use crate::{
    api::{Api, Call, CallError},
    timings::Step,
};

/// To the morning of that day. The workers finish what is due by then, above all the opening of new
/// nights at the end of the horizon, before anybody books.
pub(crate) async fn move_to(api: &Api, operator: &SecretString, day: NaiveDate) -> Result<(), CallError> {
    send(api, operator, json!({ "now": format!("{day}T09:00:00Z") })).await
}

/// Past the end of every hold, so that none is left.
pub(crate) async fn let_holds_expire(api: &Api, operator: &SecretString) -> Result<(), CallError> {
    const LONGER_THAN_A_HOLD: Duration = Duration::from_secs(3600);
    send(api, operator, json!({ "advance_s": LONGER_THAN_A_HOLD.as_secs() })).await
}

async fn send(api: &Api, operator: &SecretString, body: Value) -> Result<(), CallError> {
    let call = Call {
        step: Step::Clock,
        method: Method::POST,
        path: "/v1/sandbox/clock",
        token: Some(operator),
        key: None,
        body: Some(body),
        drained: true,
    };
    let _: SandboxClock = api.send(call).await?.expect(StatusCode::OK)?;
    Ok(())
}
