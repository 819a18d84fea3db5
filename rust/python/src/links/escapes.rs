//! Decodes fragments and paths of a site, and recognises those that only Python handles.

use std::borrow::Cow;

use overthere_core::place::{At, Part};

/// The first line of a range of lines, as `L3` of `L3-L5` (`anchors.names`).
pub fn first_line(name: &[u8]) -> Option<&[u8]> {
    let (first, last) = name.split_at(memchr::memchr(b'-', name)?);
    let number = |text: &[u8]| {
        let digits = text.strip_prefix(b"L").unwrap_or(text);
        !digits.is_empty() && digits.iter().all(u8::is_ascii_digit)
    };
    (number(first) && number(last.part(1..))).then_some(first)
}

/// Whether a dot, a slash or a control is escaped; only Python handles these.
pub fn has_special_escape(path: &[u8]) -> bool {
    memchr::memchr_iter(b'%', path)
        .any(|at| matches!(path.get(at + 1..at + 3), Some([b'2', b'e' | b'E' | b'f' | b'F'] | [b'0', _])))
}

/// Replace bytes that are not UTF-8 by U+FFFD, like Python's `unquote`.
pub fn replace_invalid_utf8(octets: &[u8]) -> Vec<u8> {
    String::from_utf8_lossy(octets).into_owned().into_bytes()
}

/// Decode each percent-escape; invalid ones stay.
pub fn percent_decode(text: &[u8]) -> Cow<'_, [u8]> {
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
