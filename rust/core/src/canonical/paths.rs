//! Steps that rewrite the path, and escapes in any component.

use super::components::{rewrite, Components};
use super::{NeedsPython, StepResult};
use crate::classes;
use crate::normalize::{escapes, SYNTAX};
use crate::percent::{encode, octet, Safe};
use crate::place::{At, Part};
use crate::resolve::{may_have_dot_segments, without_dot_segments};

/// The bytes that each component allows unescaped.
pub(super) static HOST: Safe = Safe::members(classes::REG_NAME);
pub(super) static PATH: Safe = Safe::members(classes::PATH);
pub(super) static QUERY: Safe = Safe::members(classes::QUERY);

/// Decode escapes until none is left, and append the result to `out`: one pass, with `out` as a stack.
pub(super) fn unescape_fully(text: &[u8], out: &mut Vec<u8>) {
    let start = out.len();
    for &b in text {
        out.push(b);
        while out.len() >= start + 3 {
            let at = out.len() - 3;
            let Some(octet) = octet(out, at) else { break };
            out.truncate(at);
            out.push(octet);
        }
    }
}

/// Decode all escapes in a text, and escape once the octets that are not safe.
pub(super) fn unescape(text: &mut Vec<u8>, spare: &mut Vec<u8>, safe: &Safe) {
    if memchr::memchr(b'%', text).is_some() {
        rewrite(text, spare, |text, out| {
            let mut octets = Vec::with_capacity(text.len());
            unescape_fully(text, &mut octets);
            encode(&octets, safe, out);
        });
    }
}

/// Write a text in lower case, with the digits of escapes in upper case.
pub(super) fn lower(text: &mut [u8]) {
    text.make_ascii_lowercase();
    let mut remaining = text;
    while let Some(at) = memchr::memchr(b'%', remaining) {
        let Some((escape, after)) = remaining.get_mut(at..).and_then(|tail| tail.split_at_mut_checked(3))
        else {
            return;
        };
        escape.make_ascii_uppercase();
        remaining = after;
    }
}

/// Normalize the escapes of a component (6.2.2.1, and from rung 2 on 6.2.2.2).
pub(super) fn normalize_escapes(text: &mut Vec<u8>, spare: &mut Vec<u8>, rung: u8) {
    if memchr::memchr(b'%', text).is_some() {
        rewrite(text, spare, |text, out| escapes(text, rung, out));
    }
}

/// Remove the dot-segments (6.2.2.3) of a path whose escapes are normalized.
pub(super) fn remove_dots(path: &mut Vec<u8>) {
    if may_have_dot_segments(path) {
        without_dot_segments(path, 0);
    }
}

/// The step `remove-dots`: normalize an absolute path at the path rung.
pub(super) fn normalize(uri: &mut Components) {
    if uri.path.first() == Some(&b'/') {
        normalize_escapes(&mut uri.path, &mut uri.spare, SYNTAX);
        remove_dots(&mut uri.path);
    }
}

/// Replace several adjacent slashes by one.
pub(super) fn collapse(uri: &mut Components) {
    if memchr::memmem::find(&uri.path, b"//").is_none() {
        return;
    }
    if !uri.has_authority && uri.path.starts_with(b"/.//") {
        uri.path.drain(..2);
    }
    uri.path.dedup_by(|next, before| *next == b'/' && *before == b'/');
}

/// Remove slashes at the end, except the first byte of the path.
pub(super) fn drop_trailing_slash(path: &mut Vec<u8>) {
    let end = path.iter().rposition(|&b| b != b'/').map_or(0, |at| at + 1);
    path.truncate(end.max(1));
}

/// Remove a default name, such as "index.html", at the end of the path.
pub(super) fn drop_index(path: &mut Vec<u8>, names: &[Vec<u8>]) {
    if let Some(slash) = memchr::memrchr(b'/', path) {
        if names.iter().any(|name| path.part(slash + 1..) == name) {
            path.truncate(slash + 1);
        }
    }
}

/// Write a text with escapes only where they are necessary, and for octets of `keep`; their digits are in upper case.
pub(super) fn rewrite_escapes(text: &[u8], keep: &[u8], safe: &Safe, out: &mut Vec<u8>) {
    let mut i = 0;
    while i < text.len() {
        match octet(text, i) {
            Some(octet) if keep.contains(&octet) => {
                out.extend_from_slice(
                    &[b'%', text.at(i + 1), text.at(i + 2)].map(|b| b.to_ascii_uppercase()),
                );
                i += 3;
            }
            Some(octet) => {
                encode(&[octet], safe, out);
                i += 3;
            }
            None => {
                out.push(text.at(i));
                i += 1;
            }
        }
    }
}

/// Normalization Form C of escaped characters: a text whose characters all satisfy `is_composed` stays, others need
/// Python.
pub(super) fn nfc(text: &[u8]) -> StepResult {
    let mut run = Vec::new();
    let mut i = 0;
    while let Some(at) = memchr::memchr(b'%', text.part(i..)) {
        i += at;
        run.clear();
        while let Some(octet) = octet(text, i) {
            run.push(octet);
            i += 3;
        }
        if !run.is_ascii() {
            // Octets that are not UTF-8 stay as they are.
            let characters = run.utf8_chunks().flat_map(|chunk| chunk.valid().chars());
            if !characters.into_iter().all(is_composed) {
                return Err(NeedsPython);
            }
        }
    }
    Ok(())
}

/// Whether a character is in one of these ranges of starters that Normalization Form C keeps, and that never compose
/// with a character before them.  There are others, but URIs contain mostly these.
fn is_composed(c: char) -> bool {
    matches!(c,
        '\0'..='\u{2FF}' | '\u{400}'..='\u{482}' | '\u{48A}'..='\u{52F}' | '\u{3041}'..='\u{3096}'
        | '\u{30A1}'..='\u{30FA}' | '\u{4E00}'..='\u{9FFF}' | '\u{AC00}'..='\u{D7A3}')
}
