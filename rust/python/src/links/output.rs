//! The bytes that an encoder of tables hands over piece by piece.

use std::fmt::Display;
use std::io::{self, Write};
use std::sync::{Arc, Mutex, PoisonError};

use arrow_array::StructArray;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use super::batch::LinkBatch;
use crate::finalizing::detached;

/// The bytes that the writer has written since the last call of `take`.
#[derive(Clone, Default)]
pub struct OutputBytes(Arc<Mutex<Vec<u8>>>);

impl OutputBytes {
    pub fn take(&self) -> Vec<u8> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Encode batches with a function, while other threads of Python run.  Returns: the next bytes of the output.
pub fn encoded<'py, E: Display + Send>(
    py: Python<'py>,
    output: &OutputBytes,
    batches: &[Py<LinkBatch>],
    encode: impl FnOnce(&[StructArray]) -> Result<(), E> + Send,
) -> PyResult<Bound<'py, PyBytes>> {
    let rows: Vec<StructArray> = batches.iter().map(|batch| batch.get().rows.clone()).collect();
    detached(py, || encode(&rows)).map_err(error)?;
    Ok(PyBytes::new(py, &output.take()))
}

/// The error of an encoder, as Python gets it.
pub fn error(error: impl Display) -> PyErr {
    PyValueError::new_err(error.to_string())
}

impl Write for OutputBytes {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(data);
        Ok(data.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
