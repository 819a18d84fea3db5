//! The components of one URI while steps rewrite them.

use crate::place::{Part, Spans};

/// The components of a URI; undefined ones keep their buffers for the next row.
#[derive(Default)]
pub(crate) struct Components {
    pub scheme: Vec<u8>,
    pub has_authority: bool,
    pub userinfo: Text,
    pub host: Vec<u8>,
    pub port: Text,
    pub path: Vec<u8>,
    pub query: Text,
    pub fragment: Text,
    /// A buffer in which a new component is written before it replaces the old one.
    pub spare: Vec<u8>,
}

/// A component that may be undefined.
#[derive(Default)]
pub(crate) struct Text {
    is_defined: bool,
    text: Vec<u8>,
}

impl Text {
    pub fn get(&self) -> Option<&[u8]> {
        self.is_defined.then_some(&self.text)
    }

    /// The text to change, if there is one.
    pub fn get_mut(&mut self) -> Option<&mut Vec<u8>> {
        self.is_defined.then_some(&mut self.text)
    }

    pub fn clear(&mut self) {
        self.is_defined = false;
    }

    fn set(&mut self, text: Option<&[u8]>) {
        self.is_defined = text.is_some();
        fill(&mut self.text, text.unwrap_or_default());
    }
}

fn fill(buffer: &mut Vec<u8>, text: &[u8]) {
    buffer.clear();
    buffer.extend_from_slice(text);
}

/// Replace a text by what `write` writes for it.
pub(crate) fn rewrite(text: &mut Vec<u8>, spare: &mut Vec<u8>, write: impl FnOnce(&[u8], &mut Vec<u8>)) {
    spare.clear();
    write(text, spare);
    std::mem::swap(text, spare);
}

impl Components {
    pub fn read(&mut self, text: &[u8], spans: &Spans) {
        fill(&mut self.scheme, spans.scheme().map_or(b"", |span| span.of(text)));
        self.has_authority = spans.authority().is_some();
        self.userinfo.set(spans.userinfo().map(|span| span.of(text)));
        fill(&mut self.host, spans.host().map_or(b"", |span| span.of(text)));
        self.port.set(spans.port().map(|span| span.of(text)));
        fill(&mut self.path, spans.path().of(text));
        self.query.set(spans.query().map(|span| span.of(text)));
        self.fragment.set(spans.fragment(text.len()).map(|span| span.of(text)));
    }

    /// Prefix the path so that it is read back as a path (decision 3986-1).
    pub fn guard(&mut self) {
        if !self.has_authority && self.path.starts_with(b"//") {
            self.path.splice(..0, *b"/.");
        }
    }

    /// Whether the host is a name or an IPv4 address, and there is an authority.
    pub fn has_name(&self) -> bool {
        self.has_authority && self.host.first() != Some(&b'[')
    }

    /// Write the URI (5.3).
    pub fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.scheme);
        out.push(b':');
        if self.has_authority {
            out.extend_from_slice(b"//");
            self.write_authority(out);
        }
        out.extend_from_slice(&self.path);
        for (mark, text) in [(b'?', &self.query), (b'#', &self.fragment)] {
            if let Some(text) = text.get() {
                out.push(mark);
                out.extend_from_slice(text);
            }
        }
    }

    pub fn write_authority(&self, out: &mut Vec<u8>) {
        if let Some(userinfo) = self.userinfo.get() {
            out.extend_from_slice(userinfo);
            out.push(b'@');
        }
        out.extend_from_slice(&self.host);
        if let Some(port) = self.port.get() {
            out.push(b':');
            out.extend_from_slice(port);
        }
    }
}

/// Whether the scheme equals a name, in any case.
pub(crate) fn is_scheme(uri: &Components, name: &[u8]) -> bool {
    uri.scheme.eq_ignore_ascii_case(name)
}

/// A port without its leading zeros.
pub(crate) fn without_zeros(port: &[u8]) -> &[u8] {
    port.part(port.iter().take_while(|&&digit| digit == b'0').count()..)
}
