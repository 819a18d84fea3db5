//! Results of the native kernel for Python: objects with the Arrow PyCapsule Interface.

use std::sync::{Arc, Mutex};

use arrow_array::{Array, ArrayRef};
use arrow_schema::{Field, FieldRef};
use pyo3::exceptions::{PyIndexError, PyOSError, PyValueError};
use pyo3::prelude::*;
use pyo3::pyclass::CompareOp;
use pyo3::types::{PyBool, PyCapsule, PyList, PyTuple};

use super::conversion::{converted, is_convertible};
use super::values::{append, to_numpy, value};
use super::{capsules, Chunks};
use crate::bug::guarded;

/// Rows in arrays of one type: what `ArrowArray` and `ArrowChunks` have in common.
#[pyclass(frozen, subclass, module = "overthere._native")]
pub struct ArrowRows {
    arrays: Vec<ArrayRef>,
    field: FieldRef,
}

impl ArrowRows {
    fn count(&self) -> usize {
        self.arrays.iter().map(Array::len).sum()
    }

    fn nulls(&self) -> usize {
        self.arrays.iter().map(Array::null_count).sum()
    }

    fn list<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let list = PyList::empty(py);
        self.arrays.iter().try_for_each(|array| append(array, &list))?;
        Ok(list)
    }

    fn numpy<'py>(&self, py: Python<'py>, dtype: Option<Bound<'py, PyAny>>) -> PyResult<Bound<'py, PyAny>> {
        to_numpy(&self.list(py)?, self.field.data_type(), self.nulls(), dtype)
    }

    /// The field that a consumer requests if the rows can be converted to it, otherwise their own.
    fn requested(&self, schema: Option<&Bound<'_, PyCapsule>>) -> PyResult<FieldRef> {
        requested(&self.field, schema)
    }
}

fn requested(field: &FieldRef, schema: Option<&Bound<'_, PyCapsule>>) -> PyResult<FieldRef> {
    let Some(schema) = schema else { return Ok(field.clone()) };
    let requested = capsules::field(schema)?;
    Ok(if is_convertible(field.data_type(), requested.data_type()) {
        Arc::new(requested)
    } else {
        field.clone()
    })
}

#[pymethods]
impl ArrowRows {
    /// The type of the rows.
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        guarded(py, || capsules::schema_capsule(py, &self.field))
    }

    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        guarded(py, || Ok(self.count()))
    }

    /// A row as a value of Python; None if it is null.
    fn __getitem__<'py>(&self, py: Python<'py>, row: isize) -> PyResult<Bound<'py, PyAny>> {
        guarded(py, || {
            let place =
                if row < 0 { self.count().checked_add_signed(row) } else { usize::try_from(row).ok() };
            let mut place = place.unwrap_or(usize::MAX);
            for array in &self.arrays {
                if place < array.len() {
                    return value(py, array, place);
                }
                place -= array.len();
            }
            Err(PyIndexError::new_err(format!("row {row} is out of range")))
        })
    }

    fn __richcmp__<'py>(
        &self,
        py: Python<'py>,
        other: &Bound<'py, PyAny>,
        comparison: CompareOp,
    ) -> PyResult<Bound<'py, PyAny>> {
        guarded(py, || {
            let equal = matches!(comparison, CompareOp::Eq);
            let (Ok(other), true) = (other.cast::<Self>(), equal || matches!(comparison, CompareOp::Ne))
            else {
                return Ok(py.NotImplemented().into_bound(py));
            };
            let other = other.get();
            let same_shape = self.field == other.field && self.count() == other.count();
            let is_equal = same_shape && self.list(py)?.eq(other.list(py)?)?;
            Ok(PyBool::new(py, is_equal == equal).to_owned().into_any())
        })
    }

    fn __repr__(slf: &Bound<'_, Self>) -> PyResult<String> {
        guarded(slf.py(), || {
            let rows = slf.get();
            let (name, kind) = (slf.get_type().name()?, rows.field.data_type());
            Ok(format!("<{name} of {kind}: {} rows, {} null>", rows.count(), rows.nulls()))
        })
    }

    /// All rows as values of Python.
    fn to_pylist<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        guarded(py, || self.list(py))
    }

    /// All rows as an array of numpy.
    ///
    /// Raises: ValueError if a row is null.
    fn to_numpy<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        guarded(py, || self.numpy(py, None))
    }

    #[pyo3(signature = (dtype = None, copy = None))]
    fn __array__<'py>(
        &self,
        py: Python<'py>,
        dtype: Option<Bound<'py, PyAny>>,
        copy: Option<bool>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let _ = copy;
        guarded(py, || self.numpy(py, dtype))
    }

    /// How many rows are null.
    #[getter]
    fn null_count(&self, py: Python<'_>) -> PyResult<usize> {
        guarded(py, || Ok(self.nulls()))
    }

    /// The memory that the rows hold, in bytes; buffers of the input count as well.
    #[getter]
    fn nbytes(&self, py: Python<'_>) -> PyResult<usize> {
        guarded(py, || Ok(self.arrays.iter().map(|array| array.get_array_memory_size()).sum()))
    }
}

/// The result for an array.
#[pyclass(frozen, extends = ArrowRows, module = "overthere._native")]
pub struct ArrowArray;

impl ArrowArray {
    pub fn object(py: Python<'_>, array: ArrayRef) -> PyResult<Py<PyAny>> {
        let field = Arc::new(Field::new("", array.data_type().clone(), true));
        Ok(Py::new(py, (ArrowArray, ArrowRows { arrays: vec![array], field }))?.into_any())
    }
}

#[pymethods]
impl ArrowArray {
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_array__<'py>(
        slf: PyRef<'py, Self>,
        requested_schema: Option<&Bound<'py, PyCapsule>>,
    ) -> PyResult<Bound<'py, PyTuple>> {
        let (py, rows) = (slf.py(), slf.as_super());
        guarded(py, || {
            let field = rows.requested(requested_schema)?;
            let array = rows.arrays.first().map(|array| converted(array, field.data_type()));
            let array = array.unwrap_or_else(|| Err("no array".to_owned())).map_err(PyValueError::new_err)?;
            capsules::array_capsules(py, &field, &array)
        })
    }
}

/// The result for chunks.
#[pyclass(frozen, extends = ArrowRows, module = "overthere._native")]
pub struct ArrowChunks;

impl ArrowChunks {
    pub fn object(py: Python<'_>, arrays: Vec<ArrayRef>, field: FieldRef) -> PyResult<Py<PyAny>> {
        Ok(Py::new(py, (ArrowChunks, ArrowRows { arrays, field }))?.into_any())
    }
}

#[pymethods]
impl ArrowChunks {
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        slf: PyRef<'py, Self>,
        requested_schema: Option<&Bound<'py, PyCapsule>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let (py, rows) = (slf.py(), slf.as_super());
        guarded(py, || {
            let field = rows.requested(requested_schema)?;
            let arrays = Box::new(rows.arrays.clone().into_iter().map(Ok));
            capsules::stream_capsule(py, Chunks { field: rows.field.clone(), arrays }.converted(field))
        })
    }

    #[getter]
    fn num_chunks(slf: PyRef<'_, Self>) -> PyResult<usize> {
        guarded(slf.py(), || Ok(slf.as_super().arrays.len()))
    }
}

/// The result for a stream: its chunks, worked on when a consumer reads them, once.
#[pyclass(frozen, module = "overthere._native")]
pub struct ArrowStream {
    chunks: Mutex<Option<Chunks>>,
    field: FieldRef,
}

impl ArrowStream {
    pub fn object(py: Python<'_>, chunks: Chunks) -> PyResult<Py<PyAny>> {
        let field = chunks.field.clone();
        Ok(Py::new(py, ArrowStream { chunks: Mutex::new(Some(chunks)), field })?.into_any())
    }
}

#[pymethods]
impl ArrowStream {
    /// The type of the rows.
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        guarded(py, || capsules::schema_capsule(py, &self.field))
    }

    /// The chunks; a consumer takes them once.
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyCapsule>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        guarded(py, || {
            let field = requested(&self.field, requested_schema)?;
            let chunks = self.chunks.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).take();
            let chunks = chunks.ok_or_else(|| PyOSError::new_err("the stream has been read"))?;
            capsules::stream_capsule(py, chunks.converted(field))
        })
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        guarded(py, || Ok(format!("<ArrowStream of {}>", self.field.data_type())))
    }

    /// Whether a consumer has taken the chunks.
    #[getter]
    fn closed(&self, py: Python<'_>) -> PyResult<bool> {
        guarded(py, || Ok(self.chunks.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).is_none()))
    }
}
