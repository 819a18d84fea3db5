//! Splitting and checking in one pass (RFC 3986 Appendix A; RFC 6874 2 on request).

use crate::classes::{self, CLASS};
use crate::host;
use crate::place::{At, Part, Spans, OMITTED};
use crate::wide::skip_common;

/// The rule that a text must follow.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rule {
    /// 3: a scheme is required.
    Uri,
    /// 4.1: a URI or a relative reference.
    UriReference,
}

/// The class bits of the byte at `i`; 0 past the end.
#[inline(always)]
fn class(text: &[u8], i: usize) -> u8 {
    match text.get(i) {
        Some(&byte) => CLASS.at(byte as usize),
        None => 0,
    }
}

#[inline(always)]
fn byte(text: &[u8], i: usize) -> u8 {
    text.get(i).copied().unwrap_or(0)
}

/// The bytes that a component may contain; all but a scheme may contain escapes too.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Class {
    Scheme,
    RegName,
    Userinfo,
    Path,
    Query,
}

/// Skip all bytes of the class and all valid escapes (2.1); `Err` at an invalid one.
#[inline(always)]
fn skip(text: &[u8], mut i: usize, class: Class) -> Result<usize, usize> {
    let (bits, path) = match class {
        Class::Scheme => (classes::SCHEME, false),
        Class::RegName => (classes::REG_NAME, false),
        Class::Userinfo => (classes::USERINFO, false),
        Class::Path => (classes::PATH, true),
        Class::Query => (classes::QUERY, true),
    };
    loop {
        i = if path { skip_common::<true>(text, i) } else { skip_common::<false>(text, i) };
        if self::class(text, i) & bits != 0 {
            i += 1;
        } else if byte(text, i) != b'%' || class == Class::Scheme {
            return Ok(i);
        } else if self::class(text, i + 1) & self::class(text, i + 2) & classes::HEXDIG != 0 {
            i += 3;
        } else {
            return Err(i);
        }
    }
}

/// Split and check a text: return its spans, or the offset at which reading stopped, which may not be the error's.
///
/// `zone` allows zone identifiers of RFC 6874.  A text of 4 GiB or more is rejected, with its length as the offset.
pub fn parse(text: &[u8], rule: Rule, zone: bool) -> Result<Spans, usize> {
    parse_by(text, rule, zone, skip)
}

/// `parse` for machines with AVX2.
///
/// # Safety
/// The machine must have AVX2, BMI1, BMI2 and LZCNT, as `quickest!` checks.
#[cfg(avx2)]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt")]
pub fn parse_avx2(text: &[u8], rule: Rule, zone: bool) -> Result<Spans, usize> {
    let mut window = crate::avx2::Members::NONE;
    parse_by(text, rule, zone, |text, i, class| window.skip(text, i, class))
}

#[inline(always)]
fn parse_by(
    text: &[u8],
    rule: Rule,
    zone: bool,
    mut skip: impl FnMut(&[u8], usize, Class) -> Result<usize, usize>,
) -> Result<Spans, usize> {
    if text.len() >= OMITTED as usize {
        return Err(text.len());
    }
    let mut spans = Spans::EMPTY;
    let mut i = 0;
    // 3.1
    if class(text, 0) & classes::ALPHA != 0 {
        // A scheme has no escapes, so none is invalid.
        let (Ok(end) | Err(end)) = skip(text, 0, Class::Scheme);
        if byte(text, end) == b':' {
            spans.scheme_end = end as u32;
            i = end + 1;
        }
    }
    if spans.scheme_end == OMITTED && rule == Rule::Uri {
        return Err(0);
    }
    // 3.2
    if byte(text, i) == b'/' && byte(text, i + 1) == b'/' {
        i = authority(text, i + 2, zone, &mut spans, &mut skip)?;
    }
    spans.path = i as u32;
    // 3.3; the first segment of a relative-path reference has no colon (4.2)
    let start = i;
    i = skip(text, i, Class::Path)?;
    if spans.scheme_end == OMITTED && spans.authority == OMITTED {
        for (at, &b) in text.part(start..i).iter().enumerate() {
            if b == b'/' {
                break;
            }
            if b == b':' {
                return Err(start + at);
            }
        }
    }
    spans.path_end = i as u32;
    // 3.4, 3.5
    if byte(text, i) == b'?' {
        i = skip(text, i + 1, Class::Query)?;
        spans.query_end = i as u32;
    }
    if byte(text, i) == b'#' && i < text.len() {
        spans.fragment = (i + 1) as u32;
        i = skip(text, i + 1, Class::Query)?;
    }
    if i == text.len() {
        Ok(spans)
    } else {
        Err(i)
    }
}

/// Read an authority (3.2) from the byte after "//"; return its end.
#[inline(always)]
fn authority(
    text: &[u8],
    start: usize,
    zone: bool,
    spans: &mut Spans,
    skip: &mut impl FnMut(&[u8], usize, Class) -> Result<usize, usize>,
) -> Result<usize, usize> {
    spans.authority = start as u32;
    let mut host = host_and_port(text, start, zone, skip)?;
    if !host.is_complete {
        // The bytes read so far may begin a userinfo.
        let end = skip(text, start, Class::Userinfo)?;
        if byte(text, end) != b'@' {
            return Err(host.end);
        }
        spans.userinfo_end = end as u32;
        host = host_and_port(text, end + 1, zone, skip)?;
        if !host.is_complete {
            return Err(host.end);
        }
    }
    spans.host_end = host.host_end;
    Ok(host.end)
}

/// A host and a port, as far as they can be read.
struct Host {
    host_end: u32,
    end: usize,
    /// Whether the authority ends at `end`.
    is_complete: bool,
}

/// Read a host and a port (3.2.2, 3.2.3).
#[inline(always)]
fn host_and_port(
    text: &[u8],
    start: usize,
    zone: bool,
    skip: &mut impl FnMut(&[u8], usize, Class) -> Result<usize, usize>,
) -> Result<Host, usize> {
    let mut end = if byte(text, start) == b'[' {
        host::ip_literal(text, start, zone)?
    } else {
        skip(text, start, Class::RegName)?
    };
    let host_end = end as u32;
    if byte(text, end) == b':' {
        end += 1;
        while byte(text, end).is_ascii_digit() {
            end += 1;
        }
    }
    Ok(Host { host_end, end, is_complete: matches!(text.get(end), None | Some(b'/' | b'?' | b'#')) })
}
