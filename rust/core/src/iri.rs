//! Internationalized Resource Identifiers (RFC 3987): reading them, mapping them to URIs (3.1), and back (3.2).

use crate::classes::{self, CLASS, IPRIVATE, JOINED, UCSCHAR};
use crate::non_ascii::{common, kind, within, NonAscii, IN_ALL, IN_QUERIES, SHOWN};
use crate::parse::{self, Rule};
use crate::percent::{encode, octet, Safe};
use crate::place::{At, Characters, Part, Spans};

/// The characters of a text beyond US-ASCII, after it was rewritten in US-ASCII.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Escaped {
    /// The offset of the first character beyond US-ASCII in the original text.
    pub at: usize,
    /// From the first private-use character to the end of the last one, in the rewritten text.
    private: Option<(usize, usize)>,
}

impl Escaped {
    /// Whether all private-use characters are in the query (2.2); `spans` are those of the rewritten text.
    pub fn fits(&self, spans: &Spans) -> bool {
        let Some((first, last)) = self.private else { return true };
        spans.query().is_some_and(|query| query.start <= first && last <= query.end)
    }

    /// The characters of a text in which each byte beyond US-ASCII is rewritten as `width` bytes.  None for US-ASCII,
    /// and if no IRI may contain a character (2.2 and 4.1).
    #[inline]
    fn of(text: &str, width: usize) -> Option<Self> {
        let (at, _) = NonAscii::of(text).next()?;
        if common(text) & IN_ALL != 0 {
            return Some(Escaped { at, private: None });
        }
        let (mut private, mut added) = (None, 0);
        for (at, c) in NonAscii::of(text) {
            let (start, length) = (at + added, c.len_utf8());
            added += length * (width - 1);
            let kind = kind(c);
            if kind & IN_QUERIES != 0 {
                private = Some((private.map_or(start, |(first, _)| first), at + length + added));
            } else if kind & IN_ALL == 0 {
                return None;
            }
        }
        Some(Escaped { at, private })
    }
}

/// Whether all characters beyond US-ASCII are ones that always replace their escapes (3.2).
pub fn is_shown(text: &str) -> bool {
    common(text) & SHOWN != 0 || NonAscii::of(text).all(|(_, c)| kind(c) & SHOWN != 0)
}

/// Append the text, with the UTF-8 octets of its characters beyond US-ASCII as escapes.
///
/// None for US-ASCII, and if no IRI may contain a character (2.2 and 4.1); parsing the new text checks everything else.
pub fn escape(text: &str, out: &mut Vec<u8>) -> Option<Escaped> {
    let escaped = Escaped::of(text, 3)?;
    encode(text.as_bytes(), &Safe::US_ASCII, out);
    Some(escaped)
}

/// Replace `out` by the bytes of a text, with "~" for each byte beyond US-ASCII: like ucschar, "~" is not allowed in a
/// scheme, escape or port.  The text is valid, with the same spans, if the stand-ins are, if the characters `fit`, and
/// if none is `in_brackets`.
///
/// None for US-ASCII, and if no IRI may contain a character (2.2 and 4.1).
pub fn stand_in(text: &str, out: &mut Vec<u8>) -> Option<Escaped> {
    let escaped = Escaped::of(text, 1)?;
    out.clear();
    out.extend(text.bytes().map(|b| if b.is_ascii() { b } else { b'~' }));
    Some(escaped)
}

/// Whether a non-ASCII character is between the brackets of a host, where "~" is allowed and ucschar is not.
pub fn in_brackets(text: &[u8], spans: &Spans) -> bool {
    let host = spans.host().map_or(&[][..], |host| host.of(text));
    host.first() == Some(&b'[') && !host.is_ascii()
}

/// Append the IRI-reference of a URI-reference (3.2): decode the escapes of unreserved characters, and those that are
/// the UTF-8 of characters that an IRI shows.
pub fn show(text: &[u8], spans: &Spans, out: &mut Vec<u8>) {
    out.reserve(text.len());
    let host = spans.host().filter(|host| text.get(host.start) != Some(&b'['));
    let mut copied = 0;
    for (span, private) in [
        (spans.userinfo(), false),
        (host, false),
        (Some(spans.path()), false),
        (spans.query(), true),
        (spans.fragment(text.len()), false),
    ] {
        let Some(span) = span else { continue };
        out.extend_from_slice(text.part(copied..span.start));
        show_component(span.of(text), private, out);
        copied = span.end;
    }
    out.extend_from_slice(text.part(copied..));
}

/// Append a component by 3.2, steps 2 to 5; `private` shows private-use characters too, as a query may (2.2).
fn show_component(text: &[u8], private: bool, out: &mut Vec<u8>) {
    let (mut i, mut copied) = (0, 0);
    while let Some(next) = memchr::memchr(b'%', text.part(i..)) {
        let at = i + next;
        i = at + 3;
        match octet(text, at) {
            Some(byte @ 0x80..) => {
                out.extend_from_slice(text.part(copied..at));
                i = show_run(text, at, byte, private, out);
                copied = i;
            }
            Some(byte) if CLASS.at(byte as usize) & classes::UNRESERVED != 0 => {
                out.extend_from_slice(text.part(copied..at));
                out.push(byte);
                copied = i;
            }
            _ => {}
        }
        i = i.min(text.len());
    }
    out.extend_from_slice(text.part(copied..));
}

/// Append a run of escapes of octets beyond US-ASCII, which begins at `i` with that of `byte`; return its end.
fn show_run(text: &[u8], mut i: usize, byte: u8, private: bool, out: &mut Vec<u8>) -> usize {
    let mut next = Some(byte);
    // Whether a shown character precedes, to which a joiner belongs.
    let mut joins = false;
    while let Some(byte) = next {
        let mut octets = [byte, 0, 0, 0];
        let length = match byte {
            0xC2..=0xDF => 2,
            0xE0..=0xEF => 3,
            0xF0..=0xF4 => 4,
            _ => 1,
        };
        for (k, place) in octets.iter_mut().enumerate().take(length).skip(1) {
            *place = octet(text, i + 3 * k).unwrap_or(0);
        }
        let character = character(octets, length);
        joins = character.is_some_and(|c| {
            kind(c) & (if private { SHOWN | IN_QUERIES } else { SHOWN }) != 0 || (joins && within(c, &JOINED))
        });
        // Only the first of several invalid octets is skipped: the next may begin a character.
        let count = character.map_or(1, char::len_utf8);
        if joins {
            let end = out.len() + count;
            out.extend_from_slice(&octets);
            out.truncate(end);
        } else {
            encode(octets.part(..count), &Safe::NONE, out);
        }
        i += 3 * count;
        next = octet(text, i).filter(|byte| !byte.is_ascii());
    }
    i
}

/// The character whose UTF-8 is the first `length` octets, where `length` follows from the first octet; None if they
/// are not valid UTF-8.
fn character(octets: [u8; 4], length: usize) -> Option<char> {
    let [first, following @ ..] = octets.map(u32::from);
    if octets.part(1..length).iter().any(|octet| octet & 0xC0 != 0x80) {
        return None;
    }
    let [second, third, fourth] = following.map(|octet| octet & 0x3F);
    let (least, code) = match length {
        2 => (0x80, (first & 0x1F) << 6 | second),
        3 => (0x800, (first & 0x0F) << 12 | second << 6 | third),
        4 => (0x1_0000, (first & 0x07) << 18 | second << 12 | third << 6 | fourth),
        _ => return None,
    };
    char::from_u32(code).filter(|_| code >= least)
}

/// The spans of an IRI or IRI-reference (2.2 and 4.1), in characters; None if it is invalid, or contains a bracket.
///
/// Each character beyond US-ASCII is read as "~": like ucschar, "~" is not allowed in a scheme, escape or port.
/// Between brackets it is allowed, unlike ucschar.
pub fn parse(text: &str, rule: Rule, stand_ins: &mut Vec<u8>) -> Option<Spans<Characters>> {
    let mut private = None;
    for (at, c) in text.chars().enumerate() {
        stand_ins.push(if c.is_ascii() { c as u8 } else { b'~' });
        if c.is_ascii() || within(c, &UCSCHAR) {
            if c == '[' {
                return None;
            }
        } else if within(c, &IPRIVATE) {
            private = Some((private.map_or(at, |(first, _)| first), at + 1));
        } else {
            return None;
        }
    }
    let spans = parse::parse(stand_ins, rule, false).ok()?;
    Escaped { at: 0, private }.fits(&spans).then(|| spans.in_characters())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse::{parse, Rule};
    use crate::place::Span;

    /// The start and end of a span, in any unit.
    fn at<U>(span: impl Into<Option<Span<U>>>) -> Option<(usize, usize)> {
        span.into().map(|span| (span.start, span.end))
    }

    fn mapped(text: &str) -> Option<String> {
        let mut out = Vec::new();
        let escaped = escape(text, &mut out)?;
        let spans = parse(&out, Rule::UriReference, false).ok()?;
        escaped.fits(&spans).then(|| String::from_utf8(out).unwrap())
    }

    #[test]
    fn spans_are_of_characters() {
        let read = |text| super::parse(text, Rule::UriReference, &mut Vec::new());
        let spans = read("http://ü@é:8/日本?\u{e000}#ß").unwrap();
        assert_eq!(at(spans.userinfo()), Some((7, 8)));
        assert_eq!(at(spans.host()), Some((9, 10)));
        assert_eq!(at(spans.path()), Some((12, 15)));
        assert_eq!(at(spans.query()), Some((16, 17)));
        assert_eq!(at(spans.fragment(19)), Some((18, 19)));
        for text in [
            "é:x",
            "x:\u{e000}",
            "%é1",
            "%aé",
            "http://h:é",
            "http://[v1.é]/",
            "\u{202e}",
            "?\u{e000}#\u{e000}",
        ] {
            assert_eq!(read(text), None, "{text:?}");
        }
    }

    #[test]
    fn stand_ins_keep_places() {
        let mut out = Vec::new();
        let mut read = |text: &str| {
            let escaped = stand_in(text, &mut out)?;
            let spans = parse(&out, Rule::UriReference, true).ok()?;
            (escaped.fits(&spans) && !in_brackets(text.as_bytes(), &spans)).then_some(spans)
        };
        let spans = read("http://ü@é:8/日本?\u{e000}#ß").unwrap();
        assert_eq!((at(spans.userinfo()), at(spans.host())), (Some((7, 9)), Some((10, 12))));
        assert_eq!((at(spans.path()), at(spans.query())), (Some((14, 21)), Some((22, 25))));
        for text in ["a", "é:x", "x:\u{e000}", "%é1", "//h:é", "//[v1.é]/", "//[::1%25é]", "\u{202e}"] {
            assert_eq!(read(text), None, "{text:?}");
        }
        assert!(read("//[::1%25e]/é").is_some());
    }

    #[test]
    fn octets_are_read_as_utf_8() {
        for c in '\u{80}'..=char::MAX {
            let mut octets = [0; 4];
            let length = c.encode_utf8(&mut octets).len();
            assert_eq!(character(octets, length), Some(c));
        }
        for first in 0xC2..=0xF4 {
            let length = [2, 3, 4][usize::from(first >= 0xE0) + usize::from(first >= 0xF0)];
            for second in 0..=0xFF {
                for third in [0, 0x7F, 0x80, 0xBF, 0xC0] {
                    let octets = [first, second, third, 0x80];
                    let expected = std::str::from_utf8(&octets[..length]).ok().and_then(|s| s.chars().next());
                    assert_eq!(character(octets, length), expected, "{octets:x?}");
                }
            }
        }
    }

    #[test]
    fn escapes_become_characters() {
        for (text, expected) in [
            ("r%C3%A9sum%C3%A9%2F%e9%41", "résumé%2F%E9A"),
            ("%E2%82%C3%A9%80%f0%90%90%80", "%E2%82é%80\u{10400}"),
            ("%E2%80%AE%E2%80%8D%C3%A9%E2%80%8D", "%E2%80%AE%E2%80%8Dé\u{200d}"),
            ("%EE%80%80?%EE%80%80#%EE%80%80", "%EE%80%80?\u{e000}#%EE%80%80"),
            ("//%C3%BC@[::1]:1/%25%C3", "//ü@[::1]:1/%25%C3"),
        ] {
            let mut out = Vec::new();
            show(text.as_bytes(), &parse(text.as_bytes(), Rule::UriReference, false).unwrap(), &mut out);
            assert_eq!(String::from_utf8(out).unwrap(), expected, "{text}");
        }
    }

    #[test]
    fn characters_become_escapes() {
        assert_eq!(mapped("../résumé?q#ü").as_deref(), Some("../r%C3%A9sum%C3%A9?q#%C3%BC"));
        assert_eq!(mapped("//é@ü:1/\u{10400}").as_deref(), Some("//%C3%A9@%C3%BC:1/%F0%90%90%80"));
    }

    #[test]
    fn private_use_is_for_queries() {
        assert_eq!(mapped("é?\u{e000}a\u{f0000}#é").as_deref(), Some("%C3%A9?%EE%80%80a%F3%B0%80%80#%C3%A9"));
        assert_eq!(mapped("\u{e000}?\u{e000}"), None);
        assert_eq!(mapped("?\u{e000}#\u{e000}"), None);
    }

    #[test]
    fn invalid_iris_are_not_mapped() {
        for text in ["a", "\u{80}", "\u{fffd}", "a\u{202e}", "\u{200e}", "é b", "é:x", "http://[é]/", "//h:é"]
        {
            assert_eq!(mapped(text), None, "{text:?}");
        }
    }
}
