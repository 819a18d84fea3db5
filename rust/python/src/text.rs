//! The kernel's functions on texts.

use overthere_core::normalize as core_normalize;
use overthere_core::parse::Rule;
use overthere_core::percent::{self, Safe};
use overthere_core::resolve::{self as core_resolve, Parsed};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};

use crate::bug::guarded;
use crate::components::Components;
use crate::fast::parse;
use crate::quick::{exact, text, truth};

/// 5.2 and 5.3 on values; None if one of them is not US-ASCII.
#[pyfunction]
pub fn resolve<'py>(
    py: Python<'py>,
    base: &Bound<'py, Components>,
    reference: &Bound<'py, Components>,
    #[pyo3(from_py_with = truth)] strict: bool,
) -> PyResult<Option<Bound<'py, PyString>>> {
    guarded(py, || {
        let (base, reference) = (base.get(), reference.get());
        let (Some(base_spans), Some(spans)) = (base.octet_spans(), reference.octet_spans()) else {
            return Ok(None);
        };
        let base = Parsed { text: base.octets(py)?, spans: base_spans };
        let reference = Parsed { text: reference.octets(py)?, spans };
        let mut out = Vec::new();
        core_resolve::resolve(base, reference, strict, &mut out);
        text(py, &out).map(Some)
    })
}

/// The normal form of a valid text at a generic rung (0 to 3); the text itself if nothing changes.
///
/// None if the text is not one that the fast kernel reads.
#[pyfunction]
pub fn normalize<'py>(value: &Bound<'py, PyString>, rung: u8) -> PyResult<Option<Bound<'py, PyString>>> {
    guarded(value.py(), || {
        let value = &exact(value)?;
        let Ok(characters) = value.to_str() else { return Ok(None) };
        let bytes = characters.as_bytes();
        let Ok(spans) = parse(bytes, Rule::UriReference, true) else { return Ok(None) };
        if !core_normalize::may_change(bytes, &spans, rung) {
            return Ok(Some(value.clone()));
        }
        let mut out = Vec::new();
        core_normalize::normalize(bytes, &spans, rung, &mut out);
        if out == bytes {
            Ok(Some(value.clone()))
        } else {
            text(value.py(), &out).map(Some)
        }
    })
}

/// 5.2.4; None for text that has no UTF-8 form.
#[pyfunction]
pub fn remove_dot_segments<'py>(path: &Bound<'py, PyString>) -> PyResult<Option<Bound<'py, PyString>>> {
    guarded(path.py(), || {
        let path = &exact(path)?;
        let Ok(characters) = path.to_str() else { return Ok(None) };
        if !core_resolve::may_have_dot_segments(characters.as_bytes()) {
            return Ok(Some(path.clone()));
        }
        let mut out = Vec::with_capacity(characters.len());
        core_resolve::remove_dot_segments(characters.as_bytes(), &mut out);
        text(path.py(), &out).map(Some)
    })
}

/// 2.1: every octet that is not one of the US-ASCII characters `safe` becomes `%HH`.
#[pyfunction]
pub fn percent_encode<'py>(py: Python<'py>, data: &[u8], safe: &str) -> PyResult<Bound<'py, PyString>> {
    guarded(py, || {
        let safe = Safe::new(safe.as_bytes());
        if safe.prefix(data) == data.len() {
            return text(py, data);
        }
        let mut out = Vec::new();
        percent::encode(data, &safe, &mut out);
        text(py, &out)
    })
}

/// 2.1: every `%HH` becomes its octet.  Raises: ValueError at a "%" that two hexadecimal digits do not follow.
#[pyfunction]
pub fn percent_decode<'py>(py: Python<'py>, data: &[u8]) -> PyResult<Bound<'py, PyBytes>> {
    guarded(py, || {
        let mut out = Vec::new();
        percent::decode(data, &mut out)
            .map_err(|at| PyValueError::new_err(format!("broken escape at {at}")))?;
        Ok(PyBytes::new(py, &out))
    })
}
