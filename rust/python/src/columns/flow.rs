//! How columns come in and go out: arrays, chunks, and streams that are worked on as they are read.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, StringArray, StringViewArray};
use arrow_schema::{ArrowError, DataType, Field, FieldRef};
use arrow_select::concat::concat;
use arrow_select::take::take;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3_arrow::ffi::ArrayReader;
use pyo3_arrow::input::AnyArray;
use pyo3_arrow::{PyArray, PyArrayReader, PyChunkedArray};

use super::sound::sound;
use super::{not_text, structure, Result};
use crate::bug::{caught, guarded};

/// What to do with a chunk; the second argument is the number of its first row.
type Work = dyn Fn(&ArrayRef, usize) -> Result<ArrayRef> + Send + Sync;

/// Work on the distinct values of a dictionary only, then give every row its answer.
pub fn each(column: &ArrayRef, work: &(dyn Fn(&ArrayRef) -> Result<ArrayRef> + Sync)) -> Result<ArrayRef> {
    match column.as_any_dictionary_opt() {
        Some(dictionary) => {
            let values = work(dictionary.values())?;
            take(&values, dictionary.keys(), None).map_err(|e| e.to_string())
        }
        None => work(column),
    }
}

/// The rows of a dictionary, one by one.
pub fn unpacked(column: &ArrayRef) -> Result<ArrayRef> {
    each(column, &|values| Ok(values.clone()))
}

/// A result without views, for who wants plain Utf8: each text is copied.
pub fn copied(found: ArrayRef) -> Result<ArrayRef> {
    match found.data_type() {
        DataType::Utf8View => {
            let views = found.as_string_view();
            if views.iter().flatten().map(str::len).sum::<usize>() > i32::MAX as usize {
                return Err(
                    "a chunk's result is larger than 2 GiB: take views, or pass smaller chunks".to_owned()
                );
            }
            Ok(Arc::new(views.iter().collect::<StringArray>()))
        }
        DataType::Struct(fields) => {
            let parts = found.as_struct();
            let columns = parts.columns().iter().cloned().map(copied).collect::<Result<Vec<_>>>()?;
            let names: Vec<&str> = fields.iter().map(|field| field.name().as_str()).collect();
            structure(&names, columns, parts.nulls().cloned())
        }
        _ => Ok(found),
    }
}

/// A whole column as views.
pub fn texts_of(column: AnyArray) -> PyResult<StringViewArray> {
    let texts = |column: ArrayRef| {
        sound(&column).map_err(PyValueError::new_err)?;
        let column = unpacked(&column).map_err(PyTypeError::new_err)?;
        Ok(match column.data_type() {
            DataType::Utf8 => StringViewArray::from(column.as_string::<i32>()),
            DataType::LargeUtf8 => StringViewArray::from(column.as_string::<i64>()),
            DataType::Utf8View => column.as_string_view().clone(),
            _ => return Err(PyTypeError::new_err(not_text(&column))),
        })
    };
    let mut chunks: Vec<StringViewArray> = column
        .into_reader()?
        .map(|chunk| texts(chunk.map_err(|e| PyValueError::new_err(e.to_string()))?))
        .collect::<PyResult<_>>()?;
    if chunks.len() == 1 {
        return Ok(chunks.remove(0));
    }
    let parts: Vec<&dyn Array> = chunks.iter().map(|chunk| chunk as &dyn Array).collect();
    if parts.is_empty() {
        return Ok(StringViewArray::from(Vec::<&str>::new()));
    }
    let whole = concat(&parts).map_err(|e| PyValueError::new_err(e.to_string()))?;
    Ok(whole.as_string_view().clone())
}

/// A stream whose chunks are worked on when they are asked for.
struct Lazy<R> {
    chunks: R,
    work: Box<Work>,
    first: usize,
    field: FieldRef,
}

impl<R: ArrayReader> Iterator for Lazy<R> {
    type Item = std::result::Result<ArrayRef, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        let chunk = self.chunks.next()?;
        Some(chunk.and_then(|chunk| {
            let first = self.first;
            self.first += chunk.len();
            // Arrow's stream is C: a panic must not pass through it.
            caught(|| sound(&chunk).and_then(|()| (self.work)(&chunk, first)))
                .unwrap_or_else(|what| {
                    Err(format!("a bug in overthere's native kernel, please report it: {what}"))
                })
                .map_err(ArrowError::ComputeError)
        }))
    }
}

impl<R: ArrayReader> ArrayReader for Lazy<R> {
    fn field(&self) -> FieldRef {
        self.field.clone()
    }
}

/// Work on a column with the GIL released: an array gives an array, chunks give chunks, and a stream of no
/// known length gives a stream, which holds one chunk at a time.
pub fn over(
    column: &Bound<'_, PyAny>,
    work: impl Fn(&ArrayRef, usize) -> Result<ArrayRef> + Send + Sync + 'static,
) -> PyResult<Py<PyAny>> {
    let py = column.py();
    match column.extract()? {
        AnyArray::Array(array) => {
            let (array, _) = array.into_inner();
            let out = guarded(py, || {
                py.detach(|| sound(&array)).map_err(PyValueError::new_err)?;
                py.detach(|| work(&array, 0)).map_err(PyTypeError::new_err)
            })?;
            Ok(Py::new(py, PyArray::from_array_ref(out))?.into_any())
        }
        AnyArray::Stream(stream) => {
            let chunks = stream.into_reader()?;
            // An empty chunk tells the type of all.
            let empty = work(&arrow_array::new_empty_array(chunks.field().data_type()), 0);
            let kind = empty.map_err(PyTypeError::new_err)?.data_type().clone();
            let field: FieldRef = Arc::new(Field::new("", kind, true));
            let lazy = Lazy { chunks, work: Box::new(work), first: 0, field: field.clone() };
            if !column.hasattr(intern!(py, "__len__"))? {
                return Ok(Py::new(py, PyArrayReader::new(Box::new(lazy)))?.into_any());
            }
            let chunks = guarded(py, || {
                let chunks = py.detach(|| lazy.collect::<std::result::Result<Vec<_>, _>>());
                chunks.map_err(|e| PyValueError::new_err(e.to_string()))
            })?;
            Ok(Py::new(py, PyChunkedArray::try_new(chunks, field)?)?.into_any())
        }
    }
}
