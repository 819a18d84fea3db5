//! Pages of a crawl: from the octets of a WARC or ARC file to rows, while records are whole and hold HTML, or describe it.

use overthere_core::parse::Rule;
use overthere_core::place::{Part, Span};
use overthere_records::{
    arc_frame, arc_member, frame, inflate, is_plain, media_type, member, Body, Exchange, Frame,
};
use overthere_records::{Inflated, Links, Member, Record, Response, EMPTY, HEADER_MOST, PASSED};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use super::envelope::{read_envelope, strip};
use super::row::{complete_row, from_content, related};
use super::table::{Base, Row};
use super::LinkRows;
use crate::fast::parse;
use crate::finalizing::attached;

/// What is known from record to record.
#[derive(Default)]
pub struct Crawl {
    inflated: Vec<u8>,
    /// Records that hold no document, by their number in `PASSED`.
    pub passed: [u64; PASSED.len()],
    /// Pages that were read, and their octets.
    pub pages: (u64, u64),
    /// Envelopes of WAT that were read, and their octets.
    pub envelopes: (u64, u64),
    /// The record that is being read.
    pub now: Place,
}

/// A record, for whoever has to say that it could not be read.
#[derive(Default, Clone)]
pub struct Place {
    pub at: usize,
    /// Where the next one begins, if that is known.
    pub next: Option<usize>,
    /// The URI of its document, if that is known.
    pub base: Option<String>,
}

/// A part of a file.
pub struct Window<'a> {
    /// Its octets.
    pub data: &'a [u8],
    /// Where they begin in the file.
    pub first: usize,
    /// Records are read that begin before this.
    pub stop: usize,
    /// Whether the file ends with it.
    pub is_last: bool,
    /// Whether each record is a gzip member.
    pub is_packed: bool,
    /// Whether it is an ARC file, and no WARC file.
    pub is_arc: bool,
    /// What the source of a record begins with.
    pub source: &'a str,
}

/// When to stop.
pub struct Limits {
    /// Octets of a document.
    pub octets: usize,
    /// Rows of a batch.
    pub rows: usize,
}

/// Why reading stops; the place of the record is in `Crawl::now`.
pub enum Stop {
    /// No record begins before the stop any more.
    End,
    /// The record is not whole in the window.
    Cut,
    /// The record is for Python from its first octet on.
    Odd,
    /// The record is whole, and its document is for Python.
    Record(Py<PyBytes>, Py<PyBytes>),
    /// There is a batch to take, or something in a page is for Python; the rest of the page is made by `step`.  The
    /// notes on it, and its octets.
    Page(Vec<&'static str>, usize),
    /// There is a batch to take, and no page is begun.
    Full,
}

/// A response that is read here.
struct Found<'a> {
    base: Base,
    notes: Vec<&'static str>,
    response: Response<'a>,
    body: Body<'a>,
    charset: &'a [u8],
}

/// What reading a page comes to.
enum Reading {
    Done,
    Waits(Vec<&'static str>),
}

impl Crawl {
    /// Count what holds no document, by its number in `PASSED`.
    fn pass(&mut self, kind: usize) {
        if let Some(count) = self.passed.get_mut(kind) {
            *count += 1;
        }
    }
}

impl LinkRows {
    /// Make rows of records from `at` on, until something is for Python.
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
        let most = limits.octets + HEADER_MOST;
        let mut at = start;
        loop {
            self.crawl.now = Place { at, next: None, base: None };
            if at >= window.stop {
                return Ok(Stop::End);
            }
            if self.is_full(limits) {
                self.crawl.now.next = Some(at);
                return Ok(Stop::Full);
            }
            let rest = window.data.get(at - window.first..).unwrap_or_default();
            let (member, used) = if window.is_packed {
                match inflate(rest, inflated, most) {
                    Inflated::Whole(used) if window.is_arc => (arc_member(inflated), used),
                    Inflated::Whole(used) => (member(inflated), used),
                    Inflated::Cut if !window.is_last => return Ok(Stop::Cut),
                    Inflated::Cut | Inflated::Odd => return Ok(Stop::Odd),
                }
            } else {
                let (blank, found) = if window.is_arc {
                    arc_frame(rest, window.is_last, most)
                } else {
                    (0, frame(rest, window.is_last, most))
                };
                match found {
                    Frame::Whole(member, used) => {
                        at += blank;
                        self.crawl.now.at = at;
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
                    self.crawl.now.next = Some(next);
                    self.source.clear();
                    self.source.push_str(window.source);
                    self.source.push_str(&at.to_string());
                    if self.read_described(&record, limits)? {
                        at = next;
                        continue;
                    }
                    let found = record.exchange.and_then(|exchange| self.find(&exchange, limits.octets));
                    let Some(found) = found else {
                        if window.is_arc {
                            return Ok(Stop::Odd);
                        }
                        return attached(|py| {
                            let octets = |part| PyBytes::new(py, part).unbind();
                            Ok(Stop::Record(octets(record.header), octets(record.content)))
                        });
                    };
                    self.crawl.now.base = Some(found.base.text.clone());
                    let size = found.body.content.len();
                    if size == 0 {
                        self.crawl.pass(EMPTY);
                    }
                    if let Reading::Waits(notes) = self.read_response(found, limits)? {
                        return Ok(Stop::Page(notes, size));
                    }
                }
            }
            at = next;
        }
    }

    pub fn is_full(&self, limits: &Limits) -> bool {
        self.columns.len() >= limits.rows || self.columns.octets >= super::OCTETS
    }

    /// The response of a record, if all of it is read here.
    fn find<'a>(&self, exchange: &Exchange<'a>, most: usize) -> Option<Found<'a>> {
        let base = retrieved(exchange.target)?;
        let response = Response::read(exchange.content)?;
        let has = |name: &[u8]| response.fields.first(name).is_some();
        if has(b"content-location") || has(b"content-base") {
            return None;
        }
        let is_read = |name: &[u8], value: &[u8]| match name {
            name if name.eq_ignore_ascii_case(b"link") => is_plain(value),
            name if is_pointing(name) => simdutf8::basic::from_utf8(value).is_ok(),
            _ => true,
        };
        if !response.fields.iter().all(|(name, value)| is_read(name, value)) {
            return None;
        }
        let body = response.body(most)?;
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
            if !essence.eq_ignore_ascii_case(b"text/html") || self.is_other(&body.content) {
                return None;
            }
            charset = named;
        }
        Some(Found { base, notes, response, body, charset })
    }

    /// Rows of the links that the envelope of a record describes.  Returns: whether all of it was read here.
    fn read_described(&mut self, record: &Record<'_>, limits: &Limits) -> PyResult<bool> {
        let content = record.content;
        let Some(base) = record.described.and_then(retrieved) else { return Ok(false) };
        if content.len() > limits.octets || self.is_other(content) {
            return Ok(false);
        }
        let Some(found) = read_envelope(content) else { return Ok(false) };
        let inner = match &found.base {
            None => base.clone(),
            Some(href) => from_content(href, &base, &self.python)?,
        };
        let count: usize = found.links.iter().map(Vec::len).sum();
        // As much as a batch, at most.
        let octets = count.saturating_mul(self.source.len() + 3 * inner.text.len()) + 3 * content.len();
        if count > limits.rows || octets > super::OCTETS {
            return Ok(false);
        }
        self.parts = None;
        self.crawl.now.base = Some(base.text.clone());
        self.crawl.envelopes.0 += 1;
        self.crawl.envelopes.1 += content.len() as u64;
        for (name, value) in &found.fields {
            self.add_field(strip(name).as_bytes(), strip(value), &base)?;
        }
        if let Some(href) = &found.base {
            self.add_reference("BASE@/href", href, &base)?;
        }
        for link in found.links.iter().flatten() {
            let place = link.place.as_deref().filter(|place| !place.is_empty()).unwrap_or("url");
            self.add_reference(place, strip(&link.url), &inner)?;
        }
        for value in &found.refreshes {
            self.add_refresh("META refresh", value, &inner)?;
        }
        Ok(true)
    }

    /// Whether the content may be of another kind than was told.
    fn is_other(&self, content: &[u8]) -> bool {
        self.signatures
            .iter()
            .any(|(at, octets)| content.get(*at..).is_some_and(|part| part.starts_with(octets)))
    }

    fn read_response(&mut self, found: Found<'_>, limits: &Limits) -> PyResult<Reading> {
        self.parts = None;
        for (name, value) in found.response.fields.iter().filter(|(name, _)| is_pointing(name)) {
            self.add_field(name, &String::from_utf8_lossy(value), &found.base)?;
        }
        if found.body.content.is_empty() {
            return Ok(Reading::Done);
        }
        self.crawl.pages.0 += 1;
        self.crawl.pages.1 += found.body.content.len() as u64;
        let mut said = found.notes;
        for note in &said {
            self.columns.note(&self.source, &found.base.text, note);
        }
        let mut note = |rows: &mut LinkRows, kind: &'static str| {
            if !said.contains(&kind) {
                said.push(kind);
                rows.columns.note(&rows.source, &found.base.text, kind);
            }
        };
        let decoded;
        let mut content = &*found.body.content;
        if !is_utf8(content, found.charset) {
            let is_lossy;
            (decoded, is_lossy) = self.decode(content, found.charset)?;
            content = &decoded;
            if is_lossy {
                note(self, "wrong-charset");
            }
        }
        let notes = self.read_page(content, found.base.clone())?;
        notes.into_iter().for_each(|kind| note(self, kind));
        while self.make_rows(STEP)? {
            if self.waiting.is_some() || self.is_full(limits) {
                return Ok(Reading::Waits(said));
            }
        }
        Ok(Reading::Done)
    }

    /// Python knows charsets.
    fn decode(&self, content: &[u8], charset: &[u8]) -> PyResult<(Vec<u8>, bool)> {
        attached(|py| {
            let told = (!charset.is_empty()).then(|| String::from_utf8_lossy(charset));
            self.python.octets.call1(py, (PyBytes::new(py, content), told))?.extract(py)
        })
    }

    /// The references in a field of HTTP that refers to something.
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

    /// The references in what refreshes a page, a field or a meta.
    fn add_refresh(&mut self, place: &str, value: &str, base: &Base) -> PyResult<()> {
        let found: Vec<String> =
            attached(|py| self.python.values.call1(py, ("refresh", value))?.extract(py))?;
        found.iter().try_for_each(|text| self.add_reference(place, text, base))
    }

    fn add_reference(&mut self, place: &str, reference: &str, base: &Base) -> PyResult<()> {
        let row = complete_row(
            related(reference, base, &self.python)?,
            base,
            &self.python,
            self.rung,
            &self.parts,
        )?;
        self.columns.push(&self.source, base, Row { place, reference: Some(reference), ..row });
        Ok(())
    }
}

/// References between two looks at how many rows there are.
const STEP: usize = 256;

/// The base of what came by a URI, which is one, and not of DNS.
fn retrieved(target: &[u8]) -> Option<Base> {
    let spans = parse(target, Rule::Uri, false).ok()?;
    let scheme = spans.scheme().map(|scheme: Span| scheme.of(target));
    if scheme.is_some_and(|name| name.eq_ignore_ascii_case(b"dns")) {
        return None;
    }
    Some(Base { text: String::from_utf8(target.to_vec()).ok()?, spans, layer: "retrieval".to_owned() })
}

/// The fields that refer to something else (`header.reference_fields`).
pub fn is_pointing(name: &[u8]) -> bool {
    [&b"location"[..], b"link", b"refresh"].iter().any(|known| name.eq_ignore_ascii_case(known))
}

fn media_type_of<'a>(response: &Response<'a>) -> Option<(&'a [u8], &'a [u8])> {
    media_type(response.fields.first(b"content-type").unwrap_or_default())
}

/// Whether the octets are the characters in UTF-8 for sure: it is told so, no mark is there, nor what looks like UTF-16.
fn is_utf8(content: &[u8], charset: &[u8]) -> bool {
    let is_told = charset.eq_ignore_ascii_case(b"utf-8") || charset.eq_ignore_ascii_case(b"utf8");
    let may_be_wide = content.part(..content.len().min(8)).contains(&0);
    let has_mark = matches!(content.first(), Some(0xEF | 0xFE | 0xFF));
    is_told && !may_be_wide && !has_mark && simdutf8::basic::from_utf8(content).is_ok()
}
