//! The sandbox's clock, moved from one day on which something happens to the next.

use std::time::Duration;

use chrono::{NaiveDate, NaiveTime};
use keyrack_api_types::sandbox::SandboxClock;
use keyrack_domain::clock::Moment;
use reqwest::{Method, StatusCode};
use secrecy::SecretString;
use serde_json::{Value, json};

use crate::{
    api::{Api, Call, CallError},
    timings::Step,
};

/// Of a day, in UTC.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Hour {
    /// 09:00: guests book.
    Morning,
    /// 17:30: bookings are cancelled. In Lisbon that is half an hour before the end of free cancellation
    /// in winter, and half an hour after it in summer: only who counts in the hotel's time gets it right.
    Evening,
}

impl Hour {
    pub(crate) fn of(self, day: NaiveDate) -> Moment {
        let (hour, minute) = match self {
            Self::Morning => (9, 0),
            Self::Evening => (17, 30),
        };
        Moment(day.and_time(NaiveTime::from_hms_opt(hour, minute, 0).unwrap_or_default()).and_utc())
    }
}

/// The workers finish what is due by then, above all the opening of new nights at the end of the horizon,
/// before anybody books.
pub(crate) async fn move_to(api: &Api, operator: &SecretString, moment: Moment) -> Result<(), CallError> {
    send(api, operator, json!({ "now": moment.to_string() })).await
}

/// Past the end of every hold, so that none is left.
pub(crate) async fn let_holds_expire(api: &Api, operator: &SecretString) -> Result<(), CallError> {
    const LONGER_THAN_A_HOLD: Duration = Duration::from_secs(3600);
    send(api, operator, json!({ "advance_s": LONGER_THAN_A_HOLD.as_secs() })).await
}

async fn send(api: &Api, operator: &SecretString, body: Value) -> Result<(), CallError> {
    let call = Call {
        body: Some(body),
        drained: true,
        ..Call::new(Step::Clock, Method::POST, "/v1/sandbox/clock", Some(operator))
    };
    let _: SandboxClock = api.send(call).await?.expect(StatusCode::OK)?;
    Ok(())
}
