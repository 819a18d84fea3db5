//! Selecting rows by number: from results for the distinct values of a dictionary to a result for each of its rows.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{ArrowPrimitiveType, Int8Type, UInt32Type};
use arrow_array::{Array, ArrayRef, BooleanArray, DictionaryArray, PrimitiveArray, StructArray};
use arrow_buffer::{BooleanBuffer, NullBuffer};
use arrow_schema::DataType;

use super::views::take_views;
use super::{Keys, Result};

/// The result of each key, from the results of the values; a null key gives null.
pub fn take(values: &dyn Array, keys: &Keys) -> Result<ArrayRef> {
    Ok(match values.data_type() {
        DataType::Boolean => {
            let bits = values.as_boolean().values();
            let selected = BooleanBuffer::collect_bool(keys.numbers.len(), |row| {
                let key = keys.numbers.get(row).map_or(usize::MAX, |&key| key as usize);
                key < bits.len() && bits.value(key)
            });
            Arc::new(BooleanArray::new(selected, nulls(values, keys)))
        }
        DataType::Utf8View => Arc::new(take_views(values.as_string_view(), keys, nulls(values, keys))),
        DataType::UInt32 => Arc::new(numbers::<UInt32Type>(values.as_primitive(), keys)),
        DataType::Dictionary(..) => {
            let names = values.as_dictionary::<Int8Type>();
            let dictionary = DictionaryArray::try_new(numbers(names.keys(), keys), names.values().clone());
            Arc::new(dictionary.map_err(|error| error.to_string())?)
        }
        DataType::Struct(fields) => {
            let columns = values.as_struct().columns().iter();
            let columns = columns.map(|column| take(column, keys)).collect::<Result<_>>()?;
            let selected = StructArray::try_new(fields.clone(), columns, nulls(values, keys));
            Arc::new(selected.map_err(|error| error.to_string())?)
        }
        other => return Err(format!("rows of {other} are not taken by number")),
    })
}

fn numbers<T: ArrowPrimitiveType>(values: &PrimitiveArray<T>, keys: &Keys) -> PrimitiveArray<T> {
    let all = values.values();
    let selected =
        keys.numbers.iter().map(|&key| all.get(key as usize).copied().unwrap_or_default()).collect();
    PrimitiveArray::new(selected, nulls(values, keys))
}

/// The validity of the selected rows; None if no row is null.
pub fn nulls(values: &dyn Array, keys: &Keys) -> Option<NullBuffer> {
    let Some(value_nulls) = values.nulls() else { return keys.nulls.clone() };
    let valid = BooleanBuffer::collect_bool(keys.numbers.len(), |row| {
        keys.is_valid(row) && keys.numbers.get(row).is_some_and(|&key| value_nulls.is_valid(key as usize))
    });
    Some(NullBuffer::new(valid)).filter(|nulls| nulls.null_count() > 0)
}
