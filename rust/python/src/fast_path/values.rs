//! Values as fast paths take and make them, and the buffer that they write to.

use std::cell::Cell;

use overthere_core::parse::Rule;
use overthere_core::place::{Spans, OMITTED};
use overthere_core::resolve::Parsed;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyString, PyType};

use super::Answer;
use crate::components::{Components, Places};
use crate::fast::parse;
use crate::quick;

/// Whether the host is an IP-literal with a zone identifier.
fn zone(value: Parsed<'_>) -> bool {
    let host = value.spans.host().map_or(&[][..], |host| host.of(value.text));
    host.first() == Some(&b'[') && host.contains(&b'%')
}

/// A value that is US-ASCII and has no zone, as nearly all are.
pub(super) fn usual<'a, 'py>(
    value: &Borrowed<'a, 'py, PyAny>,
) -> PyResult<Option<Borrowed<'a, 'py, Components>>> {
    let Ok(value) = value.cast::<Components>() else { return Ok(None) };
    Ok(ascii_value(&value)?.is_some_and(|parsed| !zone(parsed)).then_some(value))
}

/// A value that is US-ASCII.
pub(super) fn ascii_value<'a>(value: &'a Borrowed<'_, '_, Components>) -> PyResult<Option<Parsed<'a>>> {
    let own = value.get();
    let Some(spans) = own.octet_spans() else { return Ok(None) };
    Ok(Some(Parsed { text: own.octets(value.py())?, spans }))
}

/// Do the work with a buffer that is used again: most of what is written is short.
pub(super) fn with_buffer<T>(work: impl FnOnce(&mut Vec<u8>) -> T) -> T {
    const KEPT: usize = 1 << 12;
    thread_local! {
        static BUFFER: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
    }
    let mut buffer = BUFFER.take();
    buffer.clear();
    let found = work(&mut buffer);
    if buffer.capacity() <= KEPT {
        BUFFER.set(buffer);
    }
    found
}

/// A value of a class with a text, which a URI is, of these octets; its spans if they are known.
pub(super) fn new_value<'py>(
    class: &Bound<'py, PyType>,
    text: Bound<'py, PyString>,
    octets: &[u8],
    spans: Option<Spans>,
) -> PyResult<Bound<'py, PyAny>> {
    if let Some((rule, false)) = quick::rule_of_class(class) {
        let known = spans.filter(|_| octets.len() < OMITTED as usize);
        let found = known.map_or_else(|| parse(octets, rule, false).ok(), Some);
        if let Some(spans) = found {
            let length = octets.len();
            let places = Places::Octets(spans);
            return quick::instance(class, Components { text: text.unbind(), places, length });
        }
    }
    class.call1((text,))
}

/// A text that a rule derives, without a zone.
pub(super) fn read<'a>(text: &'a Borrowed<'_, '_, PyString>, rule: Rule) -> Option<(&'a [u8], Spans)> {
    let octets = quick::ascii(text)?;
    Some((octets, parse(octets, rule, false).ok()?))
}

/// The class of a URI or an IRI, or of a reference where there is no scheme.
pub(super) fn kind(py: Python<'_>, is_iri: bool, has_scheme: bool) -> PyResult<&Bound<'_, PyType>> {
    type Kind = PyOnceLock<Py<PyType>>;
    static URI_REFERENCE: Kind = PyOnceLock::new();
    static URI: Kind = PyOnceLock::new();
    static IRI_REFERENCE: Kind = PyOnceLock::new();
    static IRI: Kind = PyOnceLock::new();
    match (is_iri, has_scheme) {
        (false, false) => URI_REFERENCE.import(py, "overthere.values.uri", "URIReference"),
        (false, true) => URI.import(py, "overthere.values.uri", "URI"),
        (true, false) => IRI_REFERENCE.import(py, "overthere.iri", "IRIReference"),
        (true, true) => IRI.import(py, "overthere.iri", "IRI"),
    }
}

/// Work on a value that is US-ASCII and has no zone; the function in Python works on others.
pub(super) fn on_value<'py>(
    value: &Borrowed<'_, 'py, PyAny>,
    work: impl FnOnce(&Borrowed<'_, 'py, Components>, Parsed<'_>) -> Answer<'py>,
) -> Answer<'py> {
    let Some(value) = usual(value)? else { return Ok(None) };
    match ascii_value(&value)? {
        Some(parsed) => work(&value, parsed),
        None => Ok(None),
    }
}

/// Text of US-ASCII, or None of Python; None if it is something else.
pub(super) fn ascii<'a>(given: &'a Bound<'_, PyAny>) -> Option<Option<&'a [u8]>> {
    if given.is_none() {
        return Some(None);
    }
    quick::ascii(given.cast_exact::<PyString>().ok()?).map(Some)
}
