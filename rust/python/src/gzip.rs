//! The check of gzip members at which a file can be cut (`gzip_member.py`).

use pyo3::prelude::*;

use crate::bug::guarded;
use crate::finalizing::detached;

/// Whether nothing but gzip members is in `data`, the last one perhaps cut.  False also where only zlib can say it: a
/// header is unusual, or there is more than `most` bytes of content.
#[pyfunction]
pub fn is_gzip_members(py: Python<'_>, data: &[u8], most: usize) -> PyResult<bool> {
    guarded(py, || Ok(detached(py, || overthere_records::is_members(data, most))))
}
