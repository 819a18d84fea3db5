//! Inflating a complete gzip member (RFC 1952) or deflate stream (RFC 1951).

use flate2::{Decompress, FlushDecompress, Status};
use overthere_core::place::{At, Part};

/// The outcome for a member.
#[derive(Debug, PartialEq, Eq)]
pub enum Inflated {
    /// It is complete; its length in the input, in bytes.
    Whole(usize),
    /// The input ends before the member.
    Cut,
    /// It is not a gzip member, is corrupt, has an unusual header, or its content is too large.
    Odd,
}

/// The flag of a header checksum and the reserved flags (RFC 1952 2.3.1).
const UNUSUAL_FLAGS: u8 = 0b1110_0010;
const HEADER_LENGTH: usize = 10;
const MIN_GROWTH: usize = 1 << 16;

/// Inflate the member at the beginning of `data` into `out`, up to `most` bytes.
pub fn inflate(data: &[u8], out: &mut Vec<u8>, most: usize) -> Inflated {
    out.clear();
    if data.len() < HEADER_LENGTH {
        return if b"\x1f\x8b\x08".starts_with(data.part(..data.len().min(3))) {
            Inflated::Cut
        } else {
            Inflated::Odd
        };
    }
    if !data.starts_with(b"\x1f\x8b\x08") || data.at(3) & UNUSUAL_FLAGS != 0 {
        return Inflated::Odd;
    }
    inflate_stream(Decompress::new_gzip(15), data, out, most)
}

/// Inflate the deflate stream at the beginning of `data` into `out`, up to `most` bytes.
pub fn inflate_raw(data: &[u8], out: &mut Vec<u8>, most: usize) -> Inflated {
    out.clear();
    inflate_stream(Decompress::new(false), data, out, most)
}

/// Whether nothing but gzip members is in `data`, the last one perhaps cut.  False also where it is not clear: a header
/// is unusual, or there is more than `most` bytes of content.
pub fn is_members(data: &[u8], most: usize) -> bool {
    let (mut position, mut content, mut out) = (0, 0, Vec::new());
    while position < data.len() {
        match inflate(data.part(position..), &mut out, most.saturating_sub(content)) {
            Inflated::Whole(length) => {
                position += length;
                content += out.len();
            }
            Inflated::Cut => return true,
            Inflated::Odd => return false,
        }
    }
    true
}

fn inflate_stream(mut stream: Decompress, data: &[u8], out: &mut Vec<u8>, most: usize) -> Inflated {
    loop {
        if out.len() == out.capacity() {
            out.reserve(out.len().max(MIN_GROWTH));
        }
        let before = (stream.total_in(), stream.total_out());
        let input = data.part(usize::try_from(before.0).unwrap_or(data.len()).min(data.len())..);
        match stream.decompress_vec(input, out, FlushDecompress::None) {
            Ok(_) if out.len() > most => return Inflated::Odd,
            Ok(Status::StreamEnd) => return Inflated::Whole(usize::try_from(stream.total_in()).unwrap_or(0)),
            Ok(_) if before == (stream.total_in(), stream.total_out()) => return Inflated::Cut,
            Ok(_) => {}
            Err(_) => return Inflated::Odd,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::{Compress, Compression, FlushCompress};

    fn member(text: &[u8]) -> Vec<u8> {
        let mut compressed = Vec::with_capacity(text.len() + 1000);
        let mut stream = Compress::new_gzip(Compression::default(), 15);
        stream.compress_vec(text, &mut compressed, FlushCompress::Finish).unwrap();
        compressed
    }

    #[test]
    fn members_in_a_row() {
        let data = member(&b"over there".repeat(3_000)).repeat(3);
        for end in 0..data.len() {
            assert!(is_members(&data[..end], 1 << 20), "{end}");
        }
        assert!(!is_members(&data, 89_999));
        assert!(!is_members(&[&data[..], b"over"].concat(), 1 << 20));
        let last = data.len() - 1;
        let broken: Vec<u8> =
            data.iter().enumerate().map(|(at, b)| if at == last { !b } else { *b }).collect();
        assert!(!is_members(&broken, 1 << 20));
    }

    #[test]
    fn whole_cut_and_odd() {
        let text = b"over there".repeat(3_000);
        let data = member(&text);
        let mut out = Vec::new();
        let two = [data.clone(), data.clone()].concat();
        assert_eq!(inflate(&two, &mut out, text.len()), Inflated::Whole(data.len()));
        assert_eq!(out, text);
        assert_eq!(inflate(&two, &mut out, text.len() - 1), Inflated::Odd);
        for end in 0..data.len() {
            assert_eq!(inflate(&data[..end], &mut out, text.len()), Inflated::Cut, "{end}");
        }
        for at in 0..data.len() {
            let mut broken = data.clone();
            broken[at] ^= 0xFF;
            if let Inflated::Whole(_) = inflate(&broken, &mut out, text.len()) {
                assert_eq!(out, text, "{at}"); // the time, the system, the length of a code that is not used
            }
        }
    }
}
