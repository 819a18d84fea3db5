//! Reading a record of a WARC file, either uncompressed or in its own gzip member.

use overthere_core::place::Part;

use crate::fields::{trim, Fields};

/// Maximum length of a header block, in bytes; a longer one is left to Python.
pub const HEADER_MOST: usize = 1 << 16;

/// Kinds of records without a document: types of WARC ("other": any type not in WARC 1.1) and of ARC records; a
/// response without content, as most redirects have.
pub const PASSED: [&str; 9] =
    ["warcinfo", "request", "metadata", "revisit", "continuation", "other", "filedesc", "dns", "empty"];
const OTHER: usize = 5;
/// In `PASSED`, the record that describes an ARC file.
pub const FILE_DESCRIPTION: usize = 6;
/// In `PASSED`, a DNS response.
pub const DNS: usize = 7;
/// In `PASSED`, a response without content.
pub const EMPTY: usize = 8;

/// A complete record.
pub struct Record<'a> {
    /// The header block with its empty line; empty in an ARC file.
    pub header: &'a [u8],
    /// The content block.
    pub content: &'a [u8],
    /// The HTTP exchange, if the record is one.
    pub exchange: Option<Exchange<'a>>,
    /// The URI that JSON metadata describe, if the record is complete metadata in JSON.
    pub described: Option<&'a [u8]>,
}

/// A URI that was requested by HTTP, and the response.
pub struct Exchange<'a> {
    /// The requested URI, unchanged except that angle brackets and the fragment are removed.
    pub target: &'a [u8],
    /// The response.
    pub content: &'a [u8],
    /// Whether the record is one segment of several, or was truncated when it was written.
    pub is_truncated: bool,
}

/// The content of a gzip member, or the record at an offset of an uncompressed file.
pub enum Member<'a> {
    /// A record that may contain a document.
    Record(Record<'a>),
    /// A record without a document, by its number in `PASSED`.
    Passed(usize),
    /// Anything else, or an uncertain case; Python decides.
    Odd,
}

/// A member of an uncompressed file, and the number of bytes up to the next one.
pub enum Frame<'a> {
    /// It is complete.
    Whole(Member<'a>, usize),
    /// The input ends before the member.
    Cut,
    /// It has no plausible end, or no beginning.
    Odd,
}

const RECORD_END: &[u8] = b"\r\n\r\n";
const MAX_DIGITS: usize = 18;

/// The end of the header block at the beginning; None if there is no valid header block.
fn block_end(data: &[u8]) -> Option<usize> {
    let head = data.part(..data.len().min(HEADER_MOST));
    let version = head.strip_prefix(b"WARC/")?;
    if !matches!(version.first(), Some(b'0' | b'1')) || version.get(1) != Some(&b'.') {
        return None;
    }
    let digits = version.part(2..).iter().take_while(|octet| octet.is_ascii_digit()).count();
    let mut at = b"WARC/".len() + 2 + digits;
    if digits == 0 || !head.part(at..).starts_with(b"\r\n") {
        return None;
    }
    at += 2;
    loop {
        let line = head.part(at..);
        let end = memchr::memchr2(b'\r', b'\n', line)?;
        if !line.part(end..).starts_with(b"\r\n") {
            return None;
        }
        at += end + 2;
        if end == 0 {
            return Some(at);
        }
        // The line of a second version: literals are in any case.
        if line.get(..5).is_some_and(|start| start.eq_ignore_ascii_case(b"WARC/")) {
            return None;
        }
    }
}

/// The facts of a header block that the reader needs: the length of the content, and the type.
struct BlockFacts {
    length: usize,
    /// The type's number in `PASSED`; None for a record that may contain a document.
    passed: Option<usize>,
}

fn read_block(fields: &Fields<'_>) -> Option<BlockFacts> {
    let length = fields.first(b"content-length")?;
    if length.is_empty() || length.len() > MAX_DIGITS || !length.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let length = length.iter().fold(0, |sum, digit| sum * 10 + usize::from(digit - b'0'));
    let kind = fields.first(b"warc-type")?;
    if kind.is_empty() || !kind.iter().all(u8::is_ascii_alphabetic) {
        return None;
    }
    let is = |name: &str| kind.eq_ignore_ascii_case(name.as_bytes());
    let passed = if is("response")
        || is("resource")
        || is("conversion")
        || (is("metadata") && may_have_references(fields))
    {
        None
    } else {
        Some(PASSED.part(..OTHER).iter().position(|name| is(name)).unwrap_or(OTHER))
    };
    Some(BlockFacts { length, passed })
}

/// Whether metadata has a media type that may contain references.
fn may_have_references(fields: &Fields<'_>) -> bool {
    fields.all(b"content-type").any(|value| {
        [&b"application/json"[..], b"application/warc-fields"].iter().any(|name| {
            value.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name))
                && matches!(value.get(name.len()), None | Some(b' ' | b'\t' | b';'))
        })
    })
}

/// A header block, its fields, and the facts in them.
fn header(data: &[u8]) -> Option<(&[u8], Fields<'_>, BlockFacts)> {
    let block = data.part(..block_end(data)?);
    let fields = Fields::read(block)?;
    let facts = read_block(&fields)?;
    Some((block, fields, facts))
}

/// The record in the data of a complete gzip member: one record and line ends.
pub fn member(data: &[u8]) -> Member<'_> {
    let Some((header, fields, facts)) = header(data) else { return Member::Odd };
    let after_header = data.part(header.len()..);
    let Some(content) = after_header.get(..facts.length) else { return Member::Odd };
    if !after_header.part(facts.length..).iter().all(|octet| matches!(octet, b'\r' | b'\n')) {
        return Member::Odd;
    }
    match facts.passed {
        Some(kind) => Member::Passed(kind),
        None => Member::Record(record(header, &fields, content)),
    }
}

/// The record at the beginning of uncompressed data.
///
/// is_last: whether the file ends with `data`; most: the longest content that is read, in bytes.
pub fn frame(data: &[u8], is_last: bool, most: usize) -> Frame<'_> {
    let Some((header, fields, facts)) = header(data) else {
        let is_short = data.len() < HEADER_MOST && !is_last;
        return if is_short { Frame::Cut } else { Frame::Odd };
    };
    if facts.length > most {
        return Frame::Odd;
    }
    let after_header = data.part(header.len()..);
    let after = facts.length + RECORD_END.len();
    let next = b"WARC/";
    if after_header.len() < after + next.len() && !is_last {
        return Frame::Cut;
    }
    let Some(tail) = after_header.get(facts.length..) else { return Frame::Odd };
    if !tail.starts_with(RECORD_END)
        || !(tail.len() == RECORD_END.len() || tail.part(RECORD_END.len()..).starts_with(next))
    {
        return Frame::Odd;
    }
    let content = after_header.part(..facts.length);
    let member = match facts.passed {
        Some(kind) => Member::Passed(kind),
        None => Member::Record(record(header, &fields, content)),
    };
    Frame::Whole(member, header.len() + after)
}

/// A record with its HTTP exchange, if it is a response, or with the URI that its JSON describes.
fn record<'a>(header: &'a [u8], fields: &Fields<'a>, content: &'a [u8]) -> Record<'a> {
    let kind = fields.first(b"warc-type").unwrap_or_default();
    let media = fields.first(b"content-type").unwrap_or_default();
    let essence = media.part(..memchr::memchr(b';', media).unwrap_or(media.len()));
    let is = |name: &[u8], media_type: &[u8]| {
        kind.eq_ignore_ascii_case(name)
            && media.len() < 1024
            && crate::is_plain(media)
            && trim(essence).eq_ignore_ascii_case(media_type)
    };
    let target = fields.first(b"warc-target-uri").map(target);
    let has_value = |name: &[u8]| fields.first(name).is_some_and(|value| !value.is_empty());
    let is_truncated = has_value(b"warc-truncated") || has_value(b"warc-segment-number");
    let exchange = target.filter(|_| is(b"response", b"application/http"));
    Record {
        header,
        content,
        exchange: exchange.map(|target| Exchange { target, content, is_truncated }),
        described: target.filter(|_| !is_truncated && is(b"metadata", b"application/json")),
    }
}

/// A requested URI without the angle brackets of older drafts, and without its fragment.
pub fn target(field: &[u8]) -> &[u8] {
    let bare = field.strip_prefix(b"<").and_then(|inner| inner.strip_suffix(b">")).unwrap_or(field);
    bare.part(..memchr::memchr(b'#', bare).unwrap_or(bare.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &[u8] = b"WARC/1.0\r\nWARC-Type: response\r\nContent-Length: 3\r\n\r\nabc\r\n\r\n";

    #[test]
    fn one_record() {
        assert!(matches!(member(GOOD), Member::Record(Record { content: b"abc", .. })));
        for end in 0..GOOD.len() - 4 {
            assert!(matches!(member(&GOOD[..end]), Member::Odd), "{end}");
        }
        assert!(matches!(member(&[GOOD, b"WARC/1.0"].concat()), Member::Odd));
        for second in ["WARC/1.0", "WARc/1.0", "warc/"] {
            let two = String::from_utf8(GOOD.to_vec())
                .unwrap()
                .replace("WARC-Type", &format!("{second}\r\nWARC-Type"));
            assert!(matches!(member(two.as_bytes()), Member::Odd), "{second}");
        }
        let request = String::from_utf8(GOOD.to_vec()).unwrap().replace("response", "REQUEST");
        assert!(matches!(member(request.as_bytes()), Member::Passed(1)));
    }

    #[test]
    fn a_frame_ends_where_the_next_begins() {
        assert!(matches!(frame(GOOD, true, 9), Frame::Whole(_, all) if all == GOOD.len()));
        let two = [GOOD, GOOD].concat();
        assert!(matches!(frame(&two, true, 9), Frame::Whole(_, all) if all == GOOD.len()));
        assert!(matches!(frame(&two, true, 2), Frame::Odd));
        for end in 0..GOOD.len() + 5 {
            assert!(matches!(frame(&two[..end], false, 9), Frame::Cut), "{end}");
        }
        assert!(matches!(frame(&[GOOD, b"x"].concat(), true, 9), Frame::Odd));
    }
}
