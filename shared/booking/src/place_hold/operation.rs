//! T1 as an operation of the ledger.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use keyrack_domain::{
    actor::Actor,
    clock::Moment,
    code::RoomTypeCode,
    event::{Event, HoldPlaced},
    hold::HoldState,
    hotel::HotelRef,
    ids::{AttemptId, HoldId, PrincipalId, QuoteId, RoomTypeId},
    quote::{QuoteDocument, VALID_FOR},
    restriction::Violation,
};
use keyrack_ledger::{
    Changes, Decision, Facts, Found, Grounds, HoldFacts, HoldRow, KeyClaim, Needs, NightDelta, NightKey,
    Operation, UnitNight, Write,
};
use keyrack_store::{audit::NewAudit, outbox::NewEvent, quotes::QuoteRow};

use crate::{
    availability, drift, key,
    release::operation::{free, tell_ended},
    rules_again::{dates, in_the_way},
    views::HoldView,
};

#[derive(Clone, Debug)]
pub struct PlaceHoldOp {
    pub hotel: HotelRef,
    pub claim: KeyClaim,
    pub actor: Actor,
    pub principal: PrincipalId,
    pub quote: QuoteId,
    pub replaces: Option<HoldId>,
    /// The id that the new hold gets.
    pub hold: HoldId,
    /// ACTIVE holds that one principal may have at a hotel.
    pub cap: u32,
}

#[derive(Clone, Debug)]
pub enum HoldAnswer {
    Placed(HoldView),
    QuoteNotFound,
    QuoteExpired(Moment),
    Restricted(Vec<Violation<RoomTypeCode>>),
    HoldLimit {
        retry_after: Duration,
    },
    ReplacedNotFound,
    ReplacedNotActive(HoldState),
    AttemptInProgress(AttemptId),
    /// The counters do not carry the hold to replace. Nothing was done.
    Drift(HoldId, NightKey),
    /// Every short night in date order, the own hold that claims the first, and what was wanted.
    SoldOut {
        short: Vec<Short>,
        own_hold: Option<HoldId>,
        wanted: Box<QuoteDocument>,
    },
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Short {
    pub night: NightKey,
    pub requested: u32,
    pub available: u32,
}

impl Operation for PlaceHoldOp {
    type Answer = HoldAnswer;

    fn name(&self) -> &'static str {
        "place_hold"
    }

    fn key(&self) -> Option<&KeyClaim> {
        Some(&self.claim)
    }

    fn needs(&self, facts: &Facts) -> Needs {
        let mut needs = Needs { quotes: BTreeSet::from([self.quote]), ..Needs::default() };
        needs.caps.insert((self.hotel.id, self.principal));
        if let Some(replaced) = self.replaces {
            needs.holds.insert(replaced);
            needs.nights.extend(facts.holds.get(&replaced).into_iter().flat_map(|hold| {
                hold.units.iter().map(|unit| availability::night_of(replaced.hotel(), unit))
            }));
        }
        if let Some(quote) = self.own_quote(facts) {
            for room_type in quote.document.units_by_room_type().into_keys() {
                let night = |date| NightKey { hotel: self.hotel.id, room_type, date };
                needs.nights.extend(quote.document.stay.nights().map(night));
            }
            needs.restrictions.extend(dates(&self.hotel, &quote.document));
        }
        needs
    }

    fn unseen(&self, facts: &Facts) -> Option<HoldAnswer> {
        if self.own_quote(facts).is_none() {
            return Some(HoldAnswer::QuoteNotFound);
        }
        let replaced = self.replaces.map(|id| self.own_hold(id, facts).is_some());
        (replaced == Some(false)).then_some(HoldAnswer::ReplacedNotFound)
    }

    fn decide(&self, facts: &Facts) -> Decision<HoldAnswer> {
        match self.refusal(facts) {
            Some(answer) => Decision::refuse(answer),
            None => self.allocate(facts),
        }
    }

    fn replay(&self, found: &Found) -> Result<HoldAnswer, keyrack_db::DbError> {
        key::recorded(found).map(HoldAnswer::Placed)
    }
}

impl PlaceHoldOp {
    /// A quote of somebody else is not there.
    fn own_quote<'f>(&self, facts: &'f Facts) -> Option<&'f QuoteRow> {
        facts.quotes.get(&self.quote).filter(|quote| quote.principal == self.principal)
    }

    fn own_hold<'f>(&self, id: HoldId, facts: &'f Facts) -> Option<&'f HoldFacts> {
        facts.holds.get(&id).filter(|hold| hold.row.is_of_guest(self.principal))
    }

    /// Everything that forbids the hold but the want of units, which is asked last.
    fn refusal(&self, facts: &Facts) -> Option<HoldAnswer> {
        let Some(quote) = self.own_quote(facts) else { return Some(HoldAnswer::QuoteNotFound) };
        if facts.now.is_past(quote.expires_at) {
            return Some(HoldAnswer::QuoteExpired(quote.expires_at));
        }
        let broken = in_the_way(&self.hotel, &quote.document, facts);
        if !broken.is_empty() {
            let told =
                |broken: Violation| Some(broken.told(quote.document.code_of(broken.room_type)?.clone()));
            return Some(HoldAnswer::Restricted(broken.into_iter().filter_map(told).collect()));
        }
        self.not_replaceable(facts).or_else(|| self.over_the_cap(facts))
    }

    fn not_replaceable(&self, facts: &Facts) -> Option<HoldAnswer> {
        let Some(hold) = self.own_hold(self.replaces?, facts) else {
            return Some(HoldAnswer::ReplacedNotFound);
        };
        match (hold.open_attempt, hold.row.state) {
            (Some(open), _) => Some(HoldAnswer::AttemptInProgress(open)),
            (None, HoldState::Active) => None,
            (None, closed) => Some(HoldAnswer::ReplacedNotActive(closed)),
        }
    }

    /// Holds whose time has run out no longer count, though the expiry may not have come by yet.
    fn over_the_cap(&self, facts: &Facts) -> Option<HoldAnswer> {
        let own = facts.own_holds.get(&(self.hotel.id, self.principal))?;
        let valid: Vec<Moment> = own
            .iter()
            .filter(|hold| Some(hold.id) != self.replaces)
            .map(|hold| hold.deferred_until.map_or(hold.expires_at, |until| until.max(hold.expires_at)))
            .filter(|end| !facts.now.is_past(*end))
            .collect();
        if valid.len() < self.cap as usize {
            return None;
        }
        let first_end = valid.into_iter().min()?;
        Some(HoldAnswer::HoldLimit { retry_after: facts.now.until(first_end) })
    }

    fn allocate(&self, facts: &Facts) -> Decision<HoldAnswer> {
        let Some(quote) = self.own_quote(facts) else { return Decision::refuse(HoldAnswer::QuoteNotFound) };
        let mut changes = Changes::default();
        let mut freed: BTreeMap<NightKey, i32> = BTreeMap::new();
        if let Some((id, hold)) = self.replaced(facts) {
            if let Some(night) = drift::of(facts, self.hotel.id, &hold.units) {
                return Decision::Refuse { answer: HoldAnswer::Drift(id, night), grounds: Grounds::Locks };
            }
            changes = free(hold, HoldState::Released);
            freed = changes.nights.iter().map(|(key, delta)| (*key, -delta.held)).collect();
        }
        let short = self.short(&quote.document, facts, &freed);
        if let Some(first) = short.first() {
            let own_hold = self.own_hold_on(first.night, facts);
            let short_of = short.iter().map(|short| short.night).collect();
            let wanted = Box::new(quote.document.clone());
            let grounds = Grounds::Units(short_of);
            return Decision::Refuse { answer: HoldAnswer::SoldOut { short, own_hold, wanted }, grounds };
        }
        self.place(quote, facts, changes)
    }

    fn place(&self, quote: &QuoteRow, facts: &Facts, mut changes: Changes) -> Decision<HoldAnswer> {
        let row = HoldRow {
            id: self.hold,
            principal: self.principal,
            quote: self.quote,
            change: None,
            state: HoldState::Active,
            stay: quote.document.stay,
            total: quote.document.total,
            created_at: facts.now,
            expires_at: facts.now.plus(VALID_FOR),
            deferred_until: None,
            drifted: false,
        };
        let units = units_of(&quote.document);
        changes.move_units(self.hold, &units, NightDelta { held: 1, ..NightDelta::default() });
        let view = HoldView::of(&row, &self.hotel.code);
        self.tell(&row, &units, &quote.document, facts, &mut changes);
        changes.answer = key::answer(&view);
        changes.writes.push(Write::PlaceHold(row, units));
        Decision::Commit(changes, HoldAnswer::Placed(view))
    }

    fn replaced<'f>(&self, facts: &'f Facts) -> Option<(HoldId, &'f HoldFacts)> {
        self.replaces.and_then(|id| Some((id, facts.holds.get(&id)?)))
    }

    fn tell(
        &self,
        row: &HoldRow,
        units: &[UnitNight],
        document: &QuoteDocument,
        facts: &Facts,
        changes: &mut Changes,
    ) {
        let hotel = self.hotel.id;
        if let Some((_, hold)) = self.replaced(facts) {
            tell_ended(facts, hold, HoldState::Released, self.actor.clone(), changes);
        }
        let event = Event::HoldPlaced(HoldPlaced {
            hold_id: row.id,
            quote_id: row.quote,
            principal_id: row.principal,
            stay: row.stay,
            total: row.total,
            expires_at: row.expires_at,
            nights: availability::after(facts, changes, hotel, units),
        });
        changes.events.push(NewEvent { hotel, event });
        changes.audit.push(NewAudit {
            hotel,
            actor: self.actor.clone(),
            action: "hold.placed",
            subject: row.id.to_string(),
            before: self.replaces.map(|id| serde_json::json!({ "replaces": id })),
            after: Some(serde_json::json!({
                "quote": row.quote,
                "total": row.total,
                "nights": units.iter().map(|u| (u.room, u.date, u.amount, u.price_version)).collect::<Vec<_>>(),
                "charges": document.charges,
            })),
        });
    }

    /// Nights that do not fit, in date order. A night without a row has nothing available.
    fn short(&self, wanted: &QuoteDocument, facts: &Facts, freed: &BTreeMap<NightKey, i32>) -> Vec<Short> {
        let units: BTreeMap<RoomTypeId, u32> = wanted.units_by_room_type();
        let nights = wanted.stay.nights().flat_map(|date| {
            units.iter().map(move |(room_type, requested)| {
                (NightKey { hotel: self.hotel.id, room_type: *room_type, date }, *requested)
            })
        });
        nights
            .filter_map(|(night, requested)| {
                let counted = facts.nights.get(&night).map_or(0, |counters| counters.available());
                let available = counted + freed.get(&night).copied().unwrap_or(0);
                let available = u32::try_from(available).unwrap_or(0);
                (available < requested).then_some(Short { night, requested, available })
            })
            .collect()
    }

    /// Whoever meets their own hold is told so, and nobody else is.
    fn own_hold_on(&self, night: NightKey, facts: &Facts) -> Option<HoldId> {
        facts.own_holds.get(&(self.hotel.id, self.principal))?.iter().find_map(|hold| {
            let claims = !hold.is_of_a_change
                && hold.room_types.contains(&night.room_type)
                && (hold.check_in..hold.check_out).contains(&night.date);
            claims.then_some(hold.id)
        })
    }
}

/// One unit per room and night, at the quote's amount and price version.
pub(crate) fn units_of(document: &QuoteDocument) -> Vec<UnitNight> {
    let rooms = (1_i16..).zip(&document.rooms);
    rooms
        .flat_map(|(place, room)| {
            room.nights.iter().map(move |night| UnitNight {
                room: place,
                date: night.date,
                room_type: room.room_type_id,
                rate_plan: room.rate_plan_id,
                amount: night.amount,
                price_version: night.price_version,
            })
        })
        .collect()
}
