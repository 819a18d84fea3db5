//! Percent-encoding (RFC 3986 2.1).

use crate::classes::{self, CLASS};
use crate::place::{At, Part};

/// A set of the bytes that need no escape, as the output of each byte: up to three bytes, and their number.
#[derive(Clone)]
pub struct Safe([[u8; 4]; 256]);

static UNRESERVED: Safe = Safe::members(classes::UNRESERVED);

impl Safe {
    /// The empty set: every byte becomes `%HH`.
    #[expect(
        clippy::indexing_slicing,
        reason = "evaluated at compile time: an index out of range is a compile error"
    )]
    pub(crate) const NONE: Safe = {
        let mut pieces = [[0; 4]; 256];
        let mut i = 0;
        while i < 256 {
            pieces[i] = [b'%', HEX[i >> 4], HEX[i & 15], 3];
            i += 1;
        }
        Safe(pieces)
    };

    /// All of US-ASCII, including "%".
    #[expect(
        clippy::indexing_slicing,
        reason = "evaluated at compile time: an index out of range is a compile error"
    )]
    pub(crate) const US_ASCII: Safe = {
        let mut set = Self::NONE;
        let mut i = 0;
        while i < 128 {
            set.0[i] = [i as u8, 0, 0, 1];
            i += 1;
        }
        set
    };

    /// The members of a class.
    #[expect(
        clippy::indexing_slicing,
        reason = "evaluated at compile time: an index out of range is a compile error"
    )]
    pub(crate) const fn members(bits: u8) -> Self {
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

    /// The bytes from `first` to `last`, both of US-ASCII.
    #[expect(
        clippy::indexing_slicing,
        reason = "evaluated at compile time: an index out of range is a compile error"
    )]
    pub(crate) const fn between(first: u8, last: u8) -> Self {
        let mut set = Self::NONE;
        let mut octet = first;
        while octet <= last {
            set.0[octet as usize] = [octet, 0, 0, 1];
            octet += 1;
        }
        set
    }

    /// The set with another byte.
    #[expect(clippy::indexing_slicing, reason = "there is a piece for each octet")]
    pub(crate) const fn with(mut self, octet: u8) -> Self {
        self.0[octet as usize] = [octet, 0, 0, 1];
        self
    }

    /// The set without a byte.
    #[expect(clippy::indexing_slicing, reason = "there is a piece for each octet")]
    pub(crate) const fn without(mut self, octet: u8) -> Self {
        self.0[octet as usize] = Self::NONE.0[octet as usize];
        self
    }

    /// The set of bytes that data keeps unescaped in the named component (`DATA_RULES` in `encoding.py`): no reserved
    /// character (2.2).
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
            if let Some(piece) = set.0.get_mut(usize::from(b)) {
                *piece = [b, 0, 0, 1];
            }
        }
        set
    }

    /// The length of the longest prefix of the data whose bytes are all in the set.
    pub fn prefix(&self, data: &[u8]) -> usize {
        data.iter().position(|&b| self.0.at(b as usize)[3] != 1).unwrap_or(data.len())
    }
}

const HEX: &[u8; 16] = b"0123456789ABCDEF";

/// Write the data; every byte that is not safe becomes `%HH`.
pub fn encode(data: &[u8], safe: &Safe, out: &mut Vec<u8>) {
    // Four bytes are written for each piece, and the next piece overwrites the excess: no branch depends on the byte.
    for block in data.chunks(4096) {
        let mut end = out.len();
        out.resize(end + 3 * block.len() + 1, 0);
        for &b in block {
            let piece = safe.0.at(b as usize);
            if let Some(place) = out.get_mut(end..end + 4) {
                place.copy_from_slice(&piece);
            }
            end += usize::from(piece[3]);
        }
        out.truncate(end);
    }
}

/// The octet of the escape at `i`; None if there is no valid escape.
#[inline]
pub fn octet(text: &[u8], i: usize) -> Option<u8> {
    match text.get(i..i + 3) {
        Some(&[b'%', high, low]) => {
            let (high, low) = (DIGIT.at(high as usize), DIGIT.at(low as usize));
            ((high | low) <= 15).then_some(high << 4 | low)
        }
        _ => None,
    }
}

/// The value of each hexadecimal digit; 0xFF for the other bytes.
#[expect(
    clippy::indexing_slicing,
    reason = "evaluated at compile time: an index out of range is a compile error"
)]
static DIGIT: [u8; 256] = {
    let mut digits = [0xFF; 256];
    let mut i = 0;
    while i < 256 {
        let byte = i as u8;
        if CLASS[i] & classes::HEXDIG != 0 {
            // The value of a letter of either case is the low half of its code plus nine.
            digits[i] = (byte & 15) + if byte > b'9' { 9 } else { 0 };
        }
        i += 1;
    }
    digits
};

/// Decode every escape; `Err` at a "%" that two hexadecimal digits do not follow.
///
/// Returns whether an escape stands for an octet beyond US-ASCII: if none does, decoded UTF-8 is still UTF-8.
pub fn decode(text: &[u8], out: &mut Vec<u8>) -> Result<bool, usize> {
    let start = out.len();
    // Whole words are written, and the next word overwrites the excess.
    out.resize(start + text.len() + WORD, 0);
    let (mut i, mut end) = (0, start);
    let mut all = 0;
    while i < text.len() {
        if text.at(i) == b'%' {
            let Some(octet) = octet(text, i) else {
                out.truncate(start);
                return Err(i);
            };
            put(out, end, &[octet]);
            all |= octet;
            i += 3;
            end += 1;
            continue;
        }
        let count = match text.part(i..).first_chunk::<WORD>() {
            Some(word) => {
                put(out, end, word);
                before_percent(u64::from_le_bytes(*word))
            }
            None => {
                put(out, end, &[text.at(i)]);
                1
            }
        };
        i += count;
        end += count;
    }
    out.truncate(end);
    Ok(all >= 0x80)
}

/// Decode every valid escape, and with `plus` every "+" to a space; keep any other "%".
pub fn decode_or_keep(text: &[u8], plus: bool, out: &mut Vec<u8>) {
    let space = if plus { b'+' } else { b'%' };
    let mut remaining = text;
    while let Some(at) = memchr::memchr2(b'%', space, remaining) {
        out.extend_from_slice(remaining.part(..at));
        let (octet, length) = match octet(remaining, at) {
            Some(octet) => (octet, 3),
            None if remaining.at(at) == b'+' => (b' ', 1),
            None => (b'%', 1),
        };
        out.push(octet);
        remaining = remaining.part(at + length..);
    }
    out.extend_from_slice(remaining);
}

/// `decode` for machines with AVX2; `onward` begins with the text and may go on past its `length`.
///
/// # Safety
/// The machine must have AVX2, BMI1, BMI2 and LZCNT, as `quickest!` checks.
#[cfg(avx2)]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt")]
pub fn decode_avx2(onward: &[u8], length: usize, out: &mut Vec<u8>) -> Result<bool, usize> {
    let start = out.len();
    // Whole words are written, and the next word overwrites the excess.
    out.resize(start + length + WORD, 0);
    let (mut at, mut end) = (0, start);
    let mut decoder = crate::avx2::Decoder::default();
    while at < length {
        let pieces = decoder.decode(onward.part(at..), length - at);
        let pieces = pieces.map_err(|wrong| {
            out.truncate(start);
            at + wrong
        })?;
        for (word, count) in pieces {
            put(out, end, &word);
            end += count;
        }
        at += 32;
    }
    out.truncate(end);
    Ok(decoder.is_beyond_ascii)
}

const WORD: usize = 8;

/// Write N bytes at a place that has room for them.
#[inline(always)]
fn put<const N: usize>(out: &mut [u8], at: usize, octets: &[u8; N]) {
    if let Some(place) = out.get_mut(at..).and_then(|tail| tail.first_chunk_mut::<N>()) {
        *place = *octets;
    }
}

/// The number of bytes in a word before the first "%".
fn before_percent(word: u64) -> usize {
    const ONES: u64 = 0x0101_0101_0101_0101;
    let difference = word ^ (ONES * u64::from(b'%'));
    // This sets the high bit of the lowest zero byte, and perhaps that of some higher bytes.
    let zero = difference.wrapping_sub(ONES) & !difference & ONES << 7;
    zero.trailing_zeros() as usize / 8
}
