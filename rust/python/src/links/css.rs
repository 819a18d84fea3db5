//! References in the style sheets that documents mostly hold: `url()`, and nothing that could hide one.

use std::ops::Range;

use overthere_core::place::{At, Part};

/// Whether the text holds this, which begins with a letter or mark, in either case.
pub fn holds(text: &[u8], what: &[u8]) -> bool {
    find(text, what, 0).is_some()
}

/// Where the text holds it from `at` on.
fn find(text: &[u8], what: &[u8], at: usize) -> Option<usize> {
    let (first, rest) = (what.at(0), what.part(1..));
    memchr::memchr2_iter(first, first.to_ascii_uppercase(), text.part(at..))
        .map(|found| at + found)
        .find(|at| text.part(at + 1..).get(..rest.len()).is_some_and(|next| next.eq_ignore_ascii_case(rest)))
}

/// What else than `url()` has a reference (`css.py`).
const OTHERS: [&[u8]; 3] = [b"src(", b"image(", b"image-set("];

/// Where the references of a style sheet stand, in their order.
///
/// None where this must be asked of Python: escapes, at-rules, comments, strings outside of `url()`, other functions,
/// a `url()` that does not end as it should.
pub fn urls(text: &[u8]) -> Option<Vec<Range<usize>>> {
    let mut found = Vec::new();
    if memchr::memchr3(b'(', b'@', b'\\', text).is_none() {
        return Some(found);
    }
    let hides = memchr::memchr2(b'@', b'\\', text).is_some() || memchr::memmem::find(text, b"/*").is_some();
    if hides || OTHERS.iter().any(|other| holds(text, other)) {
        return None;
    }
    let mut done = 0;
    while let Some(at) = find(text, b"url(", done) {
        if memchr::memchr2(b'"', b'\'', text.part(done..at)).is_some() {
            return None;
        }
        done = at + 4;
        // What follows a name, a number or "#" is part of that token.
        let before = if at > 0 { text.at(at - 1) } else { b' ' };
        if before.is_ascii_alphanumeric() || !before.is_ascii() || matches!(before, b'-' | b'_' | b'#') {
            continue;
        }
        let start = done + text.part(done..).iter().take_while(|b| is_white(**b)).count();
        let (inside, end) = match text.get(start)? {
            quote @ (b'"' | b'\'') => {
                let inside = start + 1..start + 1 + memchr::memchr(*quote, text.part(start + 1..))?;
                if text.part(inside.clone()).iter().any(|b| matches!(b, b'\r' | b'\n' | 0x0C)) {
                    return None;
                }
                let end = inside.end + 1;
                (strip_span(text, inside), end)
            }
            _ => {
                let length = text.part(start..).iter().take_while(|b| is_unquoted(**b)).count();
                let after = start + length;
                let end = after + text.part(after..).iter().take_while(|b| is_white(**b)).count();
                if text.get(end) != Some(&b')') {
                    return None;
                }
                (start..after, end + 1)
            }
        };
        if !inside.is_empty() {
            found.push(inside);
        }
        done = end;
    }
    Some(found)
}

fn is_white(b: u8) -> bool {
    matches!(b, b' ' | b'\t' | b'\r' | b'\n' | 0x0C)
}

/// CSS Syntax 3 4.3.6
fn is_unquoted(b: u8) -> bool {
    b > b' ' && !matches!(b, 0x7F | b'"' | b'\'' | b'(' | b')' | b'\\')
}

fn strip_span(text: &[u8], mut span: Range<usize>) -> Range<usize> {
    while span.start < span.end && is_white(text.at(span.start)) {
        span.start += 1;
    }
    while span.start < span.end && is_white(text.at(span.end - 1)) {
        span.end -= 1;
    }
    span
}
