//! Keys for comparison that are not URIs: SURT of web archives, and the text that Safe Browsing hashes.

use super::components::Components;
use super::paths::unescape_fully;
use super::queries::sort_pairs;
use crate::percent::{encode, Safe};
use crate::place::Part;

/// The key of a form.
pub(super) enum Key {
    Surt,
    SafeBrowsing,
}

/// All octets from 33 to 126 except "#" and "%".
static MINIMAL: Safe = Safe::between(33, 126).without(b'#').without(b'%');

impl Key {
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "surt" => Some(Key::Surt),
            "safe-browsing" => Some(Key::SafeBrowsing),
            _ => None,
        }
    }

    pub fn write(&self, uri: &Components, out: &mut Vec<u8>) {
        if !uri.has_authority {
            return uri.write(out);
        }
        match self {
            Key::Surt => surt(uri, out),
            Key::SafeBrowsing => hash_text(uri, out),
        }
    }
}

/// Write the SURT: labels and numbers of addresses in reverse order, everything in lower case.
fn surt(uri: &Components, out: &mut Vec<u8>) {
    let mut from = out.len();
    if uri.host.is_empty() {
        out.extend_from_slice(&uri.scheme);
        out.push(b':');
        from = out.len();
    } else {
        let mut name = uri.host.as_slice();
        while let Some(stripped) = name.strip_prefix(b"[").or_else(|| name.strip_prefix(b"]")) {
            name = stripped;
        }
        while let Some(stripped) = name.strip_suffix(b"]").or_else(|| name.strip_suffix(b"[")) {
            name = stripped;
        }
        for (number, label) in name.rsplit(|&b| b == b'.').enumerate() {
            if number > 0 {
                out.push(b',');
            }
            out.extend_from_slice(label);
        }
        if let Some(port) = uri.port.get().filter(|port| !port.is_empty()) {
            out.push(b':');
            out.extend_from_slice(port);
        }
        out.push(b')');
    }
    escape_minimally(&uri.path, out);
    if let Some(query) = uri.query.get() {
        out.push(b'?');
        let mut text = Vec::with_capacity(query.len());
        escape_minimally(query, &mut text);
        text.make_ascii_lowercase();
        sort_pairs(&text, out);
    }
    if let Some(key) = out.get_mut(from..) {
        key.make_ascii_lowercase();
    }
}

fn hash_text(uri: &Components, out: &mut Vec<u8>) {
    out.extend_from_slice(&uri.scheme);
    out.extend_from_slice(b"://");
    let mut authority = Vec::new();
    uri.write_authority(&mut authority);
    escape_minimally(&authority, out);
    escape_minimally(&uri.path, out);
    if let Some(query) = uri.query.get() {
        out.push(b'?');
        escape_minimally(query, out);
    }
}

fn escape_minimally(text: &[u8], out: &mut Vec<u8>) {
    if MINIMAL.prefix(text) == text.len() {
        out.extend_from_slice(text.part(..));
        return;
    }
    let mut octets = Vec::with_capacity(text.len());
    unescape_fully(text, &mut octets);
    encode(&octets, &MINIMAL, out);
}
