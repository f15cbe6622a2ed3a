//! `POST /v1/reservations/{id}/changes`: a price for another stay, promised for 600 s. Claims nothing.

use std::sync::Arc;

use chrono::NaiveDate;
use keyrack_db::PgConnection;
use keyrack_domain::{
    clock::Moment,
    code::RoomTypeCode,
    horizon::Horizon,
    hotel::HotelRef,
    hotel_profile::HotelProfile,
    ids::{ChangeId, QuoteId, ReservationId},
    occupancy::RoomRequest,
    operation_key::{Endpoint, OperationKey},
    principal::Caller,
    quote::VALID_FOR,
    reservation::ReservationState,
    restriction::Violation,
    stay::Stay,
};
use keyrack_ledger::ChangeRow;
use keyrack_store::{
    audit::NewAudit,
    changes, clock, hotels,
    quotes::{self, QuoteRow},
    reservation_rooms::{self, SoldUnit},
    reservations,
};

use super::{
    price::{self, Priced, Sold},
    swap::is_changeable,
};
use crate::{
    Answered, Desk, Fault, FieldError, KeyRefusal,
    ended::Ended,
    entropy,
    key_claim::{self, Call, Done},
    offer,
    quote::{QuoteInput, check, check::Chosen},
    rules_again,
    views::ChangeView,
};

pub const ENDPOINT: Endpoint = Endpoint("POST /v1/reservations/{id}/changes");

/// What is absent stays as it is. Rooms take the places of the rooms that stand, in their order.
#[derive(Clone, Debug)]
pub struct PriceChange {
    pub reservation: ReservationId,
    pub check_in: Option<NaiveDate>,
    pub check_out: Option<NaiveDate>,
    pub rooms: Option<Vec<RoomRequest>>,
    pub if_match: i32,
    pub key: OperationKey,
}

#[derive(Debug, thiserror::Error)]
pub enum PriceChangeError {
    /// Also a reservation of somebody else.
    #[error("no such reservation")]
    NotFound,
    #[error("the reservation is at version {0}")]
    Stale(i32, ReservationState),
    #[error("the reservation is {0:?}")]
    NotChangeable(ReservationState),
    /// Its channel changes it, and settles with the guest.
    #[error("a channel has booked it")]
    OfChannel,
    #[error("the input is wrong")]
    Invalid(Vec<FieldError>),
    #[error("a restriction is in the way")]
    Restricted(Vec<Violation<RoomTypeCode>>),
    #[error(transparent)]
    Key(#[from] KeyRefusal),
    #[error(transparent)]
    Fault(#[from] Fault),
}

pub async fn run(
    desk: &Desk,
    caller: &Caller,
    request: PriceChange,
) -> Result<Answered<ChangeView>, PriceChangeError> {
    let Some(hotel) = desk.hotel_of(request.reservation.hotel()).await? else {
        return Err(PriceChangeError::NotFound);
    };
    let PriceChange { reservation, check_in, check_out, rooms, if_match, key } = request;
    let input = (reservation, check_in, check_out, &rooms, if_match);
    let call = Call::new(desk.hotels(), hotel.id, caller, ENDPOINT, key, &input)?;
    let database = desk.hotels().database(&hotel)?;
    let horizon = desk.settings().horizon;
    let caller = caller.clone();
    let asked = Arc::new(Asked { hotel, horizon, caller, reservation, check_in, check_out, rooms, if_match });
    key_claim::once(database, "price_change", call, move |connection| {
        let asked = Arc::clone(&asked);
        Box::pin(async move { asked.run(connection).await })
    })
    .await
}

#[derive(Debug)]
struct Asked {
    hotel: Arc<HotelRef>,
    horizon: Horizon,
    caller: Caller,
    reservation: ReservationId,
    check_in: Option<NaiveDate>,
    check_out: Option<NaiveDate>,
    rooms: Option<Vec<RoomRequest>>,
    if_match: i32,
}

type Refused = Ended<PriceChangeError>;

impl Asked {
    async fn run(&self, connection: &mut PgConnection) -> Result<Done<ChangeView>, Refused> {
        let sold = self.sold(connection).await?;
        let now = clock::now(connection).await?;
        let profile = hotels::profile(connection, self.hotel.id, self.hotel.shard).await?;
        let profile = profile.ok_or(Ended::Refused(PriceChangeError::NotFound))?;
        let (stay, rooms) = self.wanted(&sold).map_err(invalid)?;
        let wanted = self.check(&sold, stay, &rooms, &profile, now).map_err(invalid)?;
        let rates = offer::rates(connection, &self.hotel, stay, &wanted).await?;
        let priced = price::price(&sold, stay, &wanted, &rates, &profile, now);
        let Some(priced) = priced else {
            // The only amount that can be missing is that of a night without a rate, or one too large.
            let without = offer::without_rate(stay, &wanted, &rates);
            let rule = "cost more together than any amount we handle";
            let too_large = || PriceChangeError::Invalid(vec![FieldError::new("/rooms", "TOO_LARGE", rule)]);
            let refused =
                if without.is_empty() { too_large() } else { PriceChangeError::Restricted(without) };
            return Err(Ended::Refused(refused));
        };
        self.ask_the_rules(connection, &sold, &wanted, &priced, now).await?;
        self.keep(connection, &sold, priced, now).await
    }

    async fn sold(&self, connection: &mut PgConnection) -> Result<Sold, Refused> {
        let row = reservations::find(connection, self.reservation).await?;
        let own = row.filter(|row| row.principal == self.caller.principal || self.caller.runs(self.hotel.id));
        let row = own.ok_or(Ended::Refused(PriceChangeError::NotFound))?;
        if row.attempt.is_none() {
            return Err(Ended::Refused(PriceChangeError::OfChannel));
        }
        if !is_changeable(row.state) {
            return Err(Ended::Refused(PriceChangeError::NotChangeable(row.state)));
        }
        if row.version != self.if_match {
            return Err(Ended::Refused(PriceChangeError::Stale(row.version, row.state)));
        }
        // Read after the head without a lock: where a change came between, its version is not the one priced.
        let rooms = reservation_rooms::read(connection, [&self.reservation]).await?;
        let sold = reservation_rooms::units(connection, [&self.reservation]).await?;
        let (passed, live): (Vec<_>, Vec<_>) =
            sold.into_iter().map(|(_, sold)| sold).partition(|sold| sold.is_given_back);
        let units = |sold: Vec<SoldUnit>| sold.into_iter().map(|sold| sold.unit).collect();
        let rooms = rooms.into_iter().map(|(_, room)| room).collect();
        Ok(Sold { row, rooms, units: units(live), passed: units(passed) })
    }

    /// The stay as it is wanted, well formed.
    fn wanted(&self, sold: &Sold) -> Result<(Stay, Vec<RoomRequest>), Vec<FieldError>> {
        check::shape(QuoteInput {
            hotel: self.hotel.code.clone(),
            check_in: self.check_in.unwrap_or(sold.row.stay.check_in()),
            check_out: self.check_out.unwrap_or(sold.row.stay.check_out()),
            rooms: self.rooms.clone().unwrap_or_else(|| sold.requests()),
        })
    }

    fn check<'a>(
        &self,
        sold: &Sold,
        stay: Stay,
        rooms: &'a [RoomRequest],
        profile: &'a HotelProfile,
        now: Moment,
    ) -> Result<Vec<Chosen<'a>>, Vec<FieldError>> {
        let before = sold.row.stay;
        let today = now.date_in(self.hotel.zone);
        // An arrival that stays where it was may lie in the past.
        let from = if stay.check_in() == before.check_in() { today.min(before.check_in()) } else { today };
        let chosen = check::content(stay, rooms, profile, from, self.horizon)?;
        let mut faults = Vec::new();
        if today > before.check_in() && stay.check_in() != before.check_in() {
            faults.push(FieldError::new("/check_in", "PAST_DATE", "the stay has begun; its arrival stays"));
        }
        if stay.check_out() < today {
            let rule = format!("is past: the hotel's today is {today}");
            faults.push(FieldError::new("/check_out", "PAST_DATE", rule));
        }
        let payment = sold.payment();
        if chosen.iter().any(|room| Some(room.rate_plan.payment) != payment) {
            let rule = "have a rate plan that is paid in another way than the reservation";
            faults.push(FieldError::new("/rooms", "MIXED_PAYMENT", rule));
        }
        if stay == before && rooms == sold.requests() {
            faults.push(FieldError::new("", "NOTHING_CHANGES", "the stay is this one already"));
        }
        if faults.is_empty() { Ok(chosen) } else { Err(faults) }
    }

    /// What forbade the stay as it was sold does not forbid keeping it.
    async fn ask_the_rules(
        &self,
        connection: &mut PgConnection,
        sold: &Sold,
        wanted: &[Chosen<'_>],
        priced: &Priced,
        now: Moment,
    ) -> Result<(), Refused> {
        let before = &sold.row.document;
        let mut rows = offer::rules(connection, self.hotel.id, priced.document.stay, wanted).await?;
        rows.extend(offer::rules_of(connection, self.hotel.id, before).await?);
        let today = now.date_in(self.hotel.zone);
        let broken = rules_again::not_worse_by(before, &priced.document, today, &rows);
        let code = |broken: Violation| Some(broken.told(priced.document.code_of(broken.room_type)?.clone()));
        let told: Vec<_> = broken.into_iter().filter_map(code).collect();
        if told.is_empty() { Ok(()) } else { Err(Ended::Refused(PriceChangeError::Restricted(told))) }
    }

    async fn keep(
        &self,
        connection: &mut PgConnection,
        sold: &Sold,
        priced: Priced,
        now: Moment,
    ) -> Result<Done<ChangeView>, Refused> {
        let hotel = self.hotel.id;
        let Priced { document, removed, fees, penalty, total, difference, charge } = priced;
        let stay = document.stay;
        let quote = QuoteRow {
            id: QuoteId::new(hotel, entropy::id()),
            principal: sold.row.principal,
            document,
            created_at: now,
            // The price is the change's alone: nobody places a hold of their own on it.
            expires_at: now.plus(std::time::Duration::from_micros(1)),
        };
        let change = ChangeRow {
            id: ChangeId::new(hotel, entropy::id()),
            reservation: self.reservation,
            principal: self.caller.principal,
            quote: quote.id,
            base_version: sold.row.version,
            state: keyrack_domain::change::ChangeState::Priced,
            difference,
            penalty,
            fees,
            removed,
            charge,
            total,
            created_at: now,
            expires_at: now.plus(VALID_FOR),
            hold: None,
            attempt: None,
            to_version: None,
        };
        quotes::insert(connection, &quote).await?;
        changes::insert(connection, &change).await?;
        let audit = NewAudit {
            hotel,
            actor: keyrack_domain::actor::Actor::Caller(self.caller.clone()),
            action: "change.priced",
            subject: change.id.to_string(),
            before: Some(serde_json::json!({ "reservation": self.reservation, "version": sold.row.version })),
            after: Some(serde_json::json!({
                "stay": stay,
                "difference": difference,
                "penalty": penalty,
                "total": total,
            })),
        };
        Ok(Done { answer: ChangeView::of(&change, stay), audit: vec![audit], events: Vec::new() })
    }
}

fn invalid(faults: Vec<FieldError>) -> Refused {
    Ended::Refused(PriceChangeError::Invalid(faults))
}
