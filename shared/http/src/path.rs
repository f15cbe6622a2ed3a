//! Path parameters. What cannot be an id, a code or a key names nothing: 404 like any other that
//! does not exist, so that guessing teaches nothing about their form.

use std::future::{Ready, ready};

use actix_web::{FromRequest, HttpRequest, dev::Payload};
use serde::de::DeserializeOwned;

use crate::problem::Problem;

#[derive(Clone, Debug)]
pub struct Path<T>(pub T);

impl<T: DeserializeOwned> FromRequest for Path<T> {
    type Error = Problem;
    type Future = Ready<Result<Self, Problem>>;

    fn from_request(request: &HttpRequest, payload: &mut Payload) -> Self::Future {
        let read = actix_web::web::Path::<T>::from_request(request, payload).into_inner();
        ready(read.map(|path| Self(path.into_inner())).map_err(|_| Problem::not_found()))
    }
}
