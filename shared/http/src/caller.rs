//! The authenticated caller, as the gate left it.

use std::future::{Ready, ready};

use actix_web::{FromRequest, HttpMessage, HttpRequest, dev::Payload};
use keyrack_domain::principal::Caller;

use crate::problem::Problem;

/// Who signed the request.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Signed(pub Caller);

impl FromRequest for Signed {
    type Error = Problem;
    type Future = Ready<Result<Self, Problem>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        let caller = request.extensions().get::<Caller>().cloned();
        ready(caller.map(Self).ok_or_else(|| Problem::internal("a public route asks for its caller")))
    }
}

impl FromRequest for crate::RequestId {
    type Error = Problem;
    type Future = Ready<Result<Self, Problem>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        let id = request.extensions().get::<Self>().cloned();
        ready(Ok(id.unwrap_or_else(|| Self::of(request.headers()))))
    }
}
