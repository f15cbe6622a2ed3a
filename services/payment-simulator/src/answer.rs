//! From what this provider knows to what it says.

use actix_web::{HttpRequest, HttpResponse, http::StatusCode};
use serde::Serialize;

use crate::{
    book::{Book, Entry},
    charge::{Kind, State},
    connection,
    decide::Refusal,
    input::{Amount, ReferenceName},
    method::Method,
};

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Answer {
    /// It stands for this.
    Stands(Statement),
    /// The method said no.
    Declined(&'static str),
    Nothing,
    Refused(Refusal),
    /// The connection is cut.
    Silence,
    /// Nobody can say: no room, no disk, or going down.
    Unavailable,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub(crate) struct Statement {
    state: State,
    #[serde(flatten)]
    amount: Option<Amount>,
    /// Minor units that have gone back of a capture.
    refunded: u64,
    /// Where the customer is to go.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_action: Option<NextAction>,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
struct NextAction {
    r#type: &'static str,
    url: String,
}

impl Statement {
    fn of(entry: &Entry) -> Self {
        Self {
            state: entry.state,
            amount: entry.moved().cloned(),
            refunded: entry.refunded,
            next_action: None,
        }
    }
}

impl Answer {
    /// What a call is told once it has had its effect.
    pub(crate) fn to_call(book: &Book, reference: &ReferenceName) -> Self {
        let Some(entry) = book.get(reference) else { return Self::Nothing };
        let lost = entry.kind() == Kind::Capture && book.method_behind(entry) == Some(Method::LostResponse);
        match entry.state {
            State::Captured if lost => Self::Silence,
            State::Authorized | State::ActionRequired | State::Captured | State::Refunded => {
                Self::Stands(Statement::of(entry))
            }
            State::Voided if entry.kind() == Kind::Void => Self::Stands(Statement::of(entry)),
            State::Voided => Self::Refused(Refusal::AuthorizationVoided),
            State::Declined => Self::Declined("declined"),
            State::Failed if entry.kind() == Kind::Refund => Self::Refused(Refusal::RefundFailed),
            State::Failed => Self::Declined("capture_failed"),
            State::Waiting | State::Refused => Self::Unavailable,
        }
    }

    /// An authorization is told with what has become of its money since.
    pub(crate) fn to_look_up(book: &Book, reference: &ReferenceName) -> Self {
        let Some(entry) = book.get(reference) else { return Self::Nothing };
        let capture = entry.captured_by.as_ref().and_then(|capture| book.get(capture));
        if let Some(capture) = capture.filter(|capture| capture.state == State::Captured) {
            return Self::Stands(Statement::of(capture));
        }
        match entry.state {
            State::Waiting | State::Refused | State::Failed => Self::Nothing,
            State::Authorized
            | State::ActionRequired
            | State::Declined
            | State::Captured
            | State::Voided
            | State::Refunded => Self::Stands(Statement::of(entry)),
        }
    }

    /// With the page for the customer, under this address of ours.
    pub(crate) fn with_page(mut self, site: &str, reference: &ReferenceName) -> Self {
        if let Self::Stands(statement) = &mut self
            && statement.state == State::ActionRequired
        {
            let url = format!("{site}/simulator/customer/{reference}");
            statement.next_action = Some(NextAction { r#type: "redirect", url });
        }
        self
    }

    pub(crate) fn into_response(self, request: &HttpRequest, reference: &ReferenceName) -> HttpResponse {
        match self {
            Self::Stands(statement) => HttpResponse::Ok().json(Said { reference, statement }),
            Self::Declined(code) => error(StatusCode::PAYMENT_REQUIRED, code, Some(reference)),
            Self::Nothing => error(StatusCode::NOT_FOUND, "nothing", Some(reference)),
            Self::Refused(refusal) => error(refusal.status(), refusal.code(), Some(reference)),
            Self::Silence => connection::cut(request),
            Self::Unavailable => error(StatusCode::SERVICE_UNAVAILABLE, "unavailable", Some(reference)),
        }
    }
}

#[derive(Serialize)]
struct Said<'a> {
    reference: &'a ReferenceName,
    #[serde(flatten)]
    statement: Statement,
}

#[derive(Serialize)]
struct Complaint<'a> {
    error: Detail<'a>,
}

#[derive(Serialize)]
struct Detail<'a> {
    code: &'a str,
    reference: Option<&'a ReferenceName>,
}

pub(crate) fn error(status: StatusCode, code: &str, reference: Option<&ReferenceName>) -> HttpResponse {
    HttpResponse::build(status).json(Complaint { error: Detail { code, reference } })
}

impl Refusal {
    fn status(self) -> StatusCode {
        match self {
            Self::UnknownMethod => StatusCode::UNPROCESSABLE_ENTITY,
            Self::ReferenceInUse
            | Self::NotAuthorized
            | Self::AuthorizationVoided
            | Self::AlreadyCaptured
            | Self::CapturePending
            | Self::ExceedsAuthorization
            | Self::NotCaptured
            | Self::ExceedsCapture
            | Self::RefundFailed => StatusCode::CONFLICT,
        }
    }

    fn code(self) -> &'static str {
        match self {
            Self::UnknownMethod => "unknown_method",
            Self::ReferenceInUse => "reference_in_use",
            Self::NotAuthorized => "not_authorized",
            Self::AuthorizationVoided => "authorization_voided",
            Self::AlreadyCaptured => "already_captured",
            Self::CapturePending => "capture_pending",
            Self::ExceedsAuthorization => "exceeds_authorization",
            Self::NotCaptured => "not_captured",
            Self::ExceedsCapture => "exceeds_capture",
            Self::RefundFailed => "refund_failed",
        }
    }
}
