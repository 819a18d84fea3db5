//! Assembling a text from pieces (RFC 3986 5.3), for every edit of a value and every build.

use crate::place::{Component, Spans};
use crate::resolve::Parsed;

/// The components of a new text: pieces of the old one, and the caller's.
///
/// Without a host the text has no authority: userinfo and port are not written.
#[derive(Clone, Copy, Default)]
#[expect(missing_docs, reason = "the names are those of the document")]
pub struct Pieces<'a> {
    pub scheme: Option<&'a [u8]>,
    pub userinfo: Option<&'a [u8]>,
    pub host: Option<&'a [u8]>,
    pub port: Option<&'a [u8]>,
    pub path: &'a [u8],
    pub query: Option<&'a [u8]>,
    pub fragment: Option<&'a [u8]>,
}

impl<'a> Pieces<'a> {
    /// The pieces of a text.
    pub fn of(value: Parsed<'a>) -> Self {
        let get = |component| value.spans.get(component, value.text.len()).map(|span| span.of(value.text));
        Pieces {
            scheme: get(Component::Scheme),
            userinfo: get(Component::Userinfo),
            host: get(Component::Host),
            port: get(Component::Port),
            path: value.path(),
            query: get(Component::Query),
            fragment: get(Component::Fragment),
        }
    }

    /// Write the text, and return the spans of its components.
    ///
    /// The caller must check the text: it is valid, and has these components, if `parse` finds the same spans.
    pub fn write(&self, out: &mut Vec<u8>) -> Spans {
        let start = out.len();
        let at = |out: &Vec<u8>| (out.len() - start) as u32;
        let mut spans = Spans::EMPTY;
        if let Some(scheme) = self.scheme {
            out.extend_from_slice(scheme);
            spans.scheme_end = at(out);
            out.push(b':');
        }
        if let Some(host) = self.host {
            out.extend_from_slice(b"//");
            spans.authority = at(out);
            if let Some(userinfo) = self.userinfo {
                out.extend_from_slice(userinfo);
                spans.userinfo_end = at(out);
                out.push(b'@');
            }
            out.extend_from_slice(host);
            spans.host_end = at(out);
            if let Some(port) = self.port {
                out.push(b':');
                out.extend_from_slice(port);
            }
        }
        spans.path = at(out);
        out.extend_from_slice(self.path);
        spans.path_end = at(out);
        if let Some(query) = self.query {
            out.push(b'?');
            out.extend_from_slice(query);
            spans.query_end = at(out);
        }
        if let Some(fragment) = self.fragment {
            out.push(b'#');
            spans.fragment = at(out);
            out.extend_from_slice(fragment);
        }
        spans
    }
}

/// Split a path after its last "/": the part up to it, and the segment after it.
pub fn split_path(path: &[u8]) -> (&[u8], &[u8]) {
    path.split_at_checked(memchr::memrchr(b'/', path).map_or(0, |at| at + 1)).unwrap_or((path, b""))
}

/// The offset of a segment's suffix: of its last "." (plain or escaped), or its end if it has none.
pub fn suffix_start(name: &[u8]) -> usize {
    let plain = memchr::memrchr(b'.', name).map(|at| (at, 1));
    let escaped = name.windows(3).rposition(|three| matches!(three, b"%2E" | b"%2e")).map(|at| (at, 3));
    match plain.max(escaped) {
        Some((at, length)) if at > 0 && at + length < name.len() => at,
        _ => name.len(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse::{parse, Rule};
    use crate::place::Part;

    #[test]
    fn the_pieces_of_a_text_restore_it() {
        for text in ["", "a", "//h", "x:", "x://u@h:1/p?q#f", "x://@:?#", "//[::1]:/", "x:a/b?#f", "?", "#"] {
            let spans = parse(text.as_bytes(), Rule::UriReference, false).unwrap();
            let mut out = Vec::new();
            let written_spans = Pieces::of(Parsed { text: text.as_bytes(), spans: &spans }).write(&mut out);
            assert_eq!((out.as_slice(), written_spans), (text.as_bytes(), spans), "{text}");
        }
    }

    #[test]
    fn suffixes_begin_at_the_last_dot() {
        for (name, suffix) in
            [("a.b.c", ".c"), ("a%2Etxt", "%2Etxt"), (".a", ""), ("a.", ""), ("", ""), ("a.b%2e", "")]
        {
            assert_eq!(name.as_bytes().part(suffix_start(name.as_bytes())..), suffix.as_bytes(), "{name}");
        }
    }
}
