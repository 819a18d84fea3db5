//! Conversion of results to the requested text type.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Int8Type;
use arrow_array::{Array, ArrayRef, LargeStringArray, StringArray, StringViewArray, StructArray};
use arrow_schema::{DataType, Field, Fields};

use super::Result;

/// Whether `converted` can convert the first type to the second: text to text, in structs too.
pub fn is_convertible(from: &DataType, to: &DataType) -> bool {
    match (from, to) {
        (DataType::Struct(from), DataType::Struct(to)) => {
            from.len() == to.len()
                && from.iter().zip(to).all(|(from, to)| is_convertible(from.data_type(), to.data_type()))
        }
        (
            DataType::Utf8 | DataType::Utf8View | DataType::Dictionary(..),
            DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View,
        ) => true,
        _ => from == to,
    }
}

/// Convert an array to a type to which it `is_convertible`.
pub fn converted(array: &ArrayRef, kind: &DataType) -> Result<ArrayRef> {
    if array.data_type() == kind {
        return Ok(array.clone());
    }
    match kind {
        DataType::Struct(fields) => {
            let parts = array.as_struct();
            let columns = parts.columns().iter().zip(fields);
            let columns =
                columns.map(|(column, field)| converted(column, field.data_type())).collect::<Result<_>>()?;
            let array = StructArray::try_new(fields.clone(), columns, parts.nulls().cloned());
            Ok(Arc::new(array.map_err(|error| error.to_string())?))
        }
        DataType::Utf8 => Ok(Arc::new(texts::<StringArray>(array, i32::MAX as usize)?)),
        DataType::LargeUtf8 => Ok(Arc::new(texts::<LargeStringArray>(array, usize::MAX)?)),
        DataType::Utf8View => Ok(Arc::new(texts::<StringViewArray>(array, usize::MAX)?)),
        other => Err(format!("{} is not converted to {other}", array.data_type())),
    }
}

/// Convert all views in an array to Utf8.
pub fn without_views(array: &ArrayRef) -> Result<ArrayRef> {
    converted(array, &type_without_views(array.data_type()))
}

fn type_without_views(kind: &DataType) -> DataType {
    match kind {
        DataType::Utf8View => DataType::Utf8,
        DataType::Struct(fields) => {
            let plain = |field: &Arc<Field>| {
                field.as_ref().clone().with_data_type(type_without_views(field.data_type()))
            };
            DataType::Struct(fields.iter().map(plain).collect::<Fields>())
        }
        other => other.clone(),
    }
}

/// Collect the rows of a text result, of at most `limit` bytes.
fn texts<A>(array: &dyn Array, limit: usize) -> Result<A>
where
    A: for<'a> FromIterator<Option<&'a str>>,
{
    if let Some(texts) = array.as_string_view_opt() {
        return collect_rows(|| texts.iter(), limit);
    }
    if let Some(texts) = array.as_string_opt::<i32>() {
        return collect_rows(|| texts.iter(), limit);
    }
    let names = array.as_dictionary_opt::<Int8Type>().and_then(|array| array.downcast_dict::<StringArray>());
    match names {
        Some(names) => collect_rows(|| names.into_iter(), limit),
        None => Err(format!("{} is not text", array.data_type())),
    }
}

fn collect_rows<'a, A, I>(rows: impl Fn() -> I, limit: usize) -> Result<A>
where
    A: FromIterator<Option<&'a str>>,
    I: Iterator<Item = Option<&'a str>>,
{
    if rows().flatten().map(str::len).sum::<usize>() > limit {
        let message = "a chunk's result is larger than 2 GiB: take views, or pass smaller chunks";
        return Err(message.to_owned());
    }
    Ok(rows().collect())
}
