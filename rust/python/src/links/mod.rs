//! The rows of the link table, built as they are found: one object for one job, its columns taken batch by batch.

mod crawl;
mod css;
mod document;
mod envelope;
mod escapes;
mod html;
mod page;
pub mod pages;
mod row;
mod site;
mod table;
mod tuples;

use overthere_html::Attributes;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use std::sync::Arc;

use crate::arrow::ArrowArray;
use crate::bug::guarded;
use crate::finalizing::detached;
use crawl::{Crawl, Limits, Stop, Window};
use html::{Against, Embedded, Pending, Reference};
use row::{complete_row, from_content, related, resolve_meaning, row_of};
use table::{Base, Columns, Row};

/// Do the work of an entry while other threads of Python run; what calls Python attaches for that.
fn released<T: Send>(py: Python<'_>, work: impl FnOnce() -> PyResult<T> + Send) -> PyResult<T> {
    guarded(py, || detached(py, work))
}

/// Names, each with how many there were.
type Counted = Vec<(&'static str, u64)>;
/// Kinds of documents, each with how many there were and their octets.
type Read = Vec<(&'static str, u64, u64)>;

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
    /// The octets of a page and the charset that was told, or None, to its characters in UTF-8, and whether some are
    /// lost.
    octets: Py<PyAny>,
}

/// The rows of links.
///
/// attributes: (name, elements, way) of each rule of HTML; a way is "one", "nonempty", or one that `values` knows.
/// embedded: (way, name) of what HTML holds in a syntax of its own; metadata: whether that is handed over or counted.
/// signatures: (place, octets) of what a content may be that is no HTML.
#[pyclass(module = "overthere._native")]
pub struct LinkRows {
    attributes: Attributes,
    ways: Vec<String>,
    embedded: Embedded,
    signatures: Vec<(usize, Vec<u8>)>,
    rung: u8,
    python: Callbacks,
    crawl: Crawl,
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
        signatures: Vec<(usize, Vec<u8>)>,
        rung: u8,
        mapped: Py<PyAny>,
        values: Py<PyAny>,
        styles: Py<PyAny>,
        normal: Option<Py<PyAny>>,
        part: Py<PyAny>,
        octets: Py<PyAny>,
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
                signatures,
                rung,
                python: Callbacks { mapped, values, styles, normal, part, octets },
                crawl: Crawl::default(),
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
            let base = Base::new(base, layer)?;
            self.read_page(data, base)
        })
    }

    /// Make at most so many rows of what was read, and none beyond what `embedded` gives then.
    ///
    /// Returns: whether there are more.
    fn step(&mut self, py: Python<'_>, count: usize) -> PyResult<bool> {
        released(py, || self.make_rows(count))
    }

    /// Make rows of the records of a WARC or ARC file that begin in [at, stop), while they are whole and hold HTML,
    /// or describe it (WAT).
    ///
    /// data: the octets of the file from `first` on; is_last: whether the file ends with them.
    /// is_packed: whether each record is a gzip member.  is_arc: whether it is an ARC file.  source: what comes before the place of a record.
    /// limit: octets of a document; rows: of a batch.
    /// Returns: why it stops, and what belongs to that; `place` is the record.  "end": there are no more.  "cut": it is
    /// not whole in `data`.  "odd": it is for Python.  "record": its header and content are for Python.  "page": there
    /// is a batch to take, or something for Python in the page, of which the notes and the octets are told; `step` goes
    /// on with it.  "full": there is a batch to take.
    #[expect(clippy::too_many_arguments, reason = "they come from Python one by one")]
    fn records(
        &mut self,
        py: Python<'_>,
        data: &[u8],
        first: usize,
        at: usize,
        stop: usize,
        is_last: bool,
        is_packed: bool,
        is_arc: bool,
        source: &str,
        limit: usize,
        rows: usize,
    ) -> PyResult<(&'static str, Py<PyAny>)> {
        let window = Window { data, first, stop, is_last, is_packed, is_arc, source };
        let limits = Limits { octets: limit, rows };
        let found = released(py, || self.read_records(&window, at, &limits))?;
        guarded(py, || {
            Ok(match found {
                Stop::End => ("end", py.None()),
                Stop::Cut => ("cut", py.None()),
                Stop::Full => ("full", py.None()),
                Stop::Odd => ("odd", py.None()),
                Stop::Record(header, content) => {
                    ("record", (header, content).into_pyobject(py)?.into_any().unbind())
                }
                Stop::Page(notes, octets) => ("page", (notes, octets).into_pyobject(py)?.into_any().unbind()),
            })
        })
    }

    /// The record that `records` came to: where it begins, where the next one does, and the URI of its document.
    fn place(&self, py: Python<'_>) -> PyResult<(usize, Option<usize>, Option<&str>)> {
        let now = &self.crawl.now;
        guarded(py, || Ok((now.at, now.next, now.base.as_deref())))
    }

    /// What `records` read, by its kind, and the records that hold no document, by their types.
    fn counts(&self, py: Python<'_>) -> PyResult<(Read, Counted)> {
        guarded(py, || {
            let Crawl { pages, envelopes, passed, .. } = &self.crawl;
            let read = [("html", pages.0, pages.1), ("metadata", envelopes.0, envelopes.1)];
            let passed = overthere_records::PASSED.into_iter().zip(*passed).collect();
            Ok((read.into_iter().filter(|(_, count, _)| *count > 0).collect(), passed))
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
            let rows = detached(py, || self.columns.take()).map_err(PyValueError::new_err)?;
            ArrowArray::object(py, Arc::new(rows))
        })
    }

    /// All rows so far as tuples in the order of `Link`; there are none then.
    fn take_tuples<'py>(&mut self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyTuple>>> {
        guarded(py, || {
            let rows = detached(py, || self.columns.take()).map_err(PyValueError::new_err)?;
            tuples::tuples(py, &rows)
        })
    }
}

impl LinkRows {
    /// Read an HTML document in UTF-8, against the base that stands outside of it.  Returns: the notes on it.
    fn read_page(&mut self, data: &[u8], outside: Base) -> PyResult<Vec<&'static str>> {
        self.fallback = outside;
        self.pending.read(data, &self.attributes, &self.ways, &self.embedded, &self.python)?;
        self.base = match self.pending.base_href() {
            None => self.fallback.clone(),
            Some(href) => from_content(href, &self.fallback, &self.python)?,
        };
        let found = self.pending.notes;
        let notes = [(found.is_too_deep, "too-deep"), (found.is_unclosed, "unclosed")];
        Ok(notes.into_iter().filter_map(|(is_so, note)| is_so.then_some(note)).collect())
    }

    /// `step`
    fn make_rows(&mut self, count: usize) -> PyResult<bool> {
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
    }
}
