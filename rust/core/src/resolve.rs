//! Reference resolution (RFC 3986 5.2, 5.3).

use crate::place::{At, Part, Span, Spans, OMITTED};

/// A valid text with its spans.
#[derive(Clone, Copy)]
pub struct Parsed<'a> {
    /// The text.
    pub text: &'a [u8],
    /// The places of its components.
    pub spans: &'a Spans,
}

impl<'a> Parsed<'a> {
    /// The bytes of a span.
    fn get(&self, span: Option<Span>) -> Option<&'a [u8]> {
        span.map(|span| span.of(self.text))
    }

    /// The path.
    pub fn path(&self) -> &'a [u8] {
        self.spans.path().of(self.text)
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

/// Remove the dot-segments of a path (5.2.4), and write the result to the end of `out`.
pub fn remove_dot_segments(path: &[u8], out: &mut Vec<u8>) {
    let start = out.len();
    out.extend_from_slice(path);
    without_dot_segments(out, start);
}

/// Remove the dot-segments (5.2.4) of the path in `out` from `start` on; steps A to E are those of the document.
///
/// This works in place: the output never overtakes the input.
pub(crate) fn without_dot_segments(out: &mut Vec<u8>, start: usize) {
    let (mut from, mut to) = (start, start);
    // 2A, 2D: only before the first segment, for every later one begins with "/".
    while let Some(dots) = [&b"../"[..], b"./"].iter().find(|dots| out.part(from..).starts_with(dots)) {
        from += dots.len();
    }
    if matches!(out.part(from..), b"." | b"..") {
        return out.truncate(start);
    }
    while let Some((at, dots)) = dot_segment(out.part(from..)) {
        // 2E: move all segments before it to the output.
        out.copy_within(from..from + at, to);
        to += at;
        from += at + dots;
        // 2C: the last segment and its preceding "/" (if any) leave the output.
        if dots == b"/..".len() {
            to = start + memchr::memrchr(b'/', out.part(start..to)).unwrap_or(0);
        }
        // 2B, 2C: "/" replaces "/./" and "/../", and is already there; it replaces a final "/." and "/.." too.
        if from == out.len() {
            out.truncate(to);
            return out.push(b'/');
        }
    }
    if from != to {
        out.copy_within(from.., to);
        out.truncate(out.len() - (from - to));
    }
}

/// The offset and length of the first "/." or "/.." that is a complete segment.
fn dot_segment(path: &[u8]) -> Option<(usize, usize)> {
    let is_segment_end = |end: usize| matches!(path.get(end), None | Some(b'/'));
    memchr::memchr_iter(b'.', path).filter(|&dot| dot > 0 && path.at(dot - 1) == b'/').find_map(|dot| {
        if is_segment_end(dot + 1) {
            Some((dot - 1, b"/.".len()))
        } else if path.at(dot + 1) == b'.' && is_segment_end(dot + 2) {
            Some((dot - 1, b"/..".len()))
        } else {
            None
        }
    })
}

/// Whether a path may contain a dot-segment, which begins with "." at its start or after "/"; `false` is certain.
pub fn may_have_dot_segments(path: &[u8]) -> bool {
    memchr::memchr_iter(b'.', path).any(|at| at == 0 || path.at(at - 1) == b'/')
}

/// The prefix that a path needs to be read back as a path (decision 3986-1): "/." before "//" without an authority,
/// "./" before a colon in the first segment without a scheme, otherwise nothing.
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

/// Resolve `reference` against `base` (5.2.2, 5.3), write the target to the end of `out`, and return its spans.
///
/// Without `strict`, a scheme equal to the base's is ignored.  The base's fragment has no effect.  The spans of a
/// target of 4 GiB or more are wrong.
pub fn resolve(base: Parsed<'_>, reference: Parsed<'_>, strict: bool, out: &mut Vec<u8>) -> Spans {
    out.reserve(base.text.len() + reference.text.len() + 4);
    let begin = out.len();
    let mut scheme = reference.scheme();
    if !strict {
        scheme = scheme.filter(|s| !base.scheme().is_some_and(|b| b.eq_ignore_ascii_case(s)));
    }
    // The text before the path is copied as one piece, so its spans all move by the same distance.
    let uses_reference = scheme.is_some() || reference.authority().is_some();
    let from = if uses_reference { reference } else { base };
    let mut spans = *from.spans;
    let mut skipped = 0;
    if uses_reference && scheme.is_none() {
        // The reference's scheme is ignored: the base's replaces it.
        skipped = reference.spans.scheme().map_or(0, |scheme| scheme.end + 1);
        if let Some(Span { end, .. }) = base.spans.scheme() {
            out.extend_from_slice(base.text.part(..end + 1));
        }
        spans.scheme_end = base.spans.scheme_end;
        for place in [&mut spans.authority, &mut spans.userinfo_end, &mut spans.host_end] {
            *place = shift_place(*place, skipped, out.len() - begin);
        }
    }
    out.extend_from_slice(from.text.part(skipped..from.spans.path as usize));
    let start = out.len();
    spans.path = (start - begin) as u32;
    let path = reference.path();
    let mut query = None;
    if uses_reference || path.starts_with(b"/") {
        out.extend_from_slice(path);
        if may_have_dot_segments(path) {
            without_dot_segments(out, start);
        }
    } else if path.is_empty() {
        out.extend_from_slice(base.path());
        query = base.query().filter(|_| reference.query().is_none());
    } else {
        // 5.2.3
        let folder = memchr::memrchr(b'/', base.path()).map_or(0, |last| last + 1);
        if base.path().is_empty() && base.authority().is_some() {
            out.push(b'/');
        }
        out.extend_from_slice(base.path().part(..folder));
        out.extend_from_slice(path);
        if may_have_dot_segments(out.part(start..)) {
            without_dot_segments(out, start);
        }
    }
    let guard = guard_path(true, from.authority().is_some(), out.part(start..));
    if !guard.is_empty() {
        out.splice(start..start, guard.iter().copied());
    }
    spans.path_end = (out.len() - begin) as u32;
    spans.query_end = OMITTED;
    if let Some(query) = query {
        out.push(b'?');
        out.extend_from_slice(query);
        spans.query_end = (out.len() - begin) as u32;
    }
    // The text after the path is copied as one piece too.
    let (end, new_end) = (reference.spans.path_end as usize, out.len() - begin);
    out.extend_from_slice(reference.text.part(end..));
    if reference.query().is_some() {
        spans.query_end = shift_place(reference.spans.query_end, end, new_end);
    }
    spans.fragment = shift_place(reference.spans.fragment, end, new_end);
    spans
}

/// A place moved by the distance between `from` and `to`.
fn shift_place(place: u32, from: usize, to: usize) -> u32 {
    if place == OMITTED {
        place
    } else {
        (place as usize - from + to) as u32
    }
}
