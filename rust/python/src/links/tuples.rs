//! The rows of the link table as tuples of Python, in the order of `Link`.

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{Array, ArrayRef, BooleanArray, Int64Array, StringArray, StructArray};
use arrow_schema::DataType;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyInt, PyString, PyTuple};

/// A column, and for texts the last value, which is reused: the rows of a document share most values.
enum Column<'a, 'py> {
    Text { values: &'a StringArray, last: Option<(&'a str, Bound<'py, PyAny>)> },
    Flag(&'a BooleanArray),
    Number(&'a Int64Array),
}

impl<'a, 'py> Column<'a, 'py> {
    fn new(column: &'a ArrayRef) -> Self {
        match column.data_type() {
            DataType::Boolean => Column::Flag(column.as_boolean()),
            DataType::Int64 => Column::Number(column.as_primitive::<Int64Type>()),
            _ => Column::Text { values: column.as_string(), last: None },
        }
    }

    fn value(&mut self, py: Python<'py>, row: usize) -> Bound<'py, PyAny> {
        match self {
            Column::Flag(values) if values.is_valid(row) => {
                PyBool::new(py, values.value(row)).to_owned().into_any()
            }
            Column::Number(values) if values.is_valid(row) => PyInt::new(py, values.value(row)).into_any(),
            Column::Text { values, last } if values.is_valid(row) => {
                let text: &'a str = values.value(row);
                match last {
                    Some((text_before, value)) if *text_before == text => value.clone(),
                    _ => {
                        let value = PyString::new(py, text).into_any();
                        *last = Some((text, value.clone()));
                        value
                    }
                }
            }
            _ => py.None().into_bound(py),
        }
    }
}

/// A tuple for each row.
pub fn tuples<'py>(py: Python<'py>, rows: &StructArray) -> PyResult<Vec<Bound<'py, PyTuple>>> {
    let mut columns: Vec<Column<'_, 'py>> = rows.columns().iter().map(Column::new).collect();
    (0..rows.len())
        .map(|row| {
            let fields: Vec<_> = columns.iter_mut().map(|column| column.value(py, row)).collect();
            PyTuple::new(py, fields)
        })
        .collect()
}

/// The values of a column.
pub fn values<'py>(py: Python<'py>, column: &ArrayRef) -> Vec<Bound<'py, PyAny>> {
    let mut values = Column::new(column);
    (0..column.len()).map(|row| values.value(py, row)).collect()
}
