//! The bytes that an encoder of tables hands over piece by piece.

use std::io::{self, Write};
use std::sync::{Arc, Mutex, PoisonError};

/// The bytes that the writer has written since the last call of `take`.
#[derive(Clone, Default)]
pub struct OutputBytes(Arc<Mutex<Vec<u8>>>);

impl OutputBytes {
    pub fn take(&self) -> Vec<u8> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
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
