//! Validation of text arrays from other libraries: Rust's `str` must be UTF-8.
//!
//! Arrow requires that offsets rise within the data and that text is UTF-8, but nobody has checked it: arrays are made
//! out of buffers (`from_buffers`), and cross the C data interface as they are.

use arrow_array::cast::AsArray;
use arrow_array::{Array, GenericStringArray, OffsetSizeTrait, StringViewArray};
use arrow_schema::DataType;
use overthere_core::place::{At, Part};
use simdutf8::basic::from_utf8;

use super::Result;

/// Err, with the row, if a row of text is not UTF-8 or lies outside of the data.  Other columns are passed.
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

fn foreign(row: usize) -> String {
    format!("row {row}: not UTF-8")
}

fn strings<O: OffsetSizeTrait>(column: &GenericStringArray<O>) -> Result<()> {
    if column.is_empty() {
        return Ok(()); // of a slice without rows the data is not imported, whatever its offset says
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
        // Null rows may hold anything.
        _ => match (0..column.len()).find(|&row| {
            column.is_valid(row)
                && std::str::from_utf8(data.part(offsets.at(row).as_usize()..offsets.at(row + 1).as_usize()))
                    .is_err()
        }) {
            Some(row) => Err(foreign(row)),
            None => Ok(()),
        },
    }
}

/// A view: its length; then the text itself, or four octets of it, the number of the buffer, the place there.
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
            let found = buffers.get(buffer).and_then(|buffer| buffer.as_slice().get(start..start + length));
            let Some(text) = found else { return Err(out_of_range(row)) };
            text
        };
        if !text.is_ascii() && from_utf8(text).is_err() {
            return Err(foreign(row));
        }
    }
    Ok(())
}
