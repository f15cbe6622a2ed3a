//! The page that a customer is sent to before the money is set aside.

use actix_web::{
    HttpResponse, get,
    http::{StatusCode, header::ContentType},
    post,
    web::{Data, Path},
};

use crate::{
    charge::{Charge, State},
    input::ReferenceName,
    simulator::{Decided, Simulator},
};

#[get("/customer/{reference}")]
pub(crate) async fn show(simulator: Data<Simulator>, reference: Path<ReferenceName>) -> HttpResponse {
    match simulator.charge(&reference) {
        Some(charge) if charge.state == State::ActionRequired => page(StatusCode::OK, &question(&charge)),
        Some(charge) if charge.state == State::Voided => expired(),
        Some(charge) => told(&charge),
        None => nothing(),
    }
}

#[post("/customer/{reference}/complete")]
pub(crate) async fn complete(simulator: Data<Simulator>, reference: Path<ReferenceName>) -> HttpResponse {
    decided(simulator.decide(&reference, true).await)
}

#[post("/customer/{reference}/abandon")]
pub(crate) async fn abandon(simulator: Data<Simulator>, reference: Path<ReferenceName>) -> HttpResponse {
    decided(simulator.decide(&reference, false).await)
}

fn decided(decided: Decided) -> HttpResponse {
    match decided {
        Decided::Now(charge) | Decided::Before(charge) => told(&charge),
        Decided::Expired => expired(),
        Decided::NeverAsked => nothing(),
    }
}

/// Nothing in it has to be escaped: a reference is of letters, digits, `_` and `-`.
fn question(charge: &Charge) -> String {
    let Charge { reference, amount, .. } = charge;
    let amount = amount.as_ref().map_or_else(String::new, |amount| {
        format!("<p>{} {}, in its smallest unit.</p>", amount.amount, amount.currency)
    });
    format!(
        "<p>Is it you who pays?</p>{amount}\
         <form method=\"post\" action=\"{reference}/complete\"><button>Yes, pay</button></form>\
         <form method=\"post\" action=\"{reference}/abandon\"><button>No, go back</button></form>"
    )
}

fn told(charge: &Charge) -> HttpResponse {
    let told = match charge.state {
        State::Authorized | State::Captured => "<p>Payment approved. You can close this page.</p>",
        State::Declined => "<p>Payment abandoned. Nothing was taken.</p>",
        _ => "<p>There is nothing to decide here.</p>",
    };
    page(StatusCode::OK, told)
}

fn expired() -> HttpResponse {
    page(StatusCode::GONE, "<p>Session expired. Nothing was taken.</p>")
}

fn nothing() -> HttpResponse {
    page(StatusCode::NOT_FOUND, "<p>There is no such payment.</p>")
}

fn page(status: StatusCode, body: &str) -> HttpResponse {
    HttpResponse::build(status).content_type(ContentType::html()).body(format!(
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>Payment simulator</title>\
         <h1>Payment simulator</h1>{body}</html>"
    ))
}
