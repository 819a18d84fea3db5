//! The content of a complete member of a ZIP file (APPNOTE 4.3.7).

use flate2::Crc;
use overthere_core::place::At;

use crate::{inflate_raw, Inflated};

/// A member according to the directory.
pub struct ZipMember<'a> {
    /// Its name.
    pub name: &'a [u8],
    /// The bytes of its content in the file.
    pub packed: usize,
    /// The bytes of its content.
    pub size: usize,
    /// The checksum of its content.
    pub crc: u32,
    /// Whether its content is compressed by deflate, or not at all.
    pub is_deflated: bool,
}

const SIGNATURE: &[u8] = b"PK\x03\x04";
const HEADER_LENGTH: usize = 30;
/// Flags of encryption, patched data and strong encryption (APPNOTE 4.4.4).
const UNUSUAL_FLAGS: u8 = 0b0110_0001;

/// The content of the member whose local header begins `data`; None if it is not exactly as the directory says.
pub fn zip_content<'a>(
    data: &'a [u8],
    member: &ZipMember<'_>,
    inflated: &'a mut Vec<u8>,
) -> Option<&'a [u8]> {
    if !data.starts_with(SIGNATURE) || data.len() < HEADER_LENGTH || data.at(6) & UNUSUAL_FLAGS != 0 {
        return None;
    }
    let number = |at: usize| usize::from(data.at(at)) | usize::from(data.at(at + 1)) << 8;
    let name_end = HEADER_LENGTH + number(26);
    let start = name_end + number(28);
    let packed = data.get(start..start.checked_add(member.packed)?)?;
    if data.get(HEADER_LENGTH..name_end)? != member.name {
        return None;
    }
    let content = if member.is_deflated {
        match inflate_raw(packed, inflated, member.size) {
            Inflated::Whole(_) => inflated.as_slice(),
            Inflated::Cut | Inflated::Odd => return None,
        }
    } else {
        packed
    };
    let mut crc = Crc::new();
    crc.update(content);
    (content.len() == member.size && crc.sum() == member.crc).then_some(content)
}
