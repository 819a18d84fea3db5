//! From an IRI-reference to the URI-reference that it maps to (RFC 3987 3.1).

use crate::classes::{IPRIVATE, UCSCHAR};
use crate::parse::{self, Rule, Spans};
use crate::percent::{encode, Safe};

/// What was escaped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Escaped {
    /// Where the first character beyond US-ASCII stands in the text.
    pub at: usize,
    /// From the first escape of a private-use character to the end of the last one, in the new text.
    private: Option<(usize, usize)>,
}

impl Escaped {
    /// Whether private-use characters stand in the query alone (2.2), of which these are the new text's components.
    pub fn fits(&self, spans: &Spans) -> bool {
        let Some((first, last)) = self.private else { return true };
        spans.query().is_some_and(|(start, end)| start <= first && last <= end)
    }
}

/// Appends the text, its characters beyond US-ASCII as escapes of their UTF-8 octets.
///
/// None for US-ASCII, and if a character is in no IRI (2.2 and 4.1); whether the rest is one, the new text tells.
pub fn escape(text: &str, out: &mut Vec<u8>) -> Option<Escaped> {
    let at = text.bytes().position(|b| !b.is_ascii())?;
    let mut private = None;
    for piece in text.split_inclusive(|c: char| !c.is_ascii()) {
        // Only the last character of a piece can be one of those.
        let character = piece.chars().next_back().filter(|c| !c.is_ascii());
        let (before, escaped) = piece.split_at(piece.len() - character.map_or(0, char::len_utf8));
        out.extend_from_slice(before.as_bytes());
        let start = out.len();
        encode(escaped.as_bytes(), &Safe::NONE, out);
        match character {
            Some(c) if within(c, &IPRIVATE) => {
                private = Some((private.map_or(start, |(first, _)| first), out.len()));
            }
            Some(c) if !within(c, &UCSCHAR) => return None,
            _ => {}
        }
    }
    Some(Escaped { at, private })
}

/// The spans of an IRI or IRI-reference (2.2 and 4.1), in characters; None if it is none, or one with a bracket.
///
/// Each character beyond US-ASCII is read as "~", which stands where ucschar does: in no scheme, escape or port.
/// Between brackets it would stand too, where ucschar does not.
pub fn parse(text: &str, rule: Rule, stand_ins: &mut Vec<u8>) -> Option<Spans> {
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
    Escaped { at: 0, private }.fits(&spans).then_some(spans)
}

fn within(c: char, ranges: &[(char, char)]) -> bool {
    let next = ranges.partition_point(|(first, _)| *first <= c);
    next > 0 && c <= ranges[next - 1].1
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse::{parse, Rule};

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
        assert_eq!(spans.userinfo(), Some((7, 8)));
        assert_eq!(spans.host(), Some((9, 10)));
        assert_eq!(spans.path(), (12, 15));
        assert_eq!(spans.query(), Some((16, 17)));
        assert_eq!(spans.fragment(19), Some((18, 19)));
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
    fn no_iri() {
        for text in ["a", "\u{80}", "\u{fffd}", "a\u{202e}", "\u{200e}", "é b", "é:x", "http://[é]/", "//h:é"]
        {
            assert_eq!(mapped(text), None, "{text:?}");
        }
    }
}
