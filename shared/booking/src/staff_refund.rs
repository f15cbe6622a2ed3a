//! Money that staff gives back: `POST /v1/hotels/{hotel}/reservations/{id}/refunds`. The reservation stays as
//! it is, cancelled or not.

use keyrack_domain::{
    actor::Actor,
    code::HotelCode,
    ids::{RefundId, ReservationId},
    money::Money,
    operation_key::{Endpoint, OperationKey},
    principal::Caller,
    refund::RefundState,
    text::check_line,
};
use keyrack_ledger::{Changes, Decision, Facts, Found, KeyClaim, Needs, Operation};
use keyrack_store::audit::NewAudit;

use crate::{
    Answered, Desk, Fault, FieldError, KeyRefusal,
    amount::amount_error,
    entropy,
    hotel_directory::NoHotel,
    key,
    request_refund::{left, pay_back, payments},
    views::RefundView,
};

const ENDPOINT: Endpoint = Endpoint("POST /v1/hotels/{hotel}/reservations/{id}/refunds");

/// Longest reason, in code points.
const MAX_REASON: usize = 255;

#[derive(Clone, Debug)]
pub struct StaffRefund {
    pub hotel: HotelCode,
    pub reservation: ReservationId,
    /// In the hotel's currency, as it was written.
    pub amount: String,
    pub reason: String,
    pub key: OperationKey,
}

#[derive(Debug, thiserror::Error)]
pub enum StaffRefundError {
    /// Also for whoever does not work there.
    #[error("no such reservation at this hotel")]
    NotFound,
    #[error("the input is wrong")]
    Invalid(Vec<FieldError>),
    #[error("at most {0} can be given back")]
    TooMuch(Money),
    #[error(transparent)]
    Key(#[from] KeyRefusal),
    #[error(transparent)]
    Fault(#[from] Fault),
}

impl From<NoHotel> for StaffRefundError {
    fn from(error: NoHotel) -> Self {
        match error {
            NoHotel::NotFound => Self::NotFound,
            NoHotel::Fault(fault) => Self::Fault(fault),
        }
    }
}

pub async fn run(
    desk: &Desk,
    caller: &Caller,
    request: StaffRefund,
) -> Result<Answered<RefundView>, StaffRefundError> {
    let StaffRefund { hotel, reservation, amount, reason, key } = request;
    let hotel = desk.hotel_run_by(caller, &hotel, reservation).await?;
    let mut faults = Vec::new();
    let amount = Money::parse(&amount, hotel.currency);
    match amount {
        Err(fault) => faults.push(amount_error("/amount".to_owned(), fault)),
        Ok(amount) if amount.amount() <= rust_decimal::Decimal::ZERO => {
            faults.push(FieldError::new("/amount", "OUT_OF_RANGE", "must be more than zero"));
        }
        Ok(_) => {}
    }
    if let Err(fault) = check_line(&reason, MAX_REASON) {
        faults.push(FieldError::new("/reason", fault.code(), fault.to_string()));
    }
    let Ok(amount) = amount else { return Err(StaffRefundError::Invalid(faults)) };
    if !faults.is_empty() {
        return Err(StaffRefundError::Invalid(faults));
    }
    let fingerprint = key::fingerprint(ENDPOINT, &(reservation, amount, &reason))?;
    let operation = StaffRefundOp {
        claim: key::claim(hotel.id, caller.principal, ENDPOINT, key, fingerprint),
        caller: caller.clone(),
        reservation,
        refund: RefundId::new(hotel.id, entropy::id()),
        amount,
        reason,
    };
    let outcome = desk.ledger(&hotel)?.run(operation).await.map_err(Fault::from)?;
    let Answered { answer, replayed } = key::answered(outcome)?;
    match answer {
        StaffRefundAnswer::Requested(view) => Ok(Answered { answer: view, replayed }),
        StaffRefundAnswer::NotFound => Err(StaffRefundError::NotFound),
        StaffRefundAnswer::TooMuch(left) => Err(StaffRefundError::TooMuch(left)),
    }
}

#[derive(Clone, Debug)]
pub struct StaffRefundOp {
    pub claim: KeyClaim,
    pub caller: Caller,
    pub reservation: ReservationId,
    pub refund: RefundId,
    pub amount: Money,
    pub reason: String,
}

#[derive(Clone, Debug)]
pub enum StaffRefundAnswer {
    Requested(RefundView),
    NotFound,
    TooMuch(Money),
}

impl Operation for StaffRefundOp {
    type Answer = StaffRefundAnswer;

    fn name(&self) -> &'static str {
        "staff_refund"
    }

    fn key(&self) -> Option<&KeyClaim> {
        Some(&self.claim)
    }

    fn needs(&self, facts: &Facts) -> Needs {
        let mut needs = Needs::default();
        needs.reservations.insert(self.reservation);
        let reservation = facts.reservations.get(&self.reservation);
        needs.attempts.extend(reservation.iter().flat_map(|reservation| &reservation.paid_by));
        needs
    }

    fn unseen(&self, facts: &Facts) -> Option<StaffRefundAnswer> {
        let hidden = !facts.reservations.contains_key(&self.reservation);
        hidden.then_some(StaffRefundAnswer::NotFound)
    }

    fn decide(&self, facts: &Facts) -> Decision<StaffRefundAnswer> {
        let reservation = facts.reservations.get(&self.reservation);
        let Some(reservation) = reservation else { return Decision::refuse(StaffRefundAnswer::NotFound) };
        let payments = payments(reservation, facts);
        let left = left(&payments, self.amount.currency());
        if self.amount.amount() > left.amount() {
            return Decision::refuse(StaffRefundAnswer::TooMuch(left));
        }
        let view = RefundView { id: self.refund, state: RefundState::Requested, amount: self.amount };
        let mut changes = Changes::default();
        pay_back(self.refund, &payments, self.amount, &self.reason, facts.now, &mut changes);
        changes.audit.push(NewAudit {
            hotel: self.reservation.hotel(),
            actor: Actor::Caller(self.caller.clone()),
            action: "refund.requested",
            subject: self.refund.to_string(),
            before: None,
            after: Some(serde_json::json!({
                "reservation": self.reservation,
                "amount": self.amount,
                "reason": self.reason,
            })),
        });
        changes.answer = key::answer(&view);
        Decision::Commit(changes, StaffRefundAnswer::Requested(view))
    }

    fn replay(&self, found: &Found) -> Result<StaffRefundAnswer, keyrack_db::DbError> {
        key::recorded(found).map(StaffRefundAnswer::Requested)
    }
}
