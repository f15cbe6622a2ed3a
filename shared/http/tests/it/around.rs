//! A small application with the boundary and the gate around it.

use std::sync::Arc;

use actix_web::{
    App, HttpResponse,
    body::to_bytes,
    get,
    http::header::HeaderMap,
    middleware::from_fn,
    post,
    test::{TestRequest, init_service, try_call_service},
    web,
};
use async_trait::async_trait;
use keyrack_domain::{ids::PrincipalId, principal::Role, token::TokenHash};
use keyrack_http::{Authenticator, Contract, Gate, Known, NotReachable, Signed, boundary, gate};
use serde_json::Value;
use sha2::{Digest, Sha256};
use utoipa_actix_web::{AppExt, service_config::ServiceConfig};
use uuid::Uuid;

/// Knows `good`, and cannot be asked about `away`.
struct Doorman;

#[async_trait]
impl Authenticator for Doorman {
    async fn authenticate(&self, token: TokenHash) -> Result<Option<Known>, NotReachable> {
        let is = |text: &str| token == TokenHash(Sha256::digest(text).into());
        if is("away") {
            return Err(NotReachable("the directory is away".into()));
        }
        let known = Known { principal: PrincipalId(Uuid::nil()), role: Role::Guest, hotel: None };
        Ok(is("good").then_some(known))
    }
}

#[utoipa::path(security(()), responses((status = 200)))]
#[get("/panics")]
async fn panics() -> HttpResponse {
    panic!("a guest called Zoë")
}

/// Fails with an error of the framework's own.
#[utoipa::path(security(()), responses((status = 200)))]
#[post("/loose")]
async fn loose(body: web::Json<Value>) -> HttpResponse {
    HttpResponse::Ok().json(body.into_inner())
}

#[utoipa::path(security(()), responses((status = 200)))]
#[get("/breaks")]
async fn breaks() -> HttpResponse {
    HttpResponse::InternalServerError().body("table payment_attempts is broken")
}

/// Forgot that the gate lets everybody in.
#[utoipa::path(security(()), responses((status = 200)))]
#[get("/forgetful")]
async fn forgetful(signed: Signed) -> HttpResponse {
    HttpResponse::Ok().body(signed.0.principal.to_string())
}

#[utoipa::path(params(("page" = u8, Query)), responses((status = 200)))]
#[get("/things/{id}")]
async fn things(signed: Signed) -> HttpResponse {
    HttpResponse::Ok().body(signed.0.request_id)
}

fn routes(routes: &mut ServiceConfig<'_>) {
    routes.service(panics).service(loose).service(breaks).service(forgetful).service(things);
}

#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) text: String,
}

impl Answer {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.text).expect("JSON")
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().expect("visible"))
    }
}

/// As the server would answer: an error that comes out of the outermost middleware is written too.
pub(crate) async fn ask(request: TestRequest) -> Answer {
    let document = App::new().into_utoipa_app().configure(routes).split_for_parts().1;
    let keeper = web::Data::new(Gate::new(Contract::new(&document), Arc::new(Doorman)));
    let app = App::new()
        .app_data(keeper)
        .wrap(from_fn(gate::gate))
        .wrap(from_fn(boundary::boundary))
        .into_utoipa_app()
        .configure(routes)
        .map(|app| app.default_service(web::to(boundary::unmatched)))
        .into_app();
    let service = init_service(app).await;
    let response = match try_call_service(&service, request.to_request()).await {
        Ok(response) => response.into_parts().1,
        Err(error) => error.error_response(),
    };
    let (status, headers) = (response.status().as_u16(), response.headers().clone());
    let bytes = to_bytes(response.into_body()).await.expect("a body");
    Answer { status, headers, text: String::from_utf8(bytes.to_vec()).expect("text") }
}
