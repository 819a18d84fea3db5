//! The first finding of an invalid text, and its offset: the same as `overthere.values.findings` reports first.

use crate::classes::{self, BIDI_CONTROLS, CLASS, IPRIVATE, UCSCHAR};
use crate::host;
use crate::non_ascii::within;
use crate::parse::Rule;
use crate::place::{At, Part};
use crate::tables::IP_LITERAL;

/// The kinds of findings when a text is read, named as in `errors.py`; `Base` marks a row whose base is not a valid
/// URI, `Unreachable` a row to which no reference resolves.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
#[expect(missing_docs, reason = "`kinds.py` describes each kind")]
pub enum Kind {
    SchemeMissing,
    SchemeEmpty,
    SchemeFirst,
    SchemeChar,
    UserinfoChar,
    UserinfoAt,
    HostChar,
    IpLiteralOpen,
    IpLiteralAddress,
    IpLiteralClose,
    IpZone,
    PortChar,
    PathChar,
    QueryChar,
    FragmentChar,
    PctEncoded,
    NonAscii,
    Control,
    Space,
    Base,
    IriChar,
    IriPrivate,
    IriBidi,
    Unreachable,
}

/// The names of the kinds, in the order of their numbers.
pub const NAMES: [&str; 24] = [
    "scheme-missing",
    "scheme-empty",
    "scheme-first",
    "scheme-char",
    "userinfo-char",
    "userinfo-at",
    "host-char",
    "ip-literal-open",
    "ip-literal-address",
    "ip-literal-close",
    "ip-zone",
    "port-char",
    "path-char",
    "query-char",
    "fragment-char",
    "pct-encoded",
    "non-ascii",
    "control",
    "space",
    "base",
    "iri-char",
    "iri-private",
    "iri-bidi",
    "unreachable",
];

/// A kind and its byte offset.
pub type Place = (Kind, usize);

/// The first finding of a text by `rule`; None if the text is valid.
pub fn first_finding(text: &[u8], rule: Rule, zone: bool) -> Option<Place> {
    first(text, rule, Reading { zone, iri: false })
}

/// The first finding of an IRI or IRI-reference (RFC 3987 2.2 and 4.1).
pub fn first_finding_in_iri(text: &str, rule: Rule, zone: bool) -> Option<Place> {
    first(text.as_bytes(), rule, Reading { zone, iri: true })
}

/// Extensions of Appendix A that a text may use: zone identifiers (RFC 6874), characters of IRIs.
#[derive(Clone, Copy)]
struct Reading {
    zone: bool,
    iri: bool,
}

fn first(text: &[u8], rule: Rule, reading: Reading) -> Option<Place> {
    let mut i = 0;
    match text.iter().position(|b| matches!(b, b':' | b'/' | b'?' | b'#')) {
        Some(0) if text.at(0) == b':' => return Some((Kind::SchemeEmpty, 0)),
        Some(end) if text.at(end) == b':' => {
            if CLASS.at(text.at(0) as usize) & (classes::SCHEME | classes::ALPHA) == classes::SCHEME {
                return Some((Kind::SchemeFirst, 0));
            }
            match first_invalid(text, 0, end, classes::SCHEME, Kind::SchemeChar, reading) {
                Some((Kind::SchemeChar, 0)) => return Some((Kind::SchemeFirst, 0)),
                None => i = end + 1,
                found => return found,
            }
        }
        _ if rule == Rule::Uri => return Some((Kind::SchemeMissing, 0)),
        _ => {}
    }
    if text.part(i..).starts_with(b"//") {
        let end = text
            .part(i + 2..)
            .iter()
            .position(|b| matches!(b, b'/' | b'?' | b'#'))
            .map_or(text.len(), |n| i + 2 + n);
        if let Some(found) = authority_finding(text, i + 2, end, reading) {
            return Some(found);
        }
        i = end;
    }
    let hash = memchr::memchr(b'#', text.part(i..)).map_or(text.len(), |n| i + n);
    let mark = memchr::memchr(b'?', text.part(i..hash)).map_or(hash, |n| i + n);
    let fragment = (hash + 1).min(text.len());
    first_invalid(text, i, mark, classes::PATH, Kind::PathChar, reading)
        .or_else(|| first_invalid(text, (mark + 1).min(hash), hash, classes::QUERY, Kind::QueryChar, reading))
        .or_else(|| first_invalid(text, fragment, text.len(), classes::QUERY, Kind::FragmentChar, reading))
}

fn authority_finding(text: &[u8], mut start: usize, end: usize, reading: Reading) -> Option<Place> {
    let ats = text.part(start..end);
    if let Some(first) = memchr::memchr(b'@', ats) {
        let first = start + first;
        if let Some(found) = first_invalid(text, start, first, classes::USERINFO, Kind::UserinfoChar, reading)
        {
            return Some(found);
        }
        if let Some(second) = memchr::memchr(b'@', text.part(first + 1..end)) {
            let second = first + 1 + second;
            return first_invalid(text, first + 1, second, classes::USERINFO, Kind::UserinfoChar, reading)
                .or(Some((Kind::UserinfoAt, second)));
        }
        start = first + 1;
    }
    let port;
    if text.part(start..end).first() == Some(&b'[') {
        let Some(closing) = memchr::memchr(b']', text.part(start..end)) else {
            return Some(ip_literal_finding(text, start, end, reading, Kind::IpLiteralOpen));
        };
        let after = start + closing + 1;
        if host::ip_literal(text.part(..after), start, reading.zone).is_err() {
            return Some(ip_literal_finding(text, start, after, reading, Kind::IpLiteralAddress));
        }
        if after < end && text.at(after) != b':' {
            return Some((
                kind_in_no_component(text.at(after), reading).unwrap_or(Kind::IpLiteralClose),
                after,
            ));
        }
        port = after;
    } else {
        port = memchr::memchr(b':', text.part(start..end)).map_or(end, |n| start + n);
        if let Some(found) = first_invalid(text, start, port, classes::REG_NAME, Kind::HostChar, reading) {
            return Some(found);
        }
    }
    let digits = (port + 1).min(end);
    let at = digits + text.part(digits..end).iter().position(|b| !b.is_ascii_digit())?;
    let beyond = if reading.iri { non_ascii_character(text, at) } else { None };
    let kind = beyond
        .and_then(|c| kind_of_non_ascii(c, Kind::PortChar))
        .or_else(|| kind_in_no_component(text.at(at), reading));
    Some((kind.unwrap_or(Kind::PortChar), at))
}

/// The finding of an invalid IP-literal: its offset is where the automaton of IP-literal stops.
fn ip_literal_finding(text: &[u8], start: usize, end: usize, reading: Reading, kind: Kind) -> Place {
    let offset = start + IP_LITERAL.viable(text.part(start..end));
    if let Some(other) = text.get(offset).and_then(|&b| kind_in_no_component(b, reading)) {
        return (other, offset);
    }
    let percent = memchr::memchr(b'%', text.part(start..end)).map(|n| start + n);
    if percent == Some(offset) && !reading.zone && host::ipv6_address(text.part(start + 1..offset)) {
        return (Kind::IpZone, offset);
    }
    (kind, offset)
}

/// The kind of a byte that no component allows; None for other bytes.
fn kind_in_no_component(byte: u8, reading: Reading) -> Option<Kind> {
    match byte {
        b' ' => Some(Kind::Space),
        0..=0x1F | 0x7F => Some(Kind::Control),
        0x80.. if reading.iri => Some(Kind::IriChar),
        0x80.. => Some(Kind::NonAscii),
        _ => None,
    }
}

/// The character beyond US-ASCII that begins at `i`.
fn non_ascii_character(text: &[u8], i: usize) -> Option<char> {
    let end = text.len().min(i + 4);
    text.part(i..end).utf8_chunks().next()?.valid().chars().next().filter(|c| !c.is_ascii())
}

/// The kind of a non-ASCII character of an IRI in a component whose other invalid bytes are of `kind`; None if it is
/// allowed there.
fn kind_of_non_ascii(c: char, kind: Kind) -> Option<Kind> {
    if within(c, &BIDI_CONTROLS) {
        return Some(Kind::IriBidi);
    }
    match kind {
        Kind::SchemeChar | Kind::PortChar => Some(Kind::IriChar),
        Kind::QueryChar if within(c, &IPRIVATE) => None,
        _ if within(c, &IPRIVATE) => Some(Kind::IriPrivate),
        _ if within(c, &UCSCHAR) => None,
        _ => Some(Kind::IriChar),
    }
}

/// The first byte that the component at `start..end` does not allow.
fn first_invalid(
    text: &[u8],
    start: usize,
    end: usize,
    bits: u8,
    kind: Kind,
    reading: Reading,
) -> Option<Place> {
    let escapes = kind != Kind::SchemeChar;
    let mut i = start;
    while i < end {
        let byte = text.at(i);
        if CLASS.at(byte as usize) & bits != 0 {
            i += 1;
        } else if byte == b'%' && escapes {
            match text.part(i + 1..end) {
                [a, b, ..] if CLASS.at(*a as usize) & CLASS.at(*b as usize) & classes::HEXDIG != 0 => i += 3,
                _ => return Some((Kind::PctEncoded, i)),
            }
        } else if let Some(c) = non_ascii_character(text, i).filter(|_| reading.iri) {
            match kind_of_non_ascii(c, kind) {
                Some(found) => return Some((found, i)),
                None => i += c.len_utf8(),
            }
        } else {
            return Some((kind_in_no_component(byte, reading).unwrap_or(kind), i));
        }
    }
    None
}
