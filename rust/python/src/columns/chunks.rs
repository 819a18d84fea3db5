//! Input and output of columns: arrays, chunks, and streams whose chunks are computed when a consumer reads them.

use std::sync::Arc;

use arrow_array::{ArrayRef, StringViewArray};
use arrow_schema::{Field, FieldRef};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;

use crate::arrow::views::{concatenate, take_views, views_of};
use crate::arrow::{nulls, take, without_views, ArrowArray, ArrowChunks, ArrowStream};
use crate::arrow::{Chunks, Column, Input, Result};
use crate::bug::guarded;
use crate::finalizing::detached;

/// Work on the values of a column; for a dictionary, on the distinct values only, then give every row its result.
pub fn each(
    column: &Column,
    views: bool,
    work: impl FnOnce(&ArrayRef) -> Result<ArrayRef>,
) -> Result<ArrayRef> {
    let results = work(&column.values)?;
    let results = match &column.keys {
        Some(keys) => take(&results, keys)?,
        None => results,
    };
    if views {
        Ok(results)
    } else {
        without_views(&results)
    }
}

/// The rows as views; rows of a dictionary are looked up.
fn texts(column: &Column) -> Result<StringViewArray> {
    let values = views_of(&column.values)?;
    Ok(match &column.keys {
        Some(keys) => take_views(&values, keys, nulls(&values, keys)),
        None => values,
    })
}

/// The column with text in place of keys.
pub fn decoded(column: &Column) -> Result<Column> {
    let values = match column.keys {
        Some(_) => Arc::new(texts(column)?) as ArrayRef,
        None => column.values.clone(),
    };
    Ok(Column { keys: None, values })
}

/// All rows of a column as views.
pub fn texts_of(object: &Bound<'_, PyAny>) -> PyResult<StringViewArray> {
    let chunks = Input::of(object)?.chunks()?;
    let chunks: Result<Vec<_>> = chunks.iter().map(texts).collect();
    Ok(concatenate(chunks.map_err(PyValueError::new_err)?))
}

/// Work on a column with the GIL released: an array gives an array, chunks give chunks, and a stream of unknown length
/// gives a stream, which has one chunk in memory at a time.
///
/// work: a function of a chunk and the number of its first row.
pub fn over(
    object: &Bound<'_, PyAny>,
    work: impl Fn(&Column, usize) -> Result<ArrayRef> + Send + Sync + 'static,
) -> PyResult<Py<PyAny>> {
    let py = object.py();
    match Input::of(object)? {
        Input::Array(data) => {
            let column = detached(py, || Column::of(data)).map_err(PyValueError::new_err)?;
            let result = guarded(py, || detached(py, || work(&column, 0)).map_err(PyTypeError::new_err))?;
            ArrowArray::object(py, result)
        }
        Input::Stream(stream) => {
            // A chunk without rows has the type of all results.
            let empty = work(&Column::empty(&stream.kind), 0).map_err(PyTypeError::new_err)?;
            let field: FieldRef = Arc::new(Field::new("", empty.data_type().clone(), true));
            let mut first = 0;
            let arrays = stream.map(move |chunk| {
                let column = Column::of(chunk?)?;
                let before = first;
                first += column.len();
                work(&column, before)
            });
            if !object.hasattr(intern!(py, "__len__"))? {
                let chunks = Chunks { field, arrays: Box::new(arrays) };
                return ArrowStream::object(py, chunks);
            }
            let arrays = guarded(py, || {
                detached(py, || arrays.collect::<Result<Vec<_>>>()).map_err(PyValueError::new_err)
            })?;
            ArrowChunks::object(py, arrays, field)
        }
    }
}
