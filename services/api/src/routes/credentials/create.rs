use actix_web::{HttpResponse, http::StatusCode, post, web};
use keyrack_api_types::credential::{Credential, CredentialRequest};
use keyrack_booking::{
    Desk,
    credentials::{self, CreateCredentialError, CredentialInput},
};
use keyrack_domain::code::HotelCode;
use keyrack_http::{Json, Key, Path, Problem, Signed};
use secrecy::ExposeSecret;

use crate::{refusal, reply};

/// Make an API key for a hotel. Its token is shown once. For operators.
#[utoipa::path(
    tag = "hotels",
    operation_id = "create_credential",
    params(
        ("hotel" = String, Path),
        ("Idempotency-Key" = String, Header, description = "1 to 255 visible ASCII characters"),
    ),
    request_body = CredentialRequest,
    responses(
        (status = 201, description = "A repeat has no token: only its hash is kept", body = Credential),
        (status = 404, description = "NOT_FOUND: no such hotel, or not for you"),
        (status = 409, description = "OPERATION_IN_PROGRESS, IDEMPOTENCY_KEY_EXPIRED"),
        (status = 422, description = "INVALID, IDEMPOTENCY_KEY_REUSED"),
        (status = 503, description = "HOT_NIGHT_BUSY, UNAVAILABLE"),
    ),
)]
#[post("/v1/hotels/{hotel}/credentials")]
pub(crate) async fn create(
    Signed(caller): Signed,
    Path(hotel): Path<HotelCode>,
    Key(key): Key,
    desk: web::Data<Desk>,
    Json(body): Json<CredentialRequest>,
) -> Result<HttpResponse, Problem> {
    let CredentialRequest { role, name, channel } = body;
    let input = CredentialInput { role: role.into(), name, channel };
    let made = credentials::create(desk.hotels(), &caller, &hotel, input, key).await.map_err(refused)?;
    let view = made.answer;
    Ok(reply::written(StatusCode::CREATED, made.replayed).json(Credential {
        id: view.id,
        role,
        name: view.name,
        channel: view.channel.map(Into::into),
        token: view.token.map(|token| token.expose_secret().to_owned()),
    }))
}

fn refused(error: CreateCredentialError) -> Problem {
    match error {
        CreateCredentialError::HotelNotFound => Problem::not_found(),
        CreateCredentialError::Invalid(errors) => refusal::invalid(errors),
        CreateCredentialError::Key(refused) => refusal::key(refused),
        CreateCredentialError::Fault(fault) => refusal::fault(fault),
    }
}
