//! Percent-encoding (RFC 3986 2.1).

use crate::classes::{self, CLASS};

/// A set of the bytes that need no escape.
#[derive(Clone)]
pub struct Safe([bool; 256]);

impl Safe {
    /// The set of these US-ASCII characters.
    pub fn new(characters: &[u8]) -> Self {
        let mut set = [false; 256];
        for &b in characters {
            set[b as usize] = true;
        }
        Safe(set)
    }

    /// How many bytes of the data are in the set before the first that is not.
    pub fn prefix(&self, data: &[u8]) -> usize {
        data.iter().position(|&b| !self.0[b as usize]).unwrap_or(data.len())
    }
}

const HEX: &[u8; 16] = b"0123456789ABCDEF";

/// Every byte that is not safe becomes `%HH`.
pub fn encode(data: &[u8], safe: &Safe, out: &mut Vec<u8>) {
    out.reserve(data.len() + data.len() / 2);
    let mut rest = data;
    loop {
        let (plain, tail) = rest.split_at(safe.prefix(rest));
        out.extend_from_slice(plain);
        let Some((&b, tail)) = tail.split_first() else { return };
        out.extend_from_slice(&[b'%', HEX[(b >> 4) as usize], HEX[(b & 15) as usize]]);
        rest = tail;
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
