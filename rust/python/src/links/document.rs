//! Collects the anchors and references of an HTML document.

use overthere_core::place::{At, Part};
use overthere_html::{Element, Namespace, Sink};

use super::css::{contains, urls};
use super::site::Site;

/// The facts about a tag before it ends.
#[derive(Default)]
struct Tag {
    /// The index of its first reference.
    first: usize,
    is_hint: bool,
    is_nofollow: bool,
    /// The index of its link, to which `rel=nofollow` applies.
    link: Option<usize>,
    has_content: bool,
    is_refresh: bool,
    content: Vec<u8>,
    embedded: Option<usize>,
    script: Option<usize>,
}

/// A reference: its range in the texts, and its tag.
#[derive(Clone, Copy)]
pub struct Reference {
    pub start: usize,
    pub end: usize,
    /// It names an image map.
    pub is_map: bool,
    /// Its link has `rel=nofollow`.
    pub is_nofollow: bool,
    pub tag: Place,
}

/// The kind of element that contains a reference.
#[derive(Clone, Copy, Default)]
pub enum Holder {
    Tag = 0,
    SvgTag = 1,
    /// A `style` element of HTML.
    Sheet = 2,
    /// Only Python can place it.
    #[default]
    Unplaced = 3,
}

/// The place of a reference in the document.
#[derive(Clone, Copy, Default)]
pub struct Place {
    /// The byte offset of the name of its tag.
    pub at: usize,
    pub holder: Holder,
}

/// The contents of a document.
pub struct Document<'a> {
    site: &'a Site,
    pub texts: Vec<u8>,
    pub references: Vec<Reference>,
    pub anchors: Vec<Vec<u8>>,
    pub count: Count,
    /// The range of the declared base in the texts.
    pub base: Option<(usize, usize)>,
    /// The first refresh, the only one that counts: the range of its text if it has no delay.
    pub refresh: Option<Option<(usize, usize)>>,
    /// Only Python can read it.
    pub needs_python: bool,
    place: Place,
    tag: Tag,
}

/// Counts of references that are settled at once.
#[derive(Default)]
pub struct Count {
    pub references: u64,
    /// Skipped references, by the number of the reason.
    pub passed: Vec<u32>,
}

impl Count {
    pub fn pass(&mut self, reason: usize) {
        if self.passed.len() <= reason {
            self.passed.resize(reason + 1, 0);
        }
        if let Some(count) = self.passed.get_mut(reason) {
            *count += 1;
        }
    }
}

impl<'a> Document<'a> {
    /// Read a document; None if only Python can.
    pub fn read(site: &'a Site, data: &[u8]) -> Option<Self> {
        let mut document = Document {
            site,
            texts: Vec::new(),
            references: Vec::new(),
            anchors: Vec::new(),
            count: Count::default(),
            base: None,
            refresh: None,
            needs_python: false,
            place: Place::default(),
            tag: Tag::default(),
        };
        let notes = overthere_html::read(data, &site.attributes, &mut document);
        (!notes.is_too_deep && !notes.is_unclosed && !document.needs_python).then_some(document)
    }
}

fn is_space(b: &u8) -> bool {
    matches!(b, b'\t' | b'\n' | 0x0C | b'\r' | b' ')
}

fn strip_whitespace(text: &[u8]) -> &[u8] {
    let start = text.iter().position(|b| !is_space(b)).unwrap_or(text.len());
    let end = text.iter().rposition(|b| !is_space(b)).map_or(start, |last| last + 1);
    text.part(start..end)
}

impl Document<'_> {
    fn add(&mut self, text: &[u8], is_map: bool) {
        let start = self.texts.len();
        self.texts.extend_from_slice(text);
        let (end, tag) = (self.texts.len(), self.place);
        self.references.push(Reference { start, end, is_map, is_nofollow: false, tag });
    }

    fn add_sheet(&mut self, text: &[u8]) {
        match urls(text) {
            Some(references) => references.into_iter().for_each(|span| self.add(text.part(span), false)),
            None if SIGNS.iter().any(|sign| contains(text, sign)) => match self.site.sheet_references(text) {
                Some(references) => references.iter().for_each(|text| self.add(text.as_bytes(), false)),
                None => self.needs_python = true,
            },
            None => {}
        }
    }

    /// Add the image candidates of the common form: URLs and descriptors, separated by commas and blanks.
    fn add_candidates(&mut self, value: &[u8]) {
        if value.contains(&b'(') {
            self.needs_python = true;
            return;
        }
        let mut tail = value;
        loop {
            let Some(start) = tail.iter().position(|b| !is_space(b) && *b != b',') else { return };
            tail = tail.part(start..);
            let end = tail.iter().position(is_space).unwrap_or(tail.len());
            let url = tail.part(..end);
            tail = tail.part(end..);
            let last = url.iter().rposition(|b| *b != b',').map_or(0, |last| last + 1);
            if last == url.len() {
                tail = tail.iter().position(|b| *b == b',').map_or(&[], |comma| tail.part(comma + 1..));
            }
            if last > 0 {
                self.add(url.part(..last), false);
            }
        }
    }

    fn embedded_reason(&self, way: &str, name: &[u8]) -> Option<usize> {
        self.site.embedded.get(way)?.get(name).copied()
    }
}

/// The URL of a refresh of the common form `0; url=x` or `0; url='x'`.
fn refresh_url(content: &[u8]) -> Option<&[u8]> {
    let tail = content.part(content.iter().position(|b| !b.is_ascii_digit())?..);
    let tail = tail.strip_prefix(b";").filter(|tail| content.at(0).is_ascii_digit() && !tail.is_empty())?;
    let tail = strip_whitespace(tail);
    let url = tail.split_at_checked(4).filter(|(name, _)| name.eq_ignore_ascii_case(b"url="))?.1;
    let quote = url.first().filter(|first| matches!(first, b'"' | b'\''));
    let url = quote.and_then(|quote| url.part(1..).strip_suffix(&[*quote])).unwrap_or(url);
    (url == strip_whitespace(url) && !url.is_empty() && memchr::memchr2(b'"', b'\'', url).is_none())
        .then_some(url)
}

const SIGNS: [&[u8]; 6] = [b"url(", b"@import", b"image-set(", b"src(", b"image(", b"\\"];

impl Sink for Document<'_> {
    fn attribute(&mut self, element: Element<'_>, name: &[u8], way: usize, value: &[u8]) {
        let Element { name: tag, namespace, is_base, is_inert, at } = element;
        if is_inert {
            return;
        }
        let is_html = namespace == Namespace::Html;
        let holder = if namespace == Namespace::Svg { Holder::SvgTag } else { Holder::Tag };
        self.place = Place { at, holder };
        let site = self.site;
        match site.ways.get(way).map_or("", String::as_str) {
            "anchor" if !value.is_empty() => self.anchors.push(value.to_vec()),
            "anchor" => {}
            "map" => self.anchors.push([b"\0", value].concat()),
            "base" => {
                let value = strip_whitespace(value);
                if is_base {
                    self.base = Some((self.texts.len(), self.texts.len() + value.len()));
                    self.texts.extend_from_slice(value);
                }
                self.count.references += 1;
                self.count.pass(site.reason(b" base"));
            }
            "rel" => {
                let types = value.to_ascii_lowercase();
                let mut types = types.split(is_space);
                if tag == b"link" {
                    self.tag.is_hint = types.any(|rel| rel == b"preconnect" || rel == b"dns-prefetch");
                } else {
                    self.tag.is_nofollow = types.any(|rel| rel == b"nofollow");
                }
            }
            "codebase" => self.needs_python = true,
            "one" => {
                if matches!((tag, name), (b"a" | b"area", b"href") | (b"form", b"action")) {
                    self.tag.link = Some(self.references.len());
                }
                self.add(strip_whitespace(value), false);
            }
            "nonempty" if !strip_whitespace(value).is_empty() => {
                self.add(strip_whitespace(value), name == b"usemap")
            }
            "nonempty" => {}
            "srcset" => self.add_candidates(value),
            "style" => self.add_sheet(value),
            "paint" if namespace == Namespace::Svg && value.contains(&b'(') => self.add_sheet(value),
            "paint" => {}
            "attribute" => {
                if let Some(reason) = self.embedded_reason("attribute", name) {
                    self.count.pass(reason);
                }
            }
            "property" | "type" | "srcdoc" if !is_html || self.tag.embedded.is_some() => {}
            "property" => {
                let names = value.to_ascii_lowercase();
                self.tag.embedded =
                    names.split(is_space).find_map(|name| self.embedded_reason("property", name));
            }
            "type" => {
                let kind = value.to_ascii_lowercase();
                let end = if kind.contains(&b'/') { memchr::memchr(b';', &kind) } else { None };
                self.tag.script =
                    self.embedded_reason("type", strip_whitespace(kind.part(..end.unwrap_or(kind.len()))));
            }
            "srcdoc" => {
                self.tag.embedded = self.embedded_reason("srcdoc", name);
                self.tag.has_content = true;
            }
            "content" => {
                self.tag.has_content = true;
                self.tag.content = value.to_vec();
            }
            "http-equiv" => self.tag.is_refresh = strip_whitespace(value).eq_ignore_ascii_case(b"refresh"),
            way => match site.passed.get(way.as_bytes()) {
                // Lists of skipped references.
                Some(reason) => {
                    let count = value.split(is_space).filter(|item| !item.is_empty()).count();
                    let count = match name {
                        b"itemid" => 1,
                        b"classid" => count.min(1),
                        _ => count,
                    };
                    self.count.references += count as u64;
                    (0..count).for_each(|_| self.count.pass(*reason));
                }
                None => self.needs_python = true,
            },
        }
    }

    fn end_tag(&mut self) -> bool {
        let tag = std::mem::take(&mut self.tag);
        if tag.is_refresh && tag.has_content {
            match refresh_url(&tag.content) {
                Some(url) => {
                    self.add(url, false);
                    let is_at_once =
                        tag.content.iter().take_while(|b| b.is_ascii_digit()).all(|b| *b == b'0');
                    let last = self.references.last().map(|last| (last.start, last.end));
                    self.refresh.get_or_insert(last.filter(|_| is_at_once));
                }
                None => self.needs_python = true,
            }
        }
        if let Some(link) = tag.link.filter(|_| tag.is_nofollow).and_then(|at| self.references.get_mut(at)) {
            link.is_nofollow = true;
        }
        if tag.is_hint {
            for _ in tag.first..self.references.len() {
                self.count.references += 1;
                self.count.pass(self.site.reason(b" hint"));
            }
            self.references.truncate(tag.first);
        }
        self.tag.first = self.references.len();
        if let Some(reason) = tag.embedded.filter(|_| tag.has_content).or(tag.script) {
            self.count.pass(reason);
        }
        false
    }

    fn style(&mut self, text: &[u8], at: Option<usize>) {
        self.place = at.map_or(Place::default(), |at| Place { at, holder: Holder::Sheet });
        self.add_sheet(text);
        self.tag.first = self.references.len();
    }

    fn script(&mut self, _: &[u8]) {}

    fn no_base(&mut self) {
        self.base = None;
    }
}
