//! Arrow arrays from and to Python, by the Arrow PyCapsule Interface.

mod capsules;
mod column;
mod conversion;
mod objects;
mod selection;
mod validation;
mod values;
pub mod views;

pub use capsules::array_capsules;
pub use column::{Column, Keys};
pub use conversion::without_views;
pub use objects::{ArrowArray, ArrowChunks, ArrowRows, ArrowStream};
pub use selection::{nulls, take};

use arrow_array::ArrayRef;
use arrow_data::ArrayData;
use arrow_schema::{DataType, FieldRef};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyTuple};

/// A result whose error is a message; the entry from Python decides which exception it becomes.
pub type Result<T> = std::result::Result<T, String>;

/// Arrays of one type, one after another.
pub struct Chunks {
    pub field: FieldRef,
    pub arrays: Box<dyn Iterator<Item = Result<ArrayRef>> + Send>,
}

impl Chunks {
    /// The chunks converted to the type of another field, to which theirs must be convertible.
    fn converted(self, field: FieldRef) -> Chunks {
        if self.field == field {
            return self;
        }
        let kind = field.data_type().clone();
        let arrays = self.arrays.map(move |array| conversion::converted(&array?, &kind));
        Chunks { field, arrays: Box::new(arrays) }
    }
}

/// A column of text that a caller passes.
pub enum Input {
    /// One array, not validated yet.
    Array(ArrayData),
    /// A stream of arrays.
    Stream(capsules::ImportedStream),
}

impl Input {
    /// The column of an object with `__arrow_c_array__` or `__arrow_c_stream__`.
    ///
    /// Raises: TypeError for another object, and for a column that is not text; ValueError if it is pyarrow's and its
    /// buffers are too small.
    pub fn of(object: &Bound<'_, PyAny>) -> PyResult<Input> {
        let py = object.py();
        validate_sizes(object)?;
        if let Some(method) = object.getattr_opt(intern!(py, "__arrow_c_array__"))? {
            let capsules = method.call0()?.cast_into::<PyTuple>()?;
            let (schema, array) = (capsules.get_item(0)?, capsules.get_item(1)?);
            let (schema, array) = (schema.cast::<PyCapsule>()?, array.cast::<PyCapsule>()?);
            let kind = text_type(capsules::field(schema)?.data_type().clone())?;
            return Ok(Input::Array(capsules::array(array, kind)?));
        }
        if let Some(method) = object.getattr_opt(intern!(py, "__arrow_c_stream__"))? {
            let stream = method.call0()?.cast_into::<PyCapsule>()?;
            let stream = capsules::stream(&stream)?;
            text_type(stream.kind.clone())?;
            return Ok(Input::Stream(stream));
        }
        let message = format!("expected an Arrow column, not {}", object.get_type().name()?);
        Err(PyTypeError::new_err(message))
    }

    /// All chunks of the column.
    pub fn chunks(self) -> PyResult<Vec<Column>> {
        let columns: Result<Vec<Column>> = match self {
            Input::Array(data) => Column::of(data).map(|column| vec![column]),
            Input::Stream(stream) => stream.map(|data| data.and_then(Column::of)).collect(),
        };
        columns.map_err(PyValueError::new_err)
    }
}

/// Let pyarrow compare the sizes of its buffers with its lengths and last offsets, in constant time for each chunk: the
/// sizes do not cross the C data interface.  A series of pandas may hold such an array.
fn validate_sizes(object: &Bound<'_, PyAny>) -> PyResult<()> {
    let py = object.py();
    let module = object.get_type().module()?;
    let holder = if module.to_cow()?.starts_with("pandas") {
        object.getattr_opt(intern!(py, "array"))?.and_then(|array| array.getattr("__arrow_array__").ok())
    } else {
        None
    };
    let array = holder.map(|method| method.call0()).transpose()?;
    let array = array.as_ref().unwrap_or(object);
    if array.get_type().module()?.to_cow()?.starts_with("pyarrow.") {
        // A reader of batches has no such method; its batches are no text.
        if let Some(method) = array.getattr_opt(intern!(py, "validate"))? {
            method.call0()?;
        }
    }
    Ok(())
}

/// The type itself if it is text, or a dictionary of text; otherwise TypeError.
fn text_type(kind: DataType) -> PyResult<DataType> {
    match &kind {
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => Ok(kind),
        DataType::Dictionary(_, values) if !matches!(**values, DataType::Dictionary(..)) => {
            text_type(values.as_ref().clone())?;
            Ok(kind)
        }
        _ => Err(PyTypeError::new_err(format!("expected a text column, not {kind}"))),
    }
}
