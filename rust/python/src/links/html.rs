//! The references of an HTML document, held until its base is known.

use std::collections::HashMap;

use overthere_core::place::Part;
use overthere_html::{Attributes, Element, Namespace, Notes, Sink};
use pyo3::prelude::*;

use super::css::{holds, urls};
use super::Callbacks;
use crate::finalizing::attached;

/// A reference: where it stands, its text, and what it is resolved against.
#[derive(Clone, Copy)]
pub struct Reference {
    place: usize,
    start: usize,
    end: usize,
    pub against: Against,
}

/// A base.
#[derive(Clone, Copy, PartialEq)]
pub enum Against {
    /// That of the document.
    Content,
    /// What stands outside of its content.
    Outside,
    /// The codebase of the element, by the place of its text (HTML 4.01 13.3.1, 13.4).
    Codebase(usize, usize),
    /// This is no reference, but holds some in a syntax of its own: Python reads it.
    Embedded,
}

/// What was found in a document and is no row yet.
#[derive(Default)]
pub struct Pending {
    texts: String,
    found: Vec<Reference>,
    next: usize,
    base: Option<(usize, usize)>,
    /// What there is to say of the document as a whole.
    pub notes: Notes,
    /// What is embedded and was not asked for: how many of each name of `Embedded`.
    pub passed: Vec<u64>,
    /// Element and attribute, each once for the whole job.
    places: Vec<String>,
    known: HashMap<Vec<u8>, usize>,
}

impl Pending {
    /// The href of the `base` element that counts.
    pub fn base_href(&self) -> Option<&str> {
        self.base.map(|(start, end)| self.texts.part(start..end))
    }

    pub fn next(&mut self) -> Option<Reference> {
        let found = self.found.get(self.next).copied();
        self.next += 1;
        found
    }

    /// Where it stands, and its text.
    pub fn texts(&self, found: Reference) -> (&str, &str) {
        (self.places.get(found.place).map_or("", String::as_str), self.texts.part(found.start..found.end))
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
        self.found.clear();
        self.next = 0;
        self.base = None;
        if self.places.len() > MOST_PLACES {
            self.places.clear();
            self.known.clear();
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
            by_codebase: Vec::new(),
            name: None,
            script: None,
            failed: None,
        };
        let notes = overthere_html::read(data, attributes, &mut collector);
        let failed = collector.failed;
        self.notes = notes;
        failed.map_or(Ok(()), Err)
    }

    fn add(&mut self, place: usize, text: &str, against: Against) {
        let start = self.texts.len();
        self.texts.push_str(text);
        self.found.push(Reference { place, start, end: self.texts.len(), against });
    }

    fn place(&mut self, key: &[u8]) -> usize {
        if let Some(place) = self.known.get(key) {
            return *place;
        }
        self.places.push(String::from_utf8_lossy(key).into_owned());
        self.known.insert(key.to_vec(), self.places.len() - 1);
        self.places.len() - 1
    }
}

/// What may be embedded: values of `property` and `name`, of `type`, and names of attributes themselves.
pub struct Embedded {
    pub names: Vec<String>,
    /// By the way of the attribute that says it.
    numbers: HashMap<String, HashMap<Vec<u8>, usize>>,
    /// Whether it is read, or counted only.
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

/// A hostile document may have a name of its own for every element.
const MOST_PLACES: usize = 10_000;

struct ReferenceCollector<'a> {
    pending: &'a mut Pending,
    ways: &'a [String],
    embedded: &'a Embedded,
    python: &'a Callbacks,
    key: Vec<u8>,
    /// Of a `meta` element: whether it is a refresh, and its content; of a `param`, whether that is a URI.
    refresh: bool,
    is_reference: bool,
    content: Option<Vec<u8>>,
    /// Of an `object` or `applet`: its codebase, and which references are resolved against it.
    codebase: Option<(usize, usize)>,
    by_codebase: Vec<usize>,
    /// What the tag of a meta or an iframe embeds, and what the script does whose text comes.
    name: Option<usize>,
    script: Option<usize>,
    failed: Option<PyErr>,
}

/// Without the ASCII whitespace of the HTML Standard around it.
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
        if element.len() > NAME {
            let shown = String::from_utf8_lossy(element);
            self.key.extend(shown.chars().take(NAME).collect::<String>().bytes());
        } else {
            self.key.extend_from_slice(element);
        }
        self.key.push(b' ');
        self.key.extend_from_slice(name);
        self.pending.place(&self.key)
    }

    /// Python finds the references in a value.
    fn values(&mut self, element: &[u8], name: &[u8], way: &str, value: &[u8]) {
        let found = attached(|py| -> PyResult<Vec<String>> {
            self.python.values.call1(py, (way, String::from_utf8_lossy(value)))?.extract(py)
        });
        match found {
            Ok(found) => {
                let place = self.place(element, name);
                found.iter().for_each(|text| self.pending.add(place, text, Against::Content));
            }
            Err(error) => self.failed = Some(error),
        }
    }

    /// The references that stand in `url()` alone.  Returns: whether those are all.
    fn urls(&mut self, element: &[u8], name: &[u8], text: &[u8]) -> bool {
        let Some(found) = urls(text) else { return false };
        if !found.is_empty() {
            let place = self.place(element, name);
            found.into_iter().for_each(|span| {
                self.pending.add(place, &String::from_utf8_lossy(text.part(span)), Against::Content);
            });
        }
        true
    }

    /// Python finds the references in a style sheet that has others than `url()`.
    fn sheet(&mut self, element: &[u8], text: &[u8]) {
        if self.urls(element, b"url()", text) || !SIGNS.iter().any(|sign| holds(text, sign)) {
            return;
        }
        let found = attached(|py| -> PyResult<Vec<(String, String)>> {
            self.python.styles.call1(py, (String::from_utf8_lossy(text),))?.extract(py)
        });
        match found {
            Ok(found) => {
                for (place, text) in &found {
                    let place = self.place(element, place.as_bytes());
                    self.pending.add(place, text, Against::Content);
                }
            }
            Err(error) => self.failed = Some(error),
        }
    }
}

impl ReferenceCollector<'_> {
    /// The key is a value in lower case.
    fn lower(&mut self, value: &[u8]) {
        self.key.clear();
        self.key.extend_from_slice(value);
        self.key.make_ascii_lowercase();
    }

    /// Something that is embedded is counted, and not read.
    fn pass(&mut self, name: Option<usize>) {
        if let Some(count) = name.and_then(|name| self.pending.passed.get_mut(name)) {
            *count += 1;
        }
    }

    fn embed(&mut self, name: usize, text: &[u8]) {
        let Some(name) = self.embedded.names.get(name) else { return };
        let name = self.pending.place(name.as_bytes());
        self.pending.add(name, &String::from_utf8_lossy(text), Against::Embedded);
    }
}

/// What a style sheet with references holds; a backslash may hide one of them.
const SIGNS: [&[u8]; 6] = [b"url(", b"@import", b"image-set(", b"src(", b"image(", b"\\"];

/// Characters of an element's name that are shown.
const NAME: usize = 64;

impl Sink for ReferenceCollector<'_> {
    fn attribute(&mut self, element: Element<'_>, name: &[u8], way: usize, value: &[u8]) {
        let Element { name: element, namespace, is_base, .. } = element;
        let before = self.pending.found.len();
        match self.ways.get(way).map_or("", String::as_str) {
            "one" => {
                let place = self.place(element, name);
                let base = element == b"base" && name == b"href";
                let against = if base { Against::Outside } else { Against::Content };
                self.pending.add(place, &String::from_utf8_lossy(strip_whitespace(value)), against);
                if base && is_base {
                    self.pending.base = self.pending.found.last().map(|found| (found.start, found.end));
                }
            }
            "nonempty" => {
                let value = strip_whitespace(value);
                if !value.is_empty() {
                    let place = self.place(element, name);
                    self.pending.add(place, &String::from_utf8_lossy(value), Against::Content);
                }
            }
            "attribute" if self.embedded.is_read => {
                let place = self.place(element, name);
                self.pending.add(place, &String::from_utf8_lossy(value), Against::Embedded);
            }
            "attribute" => self.pass(self.embedded.number("attribute", name)),
            "property" | "type" | "srcdoc" if namespace != Namespace::Html || self.name.is_some() => {}
            "property" => {
                self.lower(value);
                self.name = self.key.split(is_space).find_map(|name| self.embedded.number("property", name));
            }
            "type" => {
                self.lower(value);
                // A media type may have parameters; what is none is what it is as a whole.
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
                self.by_codebase.extend(before..self.pending.found.len());
            }
            (b"object" | b"applet", b"codebase") => {
                self.codebase = self.pending.found.get(before).map(|found| (found.start, found.end));
            }
            _ => {}
        }
    }

    fn end_tag(&mut self) -> bool {
        if let Some((start, end)) = self.codebase.take() {
            for at in &self.by_codebase {
                if let Some(found) = self.pending.found.get_mut(*at) {
                    found.against = Against::Codebase(start, end);
                }
            }
        }
        self.by_codebase.clear();
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
                    Against::Content,
                );
            }
        }
        // What a meta or an iframe embeds is at hand; the text of a script comes.
        let held = self.name.take().zip(content);
        if self.embedded.is_read {
            if let Some((name, content)) = held {
                self.embed(name, &content);
            }
            return self.script.is_some();
        }
        let script = self.script.take();
        self.pass(held.map(|(name, _)| name).or(script));
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
