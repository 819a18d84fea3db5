//! Characters beyond US-ASCII: their offsets in a text, and their roles in an IRI (RFC 3987 2.2, 3.2).

use crate::classes::{self, IPRIVATE, UCSCHAR};
use crate::place::{At, Part};

/// The bit of characters that most components allow.
pub const IN_ALL: u8 = 1;
/// The bit of characters that only queries allow.
pub const IN_QUERIES: u8 = 2;
/// The bit of characters that always replace their escapes.
pub const SHOWN: u8 = 4;
/// The bit of a block whose characters differ.
const MIXED: u8 = 0x80;

/// Characters in a block: those whose UTF-8 differs only in the last byte.
const BLOCK: usize = 64;

/// The bits of each block.
static BLOCKS: [u8; 0x11_0000 / BLOCK] = {
    let mut blocks = [0; 0x11_0000 / BLOCK];
    mark(&mut blocks, &UCSCHAR, IN_ALL);
    mark(&mut blocks, &IPRIVATE, IN_QUERIES);
    mark(&mut blocks, &classes::SHOWN, SHOWN);
    blocks
};

/// Set a bit of each block that the ranges cover, and `MIXED` of each that they cover in part.
#[expect(
    clippy::indexing_slicing,
    reason = "evaluated at compile time: an index out of range is a compile error"
)]
const fn mark(blocks: &mut [u8], ranges: &[(char, char)], bit: u8) {
    let mut i = 0;
    while i < ranges.len() {
        let (first, end) = (ranges[i].0 as usize, ranges[i].1 as usize + 1);
        let mut block = first / BLOCK;
        while block * BLOCK < end {
            let is_covered = first <= block * BLOCK && (block + 1) * BLOCK <= end;
            blocks[block] |= if is_covered { bit } else { MIXED };
            block += 1;
        }
        i += 1;
    }
}

/// For each lead byte of UTF-8, the bits that all its characters share; all bits for the other bytes.
#[expect(
    clippy::indexing_slicing,
    reason = "evaluated at compile time: an index out of range is a compile error"
)]
static BITS_BY_LEAD: [u8; 256] = {
    let mut bits = [0xFF; 256];
    let mut block = 0x80 / BLOCK;
    while block < BLOCKS.len() {
        let first = block * BLOCK;
        let lead_byte = match first {
            0..0x800 => 0xC0 | first >> 6,
            0x800..0x1_0000 => 0xE0 | first >> 12,
            _ => 0xF0 | first >> 18,
        };
        // A text has no surrogates.
        if first < 0xD800 || first >= 0xE000 {
            bits[lead_byte] &= if BLOCKS[block] & MIXED == 0 { BLOCKS[block] } else { 0 };
        }
        block += 1;
    }
    bits
};

/// Bits that all characters of a text beyond US-ASCII share; they may share others too.
pub fn common(text: &str) -> u8 {
    text.bytes().fold(0xFF, |bits, octet| bits & BITS_BY_LEAD.at(usize::from(octet)))
}

/// The bits of a non-ASCII character.
#[inline]
pub fn kind(c: char) -> u8 {
    match BLOCKS.at(c as usize / BLOCK) {
        MIXED.. => class_of_mixed(c),
        bits => bits,
    }
}

#[cold]
fn class_of_mixed(c: char) -> u8 {
    let bit = |ranges, bit| if within(c, ranges) { bit } else { 0 };
    bit(&UCSCHAR, IN_ALL) | bit(&IPRIVATE, IN_QUERIES) | bit(&classes::SHOWN, SHOWN)
}

/// Whether one of the ranges, which are in ascending order, contains the character.
pub fn within(c: char, ranges: &[(char, char)]) -> bool {
    let next = ranges.partition_point(|(first, _)| *first <= c);
    next.checked_sub(1).and_then(|at| ranges.get(at)).is_some_and(|(_, last)| c <= *last)
}

/// The characters of a text beyond US-ASCII, with their offsets.
pub struct NonAscii<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> NonAscii<'a> {
    /// The characters of this text.
    pub fn of(text: &'a str) -> Self {
        NonAscii { text, at: 0 }
    }
}

impl Iterator for NonAscii<'_> {
    type Item = (usize, char);

    #[inline]
    fn next(&mut self) -> Option<(usize, char)> {
        const HIGH: u64 = 0x8080_8080_8080_8080;
        let octets = self.text.as_bytes();
        while let Some(block) = octets.get(self.at..).and_then(<[u8]>::first_chunk::<8>) {
            let high = u64::from_le_bytes(*block) & HIGH;
            if high != 0 {
                self.at += high.trailing_zeros() as usize / 8;
                break;
            }
            self.at += 8;
        }
        while octets.get(self.at)?.is_ascii() {
            self.at += 1;
        }
        let (at, c) = (self.at, self.text.part(self.at..).chars().next()?);
        self.at += c.len_utf8();
        Some((at, c))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_say_what_ranges_say() {
        for c in '\u{80}'..=char::MAX {
            assert_eq!(kind(c), class_of_mixed(c), "{c:?}");
        }
    }

    #[test]
    fn characters_and_their_places() {
        let text = "é1234567ß12345678\u{10400}ü";
        assert_eq!(
            NonAscii::of(text).collect::<Vec<_>>(),
            text.char_indices().filter(|(_, c)| !c.is_ascii()).collect::<Vec<_>>()
        );
        assert_eq!(NonAscii::of("a234567890").next(), None);
    }

    #[test]
    fn bits_by_lead_are_those_that_all_characters_share() {
        let mut all = [0xFF; 256];
        for c in '\u{80}'..=char::MAX {
            let text = c.to_string();
            all[usize::from(text.as_bytes()[0])] &= kind(c);
            assert_eq!(common(&text) & !kind(c), 0, "{c:?}");
        }
        assert_eq!((common("ab"), common("aé漢"), common("é\u{200e}") & IN_ALL), (0xFF, IN_ALL | SHOWN, 0));
        // Mixed blocks reduce the bits of few lead bytes.
        let less = (0x80..=0xFF)
            .filter(|&octet: &usize| BITS_BY_LEAD[octet] != all[octet] && all[octet] != 0xFF)
            .count();
        assert!(less < 8, "{less}");
    }
}
