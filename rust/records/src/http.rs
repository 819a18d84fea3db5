//! An HTTP response as an archive holds it (RFC 9112), without its codings.

use std::borrow::Cow;

use overthere_core::place::{At, Part};

use crate::fields::{is_plain, trim, Fields};
use crate::gzip::{inflate, Inflated};

/// A response whose header is whole and not folded.
pub struct Response<'a> {
    /// The status code.
    pub status: u16,
    /// The fields of the header; what follows the status code is among them, if it has a colon.
    pub fields: Fields<'a>,
    /// What follows the header.
    content: &'a [u8],
}

/// The content without its codings.
pub struct Body<'a> {
    /// The octets.
    pub content: Cow<'a, [u8]>,
    /// Whether it has another length than Content-Length says, where that counts (RFC 9112 6.3).
    pub has_wrong_length: bool,
}

const HEADER_MOST: usize = 1 << 16;
/// Digits of a size: more do not count anything that there is.
const DIGITS: usize = 16;

impl<'a> Response<'a> {
    /// None if there is no status line, no end of the header, or an interim response.
    pub fn read(block: &'a [u8]) -> Option<Self> {
        let head = block.part(..block.len().min(HEADER_MOST));
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
            let behind = at + line + 1;
            let returns = usize::from(head.get(behind) == Some(&b'\r'));
            (head.get(behind + returns) == Some(&b'\n')).then_some(behind + returns + 1)
        })?;
        Some(Response { status, fields: Fields::read(head.part(at..end))?, content: block.part(end..) })
    }

    /// The content, of at most `most` octets, without the codings "chunked" and "gzip"; None where there is another,
    /// or what is coded is not whole.
    pub fn body(&self, most: usize) -> Option<Body<'a>> {
        let mut content = Cow::Borrowed(self.content);
        let mut is_coded = false;
        for (name, known) in [(&b"transfer-encoding"[..], &b"chunked"[..]), (b"content-encoding", b"gzip")] {
            let mut said = self.fields.all(name);
            let Some(coding) = said.next() else { continue };
            if said.next().is_some() {
                return None;
            }
            if content.is_empty() || coding.is_empty() || coding.eq_ignore_ascii_case(b"identity") {
                continue;
            }
            if !coding.eq_ignore_ascii_case(known) {
                return None;
            }
            content = Cow::Owned(if known == b"gzip" { gunzip(&content, most)? } else { unchunk(&content)? });
            is_coded = true;
        }
        if content.len() > most || (is_coded && content.is_empty()) {
            return None;
        }
        Some(Body { content, has_wrong_length: !self.has_stated_length() })
    }

    fn has_stated_length(&self) -> bool {
        let said = self.fields.first(b"content-length").unwrap_or_default();
        let is_number = !said.is_empty() && said.iter().all(u8::is_ascii_digit) && said.len() <= DIGITS;
        let is_transferred = self.fields.first(b"transfer-encoding").is_some_and(|coding| !coding.is_empty());
        if !is_number || is_transferred {
            return true;
        }
        let length = said.iter().fold(0, |sum, digit| sum * 10 + usize::from(digit - b'0'));
        let size = self.content.len();
        length == size || (size == 0 && matches!(self.status, 204 | 304))
    }
}

/// One gzip member and nothing behind it.
fn gunzip(data: &[u8], most: usize) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    (inflate(data, &mut out, most) == Inflated::Whole(data.len())).then_some(out)
}

/// Chunks that are whole, of which the last is empty, without trailer fields (RFC 9112 7.1).
fn unchunk(data: &[u8]) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(data.len());
    let mut at = 0;
    loop {
        let line = data.part(at..at + memchr::memchr(b'\n', data.part(at..))?);
        let line = line.strip_suffix(b"\r")?;
        if line.is_empty() || line.len() > DIGITS / 2 || !line.iter().all(u8::is_ascii_hexdigit) {
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
            let behind = value.part(start..).iter().rev().take_while(|octet| is_quote(octet)).count();
            return Some((essence, value.part(start..value.len() - behind)));
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
        // Parameters end at a comma that is not quoted.
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
        let found = |text: &'static str| Links(text.as_bytes()).collect::<Vec<_>>();
        assert_eq!(found("<a>; rel=\"next, last\", < /b >;x"), [&b"a"[..], b"/b"]);
        assert_eq!(found("<a>; t=\"\\\"<x>,\", <b>"), [b"a", b"b"]);
        assert_eq!(found("<a>; t=\"x\"\\, <b>"), [b"a", b"b"]);
        assert_eq!(found("<a>; t=\"x\\"), [b"a"]);
        assert_eq!(found("<a> <b>, <c"), [b"a"]);
        assert_eq!(found("x"), Vec::<&[u8]>::new());
    }
}
