//! What an answer of the simulator says, read without good will: only the provider's own words,
//! about our reference and our amount, are definite. Everything else leaves the call unknown.

use keyrack_domain::{
    money::{Currency, Money},
    page_url::PageUrl,
};
use reqwest::StatusCode;
use serde::Deserialize;

pub(super) use crate::exchange::Failed;
use crate::{
    minor_units::MinorUnits,
    outcome::{DeclineReason, Doubt, Refusal, Standing},
};

#[derive(Debug)]
pub(super) enum Reply {
    Stands(Statement),
    Declined(DeclineReason),
    Nothing,
}

#[derive(Deserialize, Debug)]
pub(super) struct Statement {
    reference: String,
    state: WireState,
    amount: Option<u64>,
    currency: Option<Currency>,
    refunded: u64,
    next_action: Option<NextAction>,
}

#[derive(Deserialize, Debug)]
struct NextAction {
    r#type: String,
    url: String,
}

#[derive(Deserialize, Clone, Copy, PartialEq, Eq, Debug)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub(super) enum WireState {
    Authorized,
    ActionRequired,
    Declined,
    Captured,
    Voided,
    Refunded,
}

#[derive(Deserialize)]
struct Complaint {
    error: Detail,
}

#[derive(Deserialize)]
struct Detail {
    code: String,
    reference: String,
}

impl Reply {
    pub(super) fn read(status: StatusCode, body: &[u8], reference: &str) -> Result<Self, Failed> {
        if status == StatusCode::OK {
            let statement: Statement = parse(body)?;
            about(&statement.reference, reference)?;
            Ok(Self::Stands(statement))
        } else if status.is_client_error() {
            // Without the provider's own words a 4xx may be anybody's: a proxy's, another server's.
            let Ok(complaint) = serde_json::from_slice::<Complaint>(body) else {
                return Err(Failed::Unknown(Doubt::Status(status.as_u16())));
            };
            about(&complaint.error.reference, reference)?;
            complained(status, &complaint.error.code)
        } else {
            Err(Failed::Unknown(Doubt::Status(status.as_u16())))
        }
    }

    /// Of a call: None when it had the effect that was asked for.
    pub(super) fn decided(
        self,
        state: WireState,
        units: Option<MinorUnits>,
    ) -> Result<Option<DeclineReason>, Failed> {
        match self {
            Self::Declined(reason) => Ok(Some(reason)),
            Self::Stands(statement) if statement.says(state, units) => Ok(None),
            Self::Stands(_) | Self::Nothing => Err(Failed::Unknown(Doubt::NotWhatWasAsked)),
        }
    }

    /// Of an authorization that waits for its customer: where the customer is to go.
    pub(super) fn page(&self, units: MinorUnits) -> Option<PageUrl> {
        let Self::Stands(statement) = self else { return None };
        let action = statement.next_action.as_ref().filter(|action| action.r#type == "redirect")?;
        action.url.parse().ok().filter(|_| statement.says(WireState::ActionRequired, Some(units)))
    }

    /// Of a look-up.
    pub(super) fn standing(self) -> Result<Standing, Failed> {
        match self {
            Self::Nothing => Ok(Standing::Nothing),
            Self::Declined(_) => Err(Failed::Unknown(Doubt::NotWhatWasAsked)),
            Self::Stands(statement) => Ok(match statement.state {
                WireState::Declined => Standing::Declined,
                WireState::Voided => Standing::Voided,
                WireState::Authorized => Standing::Authorized { amount: statement.money(statement.amount)? },
                WireState::ActionRequired => {
                    Standing::ActionRequired { amount: statement.money(statement.amount)? }
                }
                WireState::Refunded => Standing::Refunded { amount: statement.money(statement.amount)? },
                WireState::Captured => Standing::Captured {
                    amount: statement.money(statement.amount)?,
                    refunded: statement.money(Some(statement.refunded))?,
                },
            }),
        }
    }
}

impl Statement {
    fn says(&self, state: WireState, units: Option<MinorUnits>) -> bool {
        self.state == state
            && units.is_none_or(|units| {
                self.amount == Some(units.amount()) && self.currency == Some(units.currency())
            })
    }

    fn money(&self, amount: Option<u64>) -> Result<Money, Failed> {
        let (Some(amount), Some(currency)) = (amount, self.currency) else {
            return Err(Failed::Unknown(Doubt::NotWhatWasAsked));
        };
        MinorUnits::read(amount, currency).map_err(|error| Failed::Unknown(Doubt::Unreadable(error.into())))
    }
}

pub(super) fn parse<'a, T: Deserialize<'a>>(body: &'a [u8]) -> Result<T, Failed> {
    serde_json::from_slice(body).map_err(|error| Failed::Unknown(Doubt::Unreadable(error.into())))
}

fn about(said: &str, reference: &str) -> Result<(), Failed> {
    if said == reference { Ok(()) } else { Err(Failed::Unknown(Doubt::NotWhatWasAsked)) }
}

fn complained(status: StatusCode, code: &str) -> Result<Reply, Failed> {
    let refusal = match (status.as_u16(), code) {
        (402, "declined" | "capture_failed") => {
            return Ok(Reply::Declined(DeclineReason::from_provider(code)));
        }
        (404, "nothing") => return Ok(Reply::Nothing),
        (409, "reference_in_use") => Refusal::ReferenceTaken,
        (409, "not_authorized" | "not_captured") => Refusal::NothingToActOn,
        (409, "authorization_voided") => Refusal::Voided,
        (409, "already_captured") => Refusal::AlreadyCaptured,
        (409, "refund_failed") => Refusal::RefundFailed,
        (409, "capture_pending") => Refusal::CaptureInProgress,
        (409, "exceeds_authorization" | "exceeds_capture") => Refusal::ExceedsWhatIsThere,
        (422, "unknown_method") => Refusal::UnknownMethod,
        (422, "invalid") => Refusal::Invalid,
        _ => return Err(Failed::Unknown(Doubt::Status(status.as_u16()))),
    };
    Err(Failed::Refused(refusal))
}
