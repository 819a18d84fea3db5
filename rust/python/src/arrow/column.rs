//! A column of text from the caller, with validated rows.

use std::sync::Arc;

use arrow_array::{ArrayRef, LargeStringArray, StringArray, StringViewArray};
use arrow_buffer::{ArrowNativeType, NullBuffer, ScalarBuffer};
use arrow_data::ArrayData;
use arrow_schema::DataType;
use overthere_core::place::{At, Part};

use super::validation::validate;
use super::views::{concatenate, views_of};
use super::Result;

/// Rows of text, or of keys into distinct texts.
pub struct Column {
    /// The keys of a dictionary that has no more values than rows; None for a column of text.
    pub keys: Option<Keys>,
    /// Text: Utf8, LargeUtf8 or Utf8View.
    pub values: ArrayRef,
}

/// The number of each row's value; that of a null row has no meaning.
pub struct Keys {
    pub numbers: ScalarBuffer<u32>,
    pub nulls: Option<NullBuffer>,
}

impl Keys {
    /// Whether the row is not null.
    pub fn is_valid(&self, row: usize) -> bool {
        self.nulls.as_ref().is_none_or(|nulls| nulls.is_valid(row))
    }
}

impl Column {
    /// The column of imported data.
    ///
    /// Fails, naming the row, if a row is not UTF-8, is outside of the data, or has a key without a value.
    pub fn of(data: ArrayData) -> Result<Column> {
        let DataType::Dictionary(kind, _) = data.data_type() else {
            return Ok(Column { keys: None, values: text(data)? });
        };
        let values = data.child_data().first().ok_or("a dictionary without values")?.clone();
        let count = values.len();
        let keys = match **kind {
            DataType::Int8 => keys::<i8>(&data, count),
            DataType::Int16 => keys::<i16>(&data, count),
            DataType::Int32 => keys::<i32>(&data, count),
            DataType::Int64 => keys::<i64>(&data, count),
            DataType::UInt8 => keys::<u8>(&data, count),
            DataType::UInt16 => keys::<u16>(&data, count),
            DataType::UInt32 => keys::<u32>(&data, count),
            DataType::UInt64 => keys::<u64>(&data, count),
            _ => Err(format!("{kind} is not a type of keys")),
        }?;
        if keys.numbers.len() < count {
            return Ok(Column { keys: None, values: rows_of(&values, &keys)? });
        }
        Ok(Column { keys: Some(keys), values: text(values)? })
    }

    /// A column of a text type without rows.
    pub fn empty(kind: &DataType) -> Column {
        let no_keys = || Keys { numbers: ScalarBuffer::from(Vec::new()), nulls: None };
        let keys = matches!(kind, DataType::Dictionary(..)).then(no_keys);
        Column { keys, values: Arc::new(StringViewArray::new_null(0)) }
    }

    /// The number of rows.
    pub fn len(&self) -> usize {
        self.keys.as_ref().map_or(self.values.len(), |keys| keys.numbers.len())
    }
}

/// A validated array of text.
fn text(data: ArrayData) -> Result<ArrayRef> {
    let array: ArrayRef = match data.data_type() {
        DataType::Utf8 => Arc::new(StringArray::from(data)),
        DataType::LargeUtf8 => Arc::new(LargeStringArray::from(data)),
        DataType::Utf8View => Arc::new(StringViewArray::from(data)),
        other => return Err(format!("expected a text column, not {other}")),
    };
    validate(&array)?;
    Ok(array)
}

/// The text of each row of a dictionary, as views.  Many chunks may share a dictionary: reading all of it for each of
/// them would take the product of both sizes.
fn rows_of(values: &ArrayData, keys: &Keys) -> Result<ArrayRef> {
    let row_of = |(row, &key): (usize, &u32)| {
        if !keys.is_valid(row) {
            return Ok(StringViewArray::new_null(1));
        }
        let value = text(values.slice(key as usize, 1)).map_err(|error| format!("row {row}: {error}"))?;
        views_of(&value)
    };
    let rows: Result<Vec<_>> = keys.numbers.iter().enumerate().map(row_of).collect();
    Ok(Arc::new(concatenate(rows?)))
}

/// The keys of a dictionary: shared if they have 32 bits, otherwise copied.
fn keys<K: ArrowNativeType>(data: &ArrayData, count: usize) -> Result<Keys> {
    let nulls = data.nulls().cloned();
    let keys = data.buffer::<K>(0).part(..data.len());
    let is_within = |key: &K| key.to_usize().is_some_and(|key| key < count);
    if u32::try_from(count).is_err() {
        return Err(format!("a dictionary of {count} values is too large"));
    }
    // Without an early exit, the compiler vectorizes this loop.
    if !keys.iter().fold(true, |all_within, key| all_within & is_within(key)) {
        let is_null = |row| nulls.as_ref().is_some_and(|nulls| nulls.is_null(row));
        if let Some(row) = (0..keys.len()).find(|&row| !is_within(&keys.at(row)) && !is_null(row)) {
            return Err(format!("row {row}: its key is not in the dictionary, which has {count} values"));
        }
    }
    let numbers = match data.buffers().first() {
        Some(buffer) if size_of::<K>() == size_of::<u32>() => {
            ScalarBuffer::new(buffer.clone(), data.offset(), data.len())
        }
        _ => keys.iter().map(|key| key.as_usize() as u32).collect(),
    };
    Ok(Keys { numbers, nulls })
}
