//! Characters beyond US-ASCII: where they stand in a text, and what each may be in an IRI (RFC 3987 2.2, 3.2).

use crate::classes::{self, IPRIVATE, UCSCHAR};
use crate::place::{At, Part};

/// The bit of what may stand in most components.
pub const IN_ALL: u8 = 1;
/// The bit of what may stand in queries alone.
pub const IN_QUERIES: u8 = 2;
/// The bit of what takes the place of its escapes wherever it stands.
pub const SHOWN: u8 = 4;
/// The bit of a block of which not all is the same.
const MIXED: u8 = 0x80;

/// Characters to a block: those whose UTF-8 differs in the last octet.
const BLOCK: usize = 64;

/// The bits of each block.
static BLOCKS: [u8; 0x11_0000 / BLOCK] = {
    let mut blocks = [0; 0x11_0000 / BLOCK];
    mark(&mut blocks, &UCSCHAR, IN_ALL);
    mark(&mut blocks, &IPRIVATE, IN_QUERIES);
    mark(&mut blocks, &classes::SHOWN, SHOWN);
    blocks
};

#[expect(
    clippy::indexing_slicing,
    reason = "worked out while it is compiled: what is out of range is an error there"
)]
const fn mark(blocks: &mut [u8], ranges: &[(char, char)], bit: u8) {
    let mut i = 0;
    while i < ranges.len() {
        let (first, end) = (ranges[i].0 as usize, ranges[i].1 as usize + 1);
        let mut block = first / BLOCK;
        while block * BLOCK < end {
            let whole = first <= block * BLOCK && (block + 1) * BLOCK <= end;
            blocks[block] |= if whole { bit } else { MIXED };
            block += 1;
        }
        i += 1;
    }
}

/// Of each octet that begins a character the bits that all such characters have; of the others all bits.
#[expect(
    clippy::indexing_slicing,
    reason = "worked out while it is compiled: what is out of range is an error there"
)]
static LEADS: [u8; 256] = {
    let mut leads = [0xFF; 256];
    let mut block = 0x80 / BLOCK;
    while block < BLOCKS.len() {
        let first = block * BLOCK;
        let lead = match first {
            0..0x800 => 0xC0 | first >> 6,
            0x800..0x1_0000 => 0xE0 | first >> 12,
            _ => 0xF0 | first >> 18,
        };
        // No text has surrogates.
        if first < 0xD800 || first >= 0xE000 {
            leads[lead] &= if BLOCKS[block] & MIXED == 0 { BLOCKS[block] } else { 0 };
        }
        block += 1;
    }
    leads
};

/// Bits that all characters of a text beyond US-ASCII have; they may have more in common.
pub fn common(text: &str) -> u8 {
    text.bytes().fold(0xFF, |bits, octet| bits & LEADS.at(usize::from(octet)))
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

/// Whether one of the ranges, which are in their order, has the character.
pub fn within(c: char, ranges: &[(char, char)]) -> bool {
    let next = ranges.partition_point(|(first, _)| *first <= c);
    next.checked_sub(1).and_then(|at| ranges.get(at)).is_some_and(|(_, last)| c <= *last)
}

/// The characters of a text beyond US-ASCII, and where each stands.
pub struct NonAscii<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> NonAscii<'a> {
    /// Those of this text.
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
    fn leads_say_what_all_have() {
        let mut all = [0xFF; 256];
        for c in '\u{80}'..=char::MAX {
            let text = c.to_string();
            all[usize::from(text.as_bytes()[0])] &= kind(c);
            assert_eq!(common(&text) & !kind(c), 0, "{c:?}");
        }
        assert_eq!((common("ab"), common("aé漢"), common("é\u{200e}") & IN_ALL), (0xFF, IN_ALL | SHOWN, 0));
        // What blocks of which not all is the same take from them is one octet's in ten.
        let less =
            (0x80..=0xFF).filter(|&octet: &usize| LEADS[octet] != all[octet] && all[octet] != 0xFF).count();
        assert!(less < 8, "{less}");
    }
}
