//! Percent-encoding (RFC 3986 2.1).

use crate::classes::{self, CLASS};
use crate::place::{At, Part};

/// A set of the bytes that need no escape, as what each byte becomes: up to three bytes, and how many.
#[derive(Clone)]
pub struct Safe([[u8; 4]; 256]);

static UNRESERVED: Safe = Safe::members(classes::UNRESERVED);

impl Safe {
    /// Nothing: every byte becomes `%HH`.
    #[expect(
        clippy::indexing_slicing,
        reason = "worked out while it is compiled: what is out of range is an error there"
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

    /// All of US-ASCII, "%" too.
    #[expect(
        clippy::indexing_slicing,
        reason = "worked out while it is compiled: what is out of range is an error there"
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
        reason = "worked out while it is compiled: what is out of range is an error there"
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

    /// The octets from one to another, both of US-ASCII.
    #[expect(
        clippy::indexing_slicing,
        reason = "worked out while it is compiled: what is out of range is an error there"
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

    /// One octet more.
    #[expect(clippy::indexing_slicing, reason = "there is a piece for each octet")]
    pub(crate) const fn with(mut self, octet: u8) -> Self {
        self.0[octet as usize] = [octet, 0, 0, 1];
        self
    }

    /// One octet less.
    #[expect(clippy::indexing_slicing, reason = "there is a piece for each octet")]
    pub(crate) const fn without(mut self, octet: u8) -> Self {
        self.0[octet as usize] = Self::NONE.0[octet as usize];
        self
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
            if let Some(piece) = set.0.get_mut(usize::from(b)) {
                *piece = [b, 0, 0, 1];
            }
        }
        set
    }

    /// How many bytes of the data are in the set before the first that is not.
    pub fn prefix(&self, data: &[u8]) -> usize {
        data.iter().position(|&b| self.0.at(b as usize)[3] != 1).unwrap_or(data.len())
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
            let piece = safe.0.at(b as usize);
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
        Some(&[b'%', high, low]) => {
            let (high, low) = (DIGIT.at(high as usize), DIGIT.at(low as usize));
            ((high | low) <= 15).then_some(high << 4 | low)
        }
        _ => None,
    }
}

/// What each hexadecimal digit stands for; of the other bytes, more than that.
#[expect(
    clippy::indexing_slicing,
    reason = "worked out while it is compiled: what is out of range is an error there"
)]
static DIGIT: [u8; 256] = {
    let mut digits = [0xFF; 256];
    let mut i = 0;
    while i < 256 {
        let byte = i as u8;
        if CLASS[i] & classes::HEXDIG != 0 {
            // Letters of either case follow nine past the low half of their code.
            digits[i] = (byte & 15) + if byte > b'9' { 9 } else { 0 };
        }
        i += 1;
    }
    digits
};

/// Every whole escape becomes its octet; `Err` at a "%" that two hexadecimal digits do not follow.
///
/// What is decoded out of UTF-8 is UTF-8 again, unless an escape stands for an octet beyond US-ASCII: whether one does.
pub fn decode(text: &[u8], out: &mut Vec<u8>) -> Result<bool, usize> {
    let start = out.len();
    // Whole words are written, of which the next covers what is too much.
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

/// Every whole escape becomes its octet, and with `plus` every "+" a space; any other "%" stays.
pub fn decode_or_keep(text: &[u8], plus: bool, out: &mut Vec<u8>) {
    let space = if plus { b'+' } else { b'%' };
    let mut rest = text;
    while let Some(at) = memchr::memchr2(b'%', space, rest) {
        out.extend_from_slice(rest.part(..at));
        let (octet, length) = match octet(rest, at) {
            Some(octet) => (octet, 3),
            None if rest.at(at) == b'+' => (b' ', 1),
            None => (b'%', 1),
        };
        out.push(octet);
        rest = rest.part(at + length..);
    }
    out.extend_from_slice(rest);
}

/// The same as `decode`, where the machine has AVX2; `onward` begins with the text and may go on past it.
///
/// # Safety
/// Only there: AVX2, BMI1, BMI2 and LZCNT, as `quickest!` finds out.
#[cfg(avx2)]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt")]
pub fn decode_avx2(onward: &[u8], length: usize, out: &mut Vec<u8>) -> Result<bool, usize> {
    let start = out.len();
    // Whole words are written, of which the next covers what is too much.
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

/// Writes so many octets at a place where there is room for them.
#[inline(always)]
fn put<const N: usize>(out: &mut [u8], at: usize, octets: &[u8; N]) {
    if let Some(place) = out.get_mut(at..).and_then(|rest| rest.first_chunk_mut::<N>()) {
        *place = *octets;
    }
}

/// How many bytes of a word stand before the first "%".
fn before_percent(word: u64) -> usize {
    const ONES: u64 = 0x0101_0101_0101_0101;
    let other = word ^ (ONES * u64::from(b'%'));
    // The lowest byte that is zero, and perhaps others above it, get their high bit.
    let zero = other.wrapping_sub(ONES) & !other & ONES << 7;
    zero.trailing_zeros() as usize / 8
}
