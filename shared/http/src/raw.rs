//! A body as it came, byte by byte: what a signature was made over.

use actix_web::{
    FromRequest, HttpRequest, dev::Payload, http::header::CONTENT_LENGTH, rt::time::timeout, web::BytesMut,
};
use futures::{FutureExt, future::LocalBoxFuture};

use crate::{
    json::{BodyLimit, READ_WITHIN, read, took_too_long},
    problem::Problem,
};

/// At most `LIMIT` bytes; of more than that nothing is kept.
#[derive(Clone, Debug)]
pub struct Raw<const LIMIT: usize>(pub BytesMut);

impl<const LIMIT: usize> FromRequest for Raw<LIMIT> {
    type Error = Problem;
    type Future = LocalBoxFuture<'static, Result<Self, Problem>>;

    fn from_request(request: &HttpRequest, payload: &mut Payload) -> Self::Future {
        let length = request.headers().get(CONTENT_LENGTH).and_then(|value| value.to_str().ok());
        let length = length.and_then(|text| text.parse().ok());
        let payload = payload.take();
        async move {
            let body = timeout(READ_WITHIN, read(payload, length, BodyLimit(LIMIT))).await;
            body.map_err(|_| took_too_long())?.map(Self)
        }
        .boxed_local()
    }
}
