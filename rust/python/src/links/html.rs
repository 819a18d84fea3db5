//! Collects the references of an HTML document, until its base is known.

use std::collections::HashMap;

use overthere_core::place::Part;
use overthere_html::{Attributes, Element, Namespace, Notes, Sink};
use pyo3::prelude::*;

use super::css::{contains, urls};
use super::Callbacks;
use crate::finalizing::attached;

/// A reference: its place, the range of its text, and its base.
#[derive(Clone, Copy)]
pub struct Reference {
    place: usize,
    start: usize,
    end: usize,
    pub base: BaseKind,
}

/// The base of a reference.
#[derive(Clone, Copy, PartialEq)]
pub enum BaseKind {
    /// The base of the document.
    Content,
    /// The base that is given outside of its content.
    Outside,
    /// The codebase of the element, by the range of its text (HTML 4.01 13.3.1, 13.4).
    Codebase(usize, usize),
    /// None: this is content with references in its own syntax, which Python reads.
    Embedded,
}

/// The references of a document that are not rows yet.
#[derive(Default)]
pub struct Pending {
    texts: String,
    references: Vec<Reference>,
    next: usize,
    base: Option<(usize, usize)>,
    /// The notes on the document.
    pub notes: Notes,
    /// Counts of skipped embedded content, by the number of its name in `Embedded`.
    pub passed: Vec<u64>,
    /// Pairs of element and attribute, shared by the documents of the job.
    places: Vec<String>,
    place_numbers: HashMap<Vec<u8>, usize>,
}

impl Pending {
    /// The href of the effective `base` element.
    pub fn base_href(&self) -> Option<&str> {
        self.base.map(|(start, end)| self.texts.part(start..end))
    }

    pub fn next(&mut self) -> Option<Reference> {
        let reference = self.references.get(self.next).copied();
        self.next += 1;
        reference
    }

    /// The place and the text of a reference.
    pub fn texts(&self, item: Reference) -> (&str, &str) {
        (self.places.get(item.place).map_or("", String::as_str), self.texts.part(item.start..item.end))
    }

    /// The text of a codebase.
    pub fn text(&self, start: usize, end: usize) -> &str {
        self.texts.part(start..end)
    }

    pub fn read(
        &mut self,
        data: &[u8],
        attributes: &Attributes,
        ways: &[String],
        embedded: &Embedded,
        python: &Callbacks,
    ) -> PyResult<()> {
        self.texts.clear();
        self.references.clear();
        self.next = 0;
        self.base = None;
        if self.places.len() > MAX_PLACES {
            self.places.clear();
            self.place_numbers.clear();
        }
        self.passed.resize(embedded.names.len(), 0);
        let mut collector = ReferenceCollector {
            pending: self,
            ways,
            embedded,
            python,
            key: Vec::new(),
            refresh: false,
            is_reference: false,
            content: None,
            codebase: None,
            codebase_references: Vec::new(),
            name: None,
            script: None,
            failed: None,
        };
        let notes = overthere_html::read(data, attributes, &mut collector);
        let failed = collector.failed;
        self.notes = notes;
        failed.map_or(Ok(()), Err)
    }

    fn add(&mut self, place: usize, text: &str, base: BaseKind) {
        let start = self.texts.len();
        self.texts.push_str(text);
        self.references.push(Reference { place, start, end: self.texts.len(), base });
    }

    fn place(&mut self, key: &[u8]) -> usize {
        if let Some(place) = self.place_numbers.get(key) {
            return *place;
        }
        self.places.push(String::from_utf8_lossy(key).into_owned());
        self.place_numbers.insert(key.to_vec(), self.places.len() - 1);
        self.places.len() - 1
    }
}

/// Names of embedded content: values of `property` and `name`, of `type`, and names of attributes.
pub struct Embedded {
    pub names: Vec<String>,
    /// The number of each name, by the way of its attribute.
    numbers: HashMap<String, HashMap<Vec<u8>, usize>>,
    /// Whether embedded content is read; otherwise it is counted.
    is_read: bool,
}

impl Embedded {
    /// names: (way, name)
    pub fn new(names: Vec<(String, String)>, is_read: bool) -> Self {
        let mut numbers: HashMap<String, HashMap<Vec<u8>, usize>> = HashMap::new();
        for (number, (way, name)) in names.iter().enumerate() {
            numbers.entry(way.clone()).or_default().insert(name.clone().into_bytes(), number);
        }
        Embedded { names: names.into_iter().map(|(_, name)| name).collect(), numbers, is_read }
    }

    fn number(&self, way: &str, name: &[u8]) -> Option<usize> {
        self.numbers.get(way)?.get(name).copied()
    }
}

/// The most cached places: a hostile document may use another name for every element.
const MAX_PLACES: usize = 10_000;

struct ReferenceCollector<'a> {
    pending: &'a mut Pending,
    ways: &'a [String],
    embedded: &'a Embedded,
    python: &'a Callbacks,
    key: Vec<u8>,
    /// Whether a `meta` element is a refresh, whether a `param` is a URI, and the content of either.
    refresh: bool,
    is_reference: bool,
    content: Option<Vec<u8>>,
    /// The codebase of an `object` or `applet`, and the indexes of the references that have it as base.
    codebase: Option<(usize, usize)>,
    codebase_references: Vec<usize>,
    /// The number of the name of embedded content: of a `meta` or `iframe`, and of the script whose text follows.
    name: Option<usize>,
    script: Option<usize>,
    failed: Option<PyErr>,
}

/// Remove the ASCII whitespace of the HTML Standard around a text.
fn strip_whitespace(text: &[u8]) -> &[u8] {
    let start = text.iter().position(|b| !is_space(b)).unwrap_or(text.len());
    let end = text.iter().rposition(|b| !is_space(b)).map_or(start, |last| last + 1);
    text.part(start..end)
}

fn is_space(b: &u8) -> bool {
    matches!(b, b'\t' | b'\n' | 0x0C | b'\r' | b' ')
}

impl ReferenceCollector<'_> {
    fn place(&mut self, element: &[u8], name: &[u8]) -> usize {
        self.key.clear();
        if element.len() > MAX_NAME_LENGTH {
            let shown = String::from_utf8_lossy(element);
            self.key.extend(shown.chars().take(MAX_NAME_LENGTH).collect::<String>().bytes());
        } else {
            self.key.extend_from_slice(element);
        }
        self.key.push(b' ');
        self.key.extend_from_slice(name);
        self.pending.place(&self.key)
    }

    /// Add the references in a value, which Python finds.
    fn values(&mut self, element: &[u8], name: &[u8], way: &str, value: &[u8]) {
        let references = attached(|py| -> PyResult<Vec<String>> {
            self.python.values.call1(py, (way, String::from_utf8_lossy(value)))?.extract(py)
        });
        match references {
            Ok(references) => {
                let place = self.place(element, name);
                references.iter().for_each(|text| self.pending.add(place, text, BaseKind::Content));
            }
            Err(error) => self.failed = Some(error),
        }
    }

    /// Add the references in `url()`, if there are no others.  Returns false if there may be some.
    fn urls(&mut self, element: &[u8], name: &[u8], text: &[u8]) -> bool {
        let Some(ranges) = urls(text) else { return false };
        if !ranges.is_empty() {
            let place = self.place(element, name);
            ranges.into_iter().for_each(|span| {
                self.pending.add(place, &String::from_utf8_lossy(text.part(span)), BaseKind::Content);
            });
        }
        true
    }

    /// Add the references of a style sheet; Python finds them if it may have others than `url()`.
    fn sheet(&mut self, element: &[u8], text: &[u8]) {
        if self.urls(element, b"url()", text) || !SIGNS.iter().any(|sign| contains(text, sign)) {
            return;
        }
        let references = attached(|py| -> PyResult<Vec<(String, String)>> {
            self.python.styles.call1(py, (String::from_utf8_lossy(text),))?.extract(py)
        });
        match references {
            Ok(references) => {
                for (place, text) in &references {
                    let place = self.place(element, place.as_bytes());
                    self.pending.add(place, text, BaseKind::Content);
                }
            }
            Err(error) => self.failed = Some(error),
        }
    }
}

impl ReferenceCollector<'_> {
    /// Set the key to a value in lower case.
    fn set_lowercase_key(&mut self, value: &[u8]) {
        self.key.clear();
        self.key.extend_from_slice(value);
        self.key.make_ascii_lowercase();
    }

    /// Count embedded content that is not read.
    fn pass(&mut self, name: Option<usize>) {
        if let Some(count) = name.and_then(|name| self.pending.passed.get_mut(name)) {
            *count += 1;
        }
    }

    fn embed(&mut self, name: usize, text: &[u8]) {
        let Some(name) = self.embedded.names.get(name) else { return };
        let name = self.pending.place(name.as_bytes());
        self.pending.add(name, &String::from_utf8_lossy(text), BaseKind::Embedded);
    }
}

/// Every style sheet with references contains one of these; a backslash may hide one.
const SIGNS: [&[u8]; 6] = [b"url(", b"@import", b"image-set(", b"src(", b"image(", b"\\"];

/// Characters of an element's name in `where`.
const MAX_NAME_LENGTH: usize = 64;

impl Sink for ReferenceCollector<'_> {
    fn attribute(&mut self, element: Element<'_>, name: &[u8], way: usize, value: &[u8]) {
        let Element { name: element, namespace, is_base, .. } = element;
        let first = self.pending.references.len();
        match self.ways.get(way).map_or("", String::as_str) {
            "one" => {
                let place = self.place(element, name);
                let is_href = element == b"base" && name == b"href";
                let base = if is_href { BaseKind::Outside } else { BaseKind::Content };
                self.pending.add(place, &String::from_utf8_lossy(strip_whitespace(value)), base);
                if is_href && is_base {
                    self.pending.base = self.pending.references.last().map(|found| (found.start, found.end));
                }
            }
            "nonempty" => {
                let value = strip_whitespace(value);
                if !value.is_empty() {
                    let place = self.place(element, name);
                    self.pending.add(place, &String::from_utf8_lossy(value), BaseKind::Content);
                }
            }
            "attribute" if self.embedded.is_read => {
                let place = self.place(element, name);
                self.pending.add(place, &String::from_utf8_lossy(value), BaseKind::Embedded);
            }
            "attribute" => self.pass(self.embedded.number("attribute", name)),
            "property" | "type" | "srcdoc" if namespace != Namespace::Html || self.name.is_some() => {}
            "property" => {
                self.set_lowercase_key(value);
                self.name = self.key.split(is_space).find_map(|name| self.embedded.number("property", name));
            }
            "type" => {
                self.set_lowercase_key(value);
                // Only a media type can have parameters; other values are used unchanged.
                let end = if value.contains(&b'/') { memchr::memchr(b';', value) } else { None };
                self.script = self
                    .embedded
                    .number("type", strip_whitespace(self.key.part(..end.unwrap_or(value.len()))));
            }
            "srcdoc" => {
                self.name = self.embedded.number("srcdoc", name);
                self.content = Some(if self.embedded.is_read { value.to_vec() } else { Vec::new() });
            }
            "http-equiv" => self.refresh = strip_whitespace(value).eq_ignore_ascii_case(b"refresh"),
            "valuetype" => self.is_reference = strip_whitespace(value).eq_ignore_ascii_case(b"ref"),
            "content" => self.content = Some(value.to_vec()),
            "style" => self.sheet(element, value),
            "paint" if namespace != Namespace::Svg || !value.contains(&b'(') => {}
            "paint" if self.urls(element, name, value) => {}
            other => {
                let other = other.to_owned();
                self.values(element, name, &other, value);
            }
        }
        match (element, name) {
            (b"object", b"classid" | b"data" | b"archive") | (b"applet", b"code" | b"archive") => {
                self.codebase_references.extend(first..self.pending.references.len());
            }
            (b"object" | b"applet", b"codebase") => {
                self.codebase = self.pending.references.get(first).map(|found| (found.start, found.end));
            }
            _ => {}
        }
    }

    fn end_tag(&mut self) -> bool {
        if let Some((start, end)) = self.codebase.take() {
            for at in &self.codebase_references {
                if let Some(found) = self.pending.references.get_mut(*at) {
                    found.base = BaseKind::Codebase(start, end);
                }
            }
        }
        self.codebase_references.clear();
        let content = self.content.take();
        if std::mem::take(&mut self.refresh) {
            if let Some(content) = &content {
                self.values(b"meta", b"refresh", "refresh", content);
            }
        }
        if std::mem::take(&mut self.is_reference) {
            if let Some(content) = &content {
                let place = self.place(b"param", b"value");
                self.pending.add(
                    place,
                    &String::from_utf8_lossy(strip_whitespace(content)),
                    BaseKind::Content,
                );
            }
        }
        // The content of a meta or an iframe is complete; the text of a script follows.
        let embedded_content = self.name.take().zip(content);
        if self.embedded.is_read {
            if let Some((name, content)) = embedded_content {
                self.embed(name, &content);
            }
            return self.script.is_some();
        }
        let script = self.script.take();
        self.pass(embedded_content.map(|(name, _)| name).or(script));
        false
    }

    fn style(&mut self, text: &[u8], _: Option<usize>) {
        self.sheet(b"style", text);
    }

    fn script(&mut self, text: &[u8]) {
        if let Some(name) = self.script.take() {
            self.embed(name, text);
        }
    }

    fn no_base(&mut self) {
        self.pending.base = None;
    }
}
