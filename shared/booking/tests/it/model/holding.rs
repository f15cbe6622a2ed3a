//! Quotes, holds and releases.

use std::collections::BTreeMap;

use chrono::NaiveDate;
use keyrack_booking::{
    KeyRefusal,
    place_hold::{self, PlaceHold, PlaceHoldError},
    quote::{self, QuoteError, QuoteInput, QuoteView},
    release::{self, ReleaseError},
};
use keyrack_domain::{
    code::RoomTypeCode,
    ids::{HoldId, RatePlanId, RoomTypeId},
    restriction::{Rule, Violation, violations},
};
use keyrack_model::{Outcome, PlaceHold as ModelHold, Quote, Refusal, ReleaseHold};
use uuid::Uuid;

use super::{NIGHTS, Player, TYPES};
use crate::world::{HORIZON, asked, day, fresh_key, room};

impl Player {
    pub(super) async fn make_quote(&mut self) {
        let who = self.who();
        let first = self.draw(4);
        let check_out = day(NIGHTS[first]) + chrono::Days::new(1 + self.draw(5 - first) as u64);
        let rooms: &[&str] = [
            &["RT-DLX"][..],
            &["RT-STD"],
            &["RT-DLX", "RT-DLX"],
            &["RT-DLX", "RT-STD"],
            &["RT-STD", "RT-DLX"],
        ][self.draw(5)];
        let stay = (NIGHTS[first], check_out.to_string());
        let input = QuoteInput {
            rooms: rooms.iter().map(|room_type| room(room_type, 2, &[])).collect(),
            ..asked(&self.at.hotel, (stay.0, &stay.1))
        };
        self.log.push(format!("quote {who} {stay:?} {rooms:?}"));
        let hotels = &self.at.world.hotels;
        let made = quote::make(hotels, HORIZON, &self.guests[who], input, fresh_key()).await;
        let stay = keyrack_domain::stay::Stay::new(day(stay.0), check_out).expect("a stay");
        let of = |code: &&str| TYPES.iter().find(|(known, ..)| known == code).expect("a type").1;
        let plans = rooms.iter().map(|code| (of(code), RatePlanId(1)));
        let hotel = &self.model.hotels[&self.hotel];
        let forbidden = violations(stay, self.model.now.date_in(hotel.zone), plans, &hotel.restrictions);
        match made {
            Ok(made) => {
                assert_eq!(forbidden, [], "{}", self.history());
                self.keep(who, made.answer);
            }
            Err(QuoteError::Restricted(told)) => {
                assert_eq!(reasons(&told), reasons(&forbidden), "{}", self.history());
            }
            Err(other) => panic!("{other:?} {}", self.history()),
        }
    }

    fn keep(&mut self, who: usize, view: QuoteView) {
        let quote = Quote {
            principal: self.guests[who].principal,
            document: view.document,
            expires_at: view.expires_at,
        };
        self.model.quotes.insert(view.id, quote);
        self.quotes.push((who, view.id));
    }

    pub(super) async fn place(&mut self) {
        if self.quotes.is_empty() {
            return;
        }
        let recent = self.quotes.len().min(6);
        let place = self.quotes.len() - 1 - self.draw(recent);
        let (owner, quote) = self.quotes[place];
        let who = if self.draw(10) == 0 { self.who() } else { owner };
        let replaces = (self.draw(5) == 0 && !self.holds.is_empty()).then(|| self.some_hold());
        let key = self.some_key();
        let caller = self.guests[who].clone();
        let request = PlaceHold { quote, replaces, key: key.clone() };
        let product = place_hold::run(&self.at.desk, &caller, request).await;
        let id =
            product.as_ref().map_or_else(|_| HoldId::new(self.hotel, Uuid::now_v7()), |held| held.answer.id);
        let call = ModelHold { principal: caller.principal, key, quote, replaces, id };
        let model = self.model.place_hold(&call);
        self.log.push(format!("place {who} {quote} replaces {replaces:?}"));
        let product = product.map(|held| (held.answer.id, held.replayed));
        let expected = match model {
            Ok(answered) => match answered.outcome {
                Outcome::Hold { id, .. } => Ok((id, answered.replayed)),
                other => panic!("{other:?}"),
            },
            Err(refusal) => Err(refusal),
        };
        self.log.push(format!(
            "  -> {}",
            product
                .as_ref()
                .map_or_else(ToString::to_string, |(_, replayed)| format!("replayed: {replayed}"))
        ));
        match (&product, &expected) {
            (Ok(ours), Ok(theirs)) => {
                assert_eq!(ours, theirs, "{}", self.history());
                if !ours.1 {
                    self.holds.push(ours.0);
                }
            }
            (Err(ours), Err(theirs)) => {
                assert!(same_refusal(ours, theirs), "{ours:?} {theirs:?} {}", self.history());
            }
            _ => panic!("{product:?} {expected:?} {}", self.history()),
        }
    }

    pub(super) async fn release(&mut self) {
        if self.holds.is_empty() {
            return;
        }
        let hold = self.some_hold();
        let owner = self.model.holds[&hold].principal;
        let who = self.guests.iter().position(|guest| guest.principal == owner).expect("a guest");
        let who = if self.draw(6) == 0 { self.who() } else { who };
        let key = self.some_key();
        let product = release::run(&self.at.desk, &self.guests[who], hold, key.clone()).await;
        let call = ReleaseHold { principal: self.guests[who].principal, key, hold };
        let model = self.model.release_hold(&call);
        self.log.push(format!("release {who} {hold}"));
        let same = match (&product, &model) {
            (Ok(ours), Ok(theirs)) => {
                let same = (ours.answer.id, ours.answer.state, ours.replayed);
                matches!(theirs.outcome, Outcome::Hold { id, state, .. } if (id, state, theirs.replayed) == same)
            }
            (Err(ReleaseError::NotFound), Err(Refusal::NotFound))
            | (Err(ReleaseError::Consumed), Err(Refusal::HoldNotActive(_)))
            | (Err(ReleaseError::AttemptInProgress(_)), Err(Refusal::AttemptInProgress(_)))
            | (Err(ReleaseError::Key(KeyRefusal::Reused)), Err(Refusal::KeyReused))
            | (Err(ReleaseError::Key(KeyRefusal::Expired)), Err(Refusal::KeyExpired)) => true,
            _ => false,
        };
        assert!(same, "{product:?} {model:?} {}", self.history());
    }
}

fn same_refusal(ours: &PlaceHoldError, theirs: &Refusal) -> bool {
    match (ours, theirs) {
        (PlaceHoldError::QuoteNotFound | PlaceHoldError::ReplacedNotFound, Refusal::NotFound)
        | (PlaceHoldError::QuoteExpired(_), Refusal::QuoteExpired)
        | (PlaceHoldError::HoldLimit { .. }, Refusal::HoldLimit)
        | (PlaceHoldError::ReplacedNotActive(_), Refusal::HoldNotActive(_) | Refusal::HoldExpired)
        | (PlaceHoldError::AttemptInProgress(_), Refusal::AttemptInProgress(_))
        | (PlaceHoldError::Key(KeyRefusal::Reused), Refusal::KeyReused)
        | (PlaceHoldError::Key(KeyRefusal::Expired), Refusal::KeyExpired) => true,
        (PlaceHoldError::Restricted(ours), Refusal::RestrictionViolated(theirs)) => {
            reasons(ours) == reasons(theirs)
        }
        (PlaceHoldError::SoldOut(ours), Refusal::RoomNightUnavailable(theirs)) => {
            let first = &ours.first;
            (&first.room_type, first.night, first.requested, first.available)
                == (&code_of(theirs.room_type), theirs.night, theirs.requested, theirs.available)
        }
        _ => false,
    }
}

fn code_of(room_type: RoomTypeId) -> RoomTypeCode {
    let (code, ..) = TYPES.iter().find(|(_, id, _)| *id == room_type).expect("one of the types");
    code.parse().expect("a code")
}

/// Each with how often it is told: the room types are told by number here and by code there.
fn reasons<R>(told: &[Violation<R>]) -> BTreeMap<(NaiveDate, Rule), usize> {
    let mut reasons = BTreeMap::new();
    for reason in told {
        *reasons.entry((reason.night, reason.rule)).or_default() += 1;
    }
    reasons
}
