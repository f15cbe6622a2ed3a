//! `Idempotency-Key` in, `Idempotency-Replayed` out.

use std::future::{Ready, ready};

use actix_web::{FromRequest, HttpRequest, dev::Payload};
use keyrack_api_types::code::Code;
use keyrack_domain::operation_key::OperationKey;

use crate::problem::Problem;

/// On the answer to a repeat: `("idempotency-replayed", "true")`.
pub const REPLAYED: (&str, &str) = ("idempotency-replayed", "true");

/// The client's name for its intention; every write has one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Key(pub OperationKey);

impl FromRequest for Key {
    type Error = Problem;
    type Future = Ready<Result<Self, Problem>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        ready(read(request))
    }
}

fn read(request: &HttpRequest) -> Result<Key, Problem> {
    let mut all = request.headers().get_all("idempotency-key");
    let Some(value) = all.next() else {
        let rule = "Send Idempotency-Key with a name of your own for this call, such as a UUID; a repeat carries the same.";
        return Err(Problem::new(Code::IdempotencyKeyRequired, rule));
    };
    let unusable =
        || Problem::new(Code::IdempotencyKeyInvalid, "One header with 1 to 255 visible ASCII characters.");
    if all.next().is_some() {
        return Err(unusable());
    }
    let text = value.to_str().map_err(|_| unusable())?;
    text.parse().map(Key).map_err(|_| unusable())
}
