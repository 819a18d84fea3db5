//! Skip the most common characters of components, eight bytes at a time.
//!
//! This is safe arithmetic on a 64-bit word, so it gives the same result on every machine.

const ONES: u64 = 0x0101_0101_0101_0101;
const HIGH: u64 = 0x8080_8080_8080_8080;

/// Set the high bit of each byte in `low..=high`; all bytes must be below 0x80.
#[inline(always)]
fn in_range(word: u64, low: u8, high: u8) -> u64 {
    (word + ONES * u64::from(0x80 - low)) & !(word + ONES * u64::from(0x7F - high)) & HIGH
}

/// Skip letters, digits, "-" and "."; with `PATH`, "/" and "_" too.  Stops at any other byte, or near the end.
#[inline(always)]
pub fn skip_common<const PATH: bool>(text: &[u8], mut i: usize) -> usize {
    while let Some(block) = text.get(i..).and_then(<[u8]>::first_chunk::<8>) {
        let word = u64::from_le_bytes(*block);
        let low = word & !HIGH;
        let letters = in_range(low | (ONES * 0x20), b'a', b'z');
        let marks = if PATH {
            in_range(low, b'-', b'9') | in_range(low, b'_', b'_')
        } else {
            in_range(low, b'-', b'.') | in_range(low, b'0', b'9')
        };
        let foreign = (!(letters | marks) | word) & HIGH;
        if foreign != 0 {
            return i + foreign.trailing_zeros() as usize / 8;
        }
        i += 8;
    }
    i
}
