//! Many bytes at a time, where the machine has AVX2: bitmaps of the classes, runs of set bits, and percent-decoding.
//!
//! A class of US-ASCII is a set of pairs of nibbles: for each low nibble, one bit for each high nibble that makes
//! a member with it.  Two shuffles look the pair up for 32 bytes at once.

use std::arch::x86_64::{
    __m128i, __m256i, _mm256_add_epi8, _mm256_and_si256, _mm256_blendv_epi8, _mm256_castsi256_si128,
    _mm256_cmpeq_epi8, _mm256_cmpgt_epi8, _mm256_extracti128_si256, _mm256_movemask_epi8, _mm256_or_si256,
    _mm256_set1_epi8, _mm256_setr_epi64x, _mm256_setzero_si256, _mm256_shuffle_epi8, _mm256_slli_epi16,
    _mm256_srli_epi16, _mm_cvtsi128_si64, _mm_cvtsi64_si128, _mm_shuffle_epi8, _mm_unpackhi_epi64,
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

/// How the bytes of a word whose bits are set in a mask are moved to its start, and how many they are.
#[expect(
    clippy::indexing_slicing,
    reason = "worked out while it is compiled: what is out of range is an error there"
)]
static KEPT: ([u64; 256], [u8; 256]) = {
    let (mut moves, mut counts) = ([0; 256], [0; 256]);
    let mut mask = 0;
    while mask < 256 {
        let mut byte = 0;
        while byte < 8 {
            if mask >> byte & 1 != 0 {
                moves[mask] |= byte << (8 * counts[mask]);
                counts[mask] += 1;
            }
            byte += 1;
        }
        mask += 1;
    }
    (moves, counts)
};

/// Percent-decoding, 32 bytes at a time.
#[derive(Default)]
pub struct Decoder {
    /// Whether an escape stands for an octet beyond US-ASCII.
    pub is_beyond_ascii: bool,
    /// The digits at the start of the next 32 bytes that belong to an escape before them, as bits.
    digits: u32,
}

impl Decoder {
    /// What 32 bytes become, of which `left` belong to the text: words, and how much of each counts.
    ///
    /// `Err` at a "%" that two hexadecimal digits do not follow.
    #[inline]
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt")]
    pub fn decode(&mut self, onward: &[u8], left: usize) -> Result<[([u8; 8], usize); 4], usize> {
        let mut padded = [0; 34];
        let window = onward.first_chunk::<34>().unwrap_or_else(|| {
            padded.iter_mut().zip(onward).for_each(|(to, from)| *to = *from);
            &padded
        });
        let from = |k: usize| window.get(k..).and_then(<[u8]>::first_chunk::<32>).unwrap_or(&[0; 32]);
        let (bytes, high, low) = (half(from(0)), half(from(1)), half(from(2)));
        let is_percent = _mm256_cmpeq_epi8(bytes, _mm256_set1_epi8(b'%' as i8));
        // Bits of what belongs to the text, and of where an escape has room.
        let bits = |count: usize| ((1u64 << count.min(32)) - 1) as u32;
        let present = bits(left);
        let percent = _mm256_movemask_epi8(is_percent) as u32 & present;
        let foreign = _mm256_or_si256(Nibbles::of(high).foreign(HEXDIG), Nibbles::of(low).foreign(HEXDIG));
        let wrong = percent & (_mm256_movemask_epi8(foreign) as u32 | !bits(left.saturating_sub(2)));
        if wrong != 0 {
            return Err(wrong.trailing_zeros() as usize);
        }
        let octets = _mm256_or_si256(_mm256_slli_epi16::<4>(digits(high)), digits(low));
        self.is_beyond_ascii |= _mm256_movemask_epi8(octets) as u32 & percent != 0;
        let gone = u64::from(percent) << 1 | u64::from(percent) << 2 | u64::from(self.digits);
        self.digits = (gone >> 32) as u32;
        let kept = (!(gone as u32) & present).to_le_bytes();
        let mixed = _mm256_blendv_epi8(bytes, octets, is_percent);
        let (one, two) = (_mm256_castsi256_si128(mixed), _mm256_extracti128_si256::<1>(mixed));
        let piece = |word: __m128i, mask: u8| {
            let moves = _mm_cvtsi64_si128(KEPT.0.at(mask.into()) as i64);
            let word = _mm_cvtsi128_si64(_mm_shuffle_epi8(word, moves));
            (word.to_le_bytes(), usize::from(KEPT.1.at(mask.into())))
        };
        let [a, b, c, d] = kept;
        Ok([
            piece(one, a),
            piece(_mm_unpackhi_epi64(one, one), b),
            piece(two, c),
            piece(_mm_unpackhi_epi64(two, two), d),
        ])
    }
}

/// What hexadecimal digits stand for.
#[inline]
#[target_feature(enable = "avx2")]
fn digits(bytes: __m256i) -> __m256i {
    // Letters of either case follow nine past the low half of their code.
    let letters = _mm256_cmpgt_epi8(bytes, _mm256_set1_epi8(b'9' as i8));
    let nine = _mm256_and_si256(letters, _mm256_set1_epi8(9));
    _mm256_add_epi8(_mm256_and_si256(bytes, _mm256_set1_epi8(15)), nine)
}
