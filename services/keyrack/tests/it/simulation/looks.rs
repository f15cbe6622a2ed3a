//! What is read through the API must be so in a world that may be; and time passes.

use std::{
    collections::BTreeSet,
    time::{Duration, Instant},
};

use chrono::{Days, NaiveTime};
use keyrack_domain::{
    attempt::AttemptState,
    clock::Moment,
    hold::{HoldState, is_due},
    ids::{AttemptId, ChangeId, HoldId, PrincipalId, ReservationId},
    local_time,
};
use keyrack_model::{Happening, ProviderRecord, World};
use rust_decimal::Decimal;
use serde_json::{Value, json};

use super::{
    installation::Installation,
    lane::{Lane, NIGHTS, new_ids},
    wire::{Request, is_near},
};

/// Nothing that is decided by the time may be nearer than this when calls begin: longer than they take.
pub(super) const MARGIN: Duration = Duration::from_secs(45);
/// A worker that is alive has done what is due within this; else it waits for a lease that a dead one has left.
const BRIEFLY: Duration = Duration::from_secs(1);
const LEASE: Duration = Duration::from_secs(31);
/// So many worlds are one question too many.
const MANY: usize = 8;
/// Every case ends within so many leases.
const LEASES: usize = 40;

impl Lane {
    pub(super) async fn get(&self, at: &Installation, who: PrincipalId, path: &str) -> Value {
        let request = Request {
            who,
            method: reqwest::Method::GET,
            path: path.to_owned(),
            key: None,
            if_match: None,
            json: Value::Null,
        };
        let begun = Instant::now();
        for which in 0.. {
            match self.send(at, which, &request).await {
                Some(told) if told.status == 200 => return told.body,
                Some(told) if told.status < 500 => self.contradiction(&format!("{path}: {told:?}")),
                _ => assert!(begun.elapsed() < Duration::from_secs(60), "{path} is not answered"),
            }
        }
        unreachable!("it goes on until there is an answer")
    }

    /// The truth as the API tells it leaves only the worlds in which it is so.
    pub(super) fn is_so(
        &mut self,
        at: &Installation,
        what: &str,
        told: &Value,
        holds: impl Fn(&World) -> bool,
    ) {
        let open: Vec<AttemptId> = self.open_attempts().into_iter().collect();
        let mut happenings: Vec<Happening<'_>> = open.into_iter().map(|id| self.settled(at, id)).collect();
        happenings.push(Happening::look(&holds));
        let so = self.worlds.happen(&happenings);
        drop(happenings);
        if !so {
            self.contradiction(&format!("{what} is told as {told}"));
        }
    }

    /// Every counter, what is open, and something of what there is; all of it where too much may be.
    pub(super) async fn look(&mut self, at: &Installation) {
        self.look_at_counters(at).await;
        for attempt in self.open_attempts() {
            self.look_at_payment(at, attempt).await;
        }
        let reservations: Vec<ReservationId> = self.world().reservations.keys().copied().collect();
        if let Some(id) = self.random.recent(&reservations).copied() {
            self.look_at_reservation(at, id).await;
        }
        let attempts: Vec<AttemptId> = self.world().attempts.keys().copied().collect();
        if let Some(id) = self.random.recent(&attempts).copied() {
            self.look_at_payment(at, id).await;
        }
        if self.worlds.iter().count() > MANY {
            self.hear_everything(at).await;
            self.look_at_everything(at).await;
        }
    }

    /// Where what it pays for tells how it stands.
    async fn look_at_payment(&mut self, at: &Installation, id: AttemptId) {
        let attempt = self.worlds.iter().find_map(|world| world.attempts.get(&id));
        match attempt.and_then(|attempt| attempt.change) {
            Some(change) => self.look_at_change(at, change).await,
            None => self.look_at_booking(at, id).await,
        }
    }

    async fn look_at_change(&mut self, at: &Installation, id: ChangeId) {
        let Some(row) = self.worlds.iter().find_map(|world| world.changes.get(&id)) else { return };
        let (Some(reservation), Some(name)) = (self.names.of(&row.reservation), self.names.of(&id)) else {
            return;
        };
        let path = format!("/v1/reservations/{reservation}/changes/{name}");
        let told = self.get(at, self.staff, &path).await;
        self.is_so(at, "a change", &told, |world| {
            let change = world.changes.get(&id);
            change.is_some_and(|change| {
                told["state"] == change.state.as_str() && told["version"] == json!(change.to_version)
            })
        });
    }

    async fn look_at_counters(&mut self, at: &Installation) {
        let (first, last) = (self.first, self.first + Days::new(NIGHTS - 1));
        let mut told = Vec::new();
        for (room_type, code) in &self.codes {
            let query = format!("room_type={code}&first_night={first}&last_night={last}");
            let path = format!("/v1/hotels/{}/inventory?{query}", self.code);
            let page = self.get(at, self.staff, &path).await;
            for night in page["items"].as_array().expect("nights") {
                told.push((*room_type, night.clone()));
            }
        }
        assert_eq!(told.len() as u64, 2 * NIGHTS, "every night is there");
        let page = json!(told.iter().map(|(_, night)| night).collect::<Vec<_>>());
        let hotel = self.hotel();
        // Not held and confirmed apart: a payment's end may come between the two pages.
        self.is_so(at, "the inventory", &page, |world| {
            told.iter().all(|(room_type, told)| {
                let date = serde_json::from_value(told["night"].clone()).expect("a date");
                let night = world.nights[&keyrack_model::NightKey { hotel, date, room_type: *room_type }];
                told["sellable"] == night.sellable && told["available"] == night.available()
            })
        });
    }

    pub(super) async fn look_at_reservation(&mut self, at: &Installation, id: ReservationId) {
        let Some(name) = self.names.of(&id) else { return };
        let path = format!("/v1/reservations/{name}");
        let told = self.get(at, self.staff, &path).await;
        let refunds = told["refunds"].as_array().expect("refunds").iter();
        let back: Decimal = refunds
            .map(|refund| refund["amount"]["amount"].as_str().expect("an amount"))
            .map(|amount| amount.parse::<Decimal>().expect("an amount"))
            .sum();
        self.is_so(at, "a reservation", &told, |world| {
            let Some(made) = world.reservations.get(&id) else { return false };
            let of_it = world.refunds.values().filter(|refund| made.paid_by.contains(&refund.attempt));
            told["state"] == made.state.as_str()
                && told["version"] == made.version
                && told["check_in"] == json!(made.document.stay.check_in())
                && told["check_out"] == json!(made.document.stay.check_out())
                && told["total"]["amount"] == made.document.total.to_string()
                && back == of_it.map(|refund| refund.amount.amount()).sum()
        });
    }

    pub(super) async fn look_at_booking(&mut self, at: &Installation, id: AttemptId) {
        let Some(attempt) = self.worlds.iter().find_map(|world| world.attempts.get(&id)) else { return };
        let (Some(name), who) = (self.names.of(&id), attempt.principal) else { return };
        let told = self.get(at, who, &format!("/v1/bookings/{name}")).await;
        let status = told["status"].as_str().expect("a status").to_owned();
        self.is_so(at, "a booking", &told, |world| {
            world.attempts.get(&id).is_some_and(|attempt| match attempt.state {
                // When the money is back is the provider's business, until the end.
                AttemptState::PaymentCapturedBookingFailed | AttemptState::Refunded => {
                    ["PAYMENT_CAPTURED_BOOKING_FAILED", "REFUNDED"].contains(&status.as_str())
                }
                AttemptState::PendingPayment | AttemptState::Reconciling => {
                    ["PENDING_PAYMENT", "RECONCILING"].contains(&status.as_str())
                }
                state => status == state.as_str(),
            })
        });
    }

    /// Whether something is decided by the time so soon that nobody could say on which side of it a call was.
    pub(super) fn is_on_the_edge(&self) -> bool {
        let now = self.world().now;
        let zone = self.profile.hotel.zone;
        let today = now.date_in(zone);
        let walls = [(0, 0), (18, 0)].map(|(hour, minute)| NaiveTime::from_hms_opt(hour, minute, 0));
        let days = [today, today + Days::new(1)];
        let walls = walls
            .into_iter()
            .flatten()
            .flat_map(|time| days.map(|date| local_time::instant(date, time, zone)));
        let holds = self.worlds.iter().flat_map(|world| {
            world.holds.values().filter(|hold| hold.state == HoldState::Active).map(|hold| hold.expires_at)
        });
        let attempts = self.worlds.iter().flat_map(|world| {
            world.attempts.values().filter(|attempt| attempt.state.is_open()).map(|attempt| attempt.deadline)
        });
        walls.chain(holds).chain(attempts).any(|end| is_near(end, now, MARGIN))
    }

    /// Whatever is due at this time is done, by the workers and by the model.
    ///
    /// True when it had to be waited for.
    pub(super) async fn settle(&mut self, at: &Installation) -> bool {
        let begun = self.world().now;
        let mut leases = 0;
        let (holds, attempts, now) = loop {
            let now = at.now().await;
            let (holds, attempts) = (self.due_holds(now), self.due_attempts(now));
            if self.have_ended(at, &holds, &attempts).await {
                break (holds, attempts, now);
            }
            leases += 1;
            if leases > LEASES {
                self.contradiction("a case is open beyond its bound");
            }
            at.advance(LEASE).await;
        };
        self.log.push(format!("time passes from {begun:?} to {now:?}, {leases} leases"));
        let records: Vec<(AttemptId, ProviderRecord)> =
            attempts.iter().map(|id| (*id, self.record(at, *id))).collect();
        let mut happenings = vec![Happening::always(|world| world.advance_to(now))];
        // Those whose payment ends at the same time may expire before or after it; the others in any order.
        let paid: BTreeSet<HoldId> = self
            .worlds
            .iter()
            .flat_map(|world| attempts.iter().filter_map(|id| world.attempts.get(id)))
            .map(|attempt| attempt.hold)
            .collect();
        let (alone, paid): (Vec<HoldId>, Vec<HoldId>) = holds.iter().partition(|hold| !paid.contains(hold));
        for expiring in paid.into_iter().map(|hold| vec![hold]).chain([alone]) {
            let expires = move |world: &mut World| {
                for hold in &expiring {
                    world.expire_one(*hold);
                }
            };
            happenings.push(Happening::always(expires).after(0));
        }
        for (attempt, record) in records {
            let ends = move |world: &mut World| {
                let _ = world.reconcile(attempt, record, new_ids(attempt));
            };
            happenings.push(Happening::always(ends).after(0));
        }
        if !self.worlds.happen(&happenings) {
            self.contradiction("time cannot pass");
        }
        drop(happenings);
        for attempt in attempts {
            self.look_at_payment(at, attempt).await;
        }
        self.look_at_counters(at).await;
        leases > 0
    }

    fn due_holds(&self, now: Moment) -> BTreeSet<HoldId> {
        let due = self.worlds.iter().flat_map(|world| {
            world.holds.iter().filter(|(_, hold)| {
                hold.state == HoldState::Active && is_due(hold.expires_at, hold.deferred_until, now)
            })
        });
        due.map(|(id, _)| *id).collect()
    }

    fn due_attempts(&self, now: Moment) -> BTreeSet<AttemptId> {
        let due = self.worlds.iter().flat_map(|world| {
            world.attempts.iter().filter(|(_, attempt)| {
                attempt.state == AttemptState::Reconciling
                    || attempt.state == AttemptState::PendingPayment && now.is_past(attempt.deadline)
            })
        });
        due.map(|(id, _)| *id).collect()
    }

    fn record(&self, at: &Installation, id: AttemptId) -> ProviderRecord {
        let name = self.names.of(&id).unwrap_or_default();
        if at.has_captured(name) { ProviderRecord::Captured } else { ProviderRecord::Cancelled }
    }

    /// Asked for a while.
    async fn have_ended(
        &self,
        at: &Installation,
        holds: &BTreeSet<HoldId>,
        attempts: &BTreeSet<AttemptId>,
    ) -> bool {
        let begun = Instant::now();
        for hold in holds {
            let (Some(name), Some(row)) = (self.names.of(&hold), self.world().holds.get(hold)) else {
                continue;
            };
            while self.get(at, row.principal, &format!("/v1/holds/{name}")).await["state"] == "ACTIVE" {
                if begun.elapsed() > BRIEFLY {
                    return false;
                }
            }
        }
        for id in attempts {
            let Some((who, path)) = self.where_it_stands(*id) else { continue };
            loop {
                let told = self.get(at, who, &path).await;
                let state = told["status"].as_str().or(told["state"].as_str()).unwrap_or_default();
                if !["PENDING_PAYMENT", "RECONCILING", "STARTED"].contains(&state) {
                    break;
                }
                if begun.elapsed() > BRIEFLY {
                    return false;
                }
            }
        }
        true
    }

    /// Of the booking or of the change that it pays for.
    fn where_it_stands(&self, id: AttemptId) -> Option<(PrincipalId, String)> {
        let attempt = self.worlds.iter().find_map(|world| world.attempts.get(&id))?;
        let Some(change) = attempt.change else {
            return Some((attempt.principal, format!("/v1/bookings/{}", self.names.of(&id)?)));
        };
        let reservation = self.names.of(&format!("of {change}"))?;
        let path = format!("/v1/reservations/{reservation}/changes/{}", self.names.of(&change)?);
        Some((attempt.principal, path))
    }

    /// Everything there is, each as the model has it; and what the provider has kept.
    pub(super) async fn look_at_everything(&mut self, at: &Installation) {
        let reservations: Vec<ReservationId> = self.world().reservations.keys().copied().collect();
        for id in reservations {
            self.look_at_reservation(at, id).await;
        }
        let attempts: Vec<AttemptId> = self.world().attempts.keys().copied().collect();
        for id in attempts {
            self.look_at_payment(at, id).await;
        }
        let changes: Vec<ChangeId> = self.world().changes.keys().copied().collect();
        for id in changes {
            self.look_at_change(at, id).await;
        }
        self.look_at_counters(at).await;
    }

    /// What the provider has taken and given back, attempt by attempt.
    pub(super) fn look_at_the_book(&mut self, at: &Installation) {
        let attempts: BTreeSet<AttemptId> =
            self.worlds.iter().flat_map(|world| world.attempts.keys().copied()).collect();
        for id in attempts {
            let (taken, back) = at.book(self.names.of(&id).unwrap_or_default());
            self.is_so(at, "the provider's book", &json!([id.to_string(), taken, back]), |world| {
                let attempt = world.attempts.get(&id);
                let taken_there = attempt.map_or(0, |attempt| minor(attempt.captured));
                let refunds = world.refunds.values().filter(|refund| refund.attempt == id);
                let back_there: u64 = refunds.map(|refund| minor(refund.amount)).sum();
                (taken, back) == (taken_there, back_there)
            });
        }
    }

    pub(super) fn summary(&self) -> String {
        let world = self.world();
        format!(
            "{}: {} calls, {} holds, {} attempts, {} reservations, {} changes, {} refunds, {} worlds",
            self.code,
            self.sent.len(),
            world.holds.len(),
            world.attempts.len(),
            world.reservations.len(),
            world.changes.len(),
            world.refunds.len(),
            self.worlds.iter().count(),
        )
    }
}

fn minor(money: keyrack_domain::money::Money) -> u64 {
    let units = money.amount() * Decimal::from(10_u64.pow(money.currency().decimals()));
    units.normalize().to_string().parse().expect("a whole number")
}
