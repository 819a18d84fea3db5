//! The link table as an Arrow file or stream: batches become record batches.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{ArrayRef, BooleanArray, Int64Array, RecordBatch, StringArray, StructArray};
use arrow_ipc::writer::{FileWriter, StreamWriter};
use arrow_schema::{ArrowError, DataType, FieldRef, Schema};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use super::batch::LinkBatch;
use super::output::{encoded, error, OutputBytes};
use super::table;
use crate::bug::guarded;

enum Writer {
    File(FileWriter<OutputBytes>),
    Stream(StreamWriter<OutputBytes>),
}

impl Writer {
    fn write(&mut self, batch: StructArray) -> Result<(), ArrowError> {
        let batch = RecordBatch::from(batch);
        match self {
            Writer::File(writer) => writer.write(&batch),
            Writer::Stream(writer) => writer.write(&batch),
        }
    }
}

/// Encodes batches of links as an Arrow file, or as a stream, piece by piece; the caller writes the pieces.
#[pyclass(module = "overthere._native")]
pub struct LinkArrow {
    writer: Writer,
    output: OutputBytes,
}

#[pymethods]
impl LinkArrow {
    #[new]
    fn new(py: Python<'_>, is_stream: bool) -> PyResult<Self> {
        guarded(py, || {
            let (output, schema) = (OutputBytes::default(), Schema::new(table::fields()));
            let writer = if is_stream {
                StreamWriter::try_new(output.clone(), &schema).map(Writer::Stream)
            } else {
                FileWriter::try_new(output.clone(), &schema).map(Writer::File)
            };
            Ok(LinkArrow { writer: writer.map_err(error)?, output })
        })
    }

    /// Write batches as one record batch.  Returns: the next bytes of the file.
    fn write<'py>(&mut self, py: Python<'py>, batches: Vec<Py<LinkBatch>>) -> PyResult<Bound<'py, PyBytes>> {
        guarded(py, || {
            let writer = &mut self.writer;
            encoded(py, &self.output, &batches, |rows| writer.write(joined(rows)?))
        })
    }

    /// Write the end of the file, with names and texts in its metadata, which a stream has not.  Returns: its bytes.
    fn end<'py>(
        &mut self,
        py: Python<'py>,
        metadata: Vec<(String, String)>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        guarded(py, || {
            let ended = match &mut self.writer {
                Writer::File(writer) => {
                    metadata.into_iter().for_each(|(name, text)| writer.write_metadata(name, text));
                    writer.finish()
                }
                Writer::Stream(writer) => writer.finish(),
            };
            ended.map_err(error)?;
            Ok(PyBytes::new(py, &self.output.take()))
        })
    }
}

/// The rows of all batches as one: a crate that joins arrays of every type would take 600 KB.
fn joined(batches: &[StructArray]) -> Result<StructArray, ArrowError> {
    let fields = table::fields();
    let column = |(index, field): (usize, &FieldRef)| -> ArrayRef {
        let arrays = batches.iter().map(|batch| batch.column(index));
        match field.data_type() {
            DataType::Boolean => {
                Arc::new(arrays.flat_map(|array| array.as_boolean()).collect::<BooleanArray>())
            }
            DataType::Int64 => {
                Arc::new(arrays.flat_map(|array| array.as_primitive::<Int64Type>()).collect::<Int64Array>())
            }
            _ => Arc::new(arrays.flat_map(|array| array.as_string::<i32>()).collect::<StringArray>()),
        }
    };
    let columns = fields.iter().enumerate().map(column).collect();
    StructArray::try_new(fields, columns, None)
}
