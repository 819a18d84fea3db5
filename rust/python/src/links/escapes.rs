//! What fragments and paths of a site stand for: their octets, and what is left to Python.

use std::borrow::Cow;

use overthere_core::place::{At, Part};

/// Of a range of lines its first (`anchors.names`).
pub fn lines(name: &[u8]) -> Option<&[u8]> {
    let (first, last) = name.split_at(memchr::memchr(b'-', name)?);
    let number = |text: &[u8]| {
        let digits = text.strip_prefix(b"L").unwrap_or(text);
        !digits.is_empty() && digits.iter().all(u8::is_ascii_digit)
    };
    (number(first) && number(last.part(1..))).then_some(first)
}

/// Whether a dot, a slash or a control is escaped: what these name only Python says.
pub fn is_odd(below: &[u8]) -> bool {
    memchr::memchr_iter(b'%', below)
        .any(|at| matches!(below.get(at + 1..at + 3), Some([b'2', b'e' | b'E' | b'f' | b'F'] | [b'0', _])))
}

/// Octets that are no UTF-8 become U+FFFD, as Python's `unquote` has it.
pub fn plain(octets: &[u8]) -> Vec<u8> {
    String::from_utf8_lossy(octets).into_owned().into_bytes()
}

/// Each escape as the octet that it stands for; what is none stays.
pub fn decoded(text: &[u8]) -> Cow<'_, [u8]> {
    let Some(mut at) = memchr::memchr(b'%', text) else { return Cow::Borrowed(text) };
    let mut out = Vec::with_capacity(text.len());
    out.extend_from_slice(text.part(..at));
    while at < text.len() {
        let digit = |at: usize| text.get(at).and_then(|b| char::from(*b).to_digit(16));
        match (text.at(at), digit(at + 1), digit(at + 2)) {
            (b'%', Some(high), Some(low)) => {
                out.push((high * 16 + low) as u8);
                at += 3;
            }
            (octet, ..) => {
                out.push(octet);
                at += 1;
            }
        }
    }
    Cow::Owned(out)
}
