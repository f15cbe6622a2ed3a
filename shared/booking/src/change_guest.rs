//! `PATCH /v1/reservations/{id}`: another guest's details on a stay. No night is read, let alone touched: on a
//! sold-out date a name can be changed as on any other.

use keyrack_domain::{
    actor::Actor,
    event::{Event, ReservationChanged},
    guest::Guest,
    hotel::HotelRef,
    ids::ReservationId,
    operation_key::{Endpoint, OperationKey},
    principal::Caller,
    reservation::ReservationState,
};
use keyrack_ledger::{
    Changes, Decision, Facts, Found, KeyClaim, Needs, Operation, ReservationMove, ReservationRow,
    StayReplaced, Write,
};
use keyrack_store::{audit::NewAudit, outbox::NewEvent};
use serde::{Deserialize, Serialize};

use crate::{Answered, Desk, Fault, KeyRefusal, change_stay::swap::is_changeable, key};

#[derive(Clone, Debug)]
pub struct ChangeGuest {
    pub reservation: ReservationId,
    pub guest: Guest,
    pub if_match: i32,
    pub key: OperationKey,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GuestChanged {
    pub reservation: ReservationId,
    pub version: i32,
}

#[derive(Debug, thiserror::Error)]
pub enum ChangeGuestError {
    /// Also a reservation of somebody else.
    #[error("no such reservation")]
    NotFound,
    #[error("the reservation is at version {0}")]
    Stale(i32, ReservationState),
    #[error("the reservation is {0:?}")]
    NotChangeable(ReservationState),
    #[error(transparent)]
    Key(#[from] KeyRefusal),
    #[error(transparent)]
    Fault(#[from] Fault),
}

pub const ENDPOINT: Endpoint = Endpoint("PATCH /v1/reservations/{id}");

pub async fn run(
    desk: &Desk,
    caller: &Caller,
    request: ChangeGuest,
) -> Result<Answered<GuestChanged>, ChangeGuestError> {
    let ChangeGuest { reservation, guest, if_match, key } = request;
    let Some(hotel) = desk.hotel_of(reservation.hotel()).await? else {
        return Err(ChangeGuestError::NotFound);
    };
    let fingerprint = key::fingerprint(ENDPOINT, &(reservation, &guest, if_match))?;
    let operation = ChangeGuestOp {
        hotel: hotel.as_ref().clone(),
        claim: key::claim(hotel.id, caller.principal, ENDPOINT, key, fingerprint),
        caller: caller.clone(),
        reservation,
        guest,
        if_match,
    };
    let outcome = desk.ledger(&hotel)?.run(operation).await.map_err(Fault::from)?;
    let Answered { answer, replayed } = key::answered(outcome)?;
    match answer {
        ChangeGuestAnswer::Changed(answer) => Ok(Answered { answer, replayed }),
        ChangeGuestAnswer::NotFound => Err(ChangeGuestError::NotFound),
        ChangeGuestAnswer::Stale(version, state) => Err(ChangeGuestError::Stale(version, state)),
        ChangeGuestAnswer::NotChangeable(state) => Err(ChangeGuestError::NotChangeable(state)),
    }
}

#[derive(Clone, Debug)]
pub struct ChangeGuestOp {
    pub hotel: HotelRef,
    pub claim: KeyClaim,
    pub caller: Caller,
    pub reservation: ReservationId,
    pub guest: Guest,
    pub if_match: i32,
}

#[derive(Clone, Copy, Debug)]
pub enum ChangeGuestAnswer {
    Changed(GuestChanged),
    NotFound,
    Stale(i32, ReservationState),
    NotChangeable(ReservationState),
}

impl Operation for ChangeGuestOp {
    type Answer = ChangeGuestAnswer;

    fn name(&self) -> &'static str {
        "change_guest"
    }

    fn key(&self) -> Option<&KeyClaim> {
        Some(&self.claim)
    }

    fn needs(&self, _facts: &Facts) -> Needs {
        let mut needs = Needs::default();
        needs.reservations.insert(self.reservation);
        needs
    }

    fn unseen(&self, facts: &Facts) -> Option<ChangeGuestAnswer> {
        self.own(facts).is_none().then_some(ChangeGuestAnswer::NotFound)
    }

    fn decide(&self, facts: &Facts) -> Decision<ChangeGuestAnswer> {
        let Some(row) = self.own(facts) else { return Decision::refuse(ChangeGuestAnswer::NotFound) };
        if !is_changeable(row.state) {
            return Decision::refuse(ChangeGuestAnswer::NotChangeable(row.state));
        }
        if row.version != self.if_match {
            return Decision::refuse(ChangeGuestAnswer::Stale(row.version, row.state));
        }
        let changed = GuestChanged { reservation: row.id, version: row.version + 1 };
        let mut changes = Changes { answer: key::answer(&changed), ..Changes::default() };
        self.tell(row, changed, &mut changes);
        changes.writes.push(Write::ReplaceStay(Box::new(self.replaced(row))));
        Decision::Commit(changes, ChangeGuestAnswer::Changed(changed))
    }

    fn replay(&self, found: &Found) -> Result<ChangeGuestAnswer, keyrack_db::DbError> {
        key::recorded(found).map(ChangeGuestAnswer::Changed)
    }
}

impl ChangeGuestOp {
    /// Its guest's, or its hotel's staff's.
    fn own<'f>(&self, facts: &'f Facts) -> Option<&'f ReservationRow> {
        let row = facts.reservations.get(&self.reservation).map(|reservation| &reservation.row);
        row.filter(|row| row.principal == self.caller.principal || self.caller.runs(self.hotel.id))
    }

    /// The same stay, with another guest.
    fn replaced(&self, row: &ReservationRow) -> StayReplaced {
        StayReplaced {
            shift: ReservationMove {
                id: row.id,
                from: row.state,
                to: row.state,
                from_version: row.version,
                to_version: row.version + 1,
            },
            stay: row.stay,
            total: row.total,
            change_fees: row.change_fees,
            guest: self.guest.clone(),
            document: row.document.clone(),
            dropped: Vec::new(),
            added: Vec::new(),
            kept: Vec::new(),
            removed: Vec::new(),
            new_rooms: Vec::new(),
        }
    }

    /// Who the guest is stands in the reservation alone: neither events nor the audit repeat it.
    fn tell(&self, row: &ReservationRow, changed: GuestChanged, changes: &mut Changes) {
        let hotel = self.hotel.id;
        changes.audit.push(NewAudit {
            hotel,
            actor: Actor::Caller(self.caller.clone()),
            action: "reservation.guest_changed",
            subject: row.id.to_string(),
            before: Some(serde_json::json!({ "version": row.version })),
            after: Some(serde_json::json!({ "version": changed.version })),
        });
        let event = Event::ReservationChanged(ReservationChanged {
            reservation_id: row.id,
            version: changed.version,
            stay: row.stay,
            total: row.total,
            nights: Vec::new(),
        });
        changes.events.push(NewEvent { hotel, event });
    }
}
