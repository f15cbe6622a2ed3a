//! The OpenAPI document, out of the routes themselves.

use actix_web::{App, http::StatusCode};
use keyrack_api_types::problem::ProblemDocument;
use utoipa::{
    Modify, OpenApi,
    openapi::{
        ContentBuilder, Ref, RefOr, Response,
        path::Operation,
        security::{Http, HttpAuthScheme, SecurityScheme},
    },
};
use utoipa_actix_web::AppExt;

use crate::routes;

#[derive(OpenApi)]
#[openapi(
    info(
        title = "Keyrack",
        description = "Hotel booking that never sells a room twice and never loses a payment. \
                       Every error is an RFC 9457 problem document whose `type` is the page of its code.",
        license(name = "MIT OR Apache-2.0"),
    ),
    components(schemas(ProblemDocument)),
    modifiers(&Bearer),
    security(("bearer" = [])),
)]
pub(crate) struct Frame;

/// Guest sessions and API keys alike.
struct Bearer;

impl Modify for Bearer {
    fn modify(&self, openapi: &mut utoipa::openapi::OpenApi) {
        let components = openapi.components.get_or_insert_default();
        components.add_security_scheme("bearer", SecurityScheme::Http(Http::new(HttpAuthScheme::Bearer)));
    }
}

/// All of it, whether or not this process serves the sandbox's part.
pub fn document() -> utoipa::openapi::OpenApi {
    let app = App::new().into_utoipa_app().openapi(Frame::openapi());
    let mut document =
        app.configure(routes::configure).configure(routes::sandbox::configure).split_for_parts().1;
    let items = document.paths.paths.values_mut();
    let operations = items
        .flat_map(|item| [&mut item.get, &mut item.put, &mut item.post, &mut item.delete, &mut item.patch]);
    operations.flatten().for_each(complete);
    document
}

/// What every operation has alike: each error is a problem, also those that no route speaks of, and
/// each response says what it is.
fn complete(operation: &mut Operation) {
    let responses = &mut operation.responses.responses;
    let other = "Any other error: MALFORMED, UNAUTHENTICATED, PAYLOAD_TOO_LARGE, INTERNAL, ...";
    responses.insert("default".to_owned(), RefOr::T(Response::new(other)));
    for (status, response) in responses {
        let RefOr::T(response) = response else { continue };
        if !status.starts_with('2') {
            let problem = ContentBuilder::new().schema(Some(Ref::from_schema_name("Problem"))).build();
            response.content.insert("application/problem+json".to_owned(), problem.into());
        }
        if response.description.is_empty() {
            let status = StatusCode::from_bytes(status.as_bytes()).ok();
            let reason = status.and_then(|status| status.canonical_reason()).unwrap_or("As asked");
            reason.clone_into(&mut response.description);
        }
    }
}

/// As it is committed and served.
pub fn document_as_json() -> String {
    // Safety of unwrap: the document is plain data with text keys; its conversion cannot fail.
    #[expect(clippy::expect_used, reason = "see above")]
    let text = serde_json::to_string_pretty(&document()).expect("plain data");
    text + "\n"
}
