//! Query parameters into a type. Unknown ones were refused by the gate already.

use std::future::{Ready, ready};

use actix_web::{FromRequest, HttpRequest, dev::Payload};
use serde::de::DeserializeOwned;

use crate::{problem::Problem, shape};

#[derive(Clone, Debug)]
pub struct Query<T>(pub T);

impl<T: DeserializeOwned> FromRequest for Query<T> {
    type Error = Problem;
    type Future = Ready<Result<Self, Problem>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        let pairs =
            serde_urlencoded::Deserializer::new(form_urlencoded::parse(request.query_string().as_bytes()));
        let read = serde_path_to_error::deserialize(pairs);
        ready(read.map(Self).map_err(|error| Problem::invalid(vec![shape::field_error(&error)])))
    }
}
