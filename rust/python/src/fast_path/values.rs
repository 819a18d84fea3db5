//! Reading and creating values in fast paths, and the buffer to which they write.

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
fn has_zone(value: Parsed<'_>) -> bool {
    let host = value.spans.host().map_or(&[][..], |host| host.of(value.text));
    host.first() == Some(&b'[') && host.contains(&b'%')
}

/// The object as a value if it is US-ASCII and has no zone, which is the usual case.
pub(super) fn usual<'a, 'py>(
    value: &Borrowed<'a, 'py, PyAny>,
) -> PyResult<Option<Borrowed<'a, 'py, Components>>> {
    let Ok(value) = value.cast::<Components>() else { return Ok(None) };
    Ok(ascii_value(&value)?.is_some_and(|parsed| !has_zone(parsed)).then_some(value))
}

/// The text and spans of a value if it is US-ASCII.
pub(super) fn ascii_value<'a>(value: &'a Borrowed<'_, '_, Components>) -> PyResult<Option<Parsed<'a>>> {
    let components = value.get();
    let Some(spans) = components.octet_spans() else { return Ok(None) };
    Ok(Some(Parsed { text: components.octets(value.py())?, spans }))
}

/// Do the work with a buffer of this thread that is reused unless it has grown large.
pub(super) fn with_buffer<T>(work: impl FnOnce(&mut Vec<u8>) -> T) -> T {
    const MAX_REUSED_CAPACITY: usize = 1 << 12;
    thread_local! {
        static BUFFER: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
    }
    let mut buffer = BUFFER.take();
    buffer.clear();
    let result = work(&mut buffer);
    if buffer.capacity() <= MAX_REUSED_CAPACITY {
        BUFFER.set(buffer);
    }
    result
}

/// Create a value of a class from a text and its octets; `spans` are passed if they are known.
pub(super) fn new_value<'py>(
    class: &Bound<'py, PyType>,
    text: Bound<'py, PyString>,
    octets: &[u8],
    spans: Option<Spans>,
) -> PyResult<Bound<'py, PyAny>> {
    if let Some((rule, false)) = quick::rule_of_class(class) {
        let spans = spans.filter(|_| octets.len() < OMITTED as usize);
        let spans = spans.map_or_else(|| parse(octets, rule, false).ok(), Some);
        if let Some(spans) = spans {
            let length = octets.len();
            let places = Places::Octets(spans);
            return quick::instance(class, Components { text: text.unbind(), places, length });
        }
    }
    class.call1((text,))
}

/// The octets and spans of a US-ASCII text if the rule derives it, without zone identifiers.
pub(super) fn read<'a>(text: &'a Borrowed<'_, '_, PyString>, rule: Rule) -> Option<(&'a [u8], Spans)> {
    let octets = quick::ascii(text)?;
    Some((octets, parse(octets, rule, false).ok()?))
}

/// The class of URIs or IRIs, or of their references if there is no scheme.
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

/// Work on a value that is US-ASCII and has no zone; other values are left to the function in Python.
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

/// The octets of a US-ASCII text, or `Some(None)` for Python's None; None for any other object.
pub(super) fn ascii<'a>(object: &'a Bound<'_, PyAny>) -> Option<Option<&'a [u8]>> {
    if object.is_none() {
        return Some(None);
    }
    quick::ascii(object.cast_exact::<PyString>().ok()?).map(Some)
}
