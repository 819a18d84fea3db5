//! Registrable domains by the rules of a list (publicsuffix.org, The Algorithm), which the caller passes.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use memchr::memrchr;

use crate::place::{At, Part};

/// A rule for exactly this name.
pub const EXACT: u8 = 1;
/// A wildcard rule: for the names with one label before this one.
pub const WILDCARD: u8 = 2;
/// An exception rule: a wildcard does not match this name.
pub const EXCEPTION: u8 = 4;
/// The shift of the same flags for the private section, in bits.
pub const PRIVATE: u8 = 3;

/// FNV-1a: names are short, and an attacker cannot choose the names in the table.
pub struct Fnv(u64);

impl Default for Fnv {
    fn default() -> Self {
        Fnv(0xcbf2_9ce4_8422_2325)
    }
}

impl Hasher for Fnv {
    #[inline]
    fn write(&mut self, octets: &[u8]) {
        for &b in octets {
            self.0 = (self.0 ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3);
        }
    }

    #[inline]
    fn write_usize(&mut self, _: usize) {} // the length of a slice: its bytes suffice

    fn finish(&self) -> u64 {
        self.0
    }
}

/// The names of a list in lower case, each with the flags of its rules; the parents of each name are included.
pub struct Suffixes(HashMap<Box<[u8]>, u8, BuildHasherDefault<Fnv>>);

/// How a host splits into subdomain, registrable domain and public suffix.
#[derive(Debug, PartialEq, Eq)]
pub enum Cut {
    /// No split: an address, or a name with an empty label.
    Nothing,
    /// Not decided here: the host has escapes, or characters beyond US-ASCII.
    Open,
    /// The start of the registrable domain, if there is one; the start of the public suffix; the end of the name.
    At(Option<usize>, usize, usize),
}

impl Suffixes {
    /// A list from names and the flags of their rules.
    pub fn new(names: impl IntoIterator<Item = (String, u8)>) -> Self {
        Suffixes(
            names.into_iter().map(|(name, flags)| (name.into_bytes().into_boxed_slice(), flags)).collect(),
        )
    }

    /// Split a host by the prevailing rule: an exception, or the rule with the most labels, or "*" (one label).
    pub fn cut(&self, host: &[u8], private: bool, lower: &mut Vec<u8>) -> Cut {
        let (mut has_upper, mut has_all_labels) = (false, true);
        let mut last = b'.';
        for &b in host {
            if b == b'%' || !b.is_ascii() {
                return Cut::Open;
            }
            has_upper |= b.is_ascii_uppercase();
            has_all_labels &= b != b'.' || last != b'.';
            last = b;
        }
        let name = host.strip_suffix(b".").unwrap_or(host);
        if name.is_empty() || name.at(0) == b'[' || !has_all_labels {
            return Cut::Nothing;
        }
        if is_number(name.part(label(name, name.len())..)) {
            return Cut::Nothing;
        }
        let suffix = if has_upper {
            lower.clear();
            lower.extend(name.iter().map(u8::to_ascii_lowercase));
            self.suffix(lower, private)
        } else {
            self.suffix(name, private)
        };
        let registrable = match suffix {
            0 => None,
            at if at == name.len() => Some(label(name, at)),
            at => Some(label(name, at - 1)),
        };
        Cut::At(registrable, suffix, name.len())
    }

    /// The start of the public suffix.
    fn suffix(&self, name: &[u8], private: bool) -> usize {
        let (mut end, mut before) = (name.len(), name.len());
        let mut best = label(name, end);
        loop {
            let start = label(name, end);
            let Some(&flags) = self.0.get(name.part(start..)) else { return best };
            let flags = if private { flags | flags >> PRIVATE } else { flags };
            if flags & EXCEPTION != 0 {
                return before;
            }
            if flags & EXACT != 0 {
                best = start;
            }
            if start == 0 {
                return best;
            }
            (end, before) = (start - 1, start);
            if flags & WILDCARD != 0 {
                best = label(name, end);
            }
        }
    }
}

/// The start of the label that ends at `end`.
fn label(name: &[u8], end: usize) -> usize {
    memrchr(b'.', name.part(..end)).map_or(0, |dot| dot + 1)
}

/// Whether a label is a number: a host that ends in one is an address in some notation, because no top-level domain
/// is a number (RFC 3696 2).
fn is_number(label: &[u8]) -> bool {
    match label {
        [b'0', b'x' | b'X', digits @ ..] => digits.iter().all(u8::is_ascii_hexdigit),
        digits => digits.iter().all(u8::is_ascii_digit),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rule_that_prevails() {
        let rules = [("uk", EXACT), ("co.uk", EXACT), ("ck", WILDCARD), ("www.ck", EXCEPTION)];
        let shared = [("io", EXACT), ("a.io", EXACT << PRIVATE)];
        let list = Suffixes::new(rules.iter().chain(&shared).map(|&(name, flags)| (name.to_owned(), flags)));
        let cut = |host: &str, private| match list.cut(host.as_bytes(), private, &mut Vec::new()) {
            Cut::At(Some(at), suffix, end) => format!("{} {}", host.part(at..end), host.part(suffix..end)),
            Cut::At(None, suffix, end) => format!("- {}", host.part(suffix..end)),
            other => format!("{other:?}"),
        };
        for (host, wanted) in [
            ("a.B.Co.uk.", "B.Co.uk Co.uk"),
            ("co.uk", "- co.uk"),
            ("a.b.ck", "a.b.ck b.ck"),
            ("b.ck", "- b.ck"),
            ("ck", "- ck"),
            ("a.www.ck", "www.ck ck"),
            ("x.a.io", "x.a.io a.io"),
            ("a.example", "a.example example"),
            ("[::1]", "Nothing"),
            ("1.2.3.4", "Nothing"),
            ("a.0xF", "Nothing"),
            ("a..io", "Nothing"),
            (".io", "Nothing"),
            (".", "Nothing"),
            ("%61.io", "Open"),
        ] {
            assert_eq!(cut(host, true), wanted, "{host}");
        }
        assert_eq!(cut("x.a.io", false), "a.io io");
    }
}
