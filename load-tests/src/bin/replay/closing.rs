//! The end of a booking that does not become a stay: its guest cancels, or the hotel marks that nobody came.

use keyrack_api_types::{
    cancellation::{Cancellation, CancellationPreview},
    front_desk::StayStep,
    reservation::ReservationState,
};
use keyrack_domain::clock::Moment;
use reqwest::{Method, StatusCode};
use secrecy::SecretString;

use crate::{
    api::{Api, Call},
    ending::Ending,
    fee,
    guest::Wrong,
    reserved::{Closed, Reserved},
    timings::Step,
};

/// One guest in so many asks what it would cost, first.
const PREVIEWED: u32 = 10;

#[derive(Debug)]
pub(crate) struct Closing<'a> {
    pub(crate) api: &'a Api,
    pub(crate) operator: &'a SecretString,
    /// Of the row.
    pub(crate) number: u32,
    pub(crate) booked: &'a Reserved,
    /// The clock of this evening.
    pub(crate) at: Moment,
}

impl Closing<'_> {
    pub(crate) async fn run(&self, ending: Ending) -> Result<Closed, Wrong> {
        match ending {
            Ending::Cancelled(_) => {
                if self.number.is_multiple_of(PREVIEWED) {
                    self.preview().await?;
                }
                self.cancel().await
            }
            Ending::NoShow(_) => self.mark_no_show().await,
        }
    }

    async fn preview(&self) -> Result<(), Wrong> {
        let path = format!("/v1/reservations/{}/cancellation-preview", self.booked.reservation);
        let call = Call::new(Step::Preview, Method::GET, &path, Some(&self.booked.token));
        let told: CancellationPreview = self.api.send(call).await?.expect(StatusCode::OK)?;
        fee::judge_preview(self.booked, &told).map_err(|why| self.wrong("preview", why))
    }

    async fn cancel(&self) -> Result<Closed, Wrong> {
        let path = format!("/v1/reservations/{}/cancel", self.booked.reservation);
        let call = self.change(Step::Cancel, &path, &self.booked.token, "cancel");
        let told: Cancellation = self.api.send(call).await?.expect(StatusCode::OK)?;
        let judged = fee::judge_cancelled(self.booked, self.at, &told);
        let (penalty, refund) = judged.map_err(|why| self.wrong("cancellation", why))?;
        Ok(Closed::Cancelled { penalty, refund })
    }

    async fn mark_no_show(&self) -> Result<Closed, Wrong> {
        let hotel = self.booked.wish.hotel.code();
        let path = format!("/v1/hotels/{hotel}/reservations/{}/no-show", self.booked.reservation);
        let call = self.change(Step::NoShow, &path, self.operator, "no-show");
        let told: StayStep = self.api.send(call).await?.expect(StatusCode::OK)?;
        let is_right = told.reservation_id == self.booked.reservation
            && told.state == ReservationState::NoShow
            && told.version > self.booked.version;
        if is_right { Ok(Closed::NoShow) } else { Err(self.wrong("no-show", format!("{told:?}"))) }
    }

    fn change<'c>(&self, step: Step, path: &'c str, token: &'c SecretString, what: &str) -> Call<'c> {
        Call {
            key: Some(format!("replay-{}-{what}", self.number)),
            if_match: Some(self.booked.version),
            ..Call::new(step, Method::POST, path, Some(token))
        }
    }

    fn wrong(&self, step: &'static str, why: String) -> Wrong {
        Wrong::Closed { step, reservation: self.booked.reservation.to_string(), why }
    }
}
