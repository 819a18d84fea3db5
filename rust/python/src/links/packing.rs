//! The columns of a batch as bytes and back: a worker process sends its rows so, without an object for each cell.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{Array, ArrayRef, BooleanArray, Int64Array, StringArray};
use arrow_buffer::{BooleanBuffer, Buffer, NullBuffer, OffsetBuffer};
use arrow_schema::{ArrowError, DataType};
use overthere_core::place::Part;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use super::table::{ERROR_AT, SAME_DOCUMENT};

/// A column: which rows are not null (None: all), its values, and the offsets of texts in these.
pub type Packed<'py> = (Option<Bound<'py, PyBytes>>, Bound<'py, PyBytes>, Option<Bound<'py, PyBytes>>);

pub fn pack<'py>(py: Python<'py>, column: &ArrayRef) -> Packed<'py> {
    let octets = |octets: &[u8]| PyBytes::new(py, octets);
    let validity = column.nulls().map(|nulls| octets(&nulls.inner().sliced()));
    match column.data_type() {
        DataType::Boolean => (validity, octets(&column.as_boolean().values().sliced()), None),
        DataType::Int64 => (validity, octets(column.as_primitive::<Int64Type>().values().inner()), None),
        _ => {
            let texts = column.as_string::<i32>();
            let (first, last) = texts
                .offsets()
                .first()
                .zip(texts.offsets().last())
                .map_or((0, 0), |(first, last)| (*first, *last));
            let offsets: Vec<u8> = texts.offsets().iter().flat_map(|at| (at - first).to_ne_bytes()).collect();
            let values = texts.values().as_slice().part(first as usize..last as usize);
            (validity, octets(values), Some(octets(&offsets)))
        }
    }
}

/// The column with a number in the link table; an error if the bytes have another number of rows.
pub fn unpack(index: usize, rows: usize, packed: &Packed<'_>) -> Result<ArrayRef, String> {
    let (validity, values, offsets) = packed;
    let values = values.as_bytes();
    let validity = validity.as_ref().map(|bits| unpack_bits(rows, bits.as_bytes())).transpose()?;
    let nulls = validity.map(NullBuffer::new);
    let wrong = |error: ArrowError| error.to_string();
    Ok(match index {
        SAME_DOCUMENT => Arc::new(BooleanArray::new(unpack_bits(rows, values)?, nulls)),
        ERROR_AT => {
            let numbers: Vec<i64> = numbers(values).map(i64::from_ne_bytes).collect();
            Arc::new(Int64Array::try_new(numbers.into(), nulls).map_err(wrong)?)
        }
        _ => {
            let offsets: Vec<i32> = numbers(offsets.as_ref().map_or(&[], |offsets| offsets.as_bytes()))
                .map(i32::from_ne_bytes)
                .collect();
            let is_ascending = offsets.iter().zip(offsets.iter().skip(1)).all(|(start, end)| start <= end);
            if !is_ascending || offsets.first() != Some(&0) || offsets.len().checked_sub(1) != Some(rows) {
                return Err("offsets that are not those of the rows".into());
            }
            let values = Buffer::from_slice_ref(values);
            Arc::new(StringArray::try_new(OffsetBuffer::new(offsets.into()), values, nulls).map_err(wrong)?)
        }
    })
}

fn unpack_bits(rows: usize, bits: &[u8]) -> Result<BooleanBuffer, String> {
    if bits.len() < rows.div_ceil(8) {
        return Err("fewer bits than rows".into());
    }
    Ok(BooleanBuffer::new(Buffer::from_slice_ref(bits), 0, rows))
}

fn numbers<const SIZE: usize>(octets: &[u8]) -> impl Iterator<Item = [u8; SIZE]> + '_ {
    octets.chunks_exact(SIZE).filter_map(|chunk| chunk.try_into().ok())
}
