//! The outermost middleware, and the only place where a problem is written and an error logged.

use std::{
    future::{Ready, ready},
    panic::AssertUnwindSafe,
    time::Instant,
};

use actix_web::{
    Error, HttpMessage, HttpResponse,
    body::{BoxBody, MessageBody},
    dev::{ServiceRequest, ServiceResponse},
    http::{
        Method, StatusCode,
        header::{HeaderMap, HeaderValue, X_CONTENT_TYPE_OPTIONS},
    },
    middleware::Next,
};
use futures::FutureExt;
use keyrack_api_types::code::Code;
use tracing::Instrument;

use crate::{
    problem::{Place, Problem},
    request_id::{REQUEST_ID, RequestId},
    trace_context::trace_parent,
};

/// Route of a request that no route took: a raw path would make a series of every guess.
const UNMATCHED: &str = "unmatched";

pub async fn boundary(
    mut request: ServiceRequest,
    next: Next<impl MessageBody + 'static>,
) -> Result<ServiceResponse<BoxBody>, Error> {
    if request.method() == Method::HEAD {
        // A HEAD is the GET without its body, which the connection leaves out by itself.
        request.head_mut().method = Method::GET;
    }
    let request_id = RequestId::of(request.headers());
    request.extensions_mut().insert(request_id.clone());
    let place = Place { instance: request.path().to_owned(), request_id };
    let route = request.match_pattern().unwrap_or_else(|| UNMATCHED.to_owned());
    let method = request.method().clone();
    let span = span(&route, method.as_str(), request.headers(), &place.request_id);
    let started = Instant::now();
    async move {
        // A panic in a route ends its request and nothing else: no state of ours outlives the
        // future that is dropped here, transactions run as tasks of their own.
        let outcome = AssertUnwindSafe(next.call(request)).catch_unwind().await;
        let (status, answer) = match outcome {
            Ok(Ok(response)) => {
                let response = finish(response.map_into_boxed_body(), &place);
                (response.status(), Ok(response))
            }
            Ok(Err(error)) => failed(Problem::internal(error.to_string()), place),
            Err(_) => failed(Problem::internal("a handler panicked"), place),
        };
        measure(&route, method.as_str(), status, started);
        answer
    }
    .instrument(span)
    .await
}

/// Templates and ids of requests only: paths, queries and bodies can name guests.
fn span(route: &str, method: &str, headers: &HeaderMap, request_id: &RequestId) -> tracing::Span {
    let parent = trace_parent(headers);
    tracing::info_span!(
        "http_request",
        http.route = route,
        http.method = method,
        request_id = request_id.as_str(),
        trace_id = parent.map(|parent| parent.trace_id),
        parent_id = parent.map(|parent| parent.parent_id),
    )
}

fn failed(problem: Problem, place: Place) -> (StatusCode, Result<ServiceResponse<BoxBody>, Error>) {
    log(&problem);
    (StatusCode::INTERNAL_SERVER_ERROR, Err(problem.placed(place).into()))
}

/// Writes the document where the response is a refusal, and what every response carries.
fn finish(response: ServiceResponse<BoxBody>, place: &Place) -> ServiceResponse<BoxBody> {
    let written = match response.response().error().map(|error| error.as_error::<Problem>()) {
        Some(Some(problem)) => {
            log(problem);
            Some(problem.respond(Some(place)))
        }
        Some(None) => Some(foreign(response.status()).respond(Some(place))),
        None if response.status().is_client_error() || response.status().is_server_error() => {
            Some(foreign(response.status()).respond(Some(place)))
        }
        None => None,
    };
    let mut response = match written {
        Some(document) => response.into_response(document),
        None => response,
    };
    let headers = response.headers_mut();
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    if let Ok(id) = HeaderValue::from_str(place.request_id.as_str()) {
        headers.insert(REQUEST_ID, id);
    }
    response
}

/// An error that actix made of itself.
fn foreign(status: StatusCode) -> Problem {
    let code = match status {
        StatusCode::NOT_FOUND => return Problem::not_found(),
        StatusCode::METHOD_NOT_ALLOWED => Code::MethodNotAllowed,
        StatusCode::REQUEST_TIMEOUT => Code::RequestTimeout,
        StatusCode::PAYLOAD_TOO_LARGE => Code::PayloadTooLarge,
        StatusCode::UNSUPPORTED_MEDIA_TYPE => Code::UnsupportedMediaType,
        other if other.is_client_error() => Code::Malformed,
        other => {
            let problem = Problem::internal(format!("an unexpected {other}"));
            log(&problem);
            return problem;
        }
    };
    Problem::new(code, code.meaning())
}

/// Once, here. Refusals are answers and are not logged; their count is a metric.
fn log(problem: &Problem) {
    let Some(cause) = problem.cause() else { return };
    let mut chain = cause.to_string();
    let mut source = cause.source();
    while let Some(error) = source {
        chain = format!("{chain}: {error}");
        source = error.source();
    }
    match problem.code() {
        Code::Internal => tracing::error!(code = problem.code().as_str(), error = chain, "request failed"),
        code => tracing::warn!(code = code.as_str(), error = chain, "request refused"),
    }
}

fn measure(route: &str, method: &str, status: StatusCode, started: Instant) {
    tracing::debug!(status = status.as_u16(), elapsed = ?started.elapsed(), "answered");
    let labels =
        [("route", route.to_owned()), ("method", method.to_owned()), ("status", status.as_u16().to_string())];
    metrics::histogram!(keyrack_telemetry::names::HTTP_REQUEST_SECONDS, &labels)
        .record(started.elapsed().as_secs_f64());
}

/// For paths that no route takes.
pub fn unmatched() -> Ready<Result<HttpResponse, Problem>> {
    ready(Err(Problem::not_found()))
}
