//! Percent-encoding (RFC 3986 2.1).

use crate::classes::{self, CLASS};

/// A set of the bytes that need no escape, as what each byte becomes: up to three bytes, and how many.
#[derive(Clone)]
pub struct Safe([[u8; 4]; 256]);

static UNRESERVED: Safe = Safe::members(classes::UNRESERVED);

impl Safe {
    /// Nothing: every byte becomes `%HH`.
    pub(crate) const NONE: Safe = {
        let mut pieces = [[0; 4]; 256];
        let mut i = 0;
        while i < 256 {
            pieces[i] = [b'%', HEX[i >> 4], HEX[i & 15], 3];
            i += 1;
        }
        Safe(pieces)
    };

    /// The members of a class.
    const fn members(bits: u8) -> Self {
        let mut set = Self::NONE;
        let mut i = 0;
        while i < 256 {
            if CLASS[i] & bits != 0 {
                set.0[i] = [i as u8, 0, 0, 1];
            }
            i += 1;
        }
        set
    }

    /// What data keeps unescaped in a component of that name (`DATA_RULES` in `encoding.py`): no reserved character
    /// (2.2).
    pub fn of(component: &str) -> Option<&'static Self> {
        match component {
            "segment" | "segment-nz" | "segment-nz-nc" | "pchar" | "path" | "query" | "fragment"
            | "userinfo" | "host" | "reg-name" | "unreserved" => Some(&UNRESERVED),
            _ => None,
        }
    }

    /// The set of these US-ASCII characters.
    pub fn new(characters: &[u8]) -> Self {
        let mut set = Self::NONE;
        for &b in characters {
            set.0[b as usize] = [b, 0, 0, 1];
        }
        set
    }

    /// How many bytes of the data are in the set before the first that is not.
    pub fn prefix(&self, data: &[u8]) -> usize {
        data.iter().position(|&b| self.0[b as usize][3] != 1).unwrap_or(data.len())
    }
}

const HEX: &[u8; 16] = b"0123456789ABCDEF";

/// Every byte that is not safe becomes `%HH`.
pub fn encode(data: &[u8], safe: &Safe, out: &mut Vec<u8>) {
    // Whole pieces are written, of which the next covers what is too much: no branch asks which byte is safe.
    for block in data.chunks(4096) {
        let mut end = out.len();
        out.resize(end + 3 * block.len() + 1, 0);
        for &b in block {
            let piece = safe.0[b as usize];
            if let Some(place) = out.get_mut(end..end + 4) {
                place.copy_from_slice(&piece);
            }
            end += usize::from(piece[3]);
        }
        out.truncate(end);
    }
}

/// The octet of the escape at `i`, if a whole one stands there.
#[inline]
pub fn octet(text: &[u8], i: usize) -> Option<u8> {
    match text.get(i..i + 3) {
        Some(&[b'%', high, low]) if CLASS[high as usize] & CLASS[low as usize] & classes::HEXDIG != 0 => {
            Some(nibble(high) << 4 | nibble(low))
        }
        _ => None,
    }
}

#[inline]
fn nibble(digit: u8) -> u8 {
    // Letters of either case follow nine past the low half of their code.
    (digit & 15) + if digit > b'9' { 9 } else { 0 }
}

/// Every whole escape becomes its octet; `Err` at a "%" that two hexadecimal digits do not follow.
pub fn decode(text: &[u8], out: &mut Vec<u8>) -> Result<(), usize> {
    out.reserve(text.len());
    let mut done = 0;
    for at in memchr::memchr_iter(b'%', text) {
        out.extend_from_slice(&text[done..at]);
        out.push(octet(text, at).ok_or(at)?);
        done = at + 3;
    }
    out.extend_from_slice(&text[done..]);
    Ok(())
}
