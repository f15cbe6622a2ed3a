use actix_web::{HttpRequest, HttpResponse, http::StatusCode, post, web};
use keyrack_api_types::{
    code::Code,
    notice::{NoticeReceipt, ReceiptOutcome},
    problem::FieldError,
};
use keyrack_booking::{
    Desk,
    receive_notice::{self, ReceiveNoticeError, Received},
};
use keyrack_domain::notice::{NoticeOutcome, ProviderName};
use keyrack_http::{Path, Problem, Raw, RequestId};

use crate::refusal;

/// Far above any notice, and little to read for somebody who cannot sign.
const MAX_BODY: usize = 64 * 1024;

/// What a payment provider tells by itself, signed by it. Answered with 2xx once it is durable: until then it has
/// to be sent again. For the provider.
#[utoipa::path(
    tag = "webhooks",
    operation_id = "receive_payment_notice",
    security(()),
    params(("provider" = String, Path, description = "As it is configured: `simulator`")),
    request_body(content = String, content_type = "application/json", description = "As the provider has signed it"),
    responses(
        (status = 200, description = "It had its effect, or needs none", body = NoticeReceipt),
        (status = 202, description = "About something that is not there; kept until it appears", body = NoticeReceipt),
        (status = 401, description = "UNAUTHENTICATED: the signature does not stand for this body at this time"),
        (status = 404, description = "NOT_FOUND: no such provider"),
        (status = 413, description = "PAYLOAD_TOO_LARGE"),
        (status = 422, description = "INVALID: signed, and not readable"),
        (status = 503, description = "HOT_NIGHT_BUSY, UNAVAILABLE: not durable; send it again"),
    ),
)]
#[post("/v1/webhooks/payments/{provider}")]
pub(crate) async fn payments(
    request: HttpRequest,
    Path(provider): Path<String>,
    id: RequestId,
    desk: web::Data<Desk>,
    Raw(body): Raw<MAX_BODY>,
) -> Result<HttpResponse, Problem> {
    let provider: ProviderName = provider.parse().map_err(|_| Problem::not_found())?;
    let header = receive_notice::signature_header(&desk, &provider).ok_or_else(Problem::not_found)?;
    let mut signatures = request.headers().get_all(header);
    // Of two signatures nobody can say which one is meant.
    let signature = signatures.next().filter(|_| signatures.next().is_none());
    let signature = signature.map(actix_web::http::header::HeaderValue::as_bytes);
    let receipt = receive_notice::run(&desk, &provider, signature, &body, id.to_string()).await;
    let (status, outcome) = told(receipt.map_err(refused)?.received);
    Ok(HttpResponse::build(status).json(NoticeReceipt { outcome }))
}

const fn told(received: Received) -> (StatusCode, ReceiptOutcome) {
    match received {
        Received::Recorded(NoticeOutcome::Applied) => (StatusCode::OK, ReceiptOutcome::Applied),
        Received::Recorded(NoticeOutcome::HandedOver) => (StatusCode::OK, ReceiptOutcome::HandedOver),
        Received::Recorded(NoticeOutcome::NoOp) => (StatusCode::OK, ReceiptOutcome::NoOp),
        Received::Duplicate => (StatusCode::OK, ReceiptOutcome::Duplicate),
        Received::NotOurs => (StatusCode::OK, ReceiptOutcome::NotOurs),
        Received::Unmatched => (StatusCode::ACCEPTED, ReceiptOutcome::Unmatched),
    }
}

fn refused(error: ReceiveNoticeError) -> Problem {
    match error {
        ReceiveNoticeError::UnknownProvider => Problem::not_found(),
        ReceiveNoticeError::NotAuthentic => {
            Problem::new(Code::Unauthenticated, "The signature does not stand for this body at this time.")
        }
        ReceiveNoticeError::Malformed { at, why } => {
            Problem::invalid(vec![FieldError { pointer: at, code: "INVALID_VALUE".into(), detail: why }])
        }
        ReceiveNoticeError::Fault(fault) => refusal::fault(fault),
    }
}
