//! Appendix B on any text: where the components are, unchecked; and the parts of an authority (3.2).

use crate::parse::{Spans, OMITTED};
use crate::wide::skip_common;

/// The components of any text.  Texts of 4 GiB or more have none but a path that is cut there.
pub fn split(text: &[u8]) -> Spans {
    let text = &text[..text.len().min(OMITTED as usize - 1)];
    let mut spans = Spans::EMPTY;
    let mut i = 0;
    if let Some(end) = text.iter().position(|b| matches!(b, b':' | b'/' | b'?' | b'#')) {
        if text[end] == b':' && end > 0 {
            spans.scheme_end = end as u32;
            i = end + 1;
        }
    }
    if text[i..].starts_with(b"//") {
        let start = i + 2;
        spans.authority = start as u32;
        i = start + end_of_authority(&text[start..]);
        authority(text, start, i, &mut spans);
    }
    spans.path = i as u32;
    // One pass over what is left: "?" counts before "#" only.
    let mut end = text.len();
    if let Some(mark) = memchr::memchr2(b'?', b'#', &text[i..]).map(|n| i + n) {
        end = mark;
        let mut hash = Some(mark);
        if text[mark] == b'?' {
            hash = memchr::memchr(b'#', &text[mark + 1..]).map(|n| mark + 1 + n);
            spans.query_end = hash.unwrap_or(text.len()) as u32;
        }
        if let Some(hash) = hash {
            spans.fragment = (hash + 1) as u32;
        }
    }
    spans.path_end = end as u32;
    spans
}

/// 3.2: an authority ends at the next "/", "?" or "#".
#[inline(always)]
fn end_of_authority(text: &[u8]) -> usize {
    let mut i = 0;
    loop {
        i = skip_common::<false>(text, i);
        match text.get(i) {
            None | Some(b'/' | b'?' | b'#') => return i,
            Some(_) => i += 1,
        }
    }
}

/// The span of the host of any text, as `split` cuts it, without looking past the authority.
pub fn host(text: &[u8]) -> Option<(usize, usize)> {
    let mut i = 0;
    match text.iter().position(|b| matches!(b, b':' | b'/' | b'?' | b'#')) {
        Some(end) if text[end] == b':' && end > 0 => i = end + 1,
        Some(_) => {}
        None => return None,
    }
    let rest = text[i..].strip_prefix(b"//")?;
    let end = end_of_authority(rest);
    let authority = &rest[..end];
    let start = memchr::memrchr(b'@', authority).map_or(0, |at| at + 1);
    let after = memchr::memrchr(b']', &authority[start..]).map_or(start, |n| start + n + 1);
    let stop = memchr::memchr(b':', &authority[after..]).map_or(end, |n| after + n);
    Some((i + 2 + start, i + 2 + stop))
}

/// 3.2: the last "@" ends the userinfo (decision 3986-10); a port follows the first colon past it and past "]".
fn authority(text: &[u8], start: usize, end: usize, spans: &mut Spans) {
    let mut host = start;
    if let Some(at) = memchr::memrchr(b'@', &text[start..end]) {
        spans.userinfo_end = (start + at) as u32;
        host = start + at + 1;
    }
    let after = memchr::memrchr(b']', &text[host..end]).map_or(host, |n| host + n + 1);
    spans.host_end = memchr::memchr(b':', &text[after..end]).map_or(end, |n| after + n) as u32;
}
