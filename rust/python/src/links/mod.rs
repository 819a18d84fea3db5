//! Makes the rows of the link table: one object per job, emptied batch by batch.

mod arrow_file;
mod batch;
mod crawl;
mod css;
mod document;
mod envelope;
mod escapes;
mod html;
mod members;
mod output;
mod packing;
mod page;
pub mod pages;
mod pairs;
mod parquet;
mod row;
mod site;
mod table;
mod text;
mod tuples;

use overthere_html::Attributes;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::bug::guarded;
use crate::finalizing::detached;
pub use arrow_file::LinkArrow;
pub use batch::LinkBatch;
use crawl::{Crawl, Limits, Stop, Window};
use html::{BaseKind, Embedded, Pending, Reference};
use members::PageMember;
pub use parquet::LinkParquet;
use row::{complete_row, from_content, make_row, resolve_meaning, resolve_reference};
use table::{Base, Columns, Row};

/// Do the work of a method while other threads of Python run; calls of Python attach to the interpreter.
fn run_detached<T: Send>(py: Python<'_>, work: impl FnOnce() -> PyResult<T> + Send) -> PyResult<T> {
    guarded(py, || detached(py, work))
}

/// Names and their counts.
type NameCounts = Vec<(&'static str, u64)>;
/// Kinds of documents, with their numbers and bytes.
type KindCounts = Vec<(&'static str, u64, u64)>;

/// Functions in Python: rare cases, and those that need its knowledge.
struct Callbacks {
    /// Text that is not a URI-reference or IRI-reference -> (reference, kind and offset of its error), each or None.
    mapped: Py<PyAny>,
    /// (way, value) -> the references in the value.
    values: Py<PyAny>,
    /// Style sheet -> pairs of where and reference.
    styles: Py<PyAny>,
    /// Target -> its normal form; None if the kernel has the rung.
    normal: Option<Py<PyAny>>,
    /// (target, labels of parts) -> the source of the part, or None.
    part: Py<PyAny>,
    /// (bytes of a page, declared charset or None) -> the page in UTF-8, and whether characters are lost.
    octets: Py<PyAny>,
}

/// Makes the rows of links.
///
/// attributes: (name, elements, way) of each rule of HTML; a way is "one", "nonempty", or one that `values` knows.
/// embedded: (way, name) of embedded content in other syntaxes; metadata: whether it is returned, or only counted.
/// signatures: (offset, bytes) at which content is not HTML.
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
    embedded_reference: Option<Reference>,
    source: String,
    fallback: Base,
    base: Base,
    parts: Option<Py<PyDict>>,
}

/// The name of the reason for which reading stops, and details.
fn describe(py: Python<'_>, reason: Stop) -> PyResult<(&'static str, Py<PyAny>)> {
    Ok(match reason {
        Stop::End => ("end", py.None()),
        Stop::Cut => ("cut", py.None()),
        Stop::Full => ("full", py.None()),
        Stop::Odd => ("odd", py.None()),
        Stop::Record(header, content) => ("record", (header, content).into_pyobject(py)?.into_any().unbind()),
        Stop::Page(notes, octets) => ("page", (notes, octets).into_pyobject(py)?.into_any().unbind()),
    })
}

/// A batch ends at this size of text, in bytes (`rows.OCTETS`): a base may be as long as a document.
const MAX_BATCH_BYTES: usize = 1 << 24;

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
                let number = ways.iter().position(|other| *other == way).unwrap_or_else(|| {
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
                embedded_reference: None,
                source: String::new(),
                fallback: Base::default(),
                base: Base::default(),
                parts: None,
            })
        })
    }

    /// The number of rows.
    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        guarded(py, || Ok(self.columns.len()))
    }

    /// The approximate bytes of their texts.
    #[getter]
    fn octets(&self, py: Python<'_>) -> PyResult<usize> {
        guarded(py, || Ok(self.columns.octets))
    }

    /// Read an HTML document in UTF-8; `step` makes its rows.
    ///
    /// base, layer: the base that is given outside of the content.
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
        run_detached(py, || {
            let base = Base::new(base, layer)?;
            self.read_page(data, base)
        })
    }

    /// Make at most `count` rows of the document, and stop at embedded content, which `embedded` returns.
    ///
    /// Returns: whether there are more.
    fn step(&mut self, py: Python<'_>, count: usize) -> PyResult<bool> {
        run_detached(py, || self.make_rows(count))
    }

    /// Make rows of the records of a WARC or ARC file that begin in [at, stop), while they are complete and contain
    /// HTML, or its metadata (WAT).
    ///
    /// data: the bytes of the file from `first` on; is_last: whether the file ends with them.
    /// is_packed: whether each record is a gzip member.  is_arc: whether it is an ARC file.  source: the prefix of the
    /// source of each record.  limit: the most bytes of a document; rows: the most rows of a batch; total:
    /// the most bytes of all documents, beyond those of the last one.
    /// Returns: why it stops, and details; `place` is the record.  "end": no more records.  "cut": the record is not
    /// complete in `data`.  "odd": Python must read it.  "record": Python must read its header and content, which are
    /// returned.  "page": a batch is full, or Python must read part of the page; its notes and bytes are returned, and
    /// `step` continues it.  "full": a batch is full.
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
        total: u64,
    ) -> PyResult<(&'static str, Py<PyAny>)> {
        let window = Window { data, first, stop, is_last, is_packed, is_arc, source };
        let limits = Limits { octets: limit, rows, total };
        let reason = run_detached(py, || self.read_records(&window, at, &limits))?;
        guarded(py, || describe(py, reason))
    }

    /// Make rows of the HTML pages in members of a ZIP or tar file, from number `first` on.
    ///
    /// data: a part of the file.  members: the source, base and its layer of each, its place and bytes in `data`, and
    /// its entry in the directory of a ZIP file.  rows: the most rows of a batch.
    /// Returns: why it stops, and details, as `records`; `place` is the number of the member.
    fn members(
        &mut self,
        py: Python<'_>,
        data: &[u8],
        members: Vec<PageMember>,
        first: usize,
        rows: usize,
    ) -> PyResult<(&'static str, Py<PyAny>)> {
        let limits = Limits { octets: usize::MAX, rows, total: u64::MAX };
        let reason = run_detached(py, || self.read_members(data, &members, first, &limits))?;
        guarded(py, || describe(py, reason))
    }

    /// The current record of `records`: its offset, that of the next one, and the URI of its document.
    fn place(&self, py: Python<'_>) -> PyResult<(usize, Option<usize>, Option<&str>)> {
        let current = &self.crawl.current;
        guarded(py, || Ok((current.at, current.next, current.base.as_deref())))
    }

    /// The counts of documents that `records` read, by kind, and of records without a document, by type.
    fn counts(&self, py: Python<'_>) -> PyResult<(KindCounts, NameCounts)> {
        guarded(py, || {
            let Crawl { pages, envelopes, passed, .. } = &self.crawl;
            let read = [("html", pages.0, pages.1), ("metadata", envelopes.0, envelopes.1)];
            let passed = overthere_records::PASSED.into_iter().zip(*passed).collect();
            Ok((read.into_iter().filter(|(_, count, _)| *count > 0).collect(), passed))
        })
    }

    /// The name and text of the embedded content at which `step` stopped, once.
    fn embedded(&mut self, py: Python<'_>) -> PyResult<Option<(&str, &str)>> {
        guarded(py, || Ok(self.embedded_reference.take().map(|reference| self.pending.texts(reference))))
    }

    /// The href of the effective `base` element; None without one.
    fn href(&self, py: Python<'_>) -> PyResult<Option<&str>> {
        guarded(py, || Ok(self.pending.base_href()))
    }

    /// The base of the current document, and the layer that gave it.
    fn base(&self, py: Python<'_>) -> PyResult<(&str, &str)> {
        guarded(py, || Ok((self.base.text.as_str(), self.base.layer.as_str())))
    }

    /// The counts of skipped embedded content, by name.
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
        run_detached(py, || {
            let base = Base::new(base, layer)?;
            for (place, reference, target) in &found {
                let row = match target {
                    None => resolve_reference(reference, &base, &self.python)?,
                    Some(text) => resolve_meaning(text, reference, &base, &self.python)?,
                };
                let row = complete_row(row, &base, &self.python, self.rung, &parts)?;
                self.columns.push(source, &base, Row { place, reference: Some(reference), ..row });
            }
            Ok(())
        })
    }

    /// Add a row with a note on a document.
    fn note(&mut self, py: Python<'_>, source: &str, base: &str, kind: &str) -> PyResult<()> {
        guarded(py, || {
            self.columns.note(source, base, kind);
            Ok(())
        })
    }

    /// Return all rows, and remove them.
    fn take(&mut self, py: Python<'_>) -> PyResult<LinkBatch> {
        guarded(py, || {
            let rows = detached(py, || self.columns.take()).map_err(PyValueError::new_err)?;
            Ok(LinkBatch { rows })
        })
    }
}

impl LinkRows {
    /// Read an HTML document in UTF-8, with the base that is given outside of it.  Returns: the notes on it.
    fn read_page(&mut self, data: &[u8], outer_base: Base) -> PyResult<Vec<&'static str>> {
        self.fallback = outer_base;
        self.pending.read(data, &self.attributes, &self.ways, &self.embedded, &self.python)?;
        self.base = match self.pending.base_href() {
            None => self.fallback.clone(),
            Some(href) => from_content(href, &self.fallback, &self.python)?,
        };
        let page_notes = self.pending.notes;
        let notes = [(page_notes.is_too_deep, "too-deep"), (page_notes.is_unclosed, "unclosed")];
        Ok(notes.into_iter().filter_map(|(is_present, note)| is_present.then_some(note)).collect())
    }

    /// Make at most `count` rows; see `step`.
    fn make_rows(&mut self, count: usize) -> PyResult<bool> {
        for _ in 0..count {
            if self.columns.octets >= MAX_BATCH_BYTES {
                break;
            }
            let Some(reference) = self.pending.next() else { return Ok(false) };
            let inner;
            let base = match reference.base {
                BaseKind::Embedded => {
                    self.embedded_reference = Some(reference);
                    break;
                }
                BaseKind::Content => &self.base,
                BaseKind::Outside => &self.fallback,
                BaseKind::Codebase(start, end) => {
                    inner = from_content(self.pending.text(start, end), &self.base, &self.python)?;
                    &inner
                }
            };
            let row = make_row(&self.pending, reference, base, &self.python, self.rung, &self.parts)?;
            self.columns.push(&self.source, base, row);
        }
        Ok(true)
    }
}
