//! What is decided before a route is asked: does the operation exist, who is calling, and does it
//! know the query parameters. The caller comes before everything else that can be said about the
//! request: its body is not read, and no id in it is looked up, for somebody unknown.

use std::{fmt, sync::Arc};

use actix_web::{
    Error, HttpMessage,
    body::{BoxBody, MessageBody},
    dev::{ServiceRequest, ServiceResponse},
    http::header::{ALLOW, HeaderValue},
    middleware::Next,
    web,
};
use keyrack_api_types::{code::Code, problem::FieldError};

use crate::{
    authentication::{Authenticator, caller},
    contract::{Contract, Entry},
    problem::Problem,
    request_id::RequestId,
};

/// More of the same would tell nothing new.
const MAX_ERRORS: usize = 16;

pub struct Gate {
    contract: Contract,
    authenticator: Arc<dyn Authenticator>,
    /// Paths of somebody else's service that is mounted beside the API, which looks after itself.
    beside: Option<&'static str>,
}

impl Gate {
    pub const fn new(contract: Contract, authenticator: Arc<dyn Authenticator>) -> Self {
        Self { contract, authenticator, beside: None }
    }

    /// Lets everything under this path pass: in a sandbox, the payment simulator's pages.
    #[must_use]
    pub const fn beside(mut self, path: Option<&'static str>) -> Self {
        self.beside = path;
        self
    }

    async fn admit(&self, request: &ServiceRequest) -> Result<(), Problem> {
        let path = request.match_pattern().ok_or_else(Problem::not_found)?;
        if self.beside.is_some_and(|beside| path.starts_with(beside)) {
            return Ok(());
        }
        let entry = self.contract.find(&path, request.method());
        let public = entry.map_or_else(|| self.is_public(&path), |entry| entry.public);
        if !public {
            let id = RequestId::of(request.headers());
            let id = request.extensions().get::<RequestId>().cloned().unwrap_or(id);
            let caller = caller(self.authenticator.as_ref(), request.headers(), &id).await?;
            request.extensions_mut().insert(caller);
        }
        match entry {
            Some(entry) => known_parameters(entry, request.query_string()),
            None => Err(self.no_such_method(&path)),
        }
    }

    /// For a method that a path does not have: is there anything to hide?
    fn is_public(&self, path: &str) -> bool {
        self.contract.all().any(|(other, _, entry)| other == path && entry.public)
    }

    fn no_such_method(&self, path: &str) -> Problem {
        let methods = self.contract.methods(path).join(", ");
        let problem = Problem::new(Code::MethodNotAllowed, format!("This path knows {methods}."));
        match HeaderValue::from_str(&methods) {
            Ok(value) => problem.header(ALLOW, value),
            Err(_) => problem,
        }
    }
}

impl fmt::Debug for Gate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Gate").finish_non_exhaustive()
    }
}

fn known_parameters(entry: &Entry, query: &str) -> Result<(), Problem> {
    let given = form_urlencoded::parse(query.as_bytes());
    let unknown = given.filter(|(name, _)| !entry.query.contains(name.as_ref()));
    let errors: Vec<_> = unknown
        .take(MAX_ERRORS)
        .map(|(name, _)| FieldError {
            pointer: format!("/{name}"),
            code: "UNKNOWN_FIELD".into(),
            detail: "there is no such query parameter".to_owned(),
        })
        .collect();
    if errors.is_empty() { Ok(()) } else { Err(Problem::invalid(errors)) }
}

/// The middleware. It answers by itself or lets the request pass; it never returns an error,
/// since a response keeps its request and an error does not.
pub async fn gate(
    request: ServiceRequest,
    next: Next<impl MessageBody + 'static>,
) -> Result<ServiceResponse<BoxBody>, Error> {
    let admitted = match request.app_data::<web::Data<Gate>>().cloned() {
        Some(gate) => gate.admit(&request).await,
        None => Err(Problem::internal("the gate is not configured")),
    };
    match admitted {
        Ok(()) => next.call(request).await.map(ServiceResponse::map_into_boxed_body),
        Err(problem) => Ok(request.error_response(problem)),
    }
}
