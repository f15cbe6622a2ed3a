//! W3C `traceparent`: `00-<32 hex: trace>-<16 hex: parent>-<2 hex: flags>`.

use actix_web::http::header::HeaderMap;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct TraceParent<'a> {
    pub(crate) trace_id: &'a str,
    pub(crate) parent_id: &'a str,
}

/// `None` for what the recommendation calls invalid: then the request starts a trace of its own.
pub(crate) fn trace_parent(headers: &HeaderMap) -> Option<TraceParent<'_>> {
    let text = headers.get("traceparent")?.to_str().ok()?;
    let mut parts = text.split('-');
    let (version, trace_id, parent_id, flags) = (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
    // A later version may append parts; version 00 may not.
    let whole = version != "ff" && (version != "00" || parts.next().is_none());
    let shaped = is_hex(version, 2) && is_hex(trace_id, 32) && is_hex(parent_id, 16) && is_hex(flags, 2);
    let named = trace_id.bytes().any(|b| b != b'0') && parent_id.bytes().any(|b| b != b'0');
    (whole && shaped && named).then_some(TraceParent { trace_id, parent_id })
}

fn is_hex(text: &str, len: usize) -> bool {
    text.len() == len && text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
}

#[cfg(test)]
mod tests {
    use actix_web::http::header::{HeaderName, HeaderValue};

    use super::*;

    fn read(text: &str) -> Option<(String, String)> {
        let mut headers = HeaderMap::new();
        let value = HeaderValue::from_str(text).expect("a header");
        headers.insert(HeaderName::from_static("traceparent"), value);
        trace_parent(&headers).map(|p| (p.trace_id.to_owned(), p.parent_id.to_owned()))
    }

    #[test]
    fn only_a_valid_trace_parent_is_followed() {
        let trace = "0af7651916cd43dd8448eb211c80319c";
        let parent = "b7ad6b7169203331";
        let read_as = Some((trace.to_owned(), parent.to_owned()));
        assert_eq!(read(&format!("00-{trace}-{parent}-01")), read_as);
        assert_eq!(read(&format!("01-{trace}-{parent}-01-more")), read_as);
        for bad in [
            "",
            "00",
            &format!("00-{trace}-{parent}-01-more"),
            &format!("ff-{trace}-{parent}-01"),
            &format!("00-{}-{parent}-01", "0".repeat(32)),
            &format!("00-{}-{parent}-01", trace.to_uppercase()),
        ] {
            assert_eq!(read(bad), None, "{bad:?}");
        }
    }
}
