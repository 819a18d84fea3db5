//! The rows of the link table, built as they are found: one object for one job, its columns taken batch by batch.

mod css;
mod document;
mod escapes;
mod html;
mod page;
pub mod pages;
mod table;

use overthere_core::iri::escape;
use overthere_core::parse::Rule;
use overthere_core::place::{Part, Spans};
use overthere_core::resolve::{resolve, Parsed};
use overthere_html::Attributes;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::sync::Arc;

use crate::arrow::ArrowArray;
use crate::bug::guarded;
use crate::fast::parse;
use html::{Against, Embedded, Pending, Reference};
use table::{Base, Columns, Row};

/// Do the work of an entry while other threads of Python run; what calls Python attaches for that.
fn released<T: Send>(py: Python<'_>, work: impl FnOnce() -> PyResult<T> + Send) -> PyResult<T> {
    guarded(py, || py.detach(work))
}

/// What Python does: what is rare, or needs what only it knows.
struct Callbacks {
    /// A text beyond US-ASCII that is no IRI-reference to (reference or None, kind or None, offset or None).
    mapped: Py<PyAny>,
    /// (way, value) to the references in it.
    values: Py<PyAny>,
    /// A style sheet to pairs of where and reference.
    styles: Py<PyAny>,
    /// A target to its normal form; None where the kernel has the rung.
    normal: Option<Py<PyAny>>,
    /// A target and the labels of parts to the source of the part, or None.
    part: Py<PyAny>,
}

/// The rows of links.
///
/// attributes: (name, elements, way) of each rule of HTML; a way is "one", "nonempty", or one that `values` knows.
/// embedded: (way, name) of what HTML holds in a syntax of its own; metadata: whether that is handed over or counted.
#[pyclass(module = "overthere._native")]
pub struct LinkRows {
    attributes: Attributes,
    ways: Vec<String>,
    embedded: Embedded,
    rung: u8,
    python: Callbacks,
    columns: Columns,
    pending: Pending,
    waiting: Option<Reference>,
    source: String,
    fallback: Base,
    base: Base,
    parts: Option<Py<PyDict>>,
}

/// A batch has no more text than this and a row (`rows.OCTETS`): a base may be as long as a document.
const OCTETS: usize = 1 << 24;

#[pymethods]
impl LinkRows {
    #[new]
    #[expect(clippy::too_many_arguments, reason = "each is a fact of Python's own")]
    fn new(
        py: Python<'_>,
        attributes: Vec<(String, Vec<String>, String)>,
        embedded: Vec<(String, String)>,
        metadata: bool,
        rung: u8,
        mapped: Py<PyAny>,
        values: Py<PyAny>,
        styles: Py<PyAny>,
        normal: Option<Py<PyAny>>,
        part: Py<PyAny>,
    ) -> PyResult<Self> {
        guarded(py, || {
            let mut rules = Attributes::default();
            let mut ways: Vec<String> = Vec::new();
            for (name, elements, way) in attributes {
                let number = ways.iter().position(|known| *known == way).unwrap_or_else(|| {
                    ways.push(way);
                    ways.len() - 1
                });
                rules.add(&name, &elements, number);
            }
            Ok(LinkRows {
                attributes: rules,
                ways,
                embedded: Embedded::new(embedded, metadata),
                rung,
                python: Callbacks { mapped, values, styles, normal, part },
                columns: Columns::default(),
                pending: Pending::default(),
                waiting: None,
                source: String::new(),
                fallback: Base::default(),
                base: Base::default(),
                parts: None,
            })
        })
    }

    /// How many rows there are.
    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        guarded(py, || Ok(self.columns.len()))
    }

    /// The octets of their texts, about.
    #[getter]
    fn octets(&self, py: Python<'_>) -> PyResult<usize> {
        guarded(py, || Ok(self.columns.octets))
    }

    /// Read an HTML document in UTF-8; its rows are made by `step`.
    ///
    /// base, layer: what stands outside of the content gives this base.
    /// Returns: the notes on it.
    #[pyo3(signature = (source, data, base, layer, parts = None))]
    fn html(
        &mut self,
        py: Python<'_>,
        source: String,
        data: &[u8],
        base: String,
        layer: String,
        parts: Option<Py<PyDict>>,
    ) -> PyResult<Vec<&'static str>> {
        self.source = source;
        self.parts = parts;
        released(py, || {
            self.fallback = Base::new(base, layer)?;
            self.pending.read(data, &self.attributes, &self.ways, &self.embedded, &self.python)?;
            self.base = match self.pending.base_href() {
                None => self.fallback.clone(),
                Some(href) => from_content(href, &self.fallback, &self.python)?,
            };
            let found = self.pending.notes;
            let notes = [(found.is_too_deep, "too-deep"), (found.is_unclosed, "unclosed")];
            Ok(notes.into_iter().filter_map(|(is_so, note)| is_so.then_some(note)).collect())
        })
    }

    /// Make at most so many rows of what was read, and none beyond what `embedded` gives then.
    ///
    /// Returns: whether there are more.
    fn step(&mut self, py: Python<'_>, count: usize) -> PyResult<bool> {
        released(py, || {
            for _ in 0..count {
                if self.columns.octets >= OCTETS {
                    break;
                }
                let Some(found) = self.pending.next() else { return Ok(false) };
                let inner;
                let base = match found.against {
                    Against::Embedded => {
                        self.waiting = Some(found);
                        break;
                    }
                    Against::Content => &self.base,
                    Against::Outside => &self.fallback,
                    Against::Codebase(start, end) => {
                        inner = from_content(self.pending.text(start, end), &self.base, &self.python)?;
                        &inner
                    }
                };
                let row = row_of(&self.pending, found, base, &self.python, self.rung, &self.parts)?;
                self.columns.push(&self.source, base, row);
            }
            Ok(true)
        })
    }

    /// What `step` came to that holds references in a syntax of its own: its name, its text.  It is given once.
    fn embedded(&mut self, py: Python<'_>) -> PyResult<Option<(&str, &str)>> {
        guarded(py, || Ok(self.waiting.take().map(|found| self.pending.texts(found))))
    }

    /// What the `base` element that counts says; None without one.
    fn href(&self, py: Python<'_>) -> PyResult<Option<&str>> {
        guarded(py, || Ok(self.pending.base_href()))
    }

    /// The base of the document that was read, and the layer that gave it.
    fn base(&self, py: Python<'_>) -> PyResult<(&str, &str)> {
        guarded(py, || Ok((self.base.text.as_str(), self.base.layer.as_str())))
    }

    /// What was embedded so far and not asked for: names, each with how many there were.
    fn passed(&self, py: Python<'_>) -> PyResult<Vec<(&str, u64)>> {
        guarded(py, || {
            Ok(self
                .embedded
                .names
                .iter()
                .map(String::as_str)
                .zip(self.pending.passed.iter().copied())
                .collect())
        })
    }

    /// Add references that Python found: (where, reference, target or None).
    #[pyo3(signature = (source, base, layer, found, parts = None))]
    fn add(
        &mut self,
        py: Python<'_>,
        source: &str,
        base: String,
        layer: String,
        found: Vec<(String, String, Option<String>)>,
        parts: Option<Py<PyDict>>,
    ) -> PyResult<()> {
        released(py, || {
            let base = Base::new(base, layer)?;
            for (place, reference, target) in &found {
                let row = match target {
                    None => related(reference, &base, &self.python)?,
                    Some(text) => resolve_meaning(text, reference, &base, &self.python)?,
                };
                let row = complete_row(row, &base, &self.python, self.rung, &parts)?;
                self.columns.push(source, &base, Row { place, reference: Some(reference), ..row });
            }
            Ok(())
        })
    }

    /// Add a row that says something of a document.
    fn note(&mut self, py: Python<'_>, source: &str, base: &str, kind: &str) -> PyResult<()> {
        guarded(py, || {
            self.columns.note(source, base, kind);
            Ok(())
        })
    }

    /// All rows so far as one Arrow array of structs; there are none then.
    fn take(&mut self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        guarded(py, || {
            let rows = py.detach(|| self.columns.take()).map_err(PyValueError::new_err)?;
            ArrowArray::object(py, Arc::new(rows))
        })
    }
}

/// 5.1.1: the first `base` element with an href, or a codebase, against what stands outside.
fn from_content(href: &str, fallback: &Base, python: &Callbacks) -> PyResult<Base> {
    let row = related(href, fallback, python)?;
    let Some(mut text) = row.target else { return Ok(fallback.clone()) };
    text.truncate(memchr::memchr(b'#', text.as_bytes()).unwrap_or(text.len()));
    let base = Base::new(text, "content".to_owned())?;
    let scheme = base.spans.scheme().map_or("", |scheme| scheme.of_str(&base.text));
    let other = scheme.eq_ignore_ascii_case("data") || scheme.eq_ignore_ascii_case("javascript");
    Ok(if other { fallback.clone() } else { base })
}

fn row_of<'a>(
    pending: &'a Pending,
    found: Reference,
    base: &Base,
    python: &Callbacks,
    rung: u8,
    parts: &Option<Py<PyDict>>,
) -> PyResult<Row<'a>> {
    let (place, reference) = pending.texts(found);
    let row = complete_row(related(reference, base, python)?, base, python, rung, parts)?;
    Ok(Row { place, reference: Some(reference), ..row })
}

/// The target of a reference, or why there is none.
fn related<'a>(reference: &str, base: &Base, python: &Callbacks) -> PyResult<Row<'a>> {
    let text = reference.as_bytes();
    let mut row = Row::default();
    match parse(text, Rule::UriReference, false) {
        Ok(spans) => row.join(base, text, &spans),
        Err(_) if row.join_iri(base, reference) => {}
        Err(_) => {
            type Mapped = (Option<String>, Option<String>, Option<i64>);
            let (mapped, error, at): Mapped =
                Python::attach(|py| python.mapped.call1(py, (reference,))?.extract(py))?;
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

/// The URI that is meant by a text which is no reference, or why it is none; the place is one in the text.
fn resolve_meaning<'a>(target: &str, text: &str, base: &Base, python: &Callbacks) -> PyResult<Row<'a>> {
    let mut row = related(target, base, python)?;
    let before = (target.len() - text.len().min(target.len())) as i64;
    row.error_at = row.error_at.filter(|at| *at >= before && target.ends_with(text)).map(|at| at - before);
    Ok(row)
}

/// What follows from the target.
fn complete_row<'a>(
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
            .map_err(|at| PyValueError::new_err(format!("the target is no URI (at {at})")))?,
    };
    let whole = spans.fragment(target.len()).map_or(target.len(), |fragment| fragment.start - 1);
    row.fragment = spans.fragment(target.len());
    row.same_document = Some(target.part(..whole) == base.text);
    row.normal = match &python.normal {
        Some(normal) => Python::attach(|py| normal.call1(py, (target,))?.extract(py))?,
        None => table::normal(target, &spans, rung),
    };
    if let Some(parts) = parts {
        row.part = Python::attach(|py| match parts.bind(py).get_item(target.part(..whole))? {
            Some(part) => part.extract(),
            // RFC 2392 2: these may be written in more than one way.
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
    /// 5.2 with what an IRI-reference maps to (RFC 3987 3.1).  Returns: whether it is one, else nothing was done.
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

    /// 5.2
    fn join(&mut self, base: &Base, reference: &[u8], spans: &Spans) {
        let mut out = Vec::new();
        let base = Parsed { text: base.text.as_bytes(), spans: &base.spans };
        self.spans = Some(resolve(base, Parsed { text: reference, spans }, true, &mut out));
        // Both are US-ASCII, for both were parsed.
        self.target = String::from_utf8(out).ok();
    }
}
