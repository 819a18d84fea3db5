//! The inverse of resolution: the shortest reference that leads from a base to a target (RFC 3986 4.2, 5.2).

use std::borrow::Cow;

use crate::resolve::{guard_path, may_have_dot_segments, remove_dot_segments, resolve, Parsed};
use crate::split::split;

/// The shortest reference whose target against `base` is exactly `target`; of one length, the one that names the
/// fewest components.  None if `target` has dot-segments, for resolution leaves none.
///
/// Each candidate is tried by resolving it, so what is found is right by construction.
pub fn relate(base: Parsed<'_>, target: Parsed<'_>) -> Option<Vec<u8>> {
    let mut trial = Trial { base, target, best: None, reference: Vec::new(), reached: Vec::new() };
    if base.scheme() != target.scheme() {
        trial.whole(0);
        return trial.best;
    }
    if base.authority() == target.authority() {
        if base.path() == target.path() {
            if base.query() == target.query() {
                trial.path(&[], false);
            }
            trial.path(&[], true);
        }
        paths(&mut trial);
    }
    if let Some((start, _)) = target.spans.authority() {
        trial.whole(start - 2);
    }
    trial.whole(0);
    trial.best
}

struct Trial<'a> {
    base: Parsed<'a>,
    target: Parsed<'a>,
    best: Option<Vec<u8>>,
    reference: Vec<u8>,
    reached: Vec<u8>,
}

impl Trial<'_> {
    /// The target's text from an offset on.
    fn whole(&mut self, start: usize) {
        let text = &self.target.text[start..];
        if self.is_no_shorter(text.len()) {
            return;
        }
        if !may_have_dot_segments(self.target.path()) {
            self.best = Some(text.to_vec()); // nothing is taken away (5.2.2)
            return;
        }
        self.reference.clear();
        self.reference.extend_from_slice(text);
        self.judge();
    }

    /// Whether the best so far is no longer than a reference of so many octets.
    fn is_no_shorter(&self, length: usize) -> bool {
        self.best.as_ref().is_some_and(|best| best.len() <= length)
    }

    /// A path in pieces, with the target's query or without, and its fragment.
    fn path(&mut self, pieces: &[&[u8]], query: bool) {
        if self.is_no_shorter(pieces.iter().map(|piece| piece.len()).sum()) {
            return;
        }
        self.reference.clear();
        pieces.iter().for_each(|piece| self.reference.extend_from_slice(piece));
        let guard = guard_path(false, false, &self.reference);
        self.reference.splice(0..0, guard.iter().copied());
        if let Some(query) = self.target.query().filter(|_| query) {
            self.reference.push(b'?');
            self.reference.extend_from_slice(query);
        }
        if let Some(fragment) = self.target.fragment() {
            self.reference.push(b'#');
            self.reference.extend_from_slice(fragment);
        }
        self.judge();
    }

    fn judge(&mut self) {
        if self.is_no_shorter(self.reference.len()) {
            return;
        }
        self.reached.clear();
        let spans = split(&self.reference);
        resolve(self.base, Parsed { text: &self.reference, spans: &spans }, true, &mut self.reached);
        if self.reached == self.target.text {
            self.best = Some(std::mem::take(&mut self.reference));
        }
    }
}

/// Relative and absolute paths to the target.
fn paths(trial: &mut Trial<'_>) {
    let (base, target) = (trial.base, trial.target);
    let mut path = target.path();
    if base.authority().is_none() && path.starts_with(b"/.//") {
        path = &path[2..]; // the path that was guarded (decision 3986-1)
    }
    let own: &[u8] = if base.path().is_empty() && base.authority().is_some() { b"/" } else { base.path() };
    let mut here = Cow::Borrowed(&own[..memchr::memrchr(b'/', own).map_or(0, |last| last + 1)]);
    if may_have_dot_segments(&here) {
        let mut normal = Vec::new();
        remove_dot_segments(&here, &mut normal);
        here = Cow::Owned(normal);
    }
    // Directories that both begin with; what follows the last "/" of each is a name.
    let alike = here.iter().zip(path).take_while(|(one, other)| one == other).count();
    let common = memchr::memrchr(b'/', &here[..alike]).map_or(0, |last| last + 1);
    let up = b"../".repeat(memchr::memchr_iter(b'/', &here[common..]).count());
    let is_from_root = path.starts_with(b"/");
    let tail = &path[common..];
    // The shorter one first: the other is not tried then.
    if is_from_root && !path.starts_with(b"//") && path.len() < up.len() + tail.len() {
        trial.path(&[path], true);
    }
    if common > 0 || here.is_empty() {
        trial.path(&[&up, tail], true);
        if tail.is_empty() {
            trial.path(&[up.strip_suffix(b"/").unwrap_or(b".")], true);
        }
        // What begins with "/" or has a colon at the start needs "./" before it.
        trial.path(&[b"./", &up, tail], true);
    }
    if is_from_root {
        trial.path(&[path], true);
    }
}
