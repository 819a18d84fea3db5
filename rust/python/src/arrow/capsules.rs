//! The structs of the Arrow C data and C stream interfaces in capsules: all access to memory that another library has
//! allocated.

use std::ffi::{c_char, c_int, CStr, CString};

use arrow_array::ffi::from_ffi_and_data_type;
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{Array, ArrayRef};
use arrow_data::ffi::FFI_ArrowArray;
use arrow_data::ArrayData;
use arrow_schema::ffi::FFI_ArrowSchema;
use arrow_schema::{DataType, Field};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyTuple};

use super::{Chunks, Result};
use crate::bug::{caught, message_of};

const SCHEMA: &CStr = c"arrow_schema";
const ARRAY: &CStr = c"arrow_array";
const STREAM: &CStr = c"arrow_array_stream";

fn type_error(error: impl ToString) -> PyErr {
    PyTypeError::new_err(error.to_string())
}

fn consumed(name: &str) -> PyErr {
    PyValueError::new_err(format!("the {name} has been consumed"))
}

/// The field that a schema capsule describes.
pub fn field(capsule: &Bound<'_, PyCapsule>) -> PyResult<Field> {
    let pointer = capsule.pointer_checked(Some(SCHEMA))?.cast::<FFI_ArrowSchema>();
    // SAFETY: a capsule of this name holds an ArrowSchema, which lives as long as the capsule.
    let schema = unsafe { pointer.as_ref() };
    if schema.format.is_null() {
        return Err(consumed("schema"));
    }
    Field::try_from(schema).map_err(type_error)
}

/// Move the array out of a capsule.
pub fn array(capsule: &Bound<'_, PyCapsule>, kind: DataType) -> PyResult<ArrayData> {
    let pointer = capsule.pointer_checked(Some(ARRAY))?.cast::<FFI_ArrowArray>();
    // SAFETY: a capsule of this name holds an ArrowArray; its copy in the capsule is marked as released.
    let array = unsafe { FFI_ArrowArray::from_raw(pointer.as_ptr()) };
    if array.is_released() {
        return Err(consumed("array"));
    }
    imported(array, kind).map_err(type_error)
}

fn imported(array: FFI_ArrowArray, kind: DataType) -> Result<ArrayData> {
    let import = || {
        check_struct(&array, &kind)?;
        // SAFETY: the producer promises the buffers of the type, whose sizes are unknown; `check_struct` has checked
        // the struct, and `Column::of` checks offsets, keys, places of views and UTF-8 before they are used.
        unsafe { from_ffi_and_data_type(array, kind) }.map_err(|error| error.to_string())
    };
    // The library panics on other violations of the interface.
    caught(import).unwrap_or_else(|message| Err(broken(&message)))
}

fn broken(detail: &str) -> String {
    format!("the array breaks Arrow's C data interface: {detail}")
}

/// Maximum number of rows, so that the size of a buffer of views or offsets, in bytes, does not overflow.
const MAX_ROWS: usize = isize::MAX as usize / 32;
/// Maximum number of buffers: a view has the number of its buffer in 32 bits.
const MAX_BUFFERS: usize = i32::MAX as usize;

/// Err if the numbers and pointers of a struct cannot be those of a text type or a dictionary of text.
fn check_struct(array: &FFI_ArrowArray, kind: &DataType) -> Result<()> {
    // Negative numbers appear as very large ones here.
    let rows = array.len().checked_add(array.offset()).filter(|&rows| rows < MAX_ROWS);
    let rows = rows.ok_or_else(|| broken("its length or offset is out of range"))?;
    let (count, least) = (array.num_buffers(), if matches!(kind, DataType::Dictionary(..)) { 2 } else { 3 });
    if count < least || count > MAX_BUFFERS {
        return Err(broken("the number of its buffers is out of range"));
    }
    let second = array.buffer(1);
    if second.is_null() && !array.is_empty() {
        return Err(broken("a buffer is missing"));
    }
    match kind {
        DataType::Dictionary(_, values) => {
            let dictionary = array.dictionary().ok_or_else(|| broken("its dictionary is missing"))?;
            return check_struct(dictionary, values);
        }
        DataType::Utf8View if count > least => {
            let lengths = array.buffer(count - 1).cast::<i64>();
            // SAFETY: the last buffer has a length for each buffer after those of validity and views.
            let mut all = (0..count - least).map(|at| unsafe { lengths.add(at).read_unaligned() });
            if lengths.is_null() || all.any(|length| length < 0) {
                return Err(broken("the lengths of its buffers are out of range"));
            }
        }
        DataType::Utf8 if !array.is_empty() => {
            // SAFETY: there is one more offset than there are rows.
            let last = unsafe { second.cast::<i32>().add(rows).read_unaligned() };
            if last < 0 {
                return Err(broken("its last offset is negative"));
            }
        }
        DataType::LargeUtf8 if !array.is_empty() => {
            // SAFETY: there is one more offset than there are rows.
            let last = unsafe { second.cast::<i64>().add(rows).read_unaligned() };
            if last < 0 {
                return Err(broken("its last offset is negative"));
            }
        }
        _ => {}
    }
    if array.dictionary().is_some() {
        return Err(broken("text has no dictionary"));
    }
    Ok(())
}

/// Move the stream out of a capsule.
pub fn stream(capsule: &Bound<'_, PyCapsule>) -> PyResult<ImportedStream> {
    let pointer = capsule.pointer_checked(Some(STREAM))?.cast::<FFI_ArrowArrayStream>();
    // SAFETY: a capsule of this name holds an ArrowArrayStream; its copy in the capsule is marked as released.
    let mut stream = unsafe { FFI_ArrowArrayStream::from_raw(pointer.as_ptr()) };
    let (Some(get_schema), Some(_)) = (stream.get_schema, stream.release) else {
        return Err(consumed("stream"));
    };
    let mut schema = FFI_ArrowSchema::empty();
    // SAFETY: the stream is not released, and there is room for the schema.
    let status = unsafe { get_schema(&mut stream, &mut schema) };
    if status != 0 || schema.format.is_null() {
        return Err(PyValueError::new_err(last_error(&mut stream, status)));
    }
    let kind = DataType::try_from(&schema).map_err(type_error)?;
    Ok(ImportedStream { stream, kind })
}

/// The stream's error message for its last call.
fn last_error(stream: &mut FFI_ArrowArrayStream, status: c_int) -> String {
    // SAFETY: the stream is not released; the text, if there is one, lives until the next call.
    let message = unsafe {
        let text = stream.get_last_error.map_or(std::ptr::null(), |get| get(stream));
        (!text.is_null()).then(|| CStr::from_ptr(text).to_string_lossy().into_owned())
    };
    message.unwrap_or_else(|| format!("the Arrow stream failed with error code {status}"))
}

/// A stream of another library; its arrays are unchecked.
pub struct ImportedStream {
    stream: FFI_ArrowArrayStream,
    pub kind: DataType,
}

impl Iterator for ImportedStream {
    type Item = Result<ArrayData>;

    fn next(&mut self) -> Option<Self::Item> {
        let get_next = self.stream.get_next?;
        let mut array = FFI_ArrowArray::empty();
        // SAFETY: the stream is not released, and there is room for the array.
        let status = unsafe { get_next(&mut self.stream, &mut array) };
        if status != 0 {
            return Some(Err(last_error(&mut self.stream, status)));
        }
        (!array.is_released()).then(|| imported(array, self.kind.clone()))
    }
}

/// Create a schema capsule.
pub fn schema_capsule<'py>(py: Python<'py>, field: &Field) -> PyResult<Bound<'py, PyCapsule>> {
    PyCapsule::new_with_value(py, FFI_ArrowSchema::try_from(field).map_err(type_error)?, SCHEMA)
}

/// Create a schema capsule and an array capsule.
pub fn array_capsules<'py>(
    py: Python<'py>,
    field: &Field,
    array: &ArrayRef,
) -> PyResult<Bound<'py, PyTuple>> {
    let schema = schema_capsule(py, field)?;
    let array = PyCapsule::new_with_value(py, FFI_ArrowArray::new(&array.to_data()), ARRAY)?;
    PyTuple::new(py, [schema, array])
}

/// Create a stream capsule, whose arrays are computed when a consumer reads them.
pub fn stream_capsule<'py>(py: Python<'py>, chunks: Chunks) -> PyResult<Bound<'py, PyCapsule>> {
    let exported = Box::new(ExportedStream { chunks, error: CString::default() });
    let stream = FFI_ArrowArrayStream {
        get_schema: Some(get_schema),
        get_next: Some(get_next),
        get_last_error: Some(get_last_error),
        release: Some(release),
        private_data: Box::into_raw(exported).cast(),
    };
    PyCapsule::new_with_value(py, stream, STREAM)
}

/// The private data of an exported stream.
struct ExportedStream {
    chunks: Chunks,
    /// The message of the last call that failed.
    error: CString,
}

impl ExportedStream {
    /// Do the work of a call and return its status; a panic becomes an error, because it must not pass through C.
    fn call(&mut self, work: impl FnOnce(&mut Chunks) -> Result<()>) -> c_int {
        const EINVAL: c_int = 22;
        let result = caught(|| work(&mut self.chunks));
        let Err(message) = result.unwrap_or_else(|panic| Err(message_of(&panic))) else { return 0 };
        self.error = CString::new(message.replace('\0', "\u{fffd}")).unwrap_or_default();
        EINVAL
    }
}

unsafe extern "C" fn get_schema(stream: *mut FFI_ArrowArrayStream, out: *mut FFI_ArrowSchema) -> c_int {
    // SAFETY: a consumer passes a stream of `stream_capsule` that is not released, and room for a schema.
    unsafe {
        let exported = &mut *(*stream).private_data.cast::<ExportedStream>();
        exported.call(|chunks| {
            let schema = FFI_ArrowSchema::try_from(chunks.field.as_ref()).map_err(|e| e.to_string())?;
            std::ptr::write(out, schema);
            Ok(())
        })
    }
}

unsafe extern "C" fn get_next(stream: *mut FFI_ArrowArrayStream, out: *mut FFI_ArrowArray) -> c_int {
    // SAFETY: as for `get_schema`, with room for an array; a released one marks the end.
    unsafe {
        let exported = &mut *(*stream).private_data.cast::<ExportedStream>();
        exported.call(|chunks| {
            let next = chunks.arrays.next().transpose()?;
            let next = next.map_or_else(FFI_ArrowArray::empty, |array| FFI_ArrowArray::new(&array.to_data()));
            std::ptr::write(out, next);
            Ok(())
        })
    }
}

unsafe extern "C" fn get_last_error(stream: *mut FFI_ArrowArrayStream) -> *const c_char {
    // SAFETY: as for `get_schema`; the text is the stream's until its next call.
    let exported = unsafe { &*(*stream).private_data.cast::<ExportedStream>() };
    if exported.error.is_empty() {
        return std::ptr::null();
    }
    exported.error.as_ptr()
}

unsafe extern "C" fn release(stream: *mut FFI_ArrowArrayStream) {
    // SAFETY: a consumer releases a stream once, so the box is restored once.
    let exported = unsafe {
        let stream = &mut *stream;
        stream.release = None;
        Box::from_raw(stream.private_data.cast::<ExportedStream>())
    };
    drop(caught(|| drop(exported)));
}
