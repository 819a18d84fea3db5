//! Makes a row of a reference: its target, and the fields computed from it.

use overthere_core::iri::escape;
use overthere_core::parse::Rule;
use overthere_core::place::{Part, Spans};
use overthere_core::resolve::{resolve, Parsed};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::html::{Pending, Reference};
use super::table::{self, Base, Row};
use super::Callbacks;
use crate::fast::parse;
use crate::finalizing::attached;

/// 5.1.1: the base of the first `base` element with an href, or of a codebase, resolved against the outer base.
pub fn from_content(href: &str, fallback: &Base, python: &Callbacks) -> PyResult<Base> {
    let row = resolve_reference(href, fallback, python)?;
    let Some(mut text) = row.target else { return Ok(fallback.clone()) };
    text.truncate(memchr::memchr(b'#', text.as_bytes()).unwrap_or(text.len()));
    let base = Base::new(text, "content".to_owned())?;
    let scheme = base.spans.scheme().map_or("", |scheme| scheme.of_str(&base.text));
    let cannot_be_base = scheme.eq_ignore_ascii_case("data") || scheme.eq_ignore_ascii_case("javascript");
    Ok(if cannot_be_base { fallback.clone() } else { base })
}

pub fn make_row<'a>(
    pending: &'a Pending,
    item: Reference,
    base: &Base,
    python: &Callbacks,
    rung: u8,
    parts: &Option<Py<PyDict>>,
) -> PyResult<Row<'a>> {
    let (place, reference) = pending.texts(item);
    let row = complete_row(resolve_reference(reference, base, python)?, base, python, rung, parts)?;
    Ok(Row { place, reference: Some(reference), ..row })
}

/// Resolve a reference; return a row with its target, or with its error.
pub fn resolve_reference<'a>(reference: &str, base: &Base, python: &Callbacks) -> PyResult<Row<'a>> {
    let text = reference.as_bytes();
    let mut row = Row::default();
    match parse(text, Rule::UriReference, false) {
        Ok(spans) => row.join(base, text, &spans),
        Err(_) if row.join_iri(base, reference) => {}
        Err(_) => {
            type Mapping = (Option<String>, Option<String>, Option<i64>);
            let (mapped, error, at): Mapping =
                attached(|py| python.mapped.call1(py, (reference,))?.extract(py))?;
            if let Some(mapped) = &mapped {
                if let Ok(spans) = parse(mapped.as_bytes(), Rule::UriReference, false) {
                    row.join(base, mapped.as_bytes(), &spans);
                }
            }
            (row.error, row.error_at) = match text.is_ascii().then(|| crate::columns::refused(text)) {
                Some((kind, at)) => (Some(kind.to_owned()), Some(at as i64)),
                None => (error, at),
            };
        }
    }
    Ok(row)
}

/// Resolve the intended URI of a text that is not a reference; the offset of an error is one in the text.
pub fn resolve_meaning<'a>(target: &str, text: &str, base: &Base, python: &Callbacks) -> PyResult<Row<'a>> {
    let mut row = resolve_reference(target, base, python)?;
    let offset = (target.len() - text.len().min(target.len())) as i64;
    row.error_at = row.error_at.filter(|at| *at >= offset && target.ends_with(text)).map(|at| at - offset);
    Ok(row)
}

/// Fill the fields that are computed from the target.
pub fn complete_row<'a>(
    mut row: Row<'a>,
    base: &Base,
    python: &Callbacks,
    rung: u8,
    parts: &Option<Py<PyDict>>,
) -> PyResult<Row<'a>> {
    let Some(target) = &row.target else { return Ok(row) };
    let spans = match row.spans {
        Some(spans) => spans,
        None => parse(target.as_bytes(), Rule::Uri, true)
            .map_err(|at| PyValueError::new_err(format!("the target is not a valid URI (at {at})")))?,
    };
    let end = spans.fragment(target.len()).map_or(target.len(), |fragment| fragment.start - 1);
    row.fragment = spans.fragment(target.len());
    row.same_document = Some(target.part(..end) == base.text);
    row.normal = match &python.normal {
        Some(normal) => attached(|py| normal.call1(py, (target,))?.extract(py))?,
        None => table::normal(target, &spans, rung),
    };
    if let Some(parts) = parts {
        row.part = attached(|py| match parts.bind(py).get_item(target.part(..end))? {
            Some(part) => part.extract(),
            // RFC 2392 2: there is more than one spelling of these.
            None if spans.scheme().is_some_and(|scheme| scheme.end == 3) => {
                python.part.call1(py, (target, parts))?.extract(py)
            }
            None => Ok(None),
        })?;
    }
    row.spans = Some(spans);
    Ok(row)
}

impl Row<'_> {
    /// Resolve the mapping of an IRI-reference (5.2; RFC 3987 3.1).  Returns false if it is not one.
    fn join_iri(&mut self, base: &Base, reference: &str) -> bool {
        let mut mapped = Vec::new();
        let Some(escaped) = escape(reference, &mut mapped) else { return false };
        let Ok(spans) = parse(&mapped, Rule::UriReference, false) else { return false };
        if !escaped.fits(&spans) {
            return false;
        }
        self.join(base, &mapped, &spans);
        self.error = Some("non-ascii".to_owned());
        self.error_at = Some(escaped.at as i64);
        true
    }

    /// Resolve a reference (5.2).
    fn join(&mut self, base: &Base, reference: &[u8], spans: &Spans) {
        let mut out = Vec::new();
        let base = Parsed { text: base.text.as_bytes(), spans: &base.spans };
        self.spans = Some(resolve(base, Parsed { text: reference, spans }, true, &mut out));
        // Both were parsed, so both are US-ASCII.
        self.target = String::from_utf8(out).ok();
    }
}
