//! Splitting any text by Appendix B, without a check; and splitting an authority (3.2).

use crate::place::{Part, Span, Spans, OMITTED};
use crate::wide::skip_common;

/// The bytes that end a part.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    /// ":", "/", "?", "#"
    Scheme,
    /// "/", "?", "#"
    Authority,
    /// "/", "?", "#", "@", "]"
    Unusual,
    /// "?", "#"
    Path,
    /// "#"
    Query,
}

/// The first byte from `i` on that ends a part, or the end of the text.
#[inline(always)]
fn find(text: &[u8], mut i: usize, end: End) -> usize {
    let tail = || text.get(i..).unwrap_or(&[]);
    match end {
        End::Path => memchr::memchr2(b'?', b'#', tail()).map_or(text.len(), |n| i + n),
        End::Query => memchr::memchr(b'#', tail()).map_or(text.len(), |n| i + n),
        _ => loop {
            i = skip_common::<false>(text, i);
            match (text.get(i), end) {
                (None, _) | (Some(b'/' | b'?' | b'#'), _) => return i,
                (Some(b':'), End::Scheme) | (Some(b'@' | b']'), End::Unusual) => return i,
                _ => i += 1,
            }
        },
    }
}

/// The spans of any text.  A text of 4 GiB or more is read up to there.
pub fn split(text: &[u8]) -> Spans {
    split_by(text, find)
}

/// The span of the host of any text, as `split` finds it, without reading past the authority.
pub fn host(text: &[u8]) -> Option<Span> {
    start_by(clamp_to_32_bits(text), &mut find).host()
}

/// `split` for machines with AVX2.
///
/// # Safety
/// The machine must have AVX2, BMI1, BMI2 and LZCNT, as `quickest!` checks.
#[cfg(avx2)]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt")]
pub fn split_avx2(text: &[u8]) -> Spans {
    let mut window = crate::avx2::Ends::NONE;
    split_by(text, |text, i, end| window.find(text, i, end))
}

/// `host` for machines with AVX2.
///
/// # Safety
/// The machine must have AVX2, BMI1, BMI2 and LZCNT, as `quickest!` checks.
#[cfg(avx2)]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt")]
pub fn host_avx2(text: &[u8]) -> Option<Span> {
    let mut window = crate::avx2::Ends::NONE;
    start_by(clamp_to_32_bits(text), &mut |text, i, end| window.find(text, i, end)).host()
}

/// The part of a text that 32-bit offsets can address.
#[inline(always)]
fn clamp_to_32_bits(text: &[u8]) -> &[u8] {
    text.part(..text.len().min(OMITTED as usize - 1))
}

#[inline(always)]
fn split_by(text: &[u8], mut find: impl FnMut(&[u8], usize, End) -> usize) -> Spans {
    let text = clamp_to_32_bits(text);
    let mut spans = start_by(text, &mut find);
    // "?" counts before "#" only.
    let mut end = find(text, spans.path as usize, End::Path);
    spans.path_end = end as u32;
    if text.get(end) == Some(&b'?') {
        end = find(text, end + 1, End::Query);
        spans.query_end = end as u32;
    }
    if end < text.len() {
        spans.fragment = (end + 1) as u32;
    }
    spans
}

/// Split off the scheme and the authority; the path begins where they end.
#[inline(always)]
fn start_by(text: &[u8], find: &mut impl FnMut(&[u8], usize, End) -> usize) -> Spans {
    let mut spans = Spans::EMPTY;
    let mut i = 0;
    let end = find(text, 0, End::Scheme);
    if end > 0 && text.get(end) == Some(&b':') {
        spans.scheme_end = end as u32;
        i = end + 1;
    }
    if let Some([b'/', b'/']) = text.get(i..i + 2) {
        let start = i + 2;
        spans.authority = start as u32;
        i = find(text, start, End::Unusual);
        if matches!(text.get(i), Some(b'@' | b']')) {
            i = find(text, i, End::Authority);
            split_unusual(text, start, i, &mut spans);
        } else {
            spans.host_end = find(text, start, End::Scheme) as u32;
        }
    }
    spans.path = i as u32;
    spans
}

/// Split an authority with "@" or "]" (3.2): the last "@" ends the userinfo (decision 3986-10); a port follows the
/// first colon after it and after "]".
#[cold]
fn split_unusual(text: &[u8], start: usize, end: usize, spans: &mut Spans) {
    let mut host = start;
    if let Some(at) = memchr::memrchr(b'@', text.part(start..end)) {
        spans.userinfo_end = (start + at) as u32;
        host = start + at + 1;
    }
    let after = memchr::memrchr(b']', text.part(host..end)).map_or(host, |n| host + n + 1);
    spans.host_end = memchr::memchr(b':', text.part(after..end)).map_or(end, |n| after + n) as u32;
}
