//! Skip idle tags: tags that have no chosen attribute, and begin no raw text.
//!
//! Most tags of a document are idle.  Here they cost only a search for their ends, by the rules of the tokenizer
//! (13.2.5.6 to 13.2.5.40).  Tags that may not be idle are left to the tokenizer.

use memchr::memchr;
use overthere_core::place::{At, Part};

use crate::tree::{TagAttributes, Tree};
use crate::{is_raw, Attributes};

/// The number of bytes of text and idle tags at the beginning; the tags are passed to the tree.
pub(crate) fn count_idle(octets: &[u8], attributes: &Attributes, tree: &mut Tree) -> usize {
    let mut at = 0;
    loop {
        let Some(text) = memchr(b'<', octets.part(at..)) else {
            return octets.len();
        };
        at += text;
        if tree.is_foreign() {
            return at;
        }
        let (tag, is_end) = match octets.get(at + 1) {
            Some(b'/') => (octets.part(at + 2..), true),
            _ => (octets.part(at + 1..), false),
        };
        let name = tag.part(..count(tag, LETTER));
        let Some(length) = idle_length(tag, name, is_end, attributes) else {
            return at;
        };
        if is_end {
            tree.end(name);
        } else {
            tree.start(name, TagAttributes::default());
        }
        at += 1 + usize::from(is_end) + length;
    }
}

/// The length of an idle tag after its "<" or "</", in bytes; None if the tokenizer must read it.
#[inline]
fn idle_length(tag: &[u8], name: &[u8], is_end: bool, attributes: &Attributes) -> Option<usize> {
    let begins_text = |name| is_raw(name) || matches!(name, b"svg" | b"math" | b"plaintext");
    if !name.first()?.is_ascii_lowercase() || !is_end && begins_text(name) {
        return None;
    }
    let mut at = name.len();
    if class(*tag.get(at)?) & NAME_END == 0 || tag.get(at) == Some(&b'=') {
        return None; // the name continues
    }
    loop {
        at += count(tag.part(at..), BLANK | SLASH);
        if *tag.get(at)? == b'>' {
            return Some(at + 1);
        }
        // A name may begin with "=" (13.2.5.32).
        let length = 1 + count_until(tag.part(at + 1..), NAME_END);
        if !is_end && attributes.may_have(tag.part(at..at + length)) {
            return None;
        }
        at += length;
        at += count(tag.part(at..), BLANK);
        if *tag.get(at)? == b'=' {
            at += 1 + value_length(tag.part(at + 1..))?;
        }
    }
}

/// The length of an attribute's value with the blanks before it (13.2.5.35 to 13.2.5.38); None if it does not end.
fn value_length(octets: &[u8]) -> Option<usize> {
    let at = count(octets, BLANK);
    match octets.get(at)? {
        quote @ (b'"' | b'\'') => Some(at + 2 + memchr(*quote, octets.part(at + 1..))?),
        _ => Some(at + count_until(octets.part(at..), VALUE_END)),
    }
}

const BLANK: u8 = 1;
const SLASH: u8 = 2;
/// A lower-case letter or digit.
const LETTER: u8 = 4;
/// A byte that ends the name of an attribute.
const NAME_END: u8 = 8;
/// A byte that ends an unquoted value.
const VALUE_END: u8 = 16;

/// The classes of each byte.
#[expect(
    clippy::indexing_slicing,
    reason = "evaluated by the compiler, which would refuse a place that is not there"
)]
static CLASSES: [u8; 256] = {
    let mut classes = [0; 256];
    let mut octet = 0;
    while octet < 256 {
        classes[octet] = match octet as u8 {
            b'\t' | b'\n' | 0x0C | b'\r' | b' ' => BLANK | NAME_END | VALUE_END,
            b'/' => SLASH | NAME_END,
            b'=' => NAME_END,
            b'>' => NAME_END | VALUE_END,
            b'a'..=b'z' | b'0'..=b'9' => LETTER,
            _ => 0,
        };
        octet += 1;
    }
    classes
};

fn class(octet: u8) -> u8 {
    CLASSES.at(usize::from(octet))
}

/// The number of bytes of these classes at the beginning.
fn count(octets: &[u8], classes: u8) -> usize {
    octets.iter().position(|octet| class(*octet) & classes == 0).unwrap_or(octets.len())
}

/// The number of bytes before the first of these classes.
fn count_until(octets: &[u8], classes: u8) -> usize {
    octets.iter().position(|octet| class(*octet) & classes != 0).unwrap_or(octets.len())
}
