//! The link table as a Parquet file: batches become row groups.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{Array, ArrayRef, StructArray};
use arrow_buffer::Buffer;
use bytes::Bytes;
use parquet::basic::{Compression, ConvertedType, LogicalType, Repetition, Type as PhysicalType, ZstdLevel};
use parquet::column::writer::{get_column_writer, ColumnCloseResult, ColumnWriter};
use parquet::data_type::ByteArray;
use parquet::errors::Result;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterPropertiesPtr};
use parquet::file::writer::{SerializedFileWriter, SerializedPageWriter, TrackedWrite};
use parquet::schema::types::{ColumnDescPtr, ColumnPath, Type, TypePtr};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use super::batch::LinkBatch;
use super::output::{encoded, error, OutputBytes};
use super::table::{COLUMN_NAMES, ERROR_AT, SAME_DOCUMENT};
use crate::bug::guarded;
use crate::threads::in_threads;

/// The columns as Arrow has them (a message of its IPC format), from which readers take the schema and its metadata.
const ARROW_SCHEMA: &str = include_str!("arrow_schema.base64");

/// Encodes batches of links as a Parquet file, piece by piece; the caller writes the pieces.
///
/// varied: columns without a dictionary and statistics.  threads: those that encode a row group, column by column.
#[pyclass(module = "overthere._native")]
pub struct LinkParquet {
    writer: SerializedFileWriter<OutputBytes>,
    output: OutputBytes,
    threads: usize,
}

#[pymethods]
impl LinkParquet {
    #[new]
    fn new(py: Python<'_>, varied: Vec<String>, threads: usize) -> PyResult<Self> {
        guarded(py, || {
            let output = OutputBytes::default();
            let writer = open(output.clone(), &varied).map_err(error)?;
            Ok(LinkParquet { writer, output, threads: threads.min(COLUMN_NAMES.len()) })
        })
    }

    /// Write batches as one row group.  Returns: the next bytes of the file.
    fn write<'py>(&mut self, py: Python<'py>, batches: Vec<Py<LinkBatch>>) -> PyResult<Bound<'py, PyBytes>> {
        guarded(py, || {
            let (writer, threads) = (&mut self.writer, self.threads);
            encoded(py, &self.output, &batches, |rows| write_group(writer, rows, threads))
        })
    }

    /// Write the end of the file, with a name and its text in its metadata.  Returns: the last bytes of the file.
    fn end<'py>(
        &mut self,
        py: Python<'py>,
        metadata: Vec<(String, String)>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        guarded(py, || {
            metadata.into_iter().for_each(|(name, text)| {
                self.writer.append_key_value_metadata(KeyValue::new(name, text));
            });
            self.writer.finish().map_err(error)?;
            Ok(PyBytes::new(py, &self.output.take()))
        })
    }
}

fn open(output: OutputBytes, varied: &[String]) -> Result<SerializedFileWriter<OutputBytes>> {
    let mut properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::default()))
        .set_statistics_enabled(EnabledStatistics::Chunk)
        .set_offset_index_disabled(true)
        .set_key_value_metadata(Some(vec![KeyValue::new(
            "ARROW:schema".to_owned(),
            ARROW_SCHEMA.trim().to_owned(),
        )]));
    for name in varied {
        let path = ColumnPath::from(name.as_str());
        properties = properties
            .set_column_dictionary_enabled(path.clone(), false)
            .set_column_statistics_enabled(path, EnabledStatistics::None);
    }
    SerializedFileWriter::new(output, schema()?, Arc::new(properties.build()))
}

fn schema() -> Result<TypePtr> {
    let column = |(index, name): (usize, &&str)| {
        let (kind, is_text) = match index {
            SAME_DOCUMENT => (PhysicalType::BOOLEAN, false),
            ERROR_AT => (PhysicalType::INT64, false),
            _ => (PhysicalType::BYTE_ARRAY, true),
        };
        Type::primitive_type_builder(name, kind)
            .with_repetition(Repetition::OPTIONAL)
            .with_logical_type(is_text.then_some(LogicalType::String))
            .with_converted_type(if is_text { ConvertedType::UTF8 } else { ConvertedType::NONE })
            .build()
            .map(Arc::new)
    };
    let columns: Result<Vec<TypePtr>> = COLUMN_NAMES.iter().enumerate().map(column).collect();
    Ok(Arc::new(Type::group_type_builder("schema").with_fields(columns?).build()?))
}

/// Write batches as one row group, whose columns are encoded in threads.
fn write_group(
    writer: &mut SerializedFileWriter<OutputBytes>,
    batches: &[StructArray],
    threads: usize,
) -> Result<()> {
    let (properties, columns) = (writer.properties().clone(), writer.schema_descr().columns().to_vec());
    let encode_column =
        |index, column| encode(column, properties.clone(), batches.iter().map(|batch| batch.column(index)));
    let encoded: Result<Vec<EncodedColumn>> =
        in_threads(columns, threads, encode_column).into_iter().collect();
    let encoded = encoded?;
    let mut group = writer.next_row_group()?;
    for (octets, close) in encoded {
        group.append_column(&octets, close)?;
    }
    group.close()?;
    Ok(())
}

/// The bytes of a column of a row group, and their description.
type EncodedColumn = (Bytes, ColumnCloseResult);

fn encode<'a>(
    column: ColumnDescPtr,
    properties: WriterPropertiesPtr,
    arrays: impl Iterator<Item = &'a ArrayRef>,
) -> Result<EncodedColumn> {
    let mut output = TrackedWrite::new(Vec::new());
    let mut writer = get_column_writer(column, properties, Box::new(SerializedPageWriter::new(&mut output)));
    for array in arrays {
        let levels: Vec<i16> = (0..array.len()).map(|row| i16::from(array.is_valid(row))).collect();
        let levels = Some(levels.as_slice());
        match &mut writer {
            ColumnWriter::BoolColumnWriter(writer) => {
                let values: Vec<bool> = array.as_boolean().iter().flatten().collect();
                writer.write_batch(&values, levels, None)?;
            }
            ColumnWriter::Int64ColumnWriter(writer) => {
                let values: Vec<i64> = array.as_primitive::<Int64Type>().iter().flatten().collect();
                writer.write_batch(&values, levels, None)?;
            }
            ColumnWriter::ByteArrayColumnWriter(writer) => {
                writer.write_batch(&texts(array), levels, None)?;
            }
            _ => {}
        }
    }
    let close = writer.close()?;
    Ok((output.into_inner()?.into(), close))
}

/// The memory of a column.
struct Memory(Buffer);

impl AsRef<[u8]> for Memory {
    fn as_ref(&self) -> &[u8] {
        self.0.as_slice()
    }
}

/// The texts of a column that are defined, in its own memory.
fn texts(column: &ArrayRef) -> Vec<ByteArray> {
    let column = column.as_string::<i32>();
    let memory = Bytes::from_owner(Memory(column.values().clone()));
    let text = |(row, ends): (usize, &[i32])| match ends {
        [start, end] if column.is_valid(row) => Some(memory.slice(*start as usize..*end as usize).into()),
        _ => None,
    };
    column.value_offsets().windows(2).enumerate().filter_map(text).collect()
}
