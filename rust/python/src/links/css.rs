//! References in the most common style sheets: only `url()`, and nothing that could hide one.

use std::ops::Range;

use overthere_core::place::{At, Part};

/// Whether the text contains a pattern, in any case of its letters; the pattern begins with a letter or mark.
pub fn contains(text: &[u8], pattern: &[u8]) -> bool {
    find(text, pattern, 0).is_some()
}

/// The offset of a pattern in the text from `at` on.
fn find(text: &[u8], pattern: &[u8], at: usize) -> Option<usize> {
    let (first, rest) = (pattern.at(0), pattern.part(1..));
    memchr::memchr2_iter(first, first.to_ascii_uppercase(), text.part(at..))
        .map(|offset| at + offset)
        .find(|at| text.part(at + 1..).get(..rest.len()).is_some_and(|next| next.eq_ignore_ascii_case(rest)))
}

/// Tokens with references besides `url()`, and the rule in which `url()` is no reference (`css.py`).
const OTHER_TOKENS: [&[u8]; 5] = [b"src(", b"image(", b"image-set(", b"@import", b"@namespace"];

/// The ranges of the references in a style sheet, in order.
///
/// None if only Python can read it: escapes, comments, NUL, other tokens with references, a string or `url()` that is not
/// closed.
pub fn urls(text: &[u8]) -> Option<Vec<Range<usize>>> {
    let mut ranges = Vec::new();
    if memchr::memchr3(b'(', b'@', b'\\', text).is_none() {
        return Some(ranges);
    }
    let hides = memchr::memchr2(b'\\', 0, text).is_some() || memchr::memmem::find(text, b"/*").is_some();
    if hides || OTHER_TOKENS.iter().any(|token| contains(text, token)) {
        return None;
    }
    let mut position = 0;
    while let Some(at) = find(text, b"url(", position) {
        while let Some(quote) = memchr::memchr2(b'"', b'\'', text.get(position..at).unwrap_or_default()) {
            position = string(text, position + quote)?.end + 1;
        }
        if position > at {
            continue; // it is within a string
        }
        position = at + 4;
        // After a name, a number, "#" or "@", it is part of that token.
        let prior = if at > 0 { text.at(at - 1) } else { b' ' };
        if prior.is_ascii_alphanumeric() || !prior.is_ascii() || matches!(prior, b'-' | b'_' | b'#' | b'@') {
            continue;
        }
        let start = position + text.part(position..).iter().take_while(|b| is_whitespace(**b)).count();
        let (content, end) = match text.get(start)? {
            b'"' | b'\'' => {
                let content = string(text, start)?;
                let end = content.end + 1;
                (strip_span(text, content), end)
            }
            _ => {
                let length = text.part(start..).iter().take_while(|b| is_unquoted(**b)).count();
                let after = start + length;
                let end = after + text.part(after..).iter().take_while(|b| is_whitespace(**b)).count();
                if text.get(end) != Some(&b')') {
                    return None;
                }
                (start..after, end + 1)
            }
        };
        if !content.is_empty() {
            ranges.push(content);
        }
        position = end;
    }
    Some(ranges)
}

/// The content of the string that begins with a quote at `start`, if it ends on its line.
fn string(text: &[u8], start: usize) -> Option<Range<usize>> {
    let content = start + 1..start + 1 + memchr::memchr(text.at(start), text.part(start + 1..))?;
    let has_line_end = text.part(content.clone()).iter().any(|b| matches!(b, b'\r' | b'\n' | 0x0C));
    (!has_line_end).then_some(content)
}

fn is_whitespace(b: u8) -> bool {
    matches!(b, b' ' | b'\t' | b'\r' | b'\n' | 0x0C)
}

/// CSS Syntax 3 4.3.6
fn is_unquoted(b: u8) -> bool {
    b > b' ' && !matches!(b, 0x7F | b'"' | b'\'' | b'(' | b')' | b'\\')
}

fn strip_span(text: &[u8], mut span: Range<usize>) -> Range<usize> {
    while span.start < span.end && is_whitespace(text.at(span.start)) {
        span.start += 1;
    }
    while span.start < span.end && is_whitespace(text.at(span.end - 1)) {
        span.end -= 1;
    }
    span
}
