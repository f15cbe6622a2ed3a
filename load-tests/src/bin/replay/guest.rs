//! One booking as a guest makes it: a session, a quote, a hold, a payment.

use std::time::Duration;

use chrono::NaiveDate;
use keyrack_api_types::{
    booking::{Booking, BookingStatus},
    code::Code,
    date::Date,
    hold::Hold,
    money::Money,
    reservation::Reservation,
};
use keyrack_domain::{code::RoomTypeCode, money};
use reqwest::{Method, StatusCode};
use secrecy::SecretString;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    api::{Answer, Api, Call, CallError},
    hotels::Hotels,
    reserved::Reserved,
    row::{Row, Wish},
    rules,
    timings::Step,
    told::Told,
};

/// Of a booking or a change whose outcome is not known at first: looks at it, and real time between two.
pub(crate) const MAX_LOOKS: u32 = 60;
pub(crate) const BETWEEN_LOOKS: Duration = Duration::from_secs(2);

/// Something that the product may not answer.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Wrong {
    #[error(transparent)]
    Call(#[from] CallError),
    #[error("{step} of {wish}: {given} {} instead of {expected} {}", given.currency, expected.currency, given = given.amount, expected = expected.amount)]
    Price { step: &'static str, wish: String, given: Box<Money>, expected: Box<Money> },
    #[error("booking {booking} is {status:?} instead of confirmed")]
    NotConfirmed { booking: String, status: BookingStatus },
    #[error("{step} of {reservation}: {why}")]
    Closed { step: &'static str, reservation: String, why: String },
    #[error("{step} of a change of {reservation}: {why}")]
    Changed { step: &'static str, reservation: String, why: String },
    #[error("{wish} on {}: {why}", created)]
    Judged { wish: String, created: NaiveDate, why: String },
}

enum Ended {
    Told(Told),
    Wrong(Wrong),
}

impl<E: Into<Wrong>> From<E> for Ended {
    fn from(error: E) -> Self {
        Self::Wrong(error.into())
    }
}

#[derive(Deserialize)]
struct Session {
    token: String,
}

#[derive(Deserialize)]
struct Quoted {
    id: String,
    total: Money,
}

/// Books the row, and judges what came of it.
pub(crate) async fn book(api: &Api, hotels: &Hotels, row: &Row) -> Result<Told, Wrong> {
    let wish = match row.first_wish() {
        Ok(wish) => wish,
        Err(unusable) => return Ok(Told::Unusable(unusable)),
    };
    let wish = &wish;
    let told = match (Guest { api, hotels, number: row.number, created: row.created, wish }).book().await {
        Ok(reserved) => Told::Booked(Box::new(reserved)),
        Err(Ended::Told(told)) => told,
        Err(Ended::Wrong(wrong)) => return Err(wrong),
    };
    match rules::judge(wish, row.created, &told) {
        Ok(()) => Ok(told),
        Err(why) => Err(Wrong::Judged { wish: quote_body(wish).to_string(), created: row.created, why }),
    }
}

struct Guest<'a> {
    api: &'a Api,
    hotels: &'a Hotels,
    number: u32,
    created: NaiveDate,
    wish: &'a Wish,
}

impl Guest<'_> {
    async fn book(&self) -> Result<Reserved, Ended> {
        let token = self.session().await?;
        let quote = self.quote(&token).await?;
        let hold = self.hold(&token, &quote).await?;
        self.pay(token, &hold).await
    }

    async fn session(&self) -> Result<SecretString, CallError> {
        let answer = self.send(Step::Session, "/v1/guest-sessions", None, None).await?;
        let session: Session = answer.expect(StatusCode::CREATED)?;
        Ok(SecretString::from(session.token))
    }

    async fn quote(&self, token: &SecretString) -> Result<Quoted, Ended> {
        let answer = self.send(Step::Quote, "/v1/quotes", Some(token), Some(quote_body(self.wish))).await?;
        if let Some(problem) = answer.problem()
            && problem.code == Code::Invalid
        {
            let codes = problem.errors.into_iter().map(|error| error.code).collect();
            return Err(Ended::Told(Told::Invalid(codes)));
        }
        let quote: Quoted = answer.expect(StatusCode::CREATED)?;
        self.check_price("the quote", &quote.total)?;
        Ok(quote)
    }

    async fn hold(&self, token: &SecretString, quote: &Quoted) -> Result<Hold, Ended> {
        let body = json!({ "quote_id": quote.id });
        let answer = self.send(Step::Hold, "/v1/holds", Some(token), Some(body)).await?;
        if let Some(sold_out) = sold_out(&answer) {
            return Err(Ended::Told(sold_out));
        }
        let hold: Hold = answer.expect(StatusCode::CREATED)?;
        self.check_price("the hold", &hold.total)?;
        Ok(hold)
    }

    async fn pay(&self, token: SecretString, hold: &Hold) -> Result<Reserved, Ended> {
        let number = self.number;
        let body = json!({
            "hold_id": hold.id,
            "payment": { "method_token": "pm_ok" },
            "guest": { "name": format!("Guest {number}"), "email": format!("guest-{number}@replay.example") },
        });
        let answer = self.send(Step::Booking, "/v1/bookings", Some(&token), Some(body)).await?;
        let booking: Booking = match answer.status {
            StatusCode::ACCEPTED => self.wait_for(&token, answer.expect(StatusCode::ACCEPTED)?).await?,
            _ => answer.expect(StatusCode::CREATED)?,
        };
        let total = self.check_price("the booking", &booking.total)?;
        match (booking.status, booking.reservation) {
            (BookingStatus::Confirmed, Some(Reservation { id: reservation, version, .. })) => {
                let (wish, fees, payments) =
                    (self.wish.clone(), money::Money::zero(total.currency()), vec![total]);
                Ok(Reserved { reservation, version, token, wish, total, fees, payments })
            }
            (status, _) => Err(Wrong::NotConfirmed { booking: booking.id.to_string(), status }.into()),
        }
    }

    /// Until the outcome is known, or for as long as we are ready to wait.
    async fn wait_for(&self, token: &SecretString, mut booking: Booking) -> Result<Booking, CallError> {
        let path = format!("/v1/bookings/{}", booking.id);
        for _ in 0..MAX_LOOKS {
            if !matches!(booking.status, BookingStatus::PendingPayment | BookingStatus::Reconciling) {
                break;
            }
            let wait = booking.next.after_s.map_or(BETWEEN_LOOKS, Duration::from_secs);
            tokio::time::sleep(wait.min(BETWEEN_LOOKS)).await;
            let call = Call::new(Step::LookUp, Method::GET, &path, Some(token));
            booking = self.api.send(call).await?.expect(StatusCode::OK)?;
        }
        Ok(booking)
    }

    /// One key a step, so that a repeat of it can only repeat it.
    async fn send(
        &self,
        step: Step,
        path: &str,
        token: Option<&SecretString>,
        body: Option<Value>,
    ) -> Result<Answer, CallError> {
        let key = token.map(|_| format!("replay-{}-{}", self.number, path.trim_start_matches("/v1/")));
        self.api.send(Call { key, body, ..Call::new(step, Method::POST, path, token) }).await
    }

    /// The price, where it is the expected one.
    fn check_price(&self, step: &'static str, given: &Money) -> Result<money::Money, Wrong> {
        let wish = || quote_body(self.wish).to_string();
        let Some(price) = self.hotels.price(self.wish) else {
            let why = "sold, although there is no price for it".to_owned();
            return Err(Wrong::Judged { wish: wish(), created: self.created, why });
        };
        let expected = Money::from(price);
        if expected == *given {
            return Ok(price);
        }
        Err(Wrong::Price { step, wish: wish(), given: Box::new(given.clone()), expected: Box::new(expected) })
    }
}

fn quote_body(wish: &Wish) -> Value {
    json!({
        "hotel": wish.hotel.code(),
        "check_in": wish.check_in,
        "check_out": wish.check_out,
        "rooms": [{
            "room_type": wish.room_type,
            "rate_plan": wish.plan.code(),
            "adults": wish.adults,
            "children_ages": wish.children_ages,
        }],
    })
}

/// `None` for every other answer, and for one that does not name the night as documented.
fn sold_out(answer: &Answer) -> Option<Told> {
    let problem = answer.problem().filter(|problem| problem.code == Code::RoomNightUnavailable)?;
    let room_type: RoomTypeCode = problem.facts.get("room_type")?.as_str()?.parse().ok()?;
    let night: Date = problem.facts.get("night")?.as_str()?.parse().ok()?;
    let available = u32::try_from(problem.facts.get("available")?.as_u64()?).ok()?;
    Some(Told::SoldOut { room_type, night: night.0, available })
}
