mod cases;
mod close_finding;
mod discard_letter;
mod findings;
mod letters;
mod notices;
mod refunds;
mod replay_letter;
mod retry_refund;
mod timeline;

use std::fmt;

use actix_web::HttpResponse;
use keyrack_api_types::page::Page;
use keyrack_booking::ops::{self, OpsError};
use keyrack_http::{Cursor, Problem};
use serde::Serialize;
use utoipa_actix_web::service_config::ServiceConfig;

use crate::refusal;

const USUAL_PAGE: u16 = 50;

pub(super) fn configure(routes: &mut ServiceConfig<'_>) {
    routes
        .service(refunds::refunds)
        .service(retry_refund::retry)
        .service(notices::notices)
        .service(cases::cases)
        .service(letters::letters)
        .service(replay_letter::replay)
        .service(discard_letter::discard)
        .service(findings::findings)
        .service(close_finding::close)
        .service(timeline::show);
}

fn page_of<T, P: fmt::Display, I: Serialize>(page: ops::Page<T, P>, item: impl Fn(T) -> I) -> HttpResponse {
    let next_cursor = page.next.as_ref().map(Cursor::write);
    HttpResponse::Ok().json(Page { items: page.items.into_iter().map(item).collect(), next_cursor })
}

fn refused(error: OpsError) -> Problem {
    match error {
        OpsError::NotFound => Problem::not_found(),
        OpsError::Fault(fault) => refusal::fault(fault),
    }
}
