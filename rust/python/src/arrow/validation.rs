//! Validation of text arrays from other libraries: Rust's `str` must be UTF-8.
//!
//! Arrow requires offsets that rise within the data, and text in UTF-8, but has not checked it: arrays are created from
//! buffers (`from_buffers`), and cross the C data interface unchecked.

use arrow_array::cast::AsArray;
use arrow_array::{Array, GenericStringArray, OffsetSizeTrait, StringViewArray};
use arrow_schema::DataType;
use overthere_core::place::{At, Part};
use simdutf8::basic::from_utf8;

use super::Result;

/// Err, naming the row, if a row of text is not UTF-8 or is outside of the data.  Columns of other types pass.
pub fn validate(column: &dyn Array) -> Result<()> {
    match column.data_type() {
        DataType::Utf8 => strings(column.as_string::<i32>()),
        DataType::LargeUtf8 => strings(column.as_string::<i64>()),
        DataType::Utf8View => views(column.as_string_view()),
        _ => Ok(()),
    }
}

fn out_of_range(row: usize) -> String {
    format!("row {row}: it lies outside the column's data")
}

fn not_utf8(row: usize) -> String {
    format!("row {row}: not UTF-8")
}

fn strings<O: OffsetSizeTrait>(column: &GenericStringArray<O>) -> Result<()> {
    if column.is_empty() {
        return Ok(()); // the data of a slice without rows is not imported, so its offset may be out of range
    }
    let offsets = column.value_offsets();
    let data = column.values().as_slice();
    let mut last = 0;
    for (row, offset) in offsets.iter().enumerate() {
        let Some(next) = offset.to_usize().filter(|&next| next >= last && next <= data.len()) else {
            return Err(out_of_range(row.saturating_sub(1)));
        };
        last = next;
    }
    let (Some(first), Some(last)) = (offsets.first(), offsets.last()) else { return Ok(()) };
    let all = data.part(first.as_usize()..last.as_usize());
    if all.is_ascii() {
        return Ok(());
    }
    match from_utf8(all) {
        Ok(text) if offsets.iter().all(|o| text.is_char_boundary(o.as_usize() - first.as_usize())) => Ok(()),
        // Null rows may have any content.
        _ => match (0..column.len()).find(|&row| {
            column.is_valid(row)
                && std::str::from_utf8(data.part(offsets.at(row).as_usize()..offsets.at(row + 1).as_usize()))
                    .is_err()
        }) {
            Some(row) => Err(not_utf8(row)),
            None => Ok(()),
        },
    }
}

/// Validate views.  A view has the length, then the text, or its first four bytes, the buffer's number and the offset.
fn views(column: &StringViewArray) -> Result<()> {
    let buffers = column.data_buffers();
    for (row, view) in column.views().iter().enumerate() {
        if column.is_null(row) {
            continue;
        }
        let octets = view.to_le_bytes();
        let length = *view as u32 as usize;
        let text = if length <= 12 {
            octets.part(4..4 + length)
        } else {
            let (buffer, start) = ((view >> 64) as u32 as usize, (view >> 96) as u32 as usize);
            let part = buffers.get(buffer).and_then(|buffer| buffer.as_slice().get(start..start + length));
            let Some(text) = part else { return Err(out_of_range(row)) };
            text
        };
        if !text.is_ascii() && from_utf8(text).is_err() {
            return Err(not_utf8(row));
        }
    }
    Ok(())
}
