//! The comparison ladder (RFC 3986 6.2): the generic rungs 1 case, 2 percent and 3 path, and the scheme rung for
//! schemes that have only the common rules.

use crate::classes::{self, CLASS};
use crate::percent::octet;
use crate::place::{At, Part, Span, Spans};
use crate::resolve::{may_have_dot_segments, without_dot_segments};

/// The highest generic rung.
pub const SYNTAX: u8 = 3;

/// Whether a text may change at a generic rung; `false` is certain, `true` is not.
pub fn may_change(text: &[u8], spans: &Spans, rung: u8) -> bool {
    let upper = |span: Option<Span>| {
        // The loop has no early exit, so that the compiler can vectorize it.
        span.is_some_and(|span| span.of(text).iter().fold(false, |any, b| any | b.is_ascii_uppercase()))
    };
    rung > 0
        && (upper(spans.scheme())
            || upper(spans.host())
            || memchr::memchr(b'%', text).is_some()
            || (rung >= SYNTAX && may_have_dot_segments(spans.path().of(text))))
}

/// The common rules of schemes for equivalent spellings (6.2.3); by default a scheme has none.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct SchemeRules {
    /// The default port in decimal digits; the normal form omits it.
    pub default_port: Option<String>,
    /// Whether an empty path after an authority becomes "/".
    pub slash_for_empty_path: bool,
}

impl SchemeRules {
    /// The span of the port's digits in the normal form: without leading zeros; None for an empty or default port
    /// (3.2.3).
    fn port(&self, text: &[u8], spans: &Spans) -> Option<Span> {
        let port = spans.port()?;
        Some(port.from(port.start + self.start_of_port(port.of(text))?))
    }

    /// The offset in a port where its normal form begins; None if it is omitted.
    pub(crate) fn start_of_port(&self, port: &[u8]) -> Option<usize> {
        let last = port.len().checked_sub(1)?;
        let zeros = port.iter().take_while(|&&digit| digit == b'0').count();
        if self.default_port.as_ref().is_some_and(|default| default.as_bytes() == port.part(zeros..)) {
            return None;
        }
        Some(zeros.min(last))
    }

    fn adds_slash(&self, spans: &Spans) -> bool {
        self.slash_for_empty_path && spans.authority().is_some() && spans.path().is_empty()
    }

    /// Whether a text may change at the scheme rung or below it; `false` is certain, `true` is not.
    pub fn may_change(&self, text: &[u8], spans: &Spans) -> bool {
        self.port(text, spans) != spans.port() || self.adds_slash(spans) || may_change(text, spans, SYNTAX)
    }

    /// Write the normal form of a valid text of the scheme, at the scheme rung, to the end of `out`.
    pub fn normalize(&self, text: &[u8], spans: &Spans, out: &mut Vec<u8>) {
        write_components(text, spans, SYNTAX, self.port(text, spans), self.adds_slash(spans), out);
    }
}

/// Write the normal form of a valid text at a generic rung to the end of `out`; an IRI only at the case rung.
pub fn normalize(text: &[u8], spans: &Spans, rung: u8, out: &mut Vec<u8>) {
    if rung == 0 {
        out.extend_from_slice(text);
        return;
    }
    write_components(text, spans, rung, spans.port(), false, out);
}

/// Write all components at a generic rung, with this port, and with "/" as the path if `slash`.
fn write_components(
    text: &[u8],
    spans: &Spans,
    rung: u8,
    port: Option<Span>,
    slash: bool,
    out: &mut Vec<u8>,
) {
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
        write_path(spans.path().of(text), spans, rung, out);
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

/// Write a path (6.2.2.3); a relative-path reference keeps its dot-segments, which only resolution can remove.
fn write_path(path: &[u8], spans: &Spans, rung: u8, out: &mut Vec<u8>) {
    let is_relative = spans.scheme().is_none() && spans.authority().is_none() && path.first() != Some(&b'/');
    let start = out.len();
    escapes(path, rung, out);
    if rung < SYNTAX || is_relative || !may_have_dot_segments(out.part(start..)) {
        return;
    }
    without_dot_segments(out, start);
    if spans.authority().is_none() && out.part(start..).starts_with(b"//") {
        out.splice(start..start, *b"/.");
    }
}

/// Write a component with its escapes normalized (6.2.2.1, and from rung 2 on 6.2.2.2).
pub(crate) fn escapes(text: &[u8], rung: u8, out: &mut Vec<u8>) {
    let mut i = 0;
    while i < text.len() {
        if text.at(i) == b'%' {
            write_escape(text, i, rung, out);
            i += 3;
        } else {
            let end = memchr::memchr(b'%', text.part(i..)).map_or(text.len(), |next| i + next);
            out.extend_from_slice(text.part(i..end));
            i = end;
        }
    }
}

/// Write the normal form of the escape at an offset.
fn write_escape(text: &[u8], at: usize, rung: u8, out: &mut Vec<u8>) {
    match octet(text, at) {
        Some(b) if rung >= 2 && CLASS.at(b as usize) & classes::UNRESERVED != 0 => out.push(b),
        _ => out.extend_from_slice(&upper_escape(text, at)),
    }
}

/// The escape at an offset, in upper case.
fn upper_escape(text: &[u8], at: usize) -> [u8; 3] {
    [b'%', text.at(at + 1).to_ascii_uppercase(), text.at(at + 2).to_ascii_uppercase()]
}

/// Write a host in lower case, its escapes in upper case; a zone identifier keeps its case (RFC 6874 2), and so does a
/// host beyond US-ASCII, which is an IRI's (RFC 3987 5.3.2.1).
pub fn host(text: &[u8], rung: u8, out: &mut Vec<u8>) {
    if !text.is_ascii() {
        return escapes(text, rung, out);
    }
    let mut i = 0;
    let is_literal = text.first() == Some(&b'[');
    while i < text.len() {
        if text.at(i) == b'%' {
            if is_literal {
                // From "%25" on, only the hexadecimal digits of escapes change.
                return escapes(text.part(i..), 1, out);
            }
            match octet(text, i) {
                Some(b) if rung >= 2 && CLASS.at(b as usize) & classes::UNRESERVED != 0 => {
                    out.push(b.to_ascii_lowercase());
                }
                _ => out.extend_from_slice(&upper_escape(text, i)),
            }
            i += 3;
        } else {
            out.push(text.at(i).to_ascii_lowercase());
            i += 1;
        }
    }
}
