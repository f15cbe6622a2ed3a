//! Headers that answers of several routes have in common.

use actix_web::{
    HttpResponse, HttpResponseBuilder,
    http::{StatusCode, header::LOCATION},
};
use keyrack_http::REPLAYED;

/// Of a write: a replay says that it is one.
pub(crate) fn written(status: StatusCode, replayed: bool) -> HttpResponseBuilder {
    let mut response = HttpResponse::build(status);
    if replayed {
        response.insert_header(REPLAYED);
    }
    response
}

/// 201 and where the new thing is.
pub(crate) fn created(place: String, replayed: bool) -> HttpResponseBuilder {
    let mut response = written(StatusCode::CREATED, replayed);
    response.insert_header((LOCATION, place));
    response
}
