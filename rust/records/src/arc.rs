//! Records of ARC files, version 1: a line of five fields (URL, address, time, type and length) precedes the content
//! (Internet Archive, ARC File Format).

use overthere_core::place::{At, Part};

use crate::warc::{target, Exchange, Frame, Member, Record, DNS, FILE_DESCRIPTION, HEADER_MOST};

/// The fields of a record's line that the reader needs.
struct Line<'a> {
    url: &'a [u8],
    length: usize,
    /// The length of the line with its end, in bytes.
    size: usize,
}

const MAX_LINE_LENGTH: usize = 1 << 16;
const DATE_LENGTH: usize = 14;
const MAX_DIGITS: usize = 18;

/// The line at the beginning of the data; None if it is not a usual line of five fields.
fn line(data: &[u8]) -> Option<Line<'_>> {
    let end = memchr::memchr(b'\n', data.part(..data.len().min(MAX_LINE_LENGTH)))?;
    let text = data.part(..end);
    let text = text.strip_suffix(b"\r").unwrap_or(text);
    let mut fields = text.split(|octet| *octet == b' ');
    let url = fields.next()?;
    let address = fields.next()?;
    let date = fields.next()?;
    let media = fields.next()?;
    let length = fields.next()?;
    let is_number = |text: &[u8]| !text.is_empty() && text.iter().all(u8::is_ascii_digit);
    let is_valid = fields.next().is_none()
        && has_scheme(url)
        && !address.is_empty()
        && date.len() == DATE_LENGTH
        && is_number(date)
        && !media.is_empty()
        && length.len() <= MAX_DIGITS
        && is_number(length)
        && text.iter().all(|octet| matches!(octet, b' '..=b'~'));
    let length = length.iter().fold(0, |sum, digit| sum * 10 + usize::from(digit.wrapping_sub(b'0')));
    is_valid.then_some(Line { url, length, size: end + 1 })
}

fn has_scheme(url: &[u8]) -> bool {
    let colon = memchr::memchr(b':', url).unwrap_or_default();
    let is_scheme_byte = |octet: &u8| octet.is_ascii_alphanumeric() || b"+.-".contains(octet);
    (1..=32).contains(&colon)
        && url.at(0).is_ascii_alphabetic()
        && url.part(..colon).iter().all(is_scheme_byte)
}

impl<'a> Line<'a> {
    /// The member of a record with this line and this content.
    fn member(&self, content: &'a [u8]) -> Member<'a> {
        let scheme = self.url.part(..memchr::memchr(b':', self.url).unwrap_or_default());
        if scheme.eq_ignore_ascii_case(b"filedesc") {
            return Member::Passed(FILE_DESCRIPTION);
        }
        if scheme.eq_ignore_ascii_case(b"dns") {
            return Member::Passed(DNS);
        }
        let exchange = Exchange { target: target(self.url), content, is_truncated: false };
        Member::Record(Record { header: b"", content, exchange: Some(exchange), described: None })
    }
}

/// The record in the data of a complete gzip member: one record and line ends.
pub fn arc_member(data: &[u8]) -> Member<'_> {
    let Some(line) = line(data) else { return Member::Odd };
    let after_line = data.part(line.size..);
    match (after_line.get(..line.length), after_line.get(line.length..)) {
        (Some(content), Some(tail)) if count_line_ends(tail) == tail.len() => line.member(content),
        _ => Member::Odd,
    }
}

/// The number of bytes of line ends at the beginning.
fn count_line_ends(data: &[u8]) -> usize {
    data.iter().take_while(|octet| matches!(octet, b'\r' | b'\n')).count()
}

/// The offset of the first record in uncompressed data, after line ends, and the record.
///
/// is_last: whether the file ends with `data`; most: the longest content that is read, in bytes.
pub fn arc_frame(data: &[u8], is_last: bool, most: usize) -> (usize, Frame<'_>) {
    let start = count_line_ends(data);
    (start, frame(data.part(start..), start, is_last, most))
}

fn frame(data: &[u8], start: usize, is_last: bool, most: usize) -> Frame<'_> {
    let Some(record_line) = line(data) else {
        let is_short = data.len() < HEADER_MOST && !is_last;
        return if is_short { Frame::Cut } else { Frame::Odd };
    };
    if record_line.length > most {
        return Frame::Odd;
    }
    let end = record_line.size + record_line.length;
    let Some(tail) = data.get(end..) else { return if is_last { Frame::Odd } else { Frame::Cut } };
    let next = count_line_ends(tail);
    let following = tail.part(next..);
    let is_complete = match line(following) {
        Some(_) => next > 0,
        None if !is_last && following.len() < MAX_LINE_LENGTH => return Frame::Cut,
        None => is_last && following.is_empty(),
    };
    if is_complete {
        Frame::Whole(record_line.member(data.part(record_line.size..end)), start + end)
    } else {
        Frame::Odd
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &[u8] = b"http://h/ 192.0.2.1 20080430204825 text/html 3\nabc";

    #[test]
    fn one_record() {
        assert!(matches!(arc_member(GOOD), Member::Record(Record { content: b"abc", .. })));
        assert!(matches!(arc_member(&[GOOD, b"\n\n"].concat()), Member::Record(_)));
        assert!(matches!(arc_member(&[GOOD, b"\nx"].concat()), Member::Odd));
        for end in 0..GOOD.len() {
            assert!(matches!(arc_member(&GOOD[..end]), Member::Odd), "{end}");
        }
        let text = |from: &str, to: &str| String::from_utf8_lossy(GOOD).replace(from, to);
        assert!(matches!(arc_member(text("http:", "DNS:").as_bytes()), Member::Passed(DNS)));
        for (from, to) in [
            ("http:", "1:"),
            ("http:", ":"),
            ("h/", "h /"),
            ("20080430204825", "2008043020482"),
            ("html", "\u{e9}"),
        ] {
            assert!(matches!(arc_member(text(from, to).as_bytes()), Member::Odd), "{to}");
        }
    }

    #[test]
    fn a_frame_ends_where_the_next_begins() {
        assert!(matches!(arc_frame(GOOD, true, 9), (0, Frame::Whole(_, all)) if all == GOOD.len()));
        let two = [b"\n\r\n", GOOD, b"\n", GOOD].concat();
        let all = GOOD.len() + 3;
        assert!(matches!(arc_frame(&two, true, 9), (3, Frame::Whole(_, end)) if end == all));
        assert!(matches!(arc_frame(&two, true, 2), (3, Frame::Odd)));
        for end in 0..two.len() - 3 {
            assert!(matches!(arc_frame(&two[..end], false, 9), (_, Frame::Cut)), "{end}");
        }
        assert!(matches!(arc_frame(&[GOOD, GOOD].concat(), true, 9), (0, Frame::Odd)));
        assert!(matches!(arc_frame(&[GOOD, b"\nx"].concat(), true, 9), (0, Frame::Odd)));
    }
}
