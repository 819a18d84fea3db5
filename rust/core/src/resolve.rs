//! Reference resolution (RFC 3986 5.2, 5.3).

use crate::parse::{Spans, OMITTED};

/// A valid text with its spans.
#[derive(Clone, Copy)]
pub struct Parsed<'a> {
    /// The text.
    pub text: &'a [u8],
    /// Where its components stand.
    pub spans: &'a Spans,
}

impl<'a> Parsed<'a> {
    /// The bytes of a span.
    fn get(&self, span: Option<(usize, usize)>) -> Option<&'a [u8]> {
        span.map(|(start, end)| &self.text[start..end])
    }

    /// The path.
    pub fn path(&self) -> &'a [u8] {
        let (start, end) = self.spans.path();
        &self.text[start..end]
    }

    /// The scheme.
    pub fn scheme(&self) -> Option<&'a [u8]> {
        self.get(self.spans.scheme())
    }

    /// The authority.
    pub fn authority(&self) -> Option<&'a [u8]> {
        self.get(self.spans.authority())
    }

    /// The query.
    pub fn query(&self) -> Option<&'a [u8]> {
        self.get(self.spans.query())
    }

    /// The fragment.
    pub fn fragment(&self) -> Option<&'a [u8]> {
        self.get(self.spans.fragment(self.text.len()))
    }
}

/// 5.2.4, written to the end of `out`; the steps A to E are those of the document.
pub fn remove_dot_segments(path: &[u8], out: &mut Vec<u8>) {
    let start = out.len();
    let mut rest = path;
    // 2A, 2D: only before the first segment, for every later one begins with "/".
    while let Some(tail) = rest.strip_prefix(b"../").or_else(|| rest.strip_prefix(b"./")) {
        rest = tail;
    }
    if rest == b"." || rest == b".." {
        return;
    }
    while let Some((_, tail)) = rest.split_first() {
        // 2E: the first segment with its initial "/" (if any), up to the next "/".
        let end = memchr::memchr(b'/', tail).map_or(rest.len(), |next| next + 1);
        let segment = &rest[..end];
        rest = &rest[end..];
        match segment {
            // 2B: "/./" and a final "/." are replaced by "/".
            b"/." => {
                if rest.is_empty() {
                    out.push(b'/');
                }
            }
            // 2C: the same, and the last segment and its preceding "/" (if any) leave the output.
            b"/.." => {
                let last = memchr::memrchr(b'/', &out[start..]).unwrap_or(0);
                out.truncate(start + last);
                if rest.is_empty() {
                    out.push(b'/');
                }
            }
            _ => out.extend_from_slice(segment),
        }
    }
}

/// Whether a path may hold a dot-segment at all: none does without one of these.
pub fn may_have_dot_segments(path: &[u8]) -> bool {
    memchr::memchr_iter(b'.', path).any(|at| at == 0 || path[at - 1] == b'/')
}

/// A path that could not be read back as one is written so that it can (decision 3986-1): "/." before
/// "//" without an authority, "./" before a colon in the first segment without a scheme.
pub(crate) fn guard_path(scheme: bool, authority: bool, path: &[u8]) -> &'static [u8] {
    if authority {
        b""
    } else if path.starts_with(b"//") {
        b"/."
    } else if !scheme && path.iter().take_while(|&&b| b != b'/').any(|&b| b == b':') {
        b"./"
    } else {
        b""
    }
}

/// 5.2.2 and 5.3: the target of `reference` against `base`, written to the end of `out`, and where its components
/// stand in what was written.
///
/// `strict` false ignores a scheme equal to the base's.  The base's fragment plays no part.  A target of 4 GiB or
/// more has no spans that could be trusted.
pub fn resolve(base: Parsed<'_>, reference: Parsed<'_>, strict: bool, out: &mut Vec<u8>) -> Spans {
    out.reserve(base.text.len() + reference.text.len() + 4);
    let (begin, mut spans) = (out.len(), Spans::EMPTY);
    let mut scheme = reference.scheme();
    if !strict {
        scheme = scheme.filter(|s| !base.scheme().is_some_and(|b| b.eq_ignore_ascii_case(s)));
    }
    let own = scheme.is_some() || reference.authority().is_some();
    if let Some(scheme) = scheme.or(base.scheme()) {
        out.extend_from_slice(scheme);
        spans.scheme_end = (out.len() - begin) as u32;
        out.push(b':');
    }
    let from = if own { reference } else { base };
    if let Some(authority) = from.authority() {
        out.extend_from_slice(b"//");
        spans.authority = (out.len() - begin) as u32;
        // The parts of an authority move together.
        let moved = |at: u32| if at == OMITTED { at } else { at - from.spans.authority + spans.authority };
        spans.userinfo_end = moved(from.spans.userinfo_end);
        spans.host_end = moved(from.spans.host_end);
        out.extend_from_slice(authority);
    }
    let path = reference.path();
    let mut query = reference.query();
    let start = out.len();
    if own || path.starts_with(b"/") {
        push_clean(path, out);
    } else if path.is_empty() {
        out.extend_from_slice(base.path());
        query = query.or(base.query());
    } else {
        // 5.2.3
        let folder = memchr::memrchr(b'/', base.path()).map_or(0, |last| last + 1);
        let slash: &[u8] = if base.path().is_empty() && base.authority().is_some() { b"/" } else { b"" };
        let parts = [slash, &base.path()[..folder], path];
        if parts.iter().any(|part| may_have_dot_segments(part)) {
            remove_dot_segments(&parts.concat(), out);
        } else {
            parts.iter().for_each(|part| out.extend_from_slice(part));
        }
    }
    let guard = guard_path(true, from.authority().is_some(), &out[start..]);
    if !guard.is_empty() {
        out.splice(start..start, guard.iter().copied());
    }
    spans.path = (start - begin) as u32;
    spans.path_end = (out.len() - begin) as u32;
    if let Some(query) = query {
        out.push(b'?');
        out.extend_from_slice(query);
        spans.query_end = (out.len() - begin) as u32;
    }
    if let Some(fragment) = reference.fragment() {
        out.push(b'#');
        spans.fragment = (out.len() - begin) as u32;
        out.extend_from_slice(fragment);
    }
    spans
}

fn push_clean(path: &[u8], out: &mut Vec<u8>) {
    if may_have_dot_segments(path) {
        remove_dot_segments(path, out);
    } else {
        out.extend_from_slice(path);
    }
}
