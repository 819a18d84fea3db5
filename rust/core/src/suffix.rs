//! Registrable domains by the rules of a list (publicsuffix.org, The Algorithm), which the caller brings.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use memchr::memrchr;

use crate::place::{At, Part};

/// A rule of just this name.
pub const EXACT: u8 = 1;
/// A rule of the names with one label before this one.
pub const WILDCARD: u8 = 2;
/// A rule that this name is none of a wildcard's.
pub const EXCEPTION: u8 = 4;
/// How far the same flags are shifted for the private section.
pub const PRIVATE: u8 = 3;

/// FNV-1a: names are short, and who asks does not choose what is in the table.
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
    fn write_usize(&mut self, _: usize) {} // the length of a slice, of which its octets say enough

    fn finish(&self) -> u64 {
        self.0
    }
}

/// The names of a list in lower case, each with what its rules say; every name above one of them is there too.
pub struct Suffixes(HashMap<Box<[u8]>, u8, BuildHasherDefault<Fnv>>);

/// What a host's name is cut into.
#[derive(Debug, PartialEq, Eq)]
pub enum Cut {
    /// An address, or a name with an empty label.
    Nothing,
    /// Not decided here: the host has escapes, or characters beyond US-ASCII.
    Open,
    /// Where the registrable domain begins, if there is one, where the public suffix does, and where the name ends.
    At(Option<usize>, usize, usize),
}

impl Suffixes {
    /// The rules by name.
    pub fn new(names: impl IntoIterator<Item = (String, u8)>) -> Self {
        Suffixes(
            names.into_iter().map(|(name, flags)| (name.into_bytes().into_boxed_slice(), flags)).collect(),
        )
    }

    /// A host cut by the rule that prevails: an exception, or the one with the most labels, or "*" (one label).
    pub fn cut(&self, host: &[u8], private: bool, lower: &mut Vec<u8>) -> Cut {
        let (mut upper, mut labels) = (false, true);
        let mut last = b'.';
        for &b in host {
            if b == b'%' || !b.is_ascii() {
                return Cut::Open;
            }
            upper |= b.is_ascii_uppercase();
            labels &= b != b'.' || last != b'.';
            last = b;
        }
        let name = host.strip_suffix(b".").unwrap_or(host);
        if name.is_empty() || name.at(0) == b'[' || !labels {
            return Cut::Nothing;
        }
        if is_number(name.part(label(name, name.len())..)) {
            return Cut::Nothing;
        }
        let suffix = if upper {
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

    /// Where the public suffix begins.
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

/// Where the label begins that ends at `end`.
fn label(name: &[u8], end: usize) -> usize {
    memrchr(b'.', name.part(..end)).map_or(0, |dot| dot + 1)
}

/// No top-level domain is a number (RFC 3696 2): what ends in one is an address, in whatever spelling.
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
