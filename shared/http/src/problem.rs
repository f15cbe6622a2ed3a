//! A refusal on its way out. Routes make one and return it; the boundary writes it.

use std::{error::Error, fmt, time::Duration};

use actix_web::{
    HttpResponse, ResponseError,
    http::{
        StatusCode,
        header::{
            CONTENT_TYPE, HeaderName, HeaderValue, RETRY_AFTER, WWW_AUTHENTICATE, X_CONTENT_TYPE_OPTIONS,
        },
    },
};
use keyrack_api_types::{
    code::Code,
    problem::{Action, FieldError, Next, ProblemDocument},
};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::request_id::{REQUEST_ID, RequestId};

/// Boxed: it is the error of nearly every function here, and rarely made.
pub struct Problem(Box<Parts>);

struct Parts {
    code: Code,
    detail: String,
    errors: Vec<FieldError>,
    facts: Map<String, Value>,
    next: Option<Next>,
    retry_after_s: Option<u64>,
    headers: Vec<(HeaderName, HeaderValue)>,
    /// Logged by the boundary, never shown.
    source: Option<Box<dyn Error + Send + Sync>>,
    place: Option<Place>,
}

/// Known to the boundary only.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    pub(crate) instance: String,
    pub(crate) request_id: RequestId,
}

impl Problem {
    /// `detail` is for a person and particular to this occurrence.
    pub fn new(code: Code, detail: impl Into<String>) -> Self {
        Self(Box::new(Parts {
            code,
            detail: detail.into(),
            errors: Vec::new(),
            facts: Map::new(),
            next: None,
            retry_after_s: None,
            headers: Vec::new(),
            source: None,
            place: None,
        }))
    }

    /// The same for what does not exist and what belongs to someone else.
    pub fn not_found() -> Self {
        Self::new(Code::NotFound, "There is nothing here that you can see.")
    }

    /// JSON or parameters that are wrong, place by place.
    pub fn invalid(errors: Vec<FieldError>) -> Self {
        let detail = match errors.as_slice() {
            [only] => format!("{}: {}", only.pointer, only.detail),
            several => format!("{} things are wrong with the input; see errors.", several.len()),
        };
        let mut problem = Self::new(Code::Invalid, detail);
        problem.0.errors = errors;
        problem
    }

    /// A defect or a surprise. The source goes to the log.
    pub fn internal(source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self::new(
            Code::Internal,
            "Something went wrong on our side. Repeat a write with the same key to learn its outcome.",
        )
        .caused_by(source)
    }

    pub fn caused_by(mut self, source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        self.0.source = Some(source.into());
        self
    }

    /// A member of the document of its own, beside those that every document has.
    pub fn fact(mut self, name: &'static str, value: impl Serialize) -> Self {
        // What cannot be written as JSON is left out: the code and the status stand without it.
        if let Ok(value) = serde_json::to_value(value) {
            self.0.facts.insert(name.to_owned(), value);
        }
        self
    }

    /// `Retry-After`, in the header and the document. Rounded up: earlier would be too early.
    pub fn retry_after(mut self, wait: Duration) -> Self {
        self.0.retry_after_s = Some(wait.as_secs() + u64::from(wait.subsec_nanos() > 0));
        self
    }

    /// In place of what usually follows this code.
    pub fn next(mut self, next: Next) -> Self {
        self.0.next = Some(next);
        self
    }

    pub fn header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.0.headers.push((name, value));
        self
    }

    pub fn code(&self) -> Code {
        self.0.code
    }

    pub(crate) fn cause(&self) -> Option<&(dyn Error + Send + Sync + 'static)> {
        self.0.source.as_deref()
    }

    pub(crate) fn placed(mut self, place: Place) -> Self {
        self.0.place = Some(place);
        self
    }

    /// A response with this document, its place filled in.
    pub(crate) fn respond(&self, place: Option<&Place>) -> HttpResponse {
        let status = StatusCode::from_u16(self.0.code.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let mut response = HttpResponse::build(status);
        response.insert_header((CONTENT_TYPE, "application/problem+json"));
        response.insert_header((X_CONTENT_TYPE_OPTIONS, "nosniff"));
        if let Some(seconds) = self.0.retry_after_s {
            response.insert_header((RETRY_AFTER, seconds));
        }
        if self.0.code == Code::Unauthenticated {
            response.insert_header((WWW_AUTHENTICATE, "Bearer"));
        }
        if let Some(place) = place {
            response.insert_header((REQUEST_ID, place.request_id.to_string()));
        }
        for header in &self.0.headers {
            response.append_header(header.clone());
        }
        response.body(serde_json::to_vec(&self.document(place)).unwrap_or_default())
    }

    fn document(&self, place: Option<&Place>) -> ProblemDocument {
        ProblemDocument {
            r#type: format!("/problems/{}", self.0.code.page()),
            title: self.0.code.title().to_owned(),
            status: self.0.code.status(),
            detail: self.0.detail.clone(),
            instance: place.map(|place| place.instance.clone()),
            code: self.0.code,
            request_id: place.map(|place| place.request_id.to_string()),
            retry_after_s: self.0.retry_after_s,
            errors: self.0.errors.clone(),
            next: self.0.next.clone().unwrap_or_else(|| usual_next(self.0.code, self.0.retry_after_s)),
            facts: self.0.facts.clone(),
        }
    }
}

/// What is safe after each code, unless the route knows better.
fn usual_next(code: Code, after_s: Option<u64>) -> Next {
    let action = match code {
        Code::Internal
        | Code::Unavailable
        | Code::HotNightBusy
        | Code::HotelMoving
        | Code::Overloaded
        | Code::OperationInProgress
        | Code::RequestTimeout
        | Code::SequenceGap
        // A refused call leaves no key behind, so the same key may be used again once it can succeed.
        | Code::HoldLimit => Action::RetrySameKey,
        // The same again would be refused again: the input comes first.
        Code::Malformed
        | Code::PayloadTooLarge
        | Code::UnsupportedMediaType
        | Code::Invalid
        | Code::IdempotencyKeyRequired
        | Code::IdempotencyKeyInvalid
        | Code::IdempotencyKeyReused
        | Code::PaymentDeclined => Action::NewKey,
        Code::RoomNightUnavailable
        | Code::RestrictionViolated
        | Code::QuoteExpired
        | Code::HoldExpired
        | Code::HoldNotActive
        | Code::ChangeExpired => Action::Requote,
        Code::AttemptInProgress
        | Code::IdempotencyKeyExpired
        | Code::VersionConflict
        | Code::StaleRevision
        | Code::PreconditionRequired
        | Code::BelowCommitted
        | Code::BookingFailed
        | Code::ChangeInProgress
        | Code::ChangeFailed
        | Code::AlreadyExists
        | Code::Conflict => Action::LookUp,
        Code::NotFound | Code::MethodNotAllowed | Code::BookingInactive | Code::Unauthenticated => Action::None,
    };
    Next { action, after_s, at: None }
}

/// Shows the code and nothing that a guest wrote: details can name values.
impl fmt::Debug for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Problem({})", self.0.code.as_str())
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.code.title())
    }
}

impl ResponseError for Problem {
    fn status_code(&self) -> StatusCode {
        StatusCode::from_u16(self.0.code.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
    }

    fn error_response(&self) -> HttpResponse {
        self.respond(self.0.place.as_ref())
    }
}

#[cfg(test)]
impl Problem {
    pub(crate) fn document_for_tests(&self) -> ProblemDocument {
        self.document(None)
    }
}
