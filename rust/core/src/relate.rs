//! The inverse of resolution: the shortest reference that leads from a base to a target (RFC 3986 4.2, 5.2).

use std::borrow::Cow;

use crate::place::{Part, Span, Spans};
use crate::resolve::{guard_path, may_have_dot_segments, remove_dot_segments, resolve, Parsed};
use crate::split::split;

/// The shortest reference whose target against `base` is exactly `target`; of one length, the one that names the
/// fewest components.  Written to the end of `out`, and where its components stand in what was written.
/// None, and nothing is written, if `target` has dot-segments, for resolution leaves none.
///
/// Each candidate is tried by resolving it, so what is found is right by construction.
pub fn relate(base: Parsed<'_>, target: Parsed<'_>, out: &mut Vec<u8>) -> Option<Spans> {
    let begin = out.len();
    let mut candidates = candidates(base, target);
    loop {
        let left = candidates.iter_mut().filter(|one| one.is_some());
        let shortest = left.min_by_key(|one| one.as_ref().map(|one| one.length(target)))?;
        let reference = shortest.take()?.text(target);
        let spans = split(&reference);
        resolve(base, Parsed { text: &reference, spans: &spans }, true, out);
        let reached = out.part(begin..) == target.text;
        out.truncate(begin);
        if reached {
            out.extend_from_slice(&reference);
            return Some(spans);
        }
    }
}

/// A reference that may lead to the target: the target's text from an offset on, and what stands before it.
struct Candidate {
    head: &'static [u8],
    /// So many octets of "../../../...".
    up: usize,
    from: usize,
}

impl Candidate {
    fn length(&self, target: Parsed<'_>) -> usize {
        self.head.len() + self.up + target.text.len() - self.from
    }

    fn text<'a>(&self, target: Parsed<'a>) -> Cow<'a, [u8]> {
        let rest = target.text.part(self.from..);
        if self.length(target) == rest.len() {
            return Cow::from(rest);
        }
        let mut text = Vec::with_capacity(self.length(target));
        text.extend_from_slice(self.head);
        text.extend(b"../".iter().cycle().take(self.up));
        text.extend_from_slice(rest);
        Cow::from(text)
    }
}

/// All candidates; of one length the better one comes first.
fn candidates(base: Parsed<'_>, target: Parsed<'_>) -> [Option<Candidate>; 8] {
    let plain = |from: usize| Some(Candidate { head: b"", up: 0, from });
    let alike = base.scheme() == target.scheme();
    let (mut fragment, mut query, mut paths) = (None, None, [None, None, None, None]);
    if alike && base.authority() == target.authority() {
        let Span { start, end, .. } = target.spans.path();
        if base.path() == target.path() {
            let last = target.fragment().map_or(0, |fragment| fragment.len() + 1);
            fragment = plain(target.text.len() - last).filter(|_| base.query() == target.query());
            query = plain(end);
        }
        paths = self::paths(base, target, start, end);
    }
    let authority = target.spans.authority().filter(|_| alike).and_then(|span| plain(span.start - 2));
    let [tail, folder, dotted, absolute] = paths;
    [fragment, query, tail, folder, dotted, absolute, authority, plain(0)]
}

/// Relative paths and the absolute one to the target, whose path stands there.
fn paths(base: Parsed<'_>, target: Parsed<'_>, mut start: usize, end: usize) -> [Option<Candidate>; 4] {
    if base.authority().is_none() && target.path().starts_with(b"/.//") {
        start += 2; // the path that was guarded (decision 3986-1)
    }
    let path = target.text.part(start..end);
    let guarded = |from: usize| {
        Some(Candidate { head: guard_path(false, false, target.text.part(from..end)), up: 0, from })
    };
    let own: &[u8] = if base.path().is_empty() && base.authority().is_some() { b"/" } else { base.path() };
    let mut here = Cow::from(own.part(..memchr::memrchr(b'/', own).map_or(0, |last| last + 1)));
    if may_have_dot_segments(&here) {
        let mut shortened = Vec::new();
        remove_dot_segments(&here, &mut shortened);
        here = Cow::from(shortened);
    }
    // Directories that both begin with; what follows the last "/" of each is a name.
    let alike = here.iter().zip(path).take_while(|(one, other)| one == other).count();
    let common = memchr::memrchr(b'/', here.part(..alike)).map_or(0, |last| last + 1);
    let (mut tail, mut folder, mut dotted) = (None, None, None);
    if common > 0 || here.is_empty() {
        let up = 3 * memchr::memchr_iter(b'/', here.part(common..)).count();
        let from = start + common;
        tail = if up == 0 { guarded(from) } else { Some(Candidate { head: b"", up, from }) };
        if from == end {
            let head: &[u8] = if up == 0 { b"." } else { b"" };
            folder = Some(Candidate { head, up: up.saturating_sub(1), from });
        }
        // What begins with "/" or has a colon at the start needs "./" before it.
        dotted = Some(Candidate { head: b"./", up, from });
    }
    let absolute = path.starts_with(b"/").then(|| guarded(start)).flatten();
    [tail, folder, dotted, absolute]
}
