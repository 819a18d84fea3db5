//! Many bytes at a time, on machines with AVX2: bitmaps of the classes, runs of set bits, and percent-decoding.
//!
//! A class of US-ASCII is a set of pairs of nibbles: for each low nibble, a bit for each high nibble with which it
//! forms a member.  Two shuffles look up the pairs of 32 bytes at once.

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

/// The table of a class: for each low nibble, the high nibbles with which it forms a member; as two words.
#[expect(
    clippy::indexing_slicing,
    reason = "evaluated at compile time: an index out of range is a compile error"
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
    let joined = u128::from_le_bytes(table);
    [joined as i64, (joined >> 64) as i64]
}

const HIGH_NIBBLE_BITS: [i64; 2] = words([1, 2, 4, 8, 16, 32, 64, 128, 0, 0, 0, 0, 0, 0, 0, 0]);
const SCHEME: [i64; 2] = rows(classes::SCHEME);
const REG_NAME: [i64; 2] = rows(classes::REG_NAME);
const HEXDIG: [i64; 2] = rows(classes::HEXDIG);

/// A vector with a table in both halves.
#[inline]
#[target_feature(enable = "avx2")]
fn table([low, high]: [i64; 2]) -> __m256i {
    _mm256_setr_epi64x(low, high, low, high)
}

/// The vector of 32 bytes.
#[inline]
#[target_feature(enable = "avx2")]
fn vector(text: &[u8; 32]) -> __m256i {
    let (words, _) = text.as_chunks::<8>();
    let word = |k: usize| i64::from_le_bytes(words.at(k));
    _mm256_setr_epi64x(word(0), word(1), word(2), word(3))
}

/// Write bytes at a place that has room for them.
#[inline(always)]
fn write(to: &mut [u8; 32], at: usize, bytes: &[u8]) {
    if let Some(place) = to.get_mut(at..at + bytes.len()) {
        place.copy_from_slice(bytes);
    }
}

/// Two vectors that hold a window of up to 64 bytes, and the distance of the second from the first.
struct Bytes {
    first: __m256i,
    second: __m256i,
    shift: u32,
    /// The bits of the bytes in the window.
    present: u64,
}

impl Bytes {
    #[inline]
    #[target_feature(enable = "avx2")]
    fn load(text: &[u8]) -> Self {
        let n = text.len();
        if let (Some(first), Some(second)) =
            (text.first_chunk::<32>(), text.get(32..).and_then(|t| t.first_chunk::<32>()))
        {
            return Bytes { first: vector(first), second: vector(second), shift: 32, present: u64::MAX };
        }
        let present = (1u64 << n) - 1;
        if let (Some(first), Some(second)) = (text.first_chunk::<32>(), text.last_chunk::<32>()) {
            return Bytes { first: vector(first), second: vector(second), shift: n as u32 - 32, present };
        }
        let mut padded = [0u8; 32];
        if let (Some(first), Some(second)) = (text.first_chunk::<16>(), text.last_chunk::<16>()) {
            write(&mut padded, 0, first);
            write(&mut padded, n - 16, second);
        } else {
            write(&mut padded, 0, text);
        }
        Bytes { first: vector(&padded), second: _mm256_setzero_si256(), shift: 32, present }
    }

    /// A bit for each byte of the window that the two masks mark with 0xFF.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn bits(&self, first: __m256i, second: __m256i) -> u64 {
        let first = u64::from(_mm256_movemask_epi8(first) as u32);
        let second = u64::from(_mm256_movemask_epi8(second) as u32);
        (first | second << self.shift) & self.present
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn equal(&self, byte: u8) -> u64 {
        let all = _mm256_set1_epi8(byte as i8);
        self.bits(_mm256_cmpeq_epi8(self.first, all), _mm256_cmpeq_epi8(self.second, all))
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
        Nibbles {
            low: _mm256_and_si256(bytes, mask),
            high: _mm256_shuffle_epi8(table(HIGH_NIBBLE_BITS), high),
        }
    }

    /// A mask with 0xFF for each byte outside the class.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn foreign(&self, rows: [i64; 2]) -> __m256i {
        let member = _mm256_and_si256(_mm256_shuffle_epi8(table(rows), self.low), self.high);
        _mm256_cmpeq_epi8(member, _mm256_setzero_si256())
    }
}

/// A window of up to 64 bytes, with a bitmap of the bytes that each component allows.
pub struct Members {
    start: usize,
    last: bool,
    invalid: u64,
    member: [u64; 5],
}

impl Members {
    /// A window that covers nothing.
    pub const NONE: Members = Members { start: usize::MAX - 64, last: false, invalid: 0, member: [0; 5] };

    #[inline]
    #[target_feature(enable = "avx2")]
    fn load(text: &[u8], start: usize) -> Self {
        let tail = text.part(start..);
        let bytes = Bytes::load(tail);
        let (first, second) = (Nibbles::of(bytes.first), Nibbles::of(bytes.second));
        let class = |rows| !bytes.bits(first.foreign(rows), second.foreign(rows)) & bytes.present;
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
        Members { start, last: tail.len() <= 64, invalid: percent & !escapes, member }
    }

    /// Skip all bytes of the class and all valid escapes (2.1); `Err` at an invalid one.
    #[inline]
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt")]
    pub fn skip(&mut self, text: &[u8], mut i: usize, class: Class) -> Result<usize, usize> {
        loop {
            let at = i.wrapping_sub(self.start);
            if at < 64 {
                let end = at + (self.member.at(class as usize) >> at).trailing_ones() as usize;
                // Unless the text ends with the window, an escape near the end may go on in the next window.
                if end < 62 || self.last {
                    let invalid = end < 64 && self.invalid >> end & 1 != 0;
                    let end = self.start + end;
                    return if invalid { Err(end) } else { Ok(end) };
                }
                i = self.start + end;
            } else if self.last && at == 64 {
                return Ok(i);
            }
            *self = Members::load(text, i);
        }
    }
}

/// A window of up to 64 bytes, with a bitmap of the bytes that end each part of Appendix B.
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

    /// The first byte from `i` on that ends the part, or the end of the text.
    #[inline]
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt")]
    pub fn find(&mut self, text: &[u8], mut i: usize, end: End) -> usize {
        loop {
            let at = i.wrapping_sub(self.start);
            if at < 64 {
                let ends = self.end.at(end as usize) >> at;
                if ends != 0 {
                    return i + ends.trailing_zeros() as usize;
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

/// For each mask: the shuffle that moves the bytes of a word whose bits are set to its start, and their number.
#[expect(
    clippy::indexing_slicing,
    reason = "evaluated at compile time: an index out of range is a compile error"
)]
static COMPRESSION: ([u64; 256], [u8; 256]) = {
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
    /// Decode 32 bytes, with only the first `remaining` in the text; return words, and the valid length of each.
    ///
    /// `Err` at a "%" that two hexadecimal digits do not follow.
    #[inline]
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt")]
    pub fn decode(&mut self, onward: &[u8], remaining: usize) -> Result<[([u8; 8], usize); 4], usize> {
        let mut padded = [0; 34];
        let window = onward.first_chunk::<34>().unwrap_or_else(|| {
            padded.iter_mut().zip(onward).for_each(|(to, from)| *to = *from);
            &padded
        });
        let from = |k: usize| window.get(k..).and_then(<[u8]>::first_chunk::<32>).unwrap_or(&[0; 32]);
        let (bytes, high, low) = (vector(from(0)), vector(from(1)), vector(from(2)));
        let is_percent = _mm256_cmpeq_epi8(bytes, _mm256_set1_epi8(b'%' as i8));
        // The low `count` bits: of the bytes in the text, or of those that have room for an escape.
        let bits = |count: usize| ((1u64 << count.min(32)) - 1) as u32;
        let present = bits(remaining);
        let percent = _mm256_movemask_epi8(is_percent) as u32 & present;
        let foreign = _mm256_or_si256(Nibbles::of(high).foreign(HEXDIG), Nibbles::of(low).foreign(HEXDIG));
        let invalid = percent & (_mm256_movemask_epi8(foreign) as u32 | !bits(remaining.saturating_sub(2)));
        if invalid != 0 {
            return Err(invalid.trailing_zeros() as usize);
        }
        let octets = _mm256_or_si256(_mm256_slli_epi16::<4>(digits(high)), digits(low));
        self.is_beyond_ascii |= _mm256_movemask_epi8(octets) as u32 & percent != 0;
        let is_digit = u64::from(percent) << 1 | u64::from(percent) << 2 | u64::from(self.digits);
        self.digits = (is_digit >> 32) as u32;
        let keep_masks = (!(is_digit as u32) & present).to_le_bytes();
        let mixed = _mm256_blendv_epi8(bytes, octets, is_percent);
        let (first, second) = (_mm256_castsi256_si128(mixed), _mm256_extracti128_si256::<1>(mixed));
        let piece = |word: __m128i, mask: u8| {
            let moves = _mm_cvtsi64_si128(COMPRESSION.0.at(mask.into()) as i64);
            let word = _mm_cvtsi128_si64(_mm_shuffle_epi8(word, moves));
            (word.to_le_bytes(), usize::from(COMPRESSION.1.at(mask.into())))
        };
        let [a, b, c, d] = keep_masks;
        Ok([
            piece(first, a),
            piece(_mm_unpackhi_epi64(first, first), b),
            piece(second, c),
            piece(_mm_unpackhi_epi64(second, second), d),
        ])
    }
}

/// The values of hexadecimal digits.
#[inline]
#[target_feature(enable = "avx2")]
fn digits(bytes: __m256i) -> __m256i {
    // The value of a letter of either case is the low half of its code plus nine.
    let letters = _mm256_cmpgt_epi8(bytes, _mm256_set1_epi8(b'9' as i8));
    let nine = _mm256_and_si256(letters, _mm256_set1_epi8(9));
    _mm256_add_epi8(_mm256_and_si256(bytes, _mm256_set1_epi8(15)), nine)
}
