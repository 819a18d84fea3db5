//! Sixty-four bytes at a time, where the machine has AVX2: bitmaps of the classes, and runs of set bits.
//!
//! A class of US-ASCII is a set of pairs of nibbles: for each low nibble, one bit for each high nibble that makes
//! a member with it.  Two shuffles look the pair up for 32 bytes at once.

use std::arch::x86_64::{
    __m256i, _mm256_and_si256, _mm256_cmpeq_epi8, _mm256_movemask_epi8, _mm256_set1_epi8, _mm256_setr_epi64x,
    _mm256_setzero_si256, _mm256_shuffle_epi8, _mm256_srli_epi16,
};

use crate::classes::{self, CLASS};
use crate::parse::Class;
use crate::place::{At, Part};
use crate::split::End;

/// For each low nibble, the high nibbles that make a member of the class with it; as two words.
#[expect(
    clippy::indexing_slicing,
    reason = "worked out while it is compiled: what is out of range is an error there"
)]
const fn rows(bits: u8) -> [i64; 2] {
    let mut table = [0u8; 16];
    let mut byte = 0;
    while byte < 128 {
        if CLASS[byte] & bits != 0 {
            table[byte & 15] |= 1 << (byte >> 4);
        }
        byte += 1;
    }
    words(table)
}

const fn words(table: [u8; 16]) -> [i64; 2] {
    let whole = u128::from_le_bytes(table);
    [whole as i64, (whole >> 64) as i64]
}

const HIGH: [i64; 2] = words([1, 2, 4, 8, 16, 32, 64, 128, 0, 0, 0, 0, 0, 0, 0, 0]);
const SCHEME: [i64; 2] = rows(classes::SCHEME);
const REG_NAME: [i64; 2] = rows(classes::REG_NAME);
const HEXDIG: [i64; 2] = rows(classes::HEXDIG);

/// A table in both halves of a vector.
#[inline]
#[target_feature(enable = "avx2")]
fn table([low, high]: [i64; 2]) -> __m256i {
    _mm256_setr_epi64x(low, high, low, high)
}

#[inline]
#[target_feature(enable = "avx2")]
fn half(text: &[u8; 32]) -> __m256i {
    let (words, _) = text.as_chunks::<8>();
    let word = |k: usize| i64::from_le_bytes(words.at(k));
    _mm256_setr_epi64x(word(0), word(1), word(2), word(3))
}

/// Writes octets at a place where there is room for them.
#[inline(always)]
fn write(to: &mut [u8; 32], at: usize, octets: &[u8]) {
    if let Some(place) = to.get_mut(at..at + octets.len()) {
        place.copy_from_slice(octets);
    }
}

/// Two vectors that hold a window, and how far the second stands from the first.
struct Bytes {
    one: __m256i,
    two: __m256i,
    shift: u32,
    /// The bits of the bytes that are there.
    present: u64,
}

impl Bytes {
    #[inline]
    #[target_feature(enable = "avx2")]
    fn load(text: &[u8]) -> Self {
        let n = text.len();
        if let (Some(one), Some(two)) =
            (text.first_chunk::<32>(), text.get(32..).and_then(|t| t.first_chunk::<32>()))
        {
            return Bytes { one: half(one), two: half(two), shift: 32, present: u64::MAX };
        }
        let present = (1u64 << n) - 1;
        if let (Some(one), Some(two)) = (text.first_chunk::<32>(), text.last_chunk::<32>()) {
            return Bytes { one: half(one), two: half(two), shift: n as u32 - 32, present };
        }
        let mut padded = [0u8; 32];
        if let (Some(one), Some(two)) = (text.first_chunk::<16>(), text.last_chunk::<16>()) {
            write(&mut padded, 0, one);
            write(&mut padded, n - 16, two);
        } else {
            write(&mut padded, 0, text);
        }
        Bytes { one: half(&padded), two: _mm256_setzero_si256(), shift: 32, present }
    }

    /// One bit for each byte that `f` marks with 0xFF.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn bits(&self, one: __m256i, two: __m256i) -> u64 {
        let one = u64::from(_mm256_movemask_epi8(one) as u32);
        let two = u64::from(_mm256_movemask_epi8(two) as u32);
        (one | two << self.shift) & self.present
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn equal(&self, byte: u8) -> u64 {
        let all = _mm256_set1_epi8(byte as i8);
        self.bits(_mm256_cmpeq_epi8(self.one, all), _mm256_cmpeq_epi8(self.two, all))
    }
}

/// The nibbles of a vector.
struct Nibbles {
    low: __m256i,
    high: __m256i,
}

impl Nibbles {
    #[inline]
    #[target_feature(enable = "avx2")]
    fn of(bytes: __m256i) -> Self {
        let mask = _mm256_set1_epi8(15);
        let high = _mm256_and_si256(_mm256_srli_epi16::<4>(bytes), mask);
        Nibbles { low: _mm256_and_si256(bytes, mask), high: _mm256_shuffle_epi8(table(HIGH), high) }
    }

    /// 0 for each byte outside the class.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn foreign(&self, rows: [i64; 2]) -> __m256i {
        let found = _mm256_and_si256(_mm256_shuffle_epi8(table(rows), self.low), self.high);
        _mm256_cmpeq_epi8(found, _mm256_setzero_si256())
    }
}

/// Which bytes of up to 64 of a text may stand in each component.
pub struct Members {
    start: usize,
    last: bool,
    broken: u64,
    member: [u64; 5],
}

impl Members {
    /// A window that covers nothing.
    pub const NONE: Members = Members { start: usize::MAX - 64, last: false, broken: 0, member: [0; 5] };

    #[inline]
    #[target_feature(enable = "avx2")]
    fn load(text: &[u8], start: usize) -> Self {
        let rest = text.part(start..);
        let bytes = Bytes::load(rest);
        let (one, two) = (Nibbles::of(bytes.one), Nibbles::of(bytes.two));
        let class = |rows| !bytes.bits(one.foreign(rows), two.foreign(rows)) & bytes.present;
        let percent = bytes.equal(b'%');
        let mut escapes = 0;
        if percent != 0 {
            let hexdig = class(HEXDIG);
            escapes = percent & hexdig >> 1 & hexdig >> 2;
        }
        let reg_name = class(REG_NAME) | escapes;
        let userinfo = reg_name | bytes.equal(b':');
        let path = userinfo | bytes.equal(b'@') | bytes.equal(b'/');
        let query = path | bytes.equal(b'?');
        let member = [class(SCHEME), reg_name, userinfo, path, query];
        Members { start, last: rest.len() <= 64, broken: percent & !escapes, member }
    }

    /// Past every byte of the class and every whole escape (2.1); `Err` at a broken one.
    #[inline]
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt")]
    pub fn skip(&mut self, text: &[u8], mut i: usize, class: Class) -> Result<usize, usize> {
        loop {
            let at = i.wrapping_sub(self.start);
            if at < 64 {
                let end = at + (self.member.at(class as usize) >> at).trailing_ones() as usize;
                // Near the end of a window that is not the text's, an escape may go on in the next.
                if end < 62 || self.last {
                    let broken = end < 64 && self.broken >> end & 1 != 0;
                    let end = self.start + end;
                    return if broken { Err(end) } else { Ok(end) };
                }
                i = self.start + end;
            } else if self.last && at == 64 {
                return Ok(i);
            }
            *self = Members::load(text, i);
        }
    }
}

/// Which bytes of up to 64 of a text end each part that Appendix B cuts.
pub struct Ends {
    start: usize,
    end: [u64; 5],
}

impl Ends {
    /// A window that covers nothing.
    pub const NONE: Ends = Ends { start: usize::MAX - 64, end: [0; 5] };

    #[inline]
    #[target_feature(enable = "avx2")]
    fn load(text: &[u8], start: usize) -> Self {
        let bytes = Bytes::load(text.part(start..));
        let hash = bytes.equal(b'#');
        let path = hash | bytes.equal(b'?');
        let authority = path | bytes.equal(b'/');
        let unusual = authority | bytes.equal(b'@') | bytes.equal(b']');
        Ends { start, end: [authority | bytes.equal(b':'), authority, unusual, path, hash] }
    }

    /// The first byte from `i` on that ends such a part, or the end of the text.
    #[inline]
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt")]
    pub fn find(&mut self, text: &[u8], mut i: usize, end: End) -> usize {
        loop {
            let at = i.wrapping_sub(self.start);
            if at < 64 {
                let found = self.end.at(end as usize) >> at;
                if found != 0 {
                    return i + found.trailing_zeros() as usize;
                }
                i = self.start + 64;
            }
            if i >= text.len() {
                return text.len();
            }
            *self = Ends::load(text, i);
        }
    }
}
