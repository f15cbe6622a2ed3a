//! A JSON body, read strictly: declared as JSON, bounded in size, depth and time, and of exactly
//! the shape that the type has.

use std::time::Duration;

use actix_web::{
    FromRequest, HttpRequest,
    dev::Payload,
    http::header::{CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, HeaderMap, TRANSFER_ENCODING},
    rt::time::timeout,
    web::BytesMut,
};
use futures::{
    FutureExt, StreamExt,
    future::{LocalBoxFuture, ready},
};
use keyrack_api_types::code::Code;
use serde::de::DeserializeOwned;

use crate::{problem::Problem, shape};

/// Bytes of a body, that many included. Data of the application; what it does not say is the contract's.
#[derive(Clone, Copy, Debug)]
pub struct BodyLimit(pub usize);

impl Default for BodyLimit {
    fn default() -> Self {
        Self(256 * 1024)
    }
}

/// Where thousands of lines in one body are ordinary.
const LARGE: usize = 2 * 1024 * 1024;

/// Of a body that is too large so much more is read and thrown away: a connection closed under a
/// client that is still writing would take the answer with it.
const DRAINED: usize = 1024 * 1024;

/// A body that trickles in for longer than this is given up.
pub(crate) const READ_WITHIN: Duration = Duration::from_secs(30);

#[derive(Clone, Debug)]
pub struct Json<T>(pub T);

impl<T: DeserializeOwned + 'static> FromRequest for Json<T> {
    type Error = Problem;
    type Future = LocalBoxFuture<'static, Result<Self, Problem>>;

    fn from_request(request: &HttpRequest, payload: &mut Payload) -> Self::Future {
        parsed(request, payload, configured(request)).map(|read| read.map(Self)).boxed_local()
    }
}

/// For an endpoint whose bodies may be large: 2 MiB, or the limit of all where that is higher.
#[derive(Clone, Debug)]
pub struct LargeJson<T>(pub T);

impl<T: DeserializeOwned + 'static> FromRequest for LargeJson<T> {
    type Error = Problem;
    type Future = LocalBoxFuture<'static, Result<Self, Problem>>;

    fn from_request(request: &HttpRequest, payload: &mut Payload) -> Self::Future {
        let limit = BodyLimit(configured(request).0.max(LARGE));
        parsed(request, payload, limit).map(|read| read.map(Self)).boxed_local()
    }
}

fn configured(request: &HttpRequest) -> BodyLimit {
    request.app_data::<BodyLimit>().copied().unwrap_or_default()
}

fn parsed<T: DeserializeOwned + 'static>(
    request: &HttpRequest,
    payload: &mut Payload,
    limit: BodyLimit,
) -> impl Future<Output = Result<T, Problem>> + use<T> {
    let declared = declared(request.headers());
    let payload = payload.take();
    async move {
        let length = declared?;
        let body =
            timeout(READ_WITHIN, read(payload, length, limit)).await.map_err(|_| took_too_long())??;
        shape::parse(&body)
    }
}

/// A body that may be left out: then it is the type's default.
#[derive(Clone, Debug)]
pub struct MayJson<T>(pub T);

impl<T: DeserializeOwned + Default + 'static> FromRequest for MayJson<T> {
    type Error = Problem;
    type Future = LocalBoxFuture<'static, Result<Self, Problem>>;

    fn from_request(request: &HttpRequest, payload: &mut Payload) -> Self::Future {
        let headers = request.headers();
        let empty = headers.get(CONTENT_LENGTH).is_none_or(|length| length == "0");
        if empty && !headers.contains_key(CONTENT_TYPE) && !headers.contains_key(TRANSFER_ENCODING) {
            return ready(Ok(Self(T::default()))).boxed_local();
        }
        let json = Json::<T>::from_request(request, payload);
        async move { json.await.map(|Json(body)| Self(body)) }.boxed_local()
    }
}

/// `Content-Length`, where there is one, of a body that says it is plain JSON.
fn declared(headers: &HeaderMap) -> Result<Option<usize>, Problem> {
    let json = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).is_some_and(is_json);
    if !json {
        return Err(Problem::new(
            Code::UnsupportedMediaType,
            "Send a body with Content-Type: application/json.",
        ));
    }
    let plain =
        |value: &actix_web::http::header::HeaderValue| value.as_bytes().eq_ignore_ascii_case(b"identity");
    if !headers.get_all(CONTENT_ENCODING).all(plain) {
        return Err(Problem::new(Code::UnsupportedMediaType, "Send the body without Content-Encoding."));
    }
    let length = headers.get(CONTENT_LENGTH).and_then(|value| value.to_str().ok());
    Ok(length.and_then(|text| text.parse().ok()))
}

fn is_json(value: &str) -> bool {
    let mut parts = value.split(';').map(str::trim);
    let media = parts.next().unwrap_or_default();
    let charset = parts.all(|parameter| {
        let (name, value) = parameter.split_once('=').unwrap_or((parameter, ""));
        !name.eq_ignore_ascii_case("charset") || value.trim_matches('"').eq_ignore_ascii_case("utf-8")
    });
    media.eq_ignore_ascii_case("application/json") && charset
}

/// The bound is kept while reading: a chunked body does not say how long it is.
pub(crate) async fn read(
    mut payload: Payload,
    length: Option<usize>,
    limit: BodyLimit,
) -> Result<BytesMut, Problem> {
    let too_large = || too_large(limit);
    let most = limit.0.saturating_add(DRAINED);
    if length.is_some_and(|length| length > most) {
        return Err(too_large());
    }
    let mut body = BytesMut::new();
    let mut seen = 0_usize;
    while let Some(chunk) = payload.next().await {
        let chunk = chunk.map_err(|_| Problem::new(Code::Malformed, "The body broke off."))?;
        seen = seen.saturating_add(chunk.len());
        if seen > most {
            return Err(too_large());
        }
        if seen <= limit.0 {
            body.extend_from_slice(&chunk);
        }
    }
    if seen > limit.0 { Err(too_large()) } else { Ok(body) }
}

pub(crate) fn took_too_long() -> Problem {
    let detail = format!("The body took longer than {} s.", READ_WITHIN.as_secs());
    Problem::new(Code::RequestTimeout, detail)
}

fn too_large(BodyLimit(limit): BodyLimit) -> Problem {
    Problem::new(Code::PayloadTooLarge, format!("A body has at most {limit} bytes."))
        .fact("limit_bytes", limit)
}
