//! Makes rows of the records of a WARC or ARC file, while they are complete and contain HTML, or its metadata (WAT).

use overthere_core::parse::Rule;
use overthere_core::place::{Part, Span};
use overthere_records::{
    arc_frame, arc_member, frame, inflate, is_plain, media_type, member, Body, Exchange, Frame,
};
use overthere_records::{Inflated, Links, Member, Record, Response, EMPTY, HEADER_MOST, PASSED};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use super::envelope::{read_envelope, strip};
use super::row::{complete_row, from_content, resolve_reference};
use super::table::{Base, Row};
use super::LinkRows;
use crate::fast::parse;
use crate::finalizing::attached;

/// State that is kept from record to record.
#[derive(Default)]
pub struct Crawl {
    pub inflated: Vec<u8>,
    /// Counts of records without a document, by their number in `PASSED`.
    pub passed: [u64; PASSED.len()],
    /// The number of pages read, and their bytes.
    pub pages: (u64, u64),
    /// The number of WAT envelopes read, and their bytes.
    pub envelopes: (u64, u64),
    /// The current record.
    pub current: RecordPosition,
}

/// The position of a record, for a note on it.
#[derive(Default, Clone)]
pub struct RecordPosition {
    pub at: usize,
    /// The offset of the next record, if it is known.
    pub next: Option<usize>,
    /// The URI of its document, if that is known.
    pub base: Option<String>,
}

/// A part of a file.
pub struct Window<'a> {
    /// Its bytes.
    pub data: &'a [u8],
    /// Their offset in the file.
    pub first: usize,
    /// Records that begin before this offset are read.
    pub stop: usize,
    /// Whether the file ends with it.
    pub is_last: bool,
    /// Whether each record is a gzip member.
    pub is_packed: bool,
    /// Whether it is an ARC file rather than a WARC file.
    pub is_arc: bool,
    /// The prefix of the source of each record.
    pub source: &'a str,
}

/// Limits of reading.
pub struct Limits {
    /// The most bytes of a document.
    pub octets: usize,
    /// The most rows of a batch.
    pub rows: usize,
    /// The most bytes of all documents, beyond those of the last one.
    pub total: u64,
}

/// Why reading stops; `Crawl::current` is the record.
pub enum Stop {
    /// No more records begin before `Window::stop`.
    End,
    /// The record is not complete in the window.
    Cut,
    /// Python must read the record.
    Odd,
    /// The record is complete, but Python must read its document: its header and content.
    Record(Py<PyBytes>, Py<PyBytes>),
    /// A batch is full, or Python must read part of a page: its notes and its bytes.  `step` continues the page.
    Page(Vec<&'static str>, usize),
    /// A batch is full, and no page is unfinished.
    Full,
}

/// A response that can be read natively.
struct NativeResponse<'a> {
    base: Base,
    notes: Vec<&'static str>,
    response: Response<'a>,
    body: Body<'a>,
    charset: &'a [u8],
}

/// The result of reading a page.
pub enum Reading {
    Done,
    Unfinished(Vec<&'static str>),
}

impl Crawl {
    /// Count a record without a document, by its number in `PASSED`.
    fn pass(&mut self, kind: usize) {
        if let Some(count) = self.passed.get_mut(kind) {
            *count += 1;
        }
    }

    /// The bytes of all documents.
    pub fn octets(&self) -> u64 {
        self.pages.1 + self.envelopes.1
    }
}

impl LinkRows {
    /// Make rows of records from `at` on, until Python must act.
    pub fn read_records(&mut self, window: &Window<'_>, at: usize, limits: &Limits) -> PyResult<Stop> {
        let mut inflated = std::mem::take(&mut self.crawl.inflated);
        let stop = self.read_window(window, at, limits, &mut inflated);
        self.crawl.inflated = inflated;
        stop
    }

    fn read_window(
        &mut self,
        window: &Window<'_>,
        start: usize,
        limits: &Limits,
        inflated: &mut Vec<u8>,
    ) -> PyResult<Stop> {
        let limit = limits.octets + HEADER_MOST;
        let total = self.crawl.octets().saturating_add(limits.total);
        let mut at = start;
        loop {
            self.crawl.current = RecordPosition { at, next: None, base: None };
            if at >= window.stop {
                return Ok(Stop::End);
            }
            if self.is_full(limits) {
                self.crawl.current.next = Some(at);
                return Ok(Stop::Full);
            }
            if self.crawl.octets() >= total {
                // Python notes it.
                return Ok(Stop::Odd);
            }
            let remaining = window.data.get(at - window.first..).unwrap_or_default();
            let (member, used) = if window.is_packed {
                match inflate(remaining, inflated, limit) {
                    Inflated::Whole(used) if window.is_arc => (arc_member(inflated), used),
                    Inflated::Whole(used) => (member(inflated), used),
                    Inflated::Cut if !window.is_last => return Ok(Stop::Cut),
                    Inflated::Cut | Inflated::Odd => return Ok(Stop::Odd),
                }
            } else {
                let (blank, found) = if window.is_arc {
                    arc_frame(remaining, window.is_last, limit)
                } else {
                    (0, frame(remaining, window.is_last, limit))
                };
                match found {
                    Frame::Whole(member, used) => {
                        at += blank;
                        self.crawl.current.at = at;
                        if at >= window.stop {
                            return Ok(Stop::End);
                        }
                        (member, used - blank)
                    }
                    Frame::Cut => return Ok(Stop::Cut),
                    Frame::Odd => return Ok(Stop::Odd),
                }
            };
            let next = at + used;
            match member {
                Member::Odd => return Ok(Stop::Odd),
                Member::Passed(kind) => {
                    self.crawl.pass(kind);
                }
                Member::Record(record) => {
                    self.crawl.current.next = Some(next);
                    self.source.clear();
                    self.source.push_str(window.source);
                    self.source.push_str(&at.to_string());
                    if self.read_described(&record, limits)? {
                        at = next;
                        continue;
                    }
                    let found = record.exchange.and_then(|exchange| self.response(&exchange, limits.octets));
                    let Some(found) = found else {
                        if window.is_arc {
                            return Ok(Stop::Odd);
                        }
                        return attached(|py| {
                            let octets = |part| PyBytes::new(py, part).unbind();
                            Ok(Stop::Record(octets(record.header), octets(record.content)))
                        });
                    };
                    self.crawl.current.base = Some(found.base.text.clone());
                    let size = found.body.content.len();
                    if size == 0 {
                        self.crawl.pass(EMPTY);
                    }
                    if let Reading::Unfinished(notes) = self.read_response(found, limits)? {
                        return Ok(Stop::Page(notes, size));
                    }
                }
            }
            at = next;
        }
    }

    pub fn is_full(&self, limits: &Limits) -> bool {
        self.columns.len() >= limits.rows || self.columns.octets >= super::MAX_BATCH_BYTES
    }

    /// The response of a record, if all of it can be read natively.
    fn response<'a>(&self, exchange: &Exchange<'a>, limit: usize) -> Option<NativeResponse<'a>> {
        let base = retrieval_base(exchange.target)?;
        let response = Response::read(exchange.content)?;
        let has_field = |name: &[u8]| response.fields.first(name).is_some();
        if has_field(b"content-location") || has_field(b"content-base") {
            return None;
        }
        let is_readable = |name: &[u8], value: &[u8]| match name {
            name if name.eq_ignore_ascii_case(b"link") => is_plain(value),
            name if is_reference_field(name) => simdutf8::basic::from_utf8(value).is_ok(),
            _ => true,
        };
        if !response.fields.iter().all(|(name, value)| is_readable(name, value)) {
            return None;
        }
        let body = response.body(limit)?;
        let mut notes = Vec::new();
        if exchange.is_truncated {
            notes.push("truncated");
        } else if body.has_wrong_length {
            notes.push("wrong-length");
        }
        let mut charset = &b""[..];
        if body.content.is_empty() {
            if !notes.is_empty() || response.status == 200 {
                return None;
            }
        } else {
            let (essence, named) = media_type_of(&response)?;
            if !essence.eq_ignore_ascii_case(b"text/html") || self.has_other_signature(&body.content) {
                return None;
            }
            charset = named;
        }
        Some(NativeResponse { base, notes, response, body, charset })
    }

    /// Add rows of the links that the envelope of a record describes.  Returns false if it has none that
    /// can be read natively.
    fn read_described(&mut self, record: &Record<'_>, limits: &Limits) -> PyResult<bool> {
        let content = record.content;
        let Some(base) = record.described.and_then(retrieval_base) else { return Ok(false) };
        if content.len() > limits.octets || self.has_other_signature(content) {
            return Ok(false);
        }
        let Some(envelope) = read_envelope(content) else { return Ok(false) };
        let inner = match &envelope.base {
            None => base.clone(),
            Some(href) => from_content(href, &base, &self.python)?,
        };
        let count: usize = envelope.links.iter().map(Vec::len).sum();
        // At most one batch.
        let octets = count.saturating_mul(self.source.len() + 3 * inner.text.len()) + 3 * content.len();
        if count > limits.rows || octets > super::MAX_BATCH_BYTES {
            return Ok(false);
        }
        self.parts = None;
        self.crawl.current.base = Some(base.text.clone());
        self.crawl.envelopes.0 += 1;
        self.crawl.envelopes.1 += content.len() as u64;
        for (name, value) in &envelope.fields {
            self.add_field(strip(name).as_bytes(), strip(value), &base)?;
        }
        if let Some(href) = &envelope.base {
            self.add_reference("BASE@/href", href, &base)?;
        }
        for link in envelope.links.iter().flatten() {
            let place = link.place.as_deref().filter(|place| !place.is_empty()).unwrap_or("url");
            self.add_reference(place, strip(&link.url), &inner)?;
        }
        for value in &envelope.refreshes {
            self.add_refresh("META refresh", value, &inner)?;
        }
        Ok(true)
    }

    /// Whether the content has the signature of another kind.
    pub fn has_other_signature(&self, content: &[u8]) -> bool {
        self.signatures
            .iter()
            .any(|(at, octets)| content.get(*at..).is_some_and(|part| part.starts_with(octets)))
    }

    fn read_response(&mut self, response: NativeResponse<'_>, limits: &Limits) -> PyResult<Reading> {
        self.parts = None;
        for (name, value) in response.response.fields.iter().filter(|(name, _)| is_reference_field(name)) {
            self.add_field(name, &String::from_utf8_lossy(value), &response.base)?;
        }
        if response.body.content.is_empty() {
            return Ok(Reading::Done);
        }
        self.read_content(&response.body.content, response.charset, response.base, response.notes, limits)
    }

    /// Make rows of the content of an HTML page.
    pub fn read_content(
        &mut self,
        content: &[u8],
        charset: &[u8],
        base: Base,
        mut known_notes: Vec<&'static str>,
        limits: &Limits,
    ) -> PyResult<Reading> {
        self.crawl.pages.0 += 1;
        self.crawl.pages.1 += content.len() as u64;
        for note in &known_notes {
            self.columns.note(&self.source, &base.text, note);
        }
        let mut note = |rows: &mut LinkRows, kind: &'static str| {
            if !known_notes.contains(&kind) {
                known_notes.push(kind);
                rows.columns.note(&rows.source, &base.text, kind);
            }
        };
        let decoded;
        let mut content = content;
        if !is_utf8(content, charset) {
            let is_lossy;
            (decoded, is_lossy) = self.decode(content, charset)?;
            content = &decoded;
            if is_lossy {
                note(self, "wrong-charset");
            }
        }
        let notes = self.read_page(content, base.clone())?;
        notes.into_iter().for_each(|kind| note(self, kind));
        while self.make_rows(ROWS_PER_STEP)? {
            if self.embedded_reference.is_some() || self.is_full(limits) {
                return Ok(Reading::Unfinished(known_notes));
            }
        }
        Ok(Reading::Done)
    }

    /// Decode a page, in Python, which knows the charsets.
    fn decode(&self, content: &[u8], charset: &[u8]) -> PyResult<(Vec<u8>, bool)> {
        attached(|py| {
            let declared = (!charset.is_empty()).then(|| String::from_utf8_lossy(charset));
            self.python.octets.call1(py, (PyBytes::new(py, content), declared))?.extract(py)
        })
    }

    /// Add the references in a header field.
    fn add_field(&mut self, name: &[u8], value: &str, base: &Base) -> PyResult<()> {
        if name.eq_ignore_ascii_case(b"location") {
            return self.add_reference("Location", value, base);
        }
        if name.eq_ignore_ascii_case(b"link") {
            return Links(value.as_bytes())
                .try_for_each(|text| self.add_reference("Link", &String::from_utf8_lossy(text), base));
        }
        self.add_refresh("Refresh", value, base)
    }

    /// Add the references in a refresh, from a header field or a meta.
    fn add_refresh(&mut self, place: &str, value: &str, base: &Base) -> PyResult<()> {
        let references: Vec<String> =
            attached(|py| self.python.values.call1(py, ("refresh", value))?.extract(py))?;
        references.iter().try_for_each(|text| self.add_reference(place, text, base))
    }

    fn add_reference(&mut self, place: &str, reference: &str, base: &Base) -> PyResult<()> {
        let row = complete_row(
            resolve_reference(reference, base, &self.python)?,
            base,
            &self.python,
            self.rung,
            &self.parts,
        )?;
        self.columns.push(&self.source, base, Row { place, reference: Some(reference), ..row });
        Ok(())
    }
}

/// Rows that are made before the limits are checked again.
const ROWS_PER_STEP: usize = 256;

/// The base of a document retrieved from a URI; None if that is invalid, or of DNS.
fn retrieval_base(target: &[u8]) -> Option<Base> {
    let spans = parse(target, Rule::Uri, false).ok()?;
    let scheme = spans.scheme().map(|scheme: Span| scheme.of(target));
    if scheme.is_some_and(|name| name.eq_ignore_ascii_case(b"dns")) {
        return None;
    }
    Some(Base { text: String::from_utf8(target.to_vec()).ok()?, spans, layer: "retrieval".to_owned() })
}

/// Whether a header field contains references (`header.reference_fields`).
pub fn is_reference_field(name: &[u8]) -> bool {
    [&b"location"[..], b"link", b"refresh"].iter().any(|known| name.eq_ignore_ascii_case(known))
}

fn media_type_of<'a>(response: &Response<'a>) -> Option<(&'a [u8], &'a [u8])> {
    media_type(response.fields.first(b"content-type").unwrap_or_default())
}

/// Whether the content is certainly UTF-8: declared so, valid, and without a byte order mark or signs of UTF-16.
fn is_utf8(content: &[u8], charset: &[u8]) -> bool {
    let is_declared = charset.eq_ignore_ascii_case(b"utf-8") || charset.eq_ignore_ascii_case(b"utf8");
    let may_be_wide = content.part(..content.len().min(8)).contains(&0);
    let has_mark = matches!(content.first(), Some(0xEF | 0xFE | 0xFF));
    is_declared && !may_be_wide && !has_mark && simdutf8::basic::from_utf8(content).is_ok()
}
