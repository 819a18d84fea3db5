//! One HTML document to keys: its anchors, and what its references ask of other documents.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use ahash::AHashMap;
use overthere_core::iri::escape;
use overthere_core::parse::Rule;
use overthere_core::place::{At, Part, Spans};
use overthere_core::resolve::{resolve, Parsed};

use super::document::{Count, Document, Place};
use super::escapes::{decoded, is_odd, lines, plain};
use super::site::{Site, REDIRECTED};
use crate::fast::parse;

/// The key of a name in a document.
pub fn key(document: u64, name: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    document.hash(&mut hasher);
    hasher.write(name);
    hasher.finish()
}

/// The keys, counts and unsettled references of a document.
#[derive(Default)]
pub struct Page {
    /// The keys of its anchors.
    pub anchors: Vec<u64>,
    /// Its references that are not settled.
    pub open: Vec<Open>,
    pub references: u64,
    pub within: u64,
    pub passed: Vec<u32>,
    /// The base that it says.
    pub base: Option<String>,
    /// The page to which its reader is sent at once.
    pub next: Option<u32>,
}

/// A reference that is not settled when its document is read, or is a fault.
pub struct Open {
    pub place: Place,
    pub question: Question,
}

/// The condition under which a reference is a fault.
#[derive(Clone, Copy)]
pub enum Question {
    /// It is one.
    Fault,
    /// An anchor of another document, which has one of two keys.
    Anchor(u64, u64),
    /// A target that Python judges, by its key.
    Target(u64),
    /// It sends the reader on at once: whether that goes in a circle.
    Refresh,
}

/// A reference that Python judges: the page, the base that it says, the text, whether it names an image map.
pub type Example = (u32, Option<String>, String, bool);

/// Targets that Python judges by their keys: how many references have each, and one of these.
pub type Targets = HashMap<u64, (u64, Example)>;

/// Targets of many pages that Python handles, and URIs outside.
#[derive(Default)]
pub struct Gathered {
    pub targets: Targets,
    /// Valid URIs of the web that are outside, without their fragments, and how many references have each.
    pub outside: HashMap<String, u64>,
}

impl Gathered {
    pub fn add(&mut self, other: Gathered) {
        for (key, (count, example)) in other.targets {
            self.targets.entry(key).or_insert((0, example)).0 += count;
        }
        for (uri, count) in other.outside {
            *self.outside.entry(uri).or_default() += count;
        }
    }
}

/// The result of judging a reference by itself.
#[derive(Clone, Copy)]
enum Verdict {
    Passed(usize),
    /// A valid http or https URI outside the site that will not be requested.
    Outside,
    Within,
    /// Within, with a fragment directive: only a browser finds that text.
    Directive,
    /// A server redirects it, or the document itself has no such anchor.
    Fault,
    /// An anchor of another document, which has one of two keys.
    Asks(u64, u64),
    /// A target that Python judges, by its key.
    Other(u64),
}

/// The document has something that only Python reads.
pub struct NeedsPython;

/// Read a document; what its references lead to is added to `gathered`.
pub fn read(
    site: &Site,
    number: u32,
    uri: &str,
    data: &[u8],
    gathered: &mut Gathered,
) -> Result<Page, NeedsPython> {
    let taken = Document::of(site, data).ok_or(NeedsPython)?;
    let asks = Asks::new(site, number, uri, &taken)?;
    let refresh = taken.refresh.flatten();
    let next = match refresh {
        Some((start, end)) => asks.page_at(taken.texts.part(start..end))?,
        None => None,
    };
    let mut page = Page { next, ..Page::default() };
    let mut count = Count::default();
    let mut others = Targets::new();
    let mut outside: AHashMap<&[u8], u64> = AHashMap::new();
    let mut known: AHashMap<(&[u8], bool), Verdict> = AHashMap::with_capacity(taken.found.len());
    for one in &taken.found {
        let text = taken.texts.part(one.start..one.end);
        let nofollow = site.nofollow.filter(|_| one.is_nofollow && asks.passed_reason(text).is_none());
        let verdict = match (nofollow, known.get(&(text, one.is_map))) {
            (Some(reason), _) => Verdict::Passed(reason),
            (_, Some(verdict)) => *verdict,
            _ => {
                let verdict = asks.judge_reference(text, one.is_map);
                known.insert((text, one.is_map), verdict);
                if let Verdict::Other(key) = verdict {
                    let text = String::from_utf8_lossy(text).into_owned();
                    others.entry(key).or_insert((0, (number, asks.said.clone(), text, one.is_map)));
                }
                verdict
            }
        };
        count.references += 1;
        page.within +=
            u64::from(!matches!(verdict, Verdict::Passed(_) | Verdict::Outside | Verdict::Other(_)));
        let question = match verdict {
            Verdict::Fault => Some(Question::Fault),
            Verdict::Asks(first, second) => Some(Question::Anchor(first, second)),
            Verdict::Other(key) => {
                others.entry(key).and_modify(|(count, _)| *count += 1);
                Some(Question::Target(key))
            }
            _ if next.is_some() && refresh == Some((one.start, one.end)) => Some(Question::Refresh),
            _ => None,
        };
        page.open.extend(question.map(|question| Open { place: one.tag, question }));
        match verdict {
            Verdict::Passed(reason) => count.pass(reason),
            Verdict::Directive => count.pass(site.reason(b" text-fragment")),
            Verdict::Outside => *outside.entry(without_fragment(text)).or_default() += 1,
            _ => {}
        }
    }
    let outside = outside.into_iter().map(|(uri, count)| (String::from_utf8_lossy(uri).into_owned(), count));
    gathered.add(Gathered { targets: others, outside: outside.collect() });
    page.anchors = asks.anchors;
    page.base = asks.said;
    page.references = taken.count.references + count.references;
    page.passed = taken.count.passed;
    for (reason, times) in count.passed.into_iter().enumerate() {
        page.passed.resize(page.passed.len().max(reason + 1), 0);
        if let Some(count) = page.passed.get_mut(reason) {
            *count += times;
        }
    }
    Ok(page)
}

/// The names of the anchors of a document.
pub fn anchors(site: &Site, data: &[u8]) -> Option<Vec<Vec<u8>>> {
    Document::of(site, data).map(|taken| taken.anchors)
}

fn without_fragment(text: &[u8]) -> &[u8] {
    text.part(..memchr::memchr(b'#', text).unwrap_or(text.len()))
}

/// Whether what seems to be a URI of the web has a plain host without a port, and no dot-segments: that it is resolved
/// changes nothing, and its scheme finds no fault in it.
fn is_plain_web(text: &[u8]) -> bool {
    let rest = text.strip_prefix(b"https://").or_else(|| text.strip_prefix(b"http://"));
    rest.is_some_and(|rest| {
        let end = rest.iter().position(|b| matches!(b, b'/' | b'?' | b'#')).unwrap_or(rest.len());
        let (host, rest) = rest.split_at(end);
        let is_plain = host.iter().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-'));
        is_plain && !host.is_empty() && memchr::memmem::find(rest, b"/.").is_none()
    })
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

    /// 5.2, of a reference or what an IRI-reference maps to.
    fn join(&self, reference: &[u8]) -> Option<String> {
        let base = Parsed { text: self.text.as_bytes(), spans: &self.spans };
        let mut out = Vec::new();
        let mut mapped = Vec::new();
        match parse(reference, Rule::UriReference, false) {
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
        String::from_utf8(out).ok()
    }
}

/// The references of a document, asked of the site.
struct Asks<'a> {
    site: &'a Site,
    number: u32,
    inner: Base,
    /// The base of references that begin with "/", and the folder that the settings name as its root.
    rooted: Option<(Base, &'a str)>,
    /// The base that the document says.
    said: Option<String>,
    /// The base names the document itself.
    is_own_base: bool,
    /// The keys of the anchors of the document, sorted.
    anchors: Vec<u64>,
}

/// The kind of a target, by its text: all references of one kind to a target have the same result.
enum Kind {
    /// It is not below the base, and was written whole.
    Outside = b'a' as isize,
    /// It is not below the base: written from the root, or relative.
    FromRoot = b'/' as isize,
    Relative = b'.' as isize,
    /// It is below the base, under no name that is known.
    Missing = b'm' as isize,
    /// The settings lead it elsewhere.
    Mapped = b'>' as isize,
}

const LOCAL: &str = "file:///";

impl<'a> Asks<'a> {
    fn new(site: &'a Site, number: u32, uri: &str, taken: &Document<'_>) -> Result<Self, NeedsPython> {
        let mut anchors: Vec<u64> = taken.anchors.iter().map(|name| key(u64::from(number), name)).collect();
        anchors.sort_unstable();
        anchors.dedup();
        let mut inner = Base::new(uri.to_owned()).ok_or(NeedsPython)?;
        let mut said = None;
        if let Some((start, end)) = taken.base {
            let reference = taken.texts.part(start..end);
            said = Some(String::from_utf8_lossy(reference).into_owned());
            let mut text = inner.join(reference).ok_or(NeedsPython)?;
            text.truncate(text.find('#').unwrap_or(text.len()));
            inner = Base::new(text).ok_or(NeedsPython)?;
            let scheme = inner.spans.scheme().map_or("", |scheme| scheme.of_str(&inner.text));
            if site.passed.contains_key(scheme.to_ascii_lowercase().as_bytes()) {
                return Err(NeedsPython);
            }
        }
        let path = inner.text.part(..inner.text.find('?').unwrap_or(inner.text.len()));
        let is_own_base = site.remaps.is_empty() && site.served_number(path) == Some(number);
        let is_below = site.path_below_base(path).is_some();
        let root = site.root.as_deref().filter(|_| is_below);
        let rooted = root.and_then(|root| Some((Base::new(LOCAL.to_owned())?, root)));
        Ok(Asks { site, number, inner, rooted, said, is_own_base, anchors })
    }

    /// The target of a reference (5.2); from the root that the settings name (`reference_check.resolve`).
    fn join(&self, text: &[u8]) -> Option<String> {
        match &self.rooted {
            Some((base, root)) if text.starts_with(b"/") && !text.starts_with(b"//") => {
                base.join(text).map(|target| [root, target.strip_prefix(LOCAL).unwrap_or(&target)].concat())
            }
            _ => self.inner.join(text),
        }
    }

    fn judge_reference(&self, text: &[u8], is_map: bool) -> Verdict {
        if let Some(reason) = self.passed_reason(text) {
            return Verdict::Passed(reason);
        }
        // The commonest reference of all: an anchor of the document itself.
        if let ([b'#', name @ ..], true) = (text, self.is_own_base) {
            if name.iter().all(|b| b.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=:@/?".contains(b)) {
                return self.fragment(self.number, name, is_map);
            }
        }
        if !self.site.keeps_outside && !is_map && is_plain_web(text) && self.is_outside(text) {
            return Verdict::Outside;
        }
        let Some(target) = self.join(text) else { return self.as_written(text, is_map) };
        if self.site.is_mapped(&target) {
            return self.by_target(Kind::Mapped, &target, text, is_map);
        }
        if let Some(reason) = self.passed_reason(target.as_bytes()) {
            return Verdict::Passed(reason);
        }
        let end = target.find('#').unwrap_or(target.len());
        let whole = target.part(..end);
        let path = whole.part(..memchr::memchr(b'?', whole.as_bytes()).unwrap_or(whole.len()));
        let Some(below) = self.site.path_below_base(path) else {
            let is_absolute =
                self.said.is_some() || text.starts_with(b"//") || { parse(text, Rule::Uri, false).is_ok() };
            let asked = if self.site.keeps_outside { &target } else { whole };
            return match text {
                _ if is_absolute => self.by_target(Kind::Outside, asked, text, is_map),
                _ if !text.is_ascii() && text.contains(&b':') => self.as_written(text, is_map),
                [b'/', ..] => self.by_target(Kind::FromRoot, asked, text, is_map),
                _ => self.by_target(Kind::Relative, asked, text, is_map),
            };
        };
        if below.contains("/.") || below.starts_with('.') || is_odd(below.as_bytes()) {
            return self.as_written(text, is_map);
        }
        let Some(&found) = self.site.names.get(&decoded(below.as_bytes())[..]) else {
            return self.by_target(Kind::Missing, &target, text, is_map);
        };
        if found & REDIRECTED != 0 {
            return Verdict::Fault;
        }
        match target.get(end + 1..) {
            Some(fragment) => self.fragment(found, fragment.as_bytes(), is_map),
            None => Verdict::Within,
        }
    }

    /// Whether what may be a URI is one that is not below the base, and that no setting leads elsewhere.
    fn is_outside(&self, text: &[u8]) -> bool {
        let whole = std::str::from_utf8(without_fragment(text)).unwrap_or_default();
        let path = whole.part(..memchr::memchr(b'?', whole.as_bytes()).unwrap_or(whole.len()));
        parse(text, Rule::Uri, false).is_ok()
            && !self.site.is_mapped(std::str::from_utf8(text).unwrap_or_default())
            && self.site.path_below_base(path).is_none()
    }

    /// Python judges a target, once for all documents.
    fn by_target(&self, kind: Kind, target: &str, text: &[u8], is_map: bool) -> Verdict {
        if is_map {
            return self.as_written(text, is_map);
        }
        Verdict::Other(key(kind as u64, target.as_bytes()))
    }

    /// Python judges a reference of this document.
    fn as_written(&self, text: &[u8], is_map: bool) -> Verdict {
        Verdict::Other(key(u64::from(self.number) << 9 | 256 | u64::from(is_map), text))
    }

    /// The page that a reference opens anew, where no server chooses it by a query (`refresh_cycles.refresh_target`).
    fn page_at(&self, text: &[u8]) -> Result<Option<u32>, NeedsPython> {
        let Some(target) = self.join(text) else { return Ok(None) };
        if self.site.is_mapped(&target) || target.contains("/.") || is_odd(target.as_bytes()) {
            return Err(NeedsPython);
        }
        let fragment = target.find('#');
        let found = self.site.served_number(target.part(..fragment.unwrap_or(target.len())));
        let is_plain = !target.contains('?');
        Ok(found.filter(|found| {
            is_plain && found & REDIRECTED == 0 && !(*found == self.number && fragment.is_some())
        }))
    }

    fn passed_reason(&self, text: &[u8]) -> Option<usize> {
        let end = memchr::memchr3(b':', b'/', b'#', text).filter(|end| text.at(*end) == b':')?;
        if end > 16 {
            return None;
        }
        self.site.passed.get(text.part(..end).to_ascii_lowercase().as_slice()).copied()
    }

    fn fragment(&self, number: u32, name: &[u8], is_map: bool) -> Verdict {
        if !self.site.fragments || name.is_empty() || name.eq_ignore_ascii_case(b"top") {
            return Verdict::Within;
        }
        if name.windows(3).any(|three| three == b":~:") {
            return Verdict::Directive;
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
        let there = |key| self.anchors.binary_search(&key).is_ok();
        if number != self.number {
            Verdict::Asks(first, second)
        } else if there(first) || there(second) {
            Verdict::Within
        } else {
            Verdict::Fault
        }
    }
}
