//! Registrable domains of a column (publicsuffix.org), by the list that Python passes.

use std::sync::Arc;

use arrow_array::ArrayRef;
use overthere_core::place::Span;
use overthere_core::suffix;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyList;

use super::chunks::{each, over};
use super::not_text;
use super::row_loop::{text_column, Outcome};
use super::rows::{visit, Rows, Visit};
use super::schemes::ErrorSlot;
use crate::arrow::views::rewritten;
use crate::arrow::Result;
use crate::bug::guarded;
use crate::fast::host;
use crate::finalizing::attached;
use crate::quick::truth;

/// The rules of a list, by name.
#[pyclass(frozen, module = "overthere._native")]
pub struct Suffixes(Arc<suffix::Suffixes>);

#[pymethods]
impl Suffixes {
    #[new]
    fn new(py: Python<'_>, rules: Vec<(String, u8)>) -> PyResult<Self> {
        guarded(py, || Ok(Suffixes(Arc::new(suffix::Suffixes::new(rules)))))
    }
}

/// A part of a host's name.
#[derive(Clone, Copy)]
enum Part {
    Subdomain,
    RegistrableDomain,
    PublicSuffix,
}

/// Finds a part of each row's host.
struct Domains<'a> {
    rules: &'a suffix::Suffixes,
    part: Part,
    private: bool,
    finish: &'a Py<PyAny>,
    raised: &'a ErrorSlot,
    threads: usize,
}

impl Domains<'_> {
    fn apply(&self, row: &[u8], lower: &mut Vec<u8>, out: &mut Vec<u8>) -> Outcome {
        let Some(span @ Span { start, .. }) = host(row) else { return Outcome::Null };
        match self.rules.cut(span.of(row), self.private, lower) {
            suffix::Cut::Nothing => Outcome::Null,
            suffix::Cut::Open => {
                out.extend_from_slice(span.of(row));
                Outcome::Open { written: true }
            }
            suffix::Cut::At(registrable, suffix, length) => match (self.part, registrable) {
                (Part::PublicSuffix, _) => Outcome::Part(start + suffix, start + length),
                (_, None) | (Part::Subdomain, Some(0)) => Outcome::Null,
                (Part::RegistrableDomain, Some(at)) => Outcome::Part(start + at, start + length),
                (Part::Subdomain, Some(at)) => Outcome::Part(start, start + at - 1),
            },
        }
    }
}

impl Visit for Domains<'_> {
    type Output = Result<ArrayRef>;

    fn visit<R: Rows>(self, rows: &R) -> Self::Output {
        let (column, _, open) = text_column(rows, self.threads, || {
            let mut lower = Vec::new();
            let domains = &self;
            move |_: usize, row: &str, out: &mut Vec<u8>| domains.apply(row.as_bytes(), &mut lower, out)
        })?;
        if open.is_empty() {
            return Ok(Arc::new(column));
        }
        let parts = attached(|py| {
            let hosts = PyList::new(py, open.iter().map(|&row| column.value(row)))?;
            self.finish.call1(py, (hosts,))?.extract::<Vec<Option<String>>>(py)
        });
        match parts {
            Ok(parts) => Ok(Arc::new(rewritten(&column, &open, &parts)?)),
            Err(error) => {
                let message = error.to_string();
                *self.raised.lock().unwrap_or_else(|poisoned| poisoned.into_inner()) = Some(error);
                Err(message)
            }
        }
    }
}

/// A part of each row's host by the rules; `finish` takes hosts that have escapes or characters beyond US-ASCII, and
/// returns the part of each.
#[pyfunction]
pub fn column_domain(
    column: &Bound<'_, PyAny>,
    part: &str,
    rules: &Suffixes,
    #[pyo3(from_py_with = truth)] private: bool,
    finish: Py<PyAny>,
    threads: usize,
    #[pyo3(from_py_with = truth)] views: bool,
) -> PyResult<Py<PyAny>> {
    guarded(column.py(), || {
        let part = match part {
            "subdomain" => Part::Subdomain,
            "registrable_domain" => Part::RegistrableDomain,
            "public_suffix" => Part::PublicSuffix,
            other => return Err(PyValueError::new_err(format!("a host name has no part {other:?}"))),
        };
        let (rules, raised) = (rules.0.clone(), ErrorSlot::default());
        let slot = raised.clone();
        let result = over(column, move |column, _| {
            each(column, views, |values| {
                let domains =
                    Domains { rules: &rules, part, private, finish: &finish, raised: &slot, threads };
                visit(values, domains).ok_or_else(|| not_text(values))?
            })
        });
        result.map_err(|error| {
            raised.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).take().unwrap_or(error)
        })
    })
}
