//! A batch of the link table: its rows are selected, counted, and written as text.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{Array, ArrayRef, BooleanArray, Int64Array, StringArray, StructArray};
use arrow_schema::{DataType, Field};
use pyo3::exceptions::PyValueError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyCapsule, PyString, PyTuple, PyType};

use super::packing::{self, Packed};
use super::table::{self, COLUMN_NAMES, ERROR_AT, SAME_DOCUMENT};
use super::{pairs, text, tuples};
use crate::arrow::array_capsules;
use crate::bug::guarded;
use crate::finalizing::detached;

/// Names and how often they occur, in the order in which they come.
type Counts<'a> = Vec<(Option<&'a str>, u64)>;
/// The numbers of `LinkBatch.counts`.
type Numbers<'a> = ((u64, u64, u64), Counts<'a>, Counts<'a>, Vec<(&'a str, &'a str)>);

/// Rows of the link table; its columns are the fields of `Link`.
#[pyclass(frozen, module = "overthere._native")]
pub struct LinkBatch {
    pub rows: StructArray,
}

impl LinkBatch {
    pub fn texts(&self, column: usize) -> &StringArray {
        self.rows.column(column).as_string()
    }

    fn same_document(&self) -> &BooleanArray {
        self.rows.column(SAME_DOCUMENT).as_boolean()
    }
}

#[pymethods]
impl LinkBatch {
    /// The batch of rows, which are tuples in the order of `Link`.
    #[staticmethod]
    fn of(py: Python<'_>, rows: Vec<Bound<'_, PyTuple>>) -> PyResult<LinkBatch> {
        guarded(py, || {
            let column = |index| -> PyResult<ArrayRef> {
                let values = rows.iter().map(|row| row.get_item(index));
                Ok(match index {
                    SAME_DOCUMENT => Arc::new(extracted::<bool, BooleanArray>(values)?),
                    ERROR_AT => Arc::new(extracted::<i64, Int64Array>(values)?),
                    _ => Arc::new(extracted::<String, StringArray>(values)?),
                })
            };
            let columns: PyResult<Vec<ArrayRef>> = (0..COLUMN_NAMES.len()).map(column).collect();
            Ok(LinkBatch { rows: table::rows(columns?).map_err(PyValueError::new_err)? })
        })
    }

    #[getter]
    fn num_rows(&self, py: Python<'_>) -> PyResult<usize> {
        guarded(py, || Ok(self.rows.len()))
    }

    /// The bytes of the rows, as pyarrow counts them: without those of other rows in the same memory.
    #[getter]
    fn nbytes(&self, py: Python<'_>) -> PyResult<usize> {
        guarded(py, || Ok(self.rows.columns().iter().map(used_bytes).sum()))
    }

    /// The rows as tuples in the order of `Link`.
    fn links<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyTuple>>> {
        guarded(py, || tuples::tuples(py, &self.rows))
    }

    /// The texts of a column.
    fn column<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Vec<Bound<'py, PyAny>>> {
        guarded(py, || Ok(tuples::values(py, self.rows.column(position(name)?))))
    }

    /// The batch with another column of texts.
    fn with_texts(&self, py: Python<'_>, name: &str, texts: Vec<Option<String>>) -> PyResult<LinkBatch> {
        guarded(py, || {
            let mut columns = self.rows.columns().to_vec();
            if let Some(column) = columns.get_mut(position(name)?) {
                *column = Arc::new(StringArray::from(texts));
            }
            Ok(LinkBatch { rows: table::rows(columns).map_err(PyValueError::new_err)? })
        })
    }

    /// The batch without its first rows.
    fn slice(&self, py: Python<'_>, start: usize) -> PyResult<LinkBatch> {
        guarded(py, || {
            let start = start.min(self.rows.len());
            Ok(LinkBatch { rows: self.rows.slice(start, self.rows.len() - start) })
        })
    }

    /// The rows that at least one of the names selects (`selection.CHOICES`).
    fn select(&self, py: Python<'_>, names: Vec<String>) -> PyResult<LinkBatch> {
        guarded(py, || {
            detached(py, || {
                let choices: Result<Vec<_>, String> = names.iter().map(|name| self.choice(name)).collect();
                let choices = choices?;
                let selected: Vec<usize> =
                    (0..self.rows.len()).filter(|row| choices.iter().any(|choice| choice(*row))).collect();
                let columns = self.rows.columns().iter().map(|column| rows_of(column, &selected)).collect();
                Ok(LinkBatch { rows: table::rows(columns)? })
            })
            .map_err(PyValueError::new_err::<String>)
        })
    }

    /// The number of links of each pair: (source host, target host, target scheme, links), sorted (`graph.pairs`).
    fn pairs(&self, py: Python<'_>) -> PyResult<Vec<pairs::Pair>> {
        guarded(py, || Ok(detached(py, || pairs::count(self))))
    }

    /// The numbers of the summary: (references, those to the same document, those mapped from IRIs), the layers of
    /// their bases, the kinds of errors of those without a target, and the kinds and sources of notes.
    fn counts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        guarded(py, || Ok(detached(py, || self.numbers()).into_pyobject(py)?.into_any()))
    }

    /// The rows as JSON lines.
    fn json_lines<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        guarded(py, || Ok(PyBytes::new(py, &detached(py, || text::json_lines(&self.rows)))))
    }

    /// The rows as CSV, without a header.  is_safe: cells that a spreadsheet would compute get an apostrophe.
    fn csv_lines<'py>(&self, py: Python<'py>, is_safe: bool) -> PyResult<Bound<'py, PyBytes>> {
        guarded(py, || Ok(PyBytes::new(py, &detached(py, || text::csv(&self.rows, is_safe)))))
    }

    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyCapsule>>,
    ) -> PyResult<Bound<'py, PyTuple>> {
        let _ = requested_schema; // one that differs is the consumer's to cast, as the interface allows
        guarded(py, || {
            let field = Field::new("", self.rows.data_type().clone(), false);
            array_capsules(py, &field, &(Arc::new(self.rows.clone()) as ArrayRef))
        })
    }

    /// The batch whose columns have these bytes.  Raises: ValueError if they have another number of rows.
    #[staticmethod]
    fn unpack(py: Python<'_>, rows: usize, columns: Vec<Packed<'_>>) -> PyResult<LinkBatch> {
        guarded(py, || {
            let columns: Result<Vec<ArrayRef>, String> = columns
                .iter()
                .enumerate()
                .map(|(index, packed)| packing::unpack(index, rows, packed))
                .collect();
            let rows = columns.and_then(table::rows).map_err(PyValueError::new_err)?;
            Ok(LinkBatch { rows })
        })
    }

    /// A batch is pickled as the bytes of its columns.
    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
        let py = slf.py();
        guarded(py, || {
            let class: Bound<'py, PyType> = slf.get_type();
            let rows = &slf.get().rows;
            let columns: Vec<Packed<'_>> =
                rows.columns().iter().map(|column| packing::pack(py, column)).collect();
            Ok((class.getattr(intern!(py, "unpack"))?, (rows.len(), columns).into_pyobject(py)?.into_any()))
        })
    }

    fn __repr__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyString>> {
        guarded(py, || Ok(PyString::new(py, &format!("<LinkBatch of {} rows>", self.rows.len()))))
    }
}

/// Whether a row is selected.
type Choice<'a> = Box<dyn Fn(usize) -> bool + 'a>;

impl LinkBatch {
    fn choice(&self, name: &str) -> Result<Choice<'_>, String> {
        use super::table::{AUDIT, BASE, BROWSER, ERROR, PART, REFERENCE, TARGET};
        let (reference, target, error) = (self.texts(REFERENCE), self.texts(TARGET), self.texts(ERROR));
        let (base, same) = (self.texts(BASE), self.same_document());
        let is_internal = move |row: usize| {
            let host = |texts: &'_ StringArray| pairs::host(texts.value(row)).map(str::to_ascii_lowercase);
            host(target).unwrap_or_default() == host(base).unwrap_or_default()
        };
        Ok(match name {
            "valid" => Box::new(|row| target.is_valid(row)),
            // With an edition that has a "current document", such a reference is valid and has no target.
            "invalid" => {
                Box::new(|row| reference.is_valid(row) && error.is_valid(row) && target.is_null(row))
            }
            "mapped" => Box::new(|row| target.is_valid(row) && error.is_valid(row)),
            "same-document" => Box::new(|row| same.is_valid(row) && same.value(row)),
            "internal" => Box::new(move |row| target.is_valid(row) && is_internal(row)),
            "external" => Box::new(move |row| target.is_valid(row) && !is_internal(row)),
            "notes" => Box::new(|row| reference.is_null(row)),
            "parts" => Box::new(|row| self.texts(PART).is_valid(row)),
            "audit" => Box::new(|row| self.texts(AUDIT).is_valid(row)),
            "browser" => Box::new(|row| self.texts(BROWSER).is_valid(row)),
            _ => return Err(format!("unknown choice {name}")),
        })
    }

    fn numbers(&self) -> Numbers<'_> {
        use super::table::{BASE_FROM, ERROR, REFERENCE, SOURCE, TARGET};
        let (reference, target, error) = (self.texts(REFERENCE), self.texts(TARGET), self.texts(ERROR));
        let layer = self.texts(BASE_FROM);
        let same_document = self.same_document();
        let (mut references, mut same, mut mapped) = (0, 0, 0);
        let (mut layers, mut invalid, mut notes) = (Counts::new(), Counts::new(), Vec::new());
        for row in 0..self.rows.len() {
            same += u64::from(same_document.is_valid(row) && same_document.value(row));
            let kind = error.is_valid(row).then(|| error.value(row));
            match (reference.is_valid(row), target.is_valid(row), kind) {
                (false, _, Some(kind)) => notes.push((kind, self.texts(SOURCE).value(row))),
                (true, false, Some(kind)) => count(&mut invalid, Some(kind)),
                _ => {}
            }
            mapped += u64::from(target.is_valid(row) && kind.is_some());
            if reference.is_valid(row) {
                references += 1;
                count(&mut layers, layer.is_valid(row).then(|| layer.value(row)));
            }
        }
        ((references, same, mapped), layers, invalid, notes)
    }
}

/// Count a name once more; there are few.
fn count<'a>(counts: &mut Counts<'a>, name: Option<&'a str>) {
    match counts.iter_mut().find(|(known, _)| *known == name) {
        Some((_, number)) => *number += 1,
        None => counts.push((name, 1)),
    }
}

/// A column of values from Python; None becomes null.
fn extracted<'py, T, A>(values: impl Iterator<Item = PyResult<Bound<'py, PyAny>>>) -> PyResult<A>
where
    for<'a> T: FromPyObject<'a, 'py>,
    A: FromIterator<Option<T>>,
{
    values.map(|value| value?.extract::<Option<T>>().map_err(Into::into)).collect()
}

/// The rows of a column with these numbers.
fn rows_of(column: &ArrayRef, numbers: &[usize]) -> ArrayRef {
    let numbers = numbers.iter().copied();
    match column.data_type() {
        DataType::Boolean => {
            let values = column.as_boolean();
            Arc::new(
                numbers.map(|row| values.is_valid(row).then(|| values.value(row))).collect::<BooleanArray>(),
            )
        }
        DataType::Int64 => {
            let values = column.as_primitive::<Int64Type>();
            Arc::new(
                numbers.map(|row| values.is_valid(row).then(|| values.value(row))).collect::<Int64Array>(),
            )
        }
        _ => {
            let values = column.as_string::<i32>();
            Arc::new(
                numbers.map(|row| values.is_valid(row).then(|| values.value(row))).collect::<StringArray>(),
            )
        }
    }
}

fn position(name: &str) -> PyResult<usize> {
    let found = COLUMN_NAMES.iter().position(|known| *known == name);
    found.ok_or_else(|| PyValueError::new_err(format!("the link table has no column {name}")))
}

/// The bytes of the rows of a column: its validity, if a row is null, and its values.
fn used_bytes(column: &ArrayRef) -> usize {
    let rows = column.len();
    let validity = if column.nulls().is_some() { rows.div_ceil(8) } else { 0 };
    validity
        + match column.data_type() {
            DataType::Boolean => rows.div_ceil(8),
            DataType::Int64 => 8 * column.as_primitive::<Int64Type>().len(),
            _ => {
                let offsets = column.as_string::<i32>().offsets();
                let octets = offsets.last().zip(offsets.first()).map_or(0, |(last, first)| last - first);
                4 * offsets.len() + octets as usize
            }
        }
}
