//! Rows of results as Python objects.

use arrow_array::cast::AsArray;
use arrow_array::types::{Int64Type, Int8Type, UInt32Type};
use arrow_array::Array;
use arrow_schema::DataType;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyInt, PyList, PyString};

/// The value of a row; None for a null row.
pub fn value<'py>(py: Python<'py>, array: &dyn Array, row: usize) -> PyResult<Bound<'py, PyAny>> {
    if array.is_null(row) {
        return Ok(py.None().into_bound(py));
    }
    Ok(match array.data_type() {
        DataType::Boolean => PyBool::new(py, array.as_boolean().value(row)).to_owned().into_any(),
        DataType::Utf8 => PyString::new(py, array.as_string::<i32>().value(row)).into_any(),
        DataType::Utf8View => PyString::new(py, array.as_string_view().value(row)).into_any(),
        DataType::UInt32 => PyInt::new(py, array.as_primitive::<UInt32Type>().value(row)).into_any(),
        DataType::Int64 => PyInt::new(py, array.as_primitive::<Int64Type>().value(row)).into_any(),
        DataType::Dictionary(..) => {
            let names = array.as_dictionary::<Int8Type>();
            value(py, names.values(), names.key(row).unwrap_or_default())?
        }
        DataType::Struct(fields) => {
            let dictionary = PyDict::new(py);
            for (field, column) in fields.iter().zip(array.as_struct().columns()) {
                dictionary.set_item(field.name(), value(py, column, row)?)?;
            }
            dictionary.into_any()
        }
        other => return Err(PyTypeError::new_err(format!("{other} has no values in Python"))),
    })
}

/// Append all rows to a list.
pub fn append(array: &dyn Array, list: &Bound<'_, PyList>) -> PyResult<()> {
    (0..array.len()).try_for_each(|row| list.append(value(list.py(), array, row)?))
}

/// The rows in a list as an array of numpy.
pub fn to_numpy<'py>(
    list: &Bound<'py, PyList>,
    kind: &DataType,
    null_count: usize,
    dtype: Option<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = list.py();
    if null_count > 0 {
        return Err(PyValueError::new_err("Cannot create numpy array from arrow array with nulls."));
    }
    let default_dtype = match kind {
        DataType::Boolean => "bool",
        DataType::UInt32 => "uint32",
        DataType::Int64 => "int64",
        _ => "object",
    };
    let dtype = dtype.unwrap_or_else(|| PyString::new(py, default_dtype).into_any());
    py.import(intern!(py, "numpy"))?.call_method1(intern!(py, "array"), (list, dtype))
}
