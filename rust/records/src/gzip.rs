//! A gzip member, inflated whole (RFC 1952).

use flate2::{Decompress, FlushDecompress, Status};
use overthere_core::place::{At, Part};

/// What came of a member.
#[derive(Debug, PartialEq, Eq)]
pub enum Inflated {
    /// It is whole; so many octets of the input are its own.
    Whole(usize),
    /// The input ends before it does.
    Cut,
    /// It is none, is broken, has a header that is seldom, or holds more than is wanted.
    Odd,
}

/// Flags of a header checksum and those that are reserved (RFC 1952 2.3.1).
const UNUSUAL: u8 = 0b1110_0010;
const HEADER: usize = 10;
const STEP: usize = 1 << 16;

/// Inflate the member at the beginning of `data` into `out`, if that takes no more than `most` octets.
pub fn inflate(data: &[u8], out: &mut Vec<u8>, most: usize) -> Inflated {
    out.clear();
    if data.len() < HEADER {
        return if b"\x1f\x8b\x08".starts_with(data.part(..data.len().min(3))) {
            Inflated::Cut
        } else {
            Inflated::Odd
        };
    }
    if !data.starts_with(b"\x1f\x8b\x08") || data.at(3) & UNUSUAL != 0 {
        return Inflated::Odd;
    }
    let mut stream = Decompress::new_gzip(15);
    loop {
        if out.len() == out.capacity() {
            out.reserve(out.len().max(STEP));
        }
        let before = (stream.total_in(), stream.total_out());
        let rest = data.part(usize::try_from(before.0).unwrap_or(data.len()).min(data.len())..);
        match stream.decompress_vec(rest, out, FlushDecompress::None) {
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
        let mut made = Vec::with_capacity(text.len() + 1000);
        let mut stream = Compress::new_gzip(Compression::default(), 15);
        stream.compress_vec(text, &mut made, FlushCompress::Finish).unwrap();
        made
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
