//! Reading an HTTP response in an archive (RFC 9112), and removing its codings.

use std::borrow::Cow;

use overthere_core::place::{At, Part};

use crate::fields::{is_plain, trim, Fields};
use crate::gzip::{inflate, Inflated};

/// A response whose header is complete and not folded.
pub struct Response<'a> {
    /// The status code.
    pub status: u16,
    /// The fields of the header; the text after the status code is among them if it has a colon.
    pub fields: Fields<'a>,
    /// The bytes after the header.
    content: &'a [u8],
}

/// The content without its codings.
pub struct Body<'a> {
    /// The bytes.
    pub content: Cow<'a, [u8]>,
    /// Whether its length differs from a Content-Length that applies (RFC 9112 6.3).
    pub has_wrong_length: bool,
}

const MAX_HEADER_LENGTH: usize = 1 << 16;
/// Digits of a size: longer sizes cannot occur.
const MAX_DIGITS: usize = 16;

impl<'a> Response<'a> {
    /// Read the header; None if there is no status line or no end of the header, or if the response is interim.
    pub fn read(block: &'a [u8]) -> Option<Self> {
        let head = block.part(..block.len().min(MAX_HEADER_LENGTH));
        let digits = |at: usize| head.part(at..).iter().take_while(|octet| octet.is_ascii_digit()).count();
        let mut at = b"HTTP/".len();
        if !head.starts_with(b"HTTP/") || digits(at) == 0 {
            return None;
        }
        at += digits(at);
        if head.get(at) == Some(&b'.') && digits(at + 1) > 0 {
            at += 1 + digits(at + 1);
        }
        let blanks = head.part(at..).iter().take_while(|octet| matches!(octet, b' ' | b'\t')).count();
        at += blanks;
        if blanks == 0 || digits(at) != 3 {
            return None;
        }
        let status = head.part(at..at + 3).iter().fold(0, |sum, digit| sum * 10 + u16::from(digit - b'0'));
        at += 3;
        if status / 100 == 1 && status != 101 {
            return None;
        }
        let end = memchr::memchr_iter(b'\n', head.part(at..)).find_map(|line| {
            let next_line = at + line + 1;
            let returns = usize::from(head.get(next_line) == Some(&b'\r'));
            (head.get(next_line + returns) == Some(&b'\n')).then_some(next_line + returns + 1)
        })?;
        Some(Response { status, fields: Fields::read(head.part(at..end))?, content: block.part(end..) })
    }

    /// The content, of at most `most` bytes, without the codings "chunked" and "gzip"; None if there is another coding,
    /// or the coded content is incomplete.
    pub fn body(&self, most: usize) -> Option<Body<'a>> {
        let mut content = Cow::Borrowed(self.content);
        let mut is_coded = false;
        for (name, supported) in
            [(&b"transfer-encoding"[..], &b"chunked"[..]), (b"content-encoding", b"gzip")]
        {
            let mut codings = self.fields.all(name);
            let Some(coding) = codings.next() else { continue };
            if codings.next().is_some() {
                return None;
            }
            if content.is_empty() || coding.is_empty() || coding.eq_ignore_ascii_case(b"identity") {
                continue;
            }
            if !coding.eq_ignore_ascii_case(supported) {
                return None;
            }
            content =
                Cow::Owned(if supported == b"gzip" { gunzip(&content, most)? } else { unchunk(&content)? });
            is_coded = true;
        }
        if content.len() > most || (is_coded && content.is_empty()) {
            return None;
        }
        Some(Body { content, has_wrong_length: !self.has_stated_length() })
    }

    /// Whether the length of the content agrees with Content-Length, or Content-Length does not apply (RFC 9112 6.3).
    fn has_stated_length(&self) -> bool {
        let text = self.fields.first(b"content-length").unwrap_or_default();
        let is_number = !text.is_empty() && text.iter().all(u8::is_ascii_digit) && text.len() <= MAX_DIGITS;
        let is_transferred = self.fields.first(b"transfer-encoding").is_some_and(|coding| !coding.is_empty());
        if !is_number || is_transferred {
            return true;
        }
        let length = text.iter().fold(0, |sum, digit| sum * 10 + usize::from(digit - b'0'));
        let size = self.content.len();
        length == size || (size == 0 && matches!(self.status, 204 | 304))
    }
}

/// Decompress one gzip member; None if anything follows it.
fn gunzip(data: &[u8], most: usize) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    (inflate(data, &mut out, most) == Inflated::Whole(data.len())).then_some(out)
}

/// Join complete chunks, up to the empty last one; None if there are trailer fields or anything else (RFC 9112 7.1).
fn unchunk(data: &[u8]) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(data.len());
    let mut at = 0;
    loop {
        let line = data.part(at..at + memchr::memchr(b'\n', data.part(at..))?);
        let line = line.strip_suffix(b"\r")?;
        if line.is_empty() || line.len() > MAX_DIGITS / 2 || !line.iter().all(u8::is_ascii_hexdigit) {
            return None;
        }
        let size = line.iter().fold(0, |sum, digit| sum * 16 + usize::from(hex(*digit)));
        at += line.len() + 2;
        if size == 0 {
            return (data.part(at..) == b"\r\n").then_some(out);
        }
        let end = at + size;
        out.extend_from_slice(data.get(at..end)?);
        if !data.part(end..).starts_with(b"\r\n") {
            return None;
        }
        at = end + 2;
    }
}

/// The value of a hexadecimal digit.
fn hex(digit: u8) -> u8 {
    match digit {
        b'0'..=b'9' => digit - b'0',
        _ => (digit | 0x20) - b'a' + 10,
    }
}

/// The media type, and the charset or an empty text, of a Content-Type field in printable US-ASCII (RFC 9110 8.3.1).
pub fn media_type(field: &[u8]) -> Option<(&[u8], &[u8])> {
    if field.len() > 1024 || !is_plain(field) {
        return None;
    }
    let mut parts = field.split(|octet| *octet == b';');
    let essence = trim(parts.next().unwrap_or_default());
    for parameter in parts {
        let equals = memchr::memchr(b'=', parameter).unwrap_or(parameter.len());
        if trim(parameter.part(..equals)).eq_ignore_ascii_case(b"charset") {
            let value = trim(parameter.part((equals + 1).min(parameter.len())..));
            let is_quote = |octet: &u8| matches!(octet, b'"' | b'\'');
            let start = value.iter().take_while(|octet| is_quote(octet)).count();
            let closing = value.part(start..).iter().rev().take_while(|octet| is_quote(octet)).count();
            return Some((essence, value.part(start..value.len() - closing)));
        }
    }
    Some((essence, b""))
}

/// The references of a Link field in printable US-ASCII (RFC 8288 3).
pub struct Links<'a>(pub &'a [u8]);

impl<'a> Iterator for Links<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        let text = self.0;
        let start = text.iter().take_while(|octet| matches!(octet, b' ' | b'\t' | b',')).count();
        let inner = text.part(start..).strip_prefix(b"<")?;
        let end = memchr::memchr2(b'<', b'>', inner)?;
        if inner.at(end) != b'>' {
            return None;
        }
        let mut at = end + 1;
        // The parameters end at an unquoted comma.
        while let Some(octet) = inner.get(at) {
            match octet {
                b',' => break,
                b'"' => {
                    at += 1;
                    while let Some(quoted) = inner.get(at) {
                        match quoted {
                            b'"' => {
                                at += 1;
                                break;
                            }
                            b'\\' => at += 2,
                            _ => at += 1,
                        }
                    }
                }
                _ => at += 1,
            }
        }
        self.0 = inner.part(at.min(inner.len())..);
        Some(trim(inner.part(..end)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_response() {
        let block =
            b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Type: text/html; Charset=\"UTF-8\"\r\n\r\nabc";
        let response = Response::read(block).unwrap();
        assert_eq!(response.status, 200);
        let body = response.body(9).unwrap();
        assert_eq!((&*body.content, body.has_wrong_length), (&b"abc"[..], false));
        assert!(response.body(2).is_none());
        let field = response.fields.first(b"content-type").unwrap();
        assert_eq!(media_type(field), Some((&b"text/html"[..], &b"UTF-8"[..])));
        assert!(Response::read(b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n\r\n").is_none());
        assert!(Response::read(b"HTTP/1.1 2000\r\n\r\n").is_none());
        assert!(Response::read(b"HTTP/1.1 200 OK\r\nA: b\r\n").is_none());
    }

    #[test]
    fn chunks() {
        let with = |body: &str| format!("HTTP/1.1 200\nTransfer-Encoding: chunked\n\n{body}");
        let read = |body: &str| {
            Response::read(with(body).as_bytes())?.body(99).map(|body| body.content.into_owned())
        };
        assert_eq!(read("3\r\nabc\r\n1\r\nd\r\n0\r\n\r\n"), Some(b"abcd".to_vec()));
        for odd in
            ["0\r\n\r\n", "3\r\nab", "3\r\nabc\r\n", "3\r\nabc\r\n0\r\n", "3\r\nabcd\r\n0\r\n\r\n", "x\r\n"]
        {
            assert_eq!(read(odd), None, "{odd}");
        }
    }

    #[test]
    fn links() {
        let references = |text: &'static str| Links(text.as_bytes()).collect::<Vec<_>>();
        assert_eq!(references("<a>; rel=\"next, last\", < /b >;x"), [&b"a"[..], b"/b"]);
        assert_eq!(references("<a>; t=\"\\\"<x>,\", <b>"), [b"a", b"b"]);
        assert_eq!(references("<a>; t=\"x\"\\, <b>"), [b"a", b"b"]);
        assert_eq!(references("<a>; t=\"x\\"), [b"a"]);
        assert_eq!(references("<a> <b>, <c"), [b"a"]);
        assert_eq!(references("x"), Vec::<&[u8]>::new());
    }
}
