//! Splitting and checking in one pass (RFC 3986 Appendix A; RFC 6874 2 on request).

use crate::classes::{self, CLASS};
use crate::host;
use crate::wide::skip_common;

/// The offset of a component that is undefined.
pub const OMITTED: u32 = u32::MAX;

/// Which rule a text must follow.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rule {
    /// 3: a scheme is required.
    Uri,
    /// 4.1: a URI or a relative reference.
    UriReference,
}

/// Where the components stand.
///
/// ```text
/// foo://user@example.com:8042/over/there?name=ferret#nose
///    |  |   |           |    |          |           |
///    |  |   userinfo_end|    path       path_end    query_end
///    |  authority       host_end
///    scheme_end
/// ```
///
/// `OMITTED` where the component is undefined.  The path is always defined; it ends at `path_end`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Spans {
    /// The end of the scheme.
    pub scheme_end: u32,
    /// The start of the authority, after its "//".
    pub authority: u32,
    /// The end of the userinfo.
    pub userinfo_end: u32,
    /// The end of the host.
    pub host_end: u32,
    /// The start of the path, which is the end of the authority.
    pub path: u32,
    /// The end of the path.
    pub path_end: u32,
    /// The end of the query, which begins one past `path_end`.
    pub query_end: u32,
    /// The start of the fragment, which ends with the text.
    pub fragment: u32,
}

fn span(start: u32, end: u32) -> Option<(usize, usize)> {
    Some((start as usize, end as usize))
}

impl Spans {
    /// The spans of the empty text: an empty path and nothing else.
    pub const EMPTY: Spans = Spans {
        scheme_end: OMITTED,
        authority: OMITTED,
        userinfo_end: OMITTED,
        host_end: OMITTED,
        path: 0,
        path_end: 0,
        query_end: OMITTED,
        fragment: OMITTED,
    };

    /// The span of the scheme.
    pub fn scheme(&self) -> Option<(usize, usize)> {
        if self.scheme_end == OMITTED {
            None
        } else {
            span(0, self.scheme_end)
        }
    }

    /// The span of the authority.
    pub fn authority(&self) -> Option<(usize, usize)> {
        if self.authority == OMITTED {
            None
        } else {
            span(self.authority, self.path)
        }
    }

    /// The span of the userinfo.
    pub fn userinfo(&self) -> Option<(usize, usize)> {
        if self.userinfo_end == OMITTED {
            None
        } else {
            span(self.authority, self.userinfo_end)
        }
    }

    /// The start of the host, given that there is an authority.
    fn host_start(&self) -> u32 {
        if self.userinfo_end == OMITTED {
            self.authority
        } else {
            self.userinfo_end + 1
        }
    }

    /// The span of the host.
    pub fn host(&self) -> Option<(usize, usize)> {
        if self.authority == OMITTED {
            None
        } else {
            span(self.host_start(), self.host_end)
        }
    }

    /// The span of the port.
    pub fn port(&self) -> Option<(usize, usize)> {
        if self.authority == OMITTED || self.host_end == self.path {
            None
        } else {
            span(self.host_end + 1, self.path)
        }
    }

    /// The span of the path.
    pub fn path(&self) -> (usize, usize) {
        (self.path as usize, self.path_end as usize)
    }

    /// The span of the query.
    pub fn query(&self) -> Option<(usize, usize)> {
        if self.query_end == OMITTED {
            None
        } else {
            span(self.path_end + 1, self.query_end)
        }
    }

    /// The span of the fragment in a text of this length.
    pub fn fragment(&self, length: usize) -> Option<(usize, usize)> {
        if self.fragment == OMITTED {
            None
        } else {
            Some((self.fragment as usize, length))
        }
    }
}

/// The class bits of the byte at `i`; none past the end.
#[inline(always)]
fn class(text: &[u8], i: usize) -> u8 {
    match text.get(i) {
        Some(&byte) => CLASS[byte as usize],
        None => 0,
    }
}

#[inline(always)]
fn byte(text: &[u8], i: usize) -> u8 {
    text.get(i).copied().unwrap_or(0)
}

/// Past every byte of the class, and every whole escape (2.1); `Err` at a broken one.
#[inline(always)]
fn skip(text: &[u8], mut i: usize, bits: u8) -> Result<usize, usize> {
    loop {
        i = if bits & (classes::PATH | classes::QUERY) != 0 {
            skip_common::<true>(text, i)
        } else {
            skip_common::<false>(text, i)
        };
        if class(text, i) & bits != 0 {
            i += 1;
        } else if byte(text, i) != b'%' {
            return Ok(i);
        } else if class(text, i + 1) & class(text, i + 2) & classes::HEXDIG != 0 {
            i += 3;
        } else {
            return Err(i);
        }
    }
}

/// Split and check in one: the spans, or the offset at which the text stops being derivable.
///
/// `zone` reads RFC 6874 zone identifiers too.  A text of 4 GiB or more is refused at its length.
pub fn parse(text: &[u8], rule: Rule, zone: bool) -> Result<Spans, usize> {
    if text.len() >= OMITTED as usize {
        return Err(text.len());
    }
    let mut spans = Spans::EMPTY;
    let mut i = 0;
    // 3.1
    if class(text, 0) & classes::ALPHA != 0 {
        let mut end = 1;
        while class(text, end) & classes::SCHEME != 0 {
            end += 1;
        }
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
        i = authority(text, i + 2, zone, &mut spans)?;
    }
    spans.path = i as u32;
    // 3.3; the first segment of a relative-path reference has no colon (4.2)
    let start = i;
    i = skip(text, i, classes::PATH)?;
    if spans.scheme_end == OMITTED && spans.authority == OMITTED {
        for (at, &b) in text[start..i].iter().enumerate() {
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
        i = skip(text, i + 1, classes::QUERY)?;
        spans.query_end = i as u32;
    }
    if byte(text, i) == b'#' && i < text.len() {
        spans.fragment = (i + 1) as u32;
        i = skip(text, i + 1, classes::QUERY)?;
    }
    if i == text.len() {
        Ok(spans)
    } else {
        Err(i)
    }
}

/// 3.2 from the byte after "//"; returns the end of the authority.
#[inline(always)]
fn authority(text: &[u8], start: usize, zone: bool, spans: &mut Spans) -> Result<usize, usize> {
    spans.authority = start as u32;
    // Until an "@" or the end is seen, a colon may be the userinfo's or the port's.
    let mut end = skip(text, start, classes::USERINFO)?;
    let mut host = start;
    if byte(text, end) == b'@' {
        spans.userinfo_end = end as u32;
        host = end + 1;
        end = host;
        if byte(text, end) != b'[' {
            end = skip(text, end, classes::REG_NAME)?;
        }
    }
    if end == host && byte(text, end) == b'[' {
        end = host::ip_literal(text, host, zone)?;
    } else if host == start {
        end = match memchr::memchr(b':', &text[start..end]) {
            Some(colon) => start + colon,
            None => end,
        };
    }
    spans.host_end = end as u32;
    if byte(text, end) == b':' {
        end += 1;
        while byte(text, end).is_ascii_digit() {
            end += 1;
        }
    }
    match text.get(end) {
        None | Some(b'/' | b'?' | b'#') => Ok(end),
        Some(_) => Err(end),
    }
}
