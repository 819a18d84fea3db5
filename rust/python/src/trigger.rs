//! The search for places in running text where a URI may begin.

use overthere_core::trigger::{Next, Trigger as Core};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::string::PyStringData;
use pyo3::types::PyString;

use crate::bug::guarded;

/// A quick search in front of a regular expression, which is asked only where it may match.
#[pyclass(frozen, module = "overthere._native")]
pub struct Trigger {
    core: Core,
    /// The methods of the expression, an `re.Pattern`.
    match_at: Py<PyAny>,
    search_from: Py<PyAny>,
}

#[pymethods]
impl Trigger {
    #[new]
    fn new(
        py: Python<'_>,
        pattern: &Bound<'_, PyAny>,
        names: Vec<String>,
        abbreviated: bool,
        mail: bool,
        tops: Option<Vec<String>>,
    ) -> PyResult<Self> {
        guarded(py, || match Core::new(names.iter().map(String::as_str), abbreviated, mail, tops) {
            Some(core) => Ok(Trigger {
                core,
                match_at: pattern.getattr("match")?.unbind(),
                search_from: pattern.getattr("search")?.unbind(),
            }),
            None => Err(PyValueError::new_err("a scheme must have a lower-case US-ASCII name")),
        })
    }

    /// What `re.Pattern.search` gives.
    fn search<'py>(&self, text: &Bound<'py, PyString>, at: usize) -> PyResult<Option<Bound<'py, PyAny>>> {
        let py = text.py();
        guarded(py, || {
            let mut from = at;
            while let Some(next) = self.next(text, from)? {
                let place = match next {
                    Next::Match(place) => place,
                    Next::Search(place) => {
                        let result = self.search_from.bind(py).call1((text, place))?;
                        return Ok(Some(result).filter(|result| !result.is_none()));
                    }
                };
                let result = self.match_at.bind(py).call1((text, place))?;
                if !result.is_none() {
                    return Ok(Some(result));
                }
                from = place + 1;
            }
            Ok(None)
        })
    }
}

impl Trigger {
    fn next(&self, text: &Bound<'_, PyString>, from: usize) -> PyResult<Option<Next>> {
        // SAFETY: the characters of a `str` never change, and `text` outlives the borrow of them.
        Ok(match unsafe { text.data() }? {
            PyStringData::Ucs1(characters) => self.core.next(characters, from),
            PyStringData::Ucs2(characters) => self.core.next(characters, from),
            PyStringData::Ucs4(characters) => self.core.next(characters, from),
        })
    }
}
