//! Decoding as in `urllib.parse`: invalid escapes stay, and invalid UTF-8 becomes U+FFFD.

use overthere_core::percent;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyString, PyTuple};

use crate::bug::guarded;
use crate::quick::{exact, text};

/// The text with every whole escape decoded; with `plus`, "+" is a space.  None for text that has no UTF-8 form.
#[pyfunction]
pub fn unquote<'py>(string: &Bound<'py, PyString>, plus: bool) -> PyResult<Option<Bound<'py, PyString>>> {
    guarded(string.py(), || {
        let string = &exact(string)?;
        let Ok(characters) = string.to_str() else { return Ok(None) };
        let octets = characters.as_bytes();
        if memchr::memchr2(b'%', if plus { b'+' } else { b'%' }, octets).is_none() {
            return Ok(Some(string.clone()));
        }
        decoded(string.py(), octets, plus, &mut Vec::new()).map(Some)
    })
}

/// The pairs of a query: "&" parts them, "=" a name from its value, and "+" is a space.
///
/// A pair without a value is one only with `blank`.  None for text that has no UTF-8 form.
#[pyfunction]
pub fn unquote_pairs<'py>(query: &Bound<'py, PyString>, blank: bool) -> PyResult<Option<Bound<'py, PyList>>> {
    let py = query.py();
    guarded(py, || {
        let query = &exact(query)?;
        let Ok(characters) = query.to_str() else { return Ok(None) };
        let pairs = PyList::empty(py);
        let mut buffer = Vec::new();
        for piece in characters.as_bytes().split(|&b| b == b'&').filter(|piece| !piece.is_empty()) {
            let mut halves = piece.splitn(2, |&b| b == b'=');
            let (name, value) = (halves.next().unwrap_or_default(), halves.next().unwrap_or_default());
            if blank || !value.is_empty() {
                let name = decoded(py, name, true, &mut buffer)?;
                let value = decoded(py, value, true, &mut buffer)?;
                pairs.append(PyTuple::new(py, [name, value])?)?;
            }
        }
        Ok(Some(pairs))
    })
}

/// The decoded text of these octets; `buffer` is scratch space.
fn decoded<'py>(
    py: Python<'py>,
    octets: &[u8],
    plus: bool,
    buffer: &mut Vec<u8>,
) -> PyResult<Bound<'py, PyString>> {
    buffer.clear();
    percent::decode_or_keep(octets, plus, buffer);
    match String::from_utf8_lossy(buffer) {
        std::borrow::Cow::Borrowed(decoded) => text(py, decoded.as_bytes()),
        std::borrow::Cow::Owned(replaced) => Ok(PyString::new(py, &replaced)),
    }
}
