//! Requests as text: lines of headers, an empty line, the body.

use http::{HeaderMap, HeaderName, HeaderValue};

/// The headers, and the bytes behind the first line that is none.
pub(crate) fn headers_and_body(data: &[u8]) -> (HeaderMap, &[u8]) {
    let (mut headers, mut rest) = (HeaderMap::new(), data);
    loop {
        let (line, behind) = cut(rest, b'\n');
        rest = behind;
        let Some((name, value)) = header(line) else { return (headers, rest) };
        if headers.try_append(name, value).is_err() {
            return (headers, rest);
        }
    }
}

fn header(line: &[u8]) -> Option<(HeaderName, HeaderValue)> {
    let (name, value) = cut(line, b':');
    Some((HeaderName::from_bytes(name).ok()?, HeaderValue::from_bytes(value.trim_ascii()).ok()?))
}

/// What stands before and behind the first byte of a kind.
pub(crate) fn cut(data: &[u8], at: u8) -> (&[u8], &[u8]) {
    let mut parts = data.splitn(2, |byte| *byte == at);
    (parts.next().unwrap_or_default(), parts.next().unwrap_or_default())
}
