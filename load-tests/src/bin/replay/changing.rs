//! A change of a booking as its guest makes it: priced, and carried out, with a payment where one is owed.

use std::time::Duration;

use chrono::NaiveDate;
use keyrack_api_types::{
    change::{Change, ChangeState},
    code::Code,
    date::Date,
    reservation::Reservation,
};
use keyrack_domain::clock::Moment;
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

use crate::{
    api::{Answer, Api, Call, CallError},
    course::{self, Dates, What},
    guest::{BETWEEN_LOOKS, MAX_LOOKS, Wrong},
    hotels::Hotels,
    priced::{self, Changed, Expected},
    reserved::Reserved,
    timings::Step,
};

#[derive(Debug)]
pub(crate) struct Changing<'a> {
    pub(crate) api: &'a Api,
    pub(crate) hotels: &'a Hotels,
    /// Of the row.
    pub(crate) number: u32,
    pub(crate) booked: &'a Reserved,
    /// The clock of this evening.
    pub(crate) at: Moment,
    pub(crate) change: course::Change,
}

impl Changing<'_> {
    pub(crate) async fn run(&self) -> Result<Changed, Wrong> {
        match self.change.what {
            What::Dates(dates) => self.change_dates(dates).await,
            What::Guest => self.change_guest().await,
        }
    }

    async fn change_dates(&self, dates: Dates) -> Result<Changed, Wrong> {
        let expected = Expected::of(self.hotels, self.booked, &self.booked.wish.on(dates), self.at);
        let expected = expected.ok_or_else(|| self.wrong("price", "there is no price for it".to_owned()))?;
        let change = self.price(&expected).await?;
        self.confirm(expected, &change).await
    }

    async fn price(&self, expected: &Expected) -> Result<Change, Wrong> {
        let path = format!("/v1/reservations/{}/changes", self.booked.reservation);
        let body = json!({ "check_in": expected.to.check_in, "check_out": expected.to.check_out });
        let call = self.call(Step::PriceChange, Method::POST, &path, "price", body);
        let told: Change = self.api.send(call).await?.expect(StatusCode::CREATED)?;
        expected.judge_priced(self.booked, &told).map_err(|why| self.wrong("price", why))?;
        Ok(told)
    }

    async fn confirm(&self, expected: Expected, change: &Change) -> Result<Changed, Wrong> {
        let path = format!("/v1/reservations/{}/changes/{}", self.booked.reservation, change.id);
        let to_confirm = format!("{path}/confirm");
        let body = if expected.charge.is_zero() {
            json!({})
        } else {
            json!({ "payment": { "method_token": "pm_ok" } })
        };
        let call = self.call(Step::ConfirmChange, Method::POST, &to_confirm, "confirm", body);
        let answer = self.api.send(call).await?;
        if let Some((room_type, night, available)) = sold_out(&answer) {
            let judged = priced::judge_sold_out(self.booked, &expected.to, (&room_type, night, available));
            judged.map_err(|why| self.wrong("confirmation", why))?;
            return Ok(Changed::SoldOut { night });
        }
        let mut etag = Some(answer.etag.clone().unwrap_or_default());
        let told: Change = match answer.status {
            StatusCode::ACCEPTED => {
                etag = None;
                self.wait_for(&path, answer.expect(StatusCode::ACCEPTED)?).await?
            }
            _ => answer.expect(StatusCode::OK)?,
        };
        let judged = expected.judge_carried_out(self.booked, &told, etag.as_deref());
        judged.map_err(|why| self.wrong("confirmation", why))?;
        Ok(Changed::Dates(expected))
    }

    /// Until the outcome is known, or for as long as we are ready to wait.
    async fn wait_for(&self, path: &str, mut change: Change) -> Result<Change, CallError> {
        for _ in 0..MAX_LOOKS {
            if change.state != ChangeState::Started {
                break;
            }
            let wait = change.next.after_s.map_or(BETWEEN_LOOKS, Duration::from_secs);
            tokio::time::sleep(wait.min(BETWEEN_LOOKS)).await;
            let call = Call::new(Step::LookUp, Method::GET, path, Some(&self.booked.token));
            change = self.api.send(call).await?.expect(StatusCode::OK)?;
        }
        Ok(change)
    }

    async fn change_guest(&self) -> Result<Changed, Wrong> {
        let path = format!("/v1/reservations/{}", self.booked.reservation);
        let name = format!("Guest {}, changed {} times", self.number, self.change.place);
        let email = format!("guest-{}-{}@replay.example", self.number, self.change.place);
        let body = json!({ "guest": { "name": name, "email": email } });
        let call = self.call(Step::ChangeGuest, Method::PATCH, &path, "guest", body);
        let answer = self.api.send(call).await?;
        let etag = answer.etag.clone();
        let told: Reservation = answer.expect(StatusCode::OK)?;
        let judged = priced::judge_guest(self.booked, &name, &told, etag.as_deref());
        judged.map_err(|why| self.wrong("change of the guest", why))?;
        Ok(Changed::Guest)
    }

    fn call<'c>(&'c self, step: Step, method: Method, path: &'c str, what: &str, body: Value) -> Call<'c> {
        Call {
            key: Some(format!("replay-{}-{what}-{}", self.number, self.change.place)),
            if_match: Some(self.booked.version),
            body: Some(body),
            ..Call::new(step, method, path, Some(&self.booked.token))
        }
    }

    fn wrong(&self, step: &'static str, why: String) -> Wrong {
        Wrong::Changed { step, reservation: self.booked.reservation.to_string(), why }
    }
}

/// `None` for every other answer, and for one that does not name the night as documented.
fn sold_out(answer: &Answer) -> Option<(String, NaiveDate, u64)> {
    let problem = answer.problem().filter(|problem| problem.code == Code::RoomNightUnavailable)?;
    let room_type = problem.facts.get("room_type")?.as_str()?.to_owned();
    let night: Date = problem.facts.get("night")?.as_str()?.parse().ok()?;
    Some((room_type, night.0, problem.facts.get("available")?.as_u64()?))
}
