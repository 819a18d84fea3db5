//! The comparison ladder (RFC 3986 6.2): the generic rungs 1 case, 2 percent and 3 path, and the scheme rung as far as
//! schemes have the rules of most.

use crate::classes::{self, CLASS};
use crate::percent::octet;
use crate::place::{At, Part, Span, Spans};
use crate::resolve::{may_have_dot_segments, without_dot_segments};

/// The highest rung that is generic.
pub const SYNTAX: u8 = 3;

/// Whether the text may change at a generic rung; `false` is certain.
pub fn may_change(text: &[u8], spans: &Spans, rung: u8) -> bool {
    let upper = |span: Option<Span>| {
        // No early end, so that the compiler can take many at once.
        span.is_some_and(|span| span.of(text).iter().fold(false, |found, b| found | b.is_ascii_uppercase()))
    };
    rung > 0
        && (upper(spans.scheme())
            || upper(spans.host())
            || memchr::memchr(b'%', text).is_some()
            || (rung >= SYNTAX && may_have_dot_segments(spans.path().of(text))))
}

/// What most schemes let somebody write differently (6.2.3); the default is a scheme that has no such rule.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct SchemeRules {
    /// The default port, which is left out, in decimal digits.
    pub default_port: Option<String>,
    /// Whether an empty path behind an authority is written "/".
    pub slash_for_empty_path: bool,
}

impl SchemeRules {
    /// The digits of the port that stay: none of an empty or a default port, no leading zero of another (3.2.3).
    fn port(&self, text: &[u8], spans: &Spans) -> Option<Span> {
        let port = spans.port()?;
        Some(port.from(port.start + self.start_of_port(port.of(text))?))
    }

    /// Where the digits of a port begin that stay; None if none stays.
    pub(crate) fn start_of_port(&self, port: &[u8]) -> Option<usize> {
        let last = port.len().checked_sub(1)?;
        let zeros = port.iter().take_while(|&&digit| digit == b'0').count();
        if self.default_port.as_ref().is_some_and(|own| own.as_bytes() == port.part(zeros..)) {
            return None;
        }
        Some(zeros.min(last))
    }

    fn slash(&self, spans: &Spans) -> bool {
        self.slash_for_empty_path && spans.authority().is_some() && spans.path().is_empty()
    }

    /// Whether the text may change at the scheme rung or below it; `false` is certain.
    pub fn may_change(&self, text: &[u8], spans: &Spans) -> bool {
        self.port(text, spans) != spans.port() || self.slash(spans) || may_change(text, spans, SYNTAX)
    }

    /// The normal form of a valid text of the scheme at the scheme rung, written to the end of `out`.
    pub fn normalize(&self, text: &[u8], spans: &Spans, out: &mut Vec<u8>) {
        write(text, spans, SYNTAX, self.port(text, spans), self.slash(spans), out);
    }
}

/// The normal form of a valid text at a generic rung, written to the end of `out`; of an IRI at the case rung.
pub fn normalize(text: &[u8], spans: &Spans, rung: u8, out: &mut Vec<u8>) {
    if rung == 0 {
        out.extend_from_slice(text);
        return;
    }
    write(text, spans, rung, spans.port(), false, out);
}

/// The components at a generic rung, with this port, and with "/" for an empty path if `slash`.
fn write(text: &[u8], spans: &Spans, rung: u8, port: Option<Span>, slash: bool, out: &mut Vec<u8>) {
    out.reserve(text.len() + 2);
    if let Some(scheme) = spans.scheme() {
        out.extend(scheme.of(text).iter().map(u8::to_ascii_lowercase));
        out.push(b':');
    }
    if spans.authority().is_some() {
        out.extend_from_slice(b"//");
        if let Some(userinfo) = spans.userinfo() {
            escapes(userinfo.of(text), rung, out);
            out.push(b'@');
        }
        if let Some(span) = spans.host() {
            host(span.of(text), rung, out);
        }
        if let Some(port) = port {
            out.push(b':');
            out.extend_from_slice(port.of(text));
        }
    }
    if slash {
        out.push(b'/');
    } else {
        path(spans.path().of(text), spans, rung, out);
    }
    if let Some(query) = spans.query() {
        out.push(b'?');
        escapes(query.of(text), rung, out);
    }
    if let Some(fragment) = spans.fragment(text.len()) {
        out.push(b'#');
        escapes(fragment.of(text), rung, out);
    }
}

/// 6.2.2.3; a relative-path reference keeps its dot-segments, for they wait for a base.
fn path(path: &[u8], spans: &Spans, rung: u8, out: &mut Vec<u8>) {
    let waits = spans.scheme().is_none() && spans.authority().is_none() && path.first() != Some(&b'/');
    let start = out.len();
    escapes(path, rung, out);
    if rung < SYNTAX || waits || !may_have_dot_segments(out.part(start..)) {
        return;
    }
    without_dot_segments(out, start);
    if spans.authority().is_none() && out.part(start..).starts_with(b"//") {
        out.splice(start..start, *b"/.");
    }
}

/// 6.2.2.1 and 6.2.2.2 for the escapes of a component.
pub(crate) fn escapes(text: &[u8], rung: u8, out: &mut Vec<u8>) {
    let mut i = 0;
    while i < text.len() {
        if text.at(i) == b'%' {
            escape(text, i, rung, out);
            i += 3;
        } else {
            let end = memchr::memchr(b'%', text.part(i..)).map_or(text.len(), |next| i + next);
            out.extend_from_slice(text.part(i..end));
            i = end;
        }
    }
}

fn escape(text: &[u8], at: usize, rung: u8, out: &mut Vec<u8>) {
    match octet(text, at) {
        Some(b) if rung >= 2 && CLASS.at(b as usize) & classes::UNRESERVED != 0 => out.push(b),
        _ => out.extend_from_slice(&upper(text, at)),
    }
}

/// The escape at a place in upper case.
fn upper(text: &[u8], at: usize) -> [u8; 3] {
    [b'%', text.at(at + 1).to_ascii_uppercase(), text.at(at + 2).to_ascii_uppercase()]
}

/// A host in lower case, its escapes in upper case; a zone identifier keeps its case (RFC 6874 2), and so does a host
/// beyond US-ASCII, which is an IRI's (RFC 3987 5.3.2.1).
pub fn host(text: &[u8], rung: u8, out: &mut Vec<u8>) {
    if !text.is_ascii() {
        return escapes(text, rung, out);
    }
    let mut i = 0;
    let literal = text.first() == Some(&b'[');
    while i < text.len() {
        if text.at(i) == b'%' {
            if literal {
                // From "%25" on only the hexadecimal digits of escapes change.
                return escapes(text.part(i..), 1, out);
            }
            match octet(text, i) {
                Some(b) if rung >= 2 && CLASS.at(b as usize) & classes::UNRESERVED != 0 => {
                    out.push(b.to_ascii_lowercase());
                }
                _ => out.extend_from_slice(&upper(text, i)),
            }
            i += 3;
        } else {
            out.push(text.at(i).to_ascii_lowercase());
            i += 1;
        }
    }
}
