//! One HTML document to keys: its anchors, and what its references ask of other documents.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};

use overthere_core::iri::escape;
use overthere_core::normalize::SchemeRules;
use overthere_core::parse::{Rule, Spans};
use overthere_core::resolve::{resolve, Parsed};
use overthere_html::{Attributes, Element, Namespace, Sink};

use super::css::{holds, urls};
use crate::fast::parse;

/// What all documents are read by.
pub struct Site {
    pub attributes: Attributes,
    pub ways: Vec<String>,
    /// Values that name what is embedded, by the way of the attribute, each with the number of its reason.
    pub embedded: HashMap<String, HashMap<Vec<u8>, usize>>,
    /// Schemes and places that are passed over, with the numbers of their reasons.
    pub passed: HashMap<Vec<u8>, usize>,
    /// Names that are served, octets below the base, with the number of the document.
    pub names: HashMap<Vec<u8>, u32>,
    /// What every URI within begins with, and by which rules others of its scheme become such; None: only Python knows.
    pub prefixes: Vec<(String, Option<SchemeRules>)>,
    pub fragments: bool,
}

impl Site {
    /// The path below the base of a URI that has neither query nor fragment.
    fn below<'a>(&self, uri: &'a str) -> Option<Cow<'a, str>> {
        if let Some(below) = self.prefixes.iter().find_map(|(prefix, _)| uri.strip_prefix(prefix.as_str())) {
            return Some(Cow::Borrowed(below));
        }
        // 6.2.3: capitals in the host, a default port.
        let spans = parse(uri.as_bytes(), Rule::Uri, true).ok()?;
        self.prefixes.iter().find_map(|(prefix, rules)| {
            let rules = rules.as_ref().filter(|rules| rules.may_change(uri.as_bytes(), &spans))?;
            let (start, end) = spans.scheme()?;
            let scheme = prefix.as_bytes().get(..end - start)?;
            if !scheme.eq_ignore_ascii_case(&uri.as_bytes()[start..end]) {
                return None;
            }
            let mut form = Vec::new();
            rules.normalize(uri.as_bytes(), &spans, &mut form);
            Some(Cow::Owned(String::from_utf8(form).ok()?.strip_prefix(prefix.as_str())?.to_owned()))
        })
    }
}

/// Set in a number of `Site::names`: a server redirects it.
pub const REDIRECTED: u32 = 1 << 31;

/// The key of a name in a document.
pub fn key(document: u64, name: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    document.hash(&mut hasher);
    hasher.write(name);
    hasher.finish()
}

/// What pass 1 keeps of a document.
#[derive(Default)]
pub struct Page {
    pub anchors: Vec<u64>,
    pub pairs: Vec<u64>,
    /// Targets that Python judges, each as often as it stands there, by the keys of their texts.
    pub others: Vec<u64>,
    pub references: u64,
    pub within: u64,
    pub passed: Vec<u32>,
    /// It is to be read again whatever the others have.
    pub findings: bool,
}

/// What a reference asks, so that one that stands often is looked at once.
#[derive(Clone, Copy)]
enum Seen {
    Passed(usize),
    Within,
    /// Within, with a fragment directive: only a browser finds that text.
    Directive,
    Other(u64),
}

/// Something that only Python reads.
pub struct Left;

/// Read a document.
///
/// others: the targets that Python judges, by the keys of their texts.
pub fn read(
    site: &Site,
    number: u32,
    uri: &str,
    data: &[u8],
    others: &mut HashMap<u64, String>,
) -> Result<Page, Left> {
    let mut taking = Taking {
        site,
        texts: Vec::new(),
        found: Vec::new(),
        anchors: Vec::new(),
        page: Page::default(),
        base: None,
        tag: Tag::default(),
        is_left: false,
    };
    let too_deep = overthere_html::read(data, &site.attributes, &mut taking);
    if too_deep || taking.is_left {
        return Err(Left);
    }
    let Taking { texts, found, anchors, mut page, base, .. } = taking;
    page.anchors = anchors.iter().map(|name| key(u64::from(number), name)).collect();
    page.anchors.sort_unstable();
    page.anchors.dedup();
    let outside = Base::new(uri.to_owned()).ok_or(Left)?;
    let inner = match base {
        None => Base::new(uri.to_owned()).ok_or(Left)?,
        Some((start, end)) => {
            let mut text = outside.join(&texts[start..end]).ok_or(Left)?.0;
            text.truncate(text.find('#').unwrap_or(text.len()));
            let base = Base::new(text).ok_or(Left)?;
            let scheme = base.spans.scheme().map_or("", |(start, end)| &base.text[start..end]);
            if site.passed.contains_key(scheme.to_ascii_lowercase().as_bytes()) {
                return Err(Left);
            }
            base
        }
    };
    let mut pairs: HashSet<(u64, u64)> = HashSet::new();
    let mut known: HashMap<(&[u8], bool), Seen> = HashMap::new();
    let mut asks = Asks {
        site,
        number,
        inner: &inner,
        is_content: base.is_some(),
        pairs: &mut pairs,
        others,
        page: &mut page,
    };
    for (start, end, is_map) in found {
        asks.page.references += 1;
        let text = &texts[start..end];
        let seen = match known.get(&(text, is_map)) {
            Some(seen) => *seen,
            None => {
                let seen = asks.look(text, is_map)?;
                known.insert((text, is_map), seen);
                seen
            }
        };
        match seen {
            Seen::Passed(reason) => asks.page.pass(reason),
            Seen::Within => asks.page.within += 1,
            Seen::Directive => {
                asks.page.within += 1;
                asks.page.pass(site.passed[&b" text-fragment"[..]]);
            }
            Seen::Other(key) => asks.page.others.push(key),
        }
    }
    page.pairs = pairs.into_iter().flat_map(|(first, second)| [first, second]).collect();
    Ok(page)
}

impl Page {
    fn pass(&mut self, reason: usize) {
        if self.passed.len() <= reason {
            self.passed.resize(reason + 1, 0);
        }
        self.passed[reason] += 1;
    }
}

struct Base {
    text: String,
    spans: Spans,
}

impl Base {
    fn new(text: String) -> Option<Base> {
        let spans = parse(text.as_bytes(), Rule::Uri, true).ok()?;
        Some(Base { text, spans })
    }

    /// 5.2, of a reference or what an IRI-reference maps to.  Returns: the target, and where its components are.
    fn join(&self, reference: &[u8]) -> Option<(String, Spans)> {
        let base = Parsed { text: self.text.as_bytes(), spans: &self.spans };
        let mut out = Vec::new();
        let mut mapped = Vec::new();
        let spans = match parse(reference, Rule::UriReference, false) {
            Ok(spans) => resolve(base, Parsed { text: reference, spans: &spans }, true, &mut out),
            Err(_) => {
                let escaped = escape(std::str::from_utf8(reference).ok()?, &mut mapped)?;
                let spans = parse(&mapped, Rule::UriReference, false).ok()?;
                if !escaped.fits(&spans) {
                    return None;
                }
                resolve(base, Parsed { text: &mapped, spans: &spans }, true, &mut out)
            }
        };
        Some((String::from_utf8(out).ok()?, spans))
    }
}

/// The references of a document, asked of the site.
struct Asks<'a> {
    site: &'a Site,
    number: u32,
    inner: &'a Base,
    /// The base is one that the document says.
    is_content: bool,
    pairs: &'a mut HashSet<(u64, u64)>,
    others: &'a mut HashMap<u64, String>,
    page: &'a mut Page,
}

impl Asks<'_> {
    fn look(&mut self, text: &[u8], is_map: bool) -> Result<Seen, Left> {
        if let Some(reason) = self.passed(text) {
            return Ok(Seen::Passed(reason));
        }
        // The commonest reference of all: an anchor of the document itself.
        if let ([b'#', name @ ..], true) = (text, self.is_own_base()) {
            if name.iter().all(|b| b.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=:@/?".contains(b)) {
                return Ok(self.fragment(self.number, name, is_map));
            }
        }
        let (target, spans) = self.inner.join(text).ok_or(Left)?;
        if let Some(reason) = self.passed(target.as_bytes()) {
            return Ok(Seen::Passed(reason));
        }
        let fragment = spans.fragment(target.len());
        let whole = &target[..fragment.map_or(target.len(), |(start, _)| start - 1)];
        let path = &whole[..memchr::memchr(b'?', whole.as_bytes()).unwrap_or(whole.len())];
        let Some(below) = self.site.below(path) else {
            // What is written relatively and leads out is a finding of its own.
            let is_absolute =
                self.is_content || text.starts_with(b"//") || parse(text, Rule::Uri, false).is_ok();
            return if is_absolute || !text.is_ascii() && text.contains(&b':') {
                Ok(self.other(whole))
            } else {
                Err(Left)
            };
        };
        if below.contains("/.") || below.starts_with('.') || is_odd(below.as_bytes()) {
            return Err(Left);
        }
        let Some(&found) = self.site.names.get(&decoded(below.as_bytes())[..]) else {
            return Ok(self.other(whole));
        };
        self.page.findings |= found & REDIRECTED != 0;
        if let Some((start, end)) = fragment {
            return Ok(self.fragment(found & !REDIRECTED, &target.as_bytes()[start..end], is_map));
        }
        Ok(Seen::Within)
    }

    fn is_own_base(&self) -> bool {
        let text = &self.inner.text;
        let path = &text[..text.find('?').unwrap_or(text.len())];
        self.site
            .below(path)
            .is_some_and(|below| self.site.names.get(&decoded(below.as_bytes())[..]) == Some(&self.number))
    }

    fn passed(&self, text: &[u8]) -> Option<usize> {
        let end = memchr::memchr3(b':', b'/', b'#', text).filter(|end| text[*end] == b':')?;
        if end > 16 {
            return None;
        }
        self.site.passed.get(&text[..end].to_ascii_lowercase()[..]).copied()
    }

    fn other(&mut self, whole: &str) -> Seen {
        let found = key(0, whole.as_bytes());
        self.others.entry(found).or_insert_with(|| whole.to_owned());
        Seen::Other(found)
    }

    fn fragment(&mut self, number: u32, name: &[u8], is_map: bool) -> Seen {
        if !self.site.fragments || name.is_empty() || name.eq_ignore_ascii_case(b"top") {
            return Seen::Within;
        }
        if name.windows(3).any(|three| three == b":~:") {
            return Seen::Directive;
        }
        let document = u64::from(number);
        let made =
            |name: &[u8]| if is_map { key(document, &[b"\0", name].concat()) } else { key(document, name) };
        let first = made(name);
        let second = match lines(name) {
            Some(line) => made(line),
            None if name.contains(&b'%') => made(&plain(&decoded(name))),
            None => first,
        };
        let there = |key| self.page.anchors.binary_search(&key).is_ok();
        if number != self.number {
            self.pairs.insert((first, second));
        } else if !there(first) && !there(second) {
            self.page.findings = true;
        }
        Seen::Within
    }
}

/// Of a range of lines its first (`anchors.names`).
fn lines(name: &[u8]) -> Option<&[u8]> {
    let (first, last) = name.split_at(memchr::memchr(b'-', name)?);
    let number = |text: &[u8]| {
        let digits = text.strip_prefix(b"L").unwrap_or(text);
        !digits.is_empty() && digits.iter().all(u8::is_ascii_digit)
    };
    (number(first) && number(&last[1..])).then_some(first)
}

/// Whether a dot, a slash or a control is escaped: what these name only Python says.
fn is_odd(below: &[u8]) -> bool {
    memchr::memchr_iter(b'%', below)
        .any(|at| matches!(below.get(at + 1..at + 3), Some([b'2', b'e' | b'E' | b'f' | b'F'] | [b'0', _])))
}

/// Octets that are no UTF-8 become U+FFFD, as Python's `unquote` has it.
fn plain(octets: &[u8]) -> Vec<u8> {
    String::from_utf8_lossy(octets).into_owned().into_bytes()
}

fn decoded(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut at = 0;
    while at < text.len() {
        let digit = |at: usize| text.get(at).and_then(|b| char::from(*b).to_digit(16));
        match (text[at], digit(at + 1), digit(at + 2)) {
            (b'%', Some(high), Some(low)) => {
                out.push((high * 16 + low) as u8);
                at += 3;
            }
            (octet, ..) => {
                out.push(octet);
                at += 1;
            }
        }
    }
    out
}

/// What is known of a tag before it ends.
#[derive(Default)]
struct Tag {
    /// Its references begin here.
    first: usize,
    is_hint: bool,
    has_content: bool,
    is_refresh: bool,
    content: Vec<u8>,
    embedded: Option<usize>,
    script: Option<usize>,
}

struct Taking<'a> {
    site: &'a Site,
    texts: Vec<u8>,
    /// Where each reference stands in the texts, and whether it names an image map.
    found: Vec<(usize, usize, bool)>,
    anchors: Vec<Vec<u8>>,
    page: Page,
    base: Option<(usize, usize)>,
    tag: Tag,
    is_left: bool,
}

fn is_space(b: &u8) -> bool {
    matches!(b, b'\t' | b'\n' | 0x0C | b'\r' | b' ')
}

fn stripped(text: &[u8]) -> &[u8] {
    let start = text.iter().position(|b| !is_space(b)).unwrap_or(text.len());
    let end = text.iter().rposition(|b| !is_space(b)).map_or(start, |last| last + 1);
    &text[start..end]
}

impl Taking<'_> {
    fn add(&mut self, text: &[u8], is_map: bool) {
        let start = self.texts.len();
        self.texts.extend_from_slice(text);
        self.found.push((start, self.texts.len(), is_map));
    }

    fn sheet(&mut self, text: &[u8]) {
        match urls(text) {
            Some(found) => found.into_iter().for_each(|span| self.add(&text[span], false)),
            None => self.is_left |= SIGNS.iter().any(|sign| holds(text, sign)),
        }
    }

    /// The image candidates that people write: URLs and descriptors, with commas and blanks between.
    fn candidates(&mut self, value: &[u8]) {
        if value.contains(&b'(') {
            self.is_left = true;
            return;
        }
        let mut rest = value;
        loop {
            let Some(start) = rest.iter().position(|b| !is_space(b) && *b != b',') else { return };
            rest = &rest[start..];
            let end = rest.iter().position(is_space).unwrap_or(rest.len());
            let url = &rest[..end];
            rest = &rest[end..];
            let last = url.iter().rposition(|b| *b != b',').map_or(0, |last| last + 1);
            if last == url.len() {
                rest = rest.iter().position(|b| *b == b',').map_or(&[], |comma| &rest[comma + 1..]);
            }
            if last > 0 {
                self.add(&url[..last], false);
            }
        }
    }

    fn named(&self, way: &str, name: &[u8]) -> Option<usize> {
        self.site.embedded.get(way)?.get(name).copied()
    }
}

/// The URL of a refresh as people write it, `0; url=x`.
fn refreshed(content: &[u8]) -> Option<&[u8]> {
    let rest = &content[content.iter().position(|b| !b.is_ascii_digit())?..];
    let rest = rest.strip_prefix(b";").filter(|rest| content[0].is_ascii_digit() && !rest.is_empty())?;
    let rest = stripped(rest);
    let url = rest.get(4..).filter(|_| rest[..4].eq_ignore_ascii_case(b"url="))?;
    (url == stripped(url) && !url.is_empty() && memchr::memchr2(b'"', b'\'', url).is_none()).then_some(url)
}

const SIGNS: [&[u8]; 6] = [b"url(", b"@import", b"image-set(", b"src(", b"image(", b"\\"];

impl Sink for Taking<'_> {
    fn attribute(&mut self, element: Element<'_>, name: &[u8], way: usize, value: &[u8]) {
        let Element { name: tag, namespace, is_in_template } = element;
        let is_html = namespace == Namespace::Html;
        let site = self.site;
        match site.ways[way].as_str() {
            "anchor" if !value.is_empty() => self.anchors.push(value.to_vec()),
            "anchor" => {}
            "map" => self.anchors.push([b"\0", value].concat()),
            "base" => {
                let value = stripped(value);
                if is_html && !is_in_template && self.base.is_none() {
                    self.base = Some((self.texts.len(), self.texts.len() + value.len()));
                    self.texts.extend_from_slice(value);
                }
                self.page.references += 1;
                self.page.pass(site.passed[&b" base"[..]]);
            }
            "rel" => {
                let hints = value.to_ascii_lowercase();
                self.tag.is_hint =
                    hints.split(is_space).any(|rel| rel == b"preconnect" || rel == b"dns-prefetch");
            }
            "one" | "nonempty" if tag == b"object" || tag == b"applet" => self.is_left = true,
            "one" => self.add(stripped(value), false),
            "nonempty" if !stripped(value).is_empty() => self.add(stripped(value), name == b"usemap"),
            "nonempty" => {}
            "srcset" => self.candidates(value),
            "style" => self.sheet(value),
            "paint" if namespace == Namespace::Svg && value.contains(&b'(') => self.sheet(value),
            "paint" => {}
            "property" | "type" | "srcdoc" if !is_html || self.tag.embedded.is_some() => {}
            "property" => {
                let names = value.to_ascii_lowercase();
                self.tag.embedded = names.split(is_space).find_map(|name| self.named("property", name));
            }
            "type" => {
                let named = value.to_ascii_lowercase();
                let end = if named.contains(&b'/') { memchr::memchr(b';', &named) } else { None };
                self.tag.script = self.named("type", stripped(&named[..end.unwrap_or(named.len())]));
            }
            "srcdoc" => {
                self.tag.embedded = self.named("srcdoc", name);
                self.tag.has_content = true;
            }
            "content" => {
                self.tag.has_content = true;
                self.tag.content = value.to_vec();
            }
            "http-equiv" => self.tag.is_refresh = stripped(value).eq_ignore_ascii_case(b"refresh"),
            way => match site.passed.get(way.as_bytes()) {
                // Lists of what is passed over.
                Some(reason) => {
                    let count = value.split(is_space).filter(|one| !one.is_empty()).count();
                    let count = if name == b"itemid" { 1 } else { count };
                    self.page.references += count as u64;
                    (0..count).for_each(|_| self.page.pass(*reason));
                }
                None => self.is_left = true,
            },
        }
    }

    fn end_tag(&mut self) -> bool {
        let tag = std::mem::take(&mut self.tag);
        if tag.is_refresh && tag.has_content {
            match refreshed(&tag.content) {
                Some(url) => self.add(url, false),
                None => self.is_left = true,
            }
        }
        if tag.is_hint {
            for _ in tag.first..self.found.len() {
                self.page.references += 1;
                self.page.pass(self.site.passed[&b" hint"[..]]);
            }
            self.found.truncate(tag.first);
        }
        self.tag.first = self.found.len();
        if let Some(reason) = tag.embedded.filter(|_| tag.has_content).or(tag.script) {
            self.page.pass(reason);
        }
        false
    }

    fn style(&mut self, text: &[u8]) {
        self.sheet(text);
        self.tag.first = self.found.len();
    }

    fn script(&mut self, _: &[u8]) {}
}
