//! The inverse of resolution: the shortest reference that leads from a base to a target (RFC 3986 4.2, 5.2).

use std::borrow::Cow;

use crate::place::{Part, Span, Spans};
use crate::resolve::{guard_path, may_have_dot_segments, remove_dot_segments, resolve, Parsed};
use crate::split::split;

/// Write the shortest reference that resolves against `base` to exactly `target` to the end of `out`, and return its
/// spans.  If several are equally short, it is the one with the fewest components.
/// None, with nothing written, if `target` has dot-segments, because resolution removes them.
///
/// Each candidate is resolved to check it, so the result is right by construction.
pub fn relate(base: Parsed<'_>, target: Parsed<'_>, out: &mut Vec<u8>) -> Option<Spans> {
    let begin = out.len();
    let mut candidates = candidates(base, target);
    loop {
        let remaining = candidates.iter_mut().filter(|candidate| candidate.is_some());
        let shortest =
            remaining.min_by_key(|candidate| candidate.as_ref().map(|some| some.length(target)))?;
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

/// A reference that may resolve to the target: a prefix, then the target's text from an offset on.
struct Candidate {
    head: &'static [u8],
    /// The length of the "../../.." after `head`, in bytes.
    up: usize,
    /// The offset in the target.
    from: usize,
}

impl Candidate {
    fn length(&self, target: Parsed<'_>) -> usize {
        self.head.len() + self.up + target.text.len() - self.from
    }

    fn text<'a>(&self, target: Parsed<'a>) -> Cow<'a, [u8]> {
        let tail = target.text.part(self.from..);
        if self.length(target) == tail.len() {
            return Cow::from(tail);
        }
        let mut text = Vec::with_capacity(self.length(target));
        text.extend_from_slice(self.head);
        text.extend(b"../".iter().cycle().take(self.up));
        text.extend_from_slice(tail);
        Cow::from(text)
    }
}

/// All candidates; of two with the same length, the better one comes first.
fn candidates(base: Parsed<'_>, target: Parsed<'_>) -> [Option<Candidate>; 8] {
    let plain = |from: usize| Some(Candidate { head: b"", up: 0, from });
    let same_scheme = base.scheme() == target.scheme();
    let (mut fragment, mut query, mut paths) = (None, None, [None, None, None, None]);
    if same_scheme && base.authority() == target.authority() {
        let Span { start, end, .. } = target.spans.path();
        if base.path() == target.path() {
            let last = target.fragment().map_or(0, |fragment| fragment.len() + 1);
            fragment = plain(target.text.len() - last).filter(|_| base.query() == target.query());
            query = plain(end);
        }
        paths = self::paths(base, target, start, end);
    }
    let authority = target.spans.authority().filter(|_| same_scheme).and_then(|span| plain(span.start - 2));
    let [tail, folder, dotted, absolute] = paths;
    [fragment, query, tail, folder, dotted, absolute, authority, plain(0)]
}

/// The relative-path references and the absolute-path reference to the target, whose path is at `start..end`.
fn paths(base: Parsed<'_>, target: Parsed<'_>, mut start: usize, end: usize) -> [Option<Candidate>; 4] {
    if base.authority().is_none() && target.path().starts_with(b"/.//") {
        start += 2; // skip the "/." that guards the path (decision 3986-1)
    }
    let path = target.text.part(start..end);
    let guarded = |from: usize| {
        Some(Candidate { head: guard_path(false, false, target.text.part(from..end)), up: 0, from })
    };
    let base_path: &[u8] =
        if base.path().is_empty() && base.authority().is_some() { b"/" } else { base.path() };
    let mut folder_path =
        Cow::from(base_path.part(..memchr::memrchr(b'/', base_path).map_or(0, |last| last + 1)));
    if may_have_dot_segments(&folder_path) {
        let mut shortened = Vec::new();
        remove_dot_segments(&folder_path, &mut shortened);
        folder_path = Cow::from(shortened);
    }
    // The directories that both begin with; the text after the last "/" of each is a name.
    let shared_length = folder_path.iter().zip(path).take_while(|(ours, theirs)| ours == theirs).count();
    let common = memchr::memrchr(b'/', folder_path.part(..shared_length)).map_or(0, |last| last + 1);
    let (mut tail, mut folder, mut dotted) = (None, None, None);
    if common > 0 || folder_path.is_empty() {
        let up = 3 * memchr::memchr_iter(b'/', folder_path.part(common..)).count();
        let from = start + common;
        tail = if up == 0 { guarded(from) } else { Some(Candidate { head: b"", up, from }) };
        if from == end {
            let head: &[u8] = if up == 0 { b"." } else { b"" };
            folder = Some(Candidate { head, up: up.saturating_sub(1), from });
        }
        // A path that begins with "/" or has a colon in its first segment needs "./" before it.
        dotted = Some(Candidate { head: b"./", up, from });
    }
    let absolute = path.starts_with(b"/").then(|| guarded(start)).flatten();
    [tail, folder, dotted, absolute]
}
