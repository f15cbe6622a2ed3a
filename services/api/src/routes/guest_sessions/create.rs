use actix_web::{HttpResponse, post, web};
use keyrack_api_types::guest_session::GuestSession;
use keyrack_booking::{Desk, guest_sessions};
use keyrack_http::Problem;
use secrecy::ExposeSecret;

use crate::refusal;

/// Begin as a traveler without an account. Takes no body and no key.
#[utoipa::path(
    tag = "guest sessions",
    operation_id = "open_guest_session",
    security(()),
    responses(
        (status = 201, body = GuestSession),
        (status = 503, description = "UNAVAILABLE"),
    ),
)]
#[post("/v1/guest-sessions")]
pub(crate) async fn create(desk: web::Data<Desk>) -> Result<HttpResponse, Problem> {
    let session = guest_sessions::open(desk.shards(), guest_sessions::LASTS).await.map_err(refusal::fault)?;
    Ok(HttpResponse::Created().json(GuestSession {
        principal: session.principal.to_string(),
        token: session.token.expose_secret().to_owned(),
        expires_at: session.expires_at.into(),
    }))
}
