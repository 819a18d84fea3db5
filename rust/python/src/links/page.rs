//! Reduces an HTML document to keys: its anchors, and its references that depend on other documents.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use ahash::AHashMap;
use overthere_core::iri::escape;
use overthere_core::parse::Rule;
use overthere_core::place::{At, Part, Spans};
use overthere_core::resolve::{resolve, Parsed};

use super::document::{Count, Document, Place};
use super::escapes::{first_line, has_special_escape, percent_decode, replace_invalid_utf8};
use super::site::{Site, REDIRECTED};
use crate::fast::parse;

/// Return the key of a name in a document, or of a target of one kind: a hash of both.
pub fn key(owner: u64, name: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    owner.hash(&mut hasher);
    hasher.write(name);
    hasher.finish()
}

/// The keys, counts and unsettled references of a document.
#[derive(Default)]
pub struct Page {
    /// The keys of its anchors.
    pub anchors: Vec<u64>,
    /// Its references that are or may be faults.
    pub open: Vec<OpenReference>,
    pub references: u64,
    /// The number of its references within the site, without those that Python judges.
    pub within: u64,
    /// Skipped references and content, by number of the reason.
    pub passed: Vec<u32>,
    /// The declared base.
    pub base: Option<String>,
    /// The page that it refreshes to without delay.
    pub next: Option<u32>,
}

/// A reference that is not settled when its document is read, or is a fault.
pub struct OpenReference {
    pub place: Place,
    pub question: Question,
}

/// The condition under which a reference is a fault.
#[derive(Clone, Copy)]
pub enum Question {
    /// It is a fault.
    Fault,
    /// If another document has no anchor with either key.
    Anchor(u64, u64),
    /// If Python judges the target with this key a fault.
    Target(u64),
    /// A refresh without delay: if it is part of a cycle.
    Refresh,
}

/// A reference that Python judges: the page, its declared base, the text, whether it names an image map.
pub type Example = (u32, Option<String>, String, bool);

/// Targets that Python judges, by key: the number of references to each, and one of them.
pub type Targets = HashMap<u64, (u64, Example)>;

/// Targets of many pages that Python judges, and URIs outside.
#[derive(Default)]
pub struct CollectedTargets {
    pub targets: Targets,
    /// Web URIs outside that Python need not judge, without fragments, and the number of references to each.
    pub outside: HashMap<String, u64>,
}

impl CollectedTargets {
    pub fn add(&mut self, other: CollectedTargets) {
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
    /// It is skipped, by the number of the reason.
    Passed(usize),
    /// A valid http or https URI outside the site that will not be requested.
    Outside,
    Within,
    /// Within, with a fragment directive: only a browser finds that text.
    Directive,
    /// A server redirects the target, or the document itself has no such anchor.
    Fault,
    /// An anchor of another document, which has one of two keys.
    DependsOnPage(u64, u64),
    /// A target that Python judges, by its key.
    ByPython(u64),
}

/// The document has something that only Python can read.
pub struct NeedsPython;

/// Read a document and judge its references; add the targets that Python judges and the URIs outside to `collected`.
pub fn read(
    site: &Site,
    number: u32,
    uri: &str,
    data: &[u8],
    collected: &mut CollectedTargets,
) -> Result<Page, NeedsPython> {
    let document = Document::read(site, data).ok_or(NeedsPython)?;
    let judge = ReferenceJudge::new(site, number, uri, &document)?;
    let refresh = document.refresh.flatten();
    let next = match refresh {
        Some((start, end)) => judge.refresh_page(document.texts.part(start..end))?,
        None => None,
    };
    let mut page = Page { next, ..Page::default() };
    let mut count = Count::default();
    let mut targets = Targets::new();
    let mut outside: AHashMap<&[u8], u64> = AHashMap::new();
    let mut verdicts: AHashMap<(&[u8], bool), Verdict> = AHashMap::with_capacity(document.references.len());
    for item in &document.references {
        let text = document.texts.part(item.start..item.end);
        let nofollow = site.nofollow.filter(|_| item.is_nofollow && judge.scheme_reason(text).is_none());
        let verdict = match (nofollow, verdicts.get(&(text, item.is_map))) {
            (Some(reason), _) => Verdict::Passed(reason),
            (_, Some(verdict)) => *verdict,
            _ => {
                let verdict = judge.judge_reference(text, item.is_map);
                verdicts.insert((text, item.is_map), verdict);
                if let Verdict::ByPython(key) = verdict {
                    let text = String::from_utf8_lossy(text).into_owned();
                    targets.entry(key).or_insert((0, (number, judge.href.clone(), text, item.is_map)));
                }
                verdict
            }
        };
        count.references += 1;
        page.within +=
            u64::from(!matches!(verdict, Verdict::Passed(_) | Verdict::Outside | Verdict::ByPython(_)));
        let question = match verdict {
            Verdict::Fault => Some(Question::Fault),
            Verdict::DependsOnPage(first, second) => Some(Question::Anchor(first, second)),
            Verdict::ByPython(key) => {
                targets.entry(key).and_modify(|(count, _)| *count += 1);
                Some(Question::Target(key))
            }
            _ => None,
        };
        let is_refresh = next.is_some() && refresh == Some((item.start, item.end));
        let questions = question.into_iter().chain(is_refresh.then_some(Question::Refresh));
        page.open.extend(questions.map(|question| OpenReference { place: item.tag, question }));
        match verdict {
            Verdict::Passed(reason) => count.pass(reason),
            Verdict::Directive => count.pass(site.reason(b" text-fragment")),
            Verdict::Outside => *outside.entry(without_fragment(text)).or_default() += 1,
            _ => {}
        }
    }
    let outside = outside.into_iter().map(|(uri, count)| (String::from_utf8_lossy(uri).into_owned(), count));
    collected.add(CollectedTargets { targets, outside: outside.collect() });
    page.anchors = judge.anchors;
    page.base = judge.href;
    page.references = document.count.references + count.references;
    page.passed = document.count.passed;
    for (reason, times) in count.passed.into_iter().enumerate() {
        page.passed.resize(page.passed.len().max(reason + 1), 0);
        if let Some(count) = page.passed.get_mut(reason) {
            *count += times;
        }
    }
    Ok(page)
}

/// Return the names of the anchors of a document, of image maps after a NUL; None if only Python can read it.
pub fn anchors(site: &Site, data: &[u8]) -> Option<Vec<Vec<u8>>> {
    Document::read(site, data).map(|document| document.anchors)
}

fn without_fragment(text: &[u8]) -> &[u8] {
    text.part(..memchr::memchr(b'#', text).unwrap_or(text.len()))
}

/// Whether a text begins like a web URI with a plain host, without port and dot-segments: resolving it changes nothing,
/// and it meets the rules of its scheme.
fn is_plain_web(text: &[u8]) -> bool {
    let tail = text.strip_prefix(b"https://").or_else(|| text.strip_prefix(b"http://"));
    tail.is_some_and(|tail| {
        let end = tail.iter().position(|b| matches!(b, b'/' | b'?' | b'#')).unwrap_or(tail.len());
        let (host, tail) = tail.split_at(end);
        let is_plain = host.iter().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-'));
        is_plain && !host.is_empty() && memchr::memmem::find(tail, b"/.").is_none()
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

    /// Resolve a reference, or the mapping of an IRI-reference (5.2).
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

/// Judges the references of a document within the site.
struct ReferenceJudge<'a> {
    site: &'a Site,
    number: u32,
    base: Base,
    /// The base of references that begin with "/", and the root folder of the settings that replaces it.
    root_base: Option<(Base, &'a str)>,
    /// The href of its base element.
    href: Option<String>,
    /// Whether the base is the document itself, and nothing is mapped.
    is_own_base: bool,
    /// The keys of the anchors of the document, sorted.
    anchors: Vec<u64>,
}

/// The kind of a reference: all references of one kind to a target have the same result.
enum Kind {
    /// Outside the site's base, by a URI or network-path reference, or by a base that the document declares.
    Outside = b'a' as isize,
    /// Outside the site's base, by a reference that begins with "/".
    FromRoot = b'/' as isize,
    /// Outside the site's base, by another relative reference.
    Relative = b'.' as isize,
    /// Below the site's base, with an unknown name.
    Missing = b'm' as isize,
    /// Mapped elsewhere by the settings.
    Mapped = b'>' as isize,
}

const LOCAL: &str = "file:///";

impl<'a> ReferenceJudge<'a> {
    fn new(site: &'a Site, number: u32, uri: &str, doc: &Document<'_>) -> Result<Self, NeedsPython> {
        let mut anchors: Vec<u64> = doc.anchors.iter().map(|name| key(u64::from(number), name)).collect();
        anchors.sort_unstable();
        anchors.dedup();
        let mut base = Base::new(uri.to_owned()).ok_or(NeedsPython)?;
        let mut href = None;
        if let Some((start, end)) = doc.base {
            let reference = doc.texts.part(start..end);
            href = Some(String::from_utf8_lossy(reference).into_owned());
            let mut text = base.join(reference).ok_or(NeedsPython)?;
            text.truncate(text.find('#').unwrap_or(text.len()));
            base = Base::new(text).ok_or(NeedsPython)?;
            let scheme = base.spans.scheme().map_or("", |scheme| scheme.of_str(&base.text));
            if site.passed.contains_key(scheme.to_ascii_lowercase().as_bytes()) {
                return Err(NeedsPython);
            }
        }
        let path = base.text.part(..base.text.find('?').unwrap_or(base.text.len()));
        let is_own_base = site.remaps.is_empty() && site.served_number(path) == Some(number);
        let is_below = site.path_below_base(path).is_some();
        let root = site.root.as_deref().filter(|_| is_below);
        let root_base = root.and_then(|root| Some((Base::new(LOCAL.to_owned())?, root)));
        Ok(ReferenceJudge { site, number, base, root_base, href, is_own_base, anchors })
    }

    /// The target of a reference (5.2), with the root folder of the settings (`reference_check.resolve`).
    fn join(&self, text: &[u8]) -> Option<String> {
        match &self.root_base {
            Some((base, root)) if text.starts_with(b"/") && !text.starts_with(b"//") => {
                base.join(text).map(|target| [root, target.strip_prefix(LOCAL).unwrap_or(&target)].concat())
            }
            _ => self.base.join(text),
        }
    }

    fn judge_reference(&self, text: &[u8], is_map: bool) -> Verdict {
        if let Some(reason) = self.scheme_reason(text) {
            return Verdict::Passed(reason);
        }
        // The most common reference: an anchor of the document itself.
        if let ([b'#', name @ ..], true) = (text, self.is_own_base) {
            if name.iter().all(|b| b.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=:@/?".contains(b)) {
                return self.judge_fragment(self.number, name, is_map);
            }
        }
        if !self.site.keeps_outside && !is_map && is_plain_web(text) && self.is_outside(text) {
            return Verdict::Outside;
        }
        let Some(target) = self.join(text) else { return self.text_by_python(text, is_map) };
        if self.site.is_mapped(&target) {
            return self.target_by_python(Kind::Mapped, &target, text, is_map);
        }
        if let Some(reason) = self.scheme_reason(target.as_bytes()) {
            return Verdict::Passed(reason);
        }
        let end = target.find('#').unwrap_or(target.len());
        let uri = target.part(..end);
        let path = uri.part(..memchr::memchr(b'?', uri.as_bytes()).unwrap_or(uri.len()));
        let Some(name) = self.site.path_below_base(path) else {
            let is_absolute =
                self.href.is_some() || text.starts_with(b"//") || { parse(text, Rule::Uri, false).is_ok() };
            let target_text = if self.site.keeps_outside { &target } else { uri };
            return match text {
                _ if is_absolute => self.target_by_python(Kind::Outside, target_text, text, is_map),
                _ if !text.is_ascii() && text.contains(&b':') => self.text_by_python(text, is_map),
                [b'/', ..] => self.target_by_python(Kind::FromRoot, target_text, text, is_map),
                _ => self.target_by_python(Kind::Relative, target_text, text, is_map),
            };
        };
        if name.contains("/.") || name.starts_with('.') || has_special_escape(name.as_bytes()) {
            return self.text_by_python(text, is_map);
        }
        let Some(&number) = self.site.names.get(&percent_decode(name.as_bytes())[..]) else {
            return self.target_by_python(Kind::Missing, &target, text, is_map);
        };
        if number & REDIRECTED != 0 {
            return Verdict::Fault;
        }
        match target.get(end + 1..) {
            Some(fragment) => self.judge_fragment(number, fragment.as_bytes(), is_map),
            None => Verdict::Within,
        }
    }

    /// Whether a text is a valid URI, not below the site's base, and not mapped by the settings.
    fn is_outside(&self, text: &[u8]) -> bool {
        let uri = std::str::from_utf8(without_fragment(text)).unwrap_or_default();
        let path = uri.part(..memchr::memchr(b'?', uri.as_bytes()).unwrap_or(uri.len()));
        parse(text, Rule::Uri, false).is_ok()
            && !self.site.is_mapped(std::str::from_utf8(text).unwrap_or_default())
            && self.site.path_below_base(path).is_none()
    }

    /// Return the verdict that Python judges the target once for all pages; for an image map, the text of this page.
    fn target_by_python(&self, kind: Kind, target: &str, text: &[u8], is_map: bool) -> Verdict {
        if is_map {
            return self.text_by_python(text, is_map);
        }
        Verdict::ByPython(key(kind as u64, target.as_bytes()))
    }

    /// Return the verdict that Python judges the text for this page only.
    fn text_by_python(&self, text: &[u8], is_map: bool) -> Verdict {
        Verdict::ByPython(key(u64::from(self.number) << 9 | 256 | u64::from(is_map), text))
    }

    /// Return the page that a refresh opens (`refresh_cycles.refresh_target`).  None: it has a query, no valid target, no
    /// page of the site, a redirected one, or a fragment of the same page.  NeedsPython: settings or escapes matter.
    fn refresh_page(&self, text: &[u8]) -> Result<Option<u32>, NeedsPython> {
        let Some(target) = self.join(text) else { return Ok(None) };
        if self.site.is_mapped(&target) || target.contains("/.") || has_special_escape(target.as_bytes()) {
            return Err(NeedsPython);
        }
        let fragment = target.find('#');
        let number = self.site.served_number(target.part(..fragment.unwrap_or(target.len())));
        let is_plain = !target.contains('?');
        Ok(number.filter(|number| {
            is_plain && number & REDIRECTED == 0 && !(*number == self.number && fragment.is_some())
        }))
    }

    /// Return the number of the reason to skip a reference by its scheme; None if it has none or is checked.
    fn scheme_reason(&self, text: &[u8]) -> Option<usize> {
        let end = memchr::memchr3(b':', b'/', b'#', text).filter(|end| text.at(*end) == b':')?;
        if end > 16 {
            return None;
        }
        self.site.passed.get(text.part(..end).to_ascii_lowercase().as_slice()).copied()
    }

    fn judge_fragment(&self, target_number: u32, name: &[u8], is_map: bool) -> Verdict {
        if !self.site.fragments || name.is_empty() || name.eq_ignore_ascii_case(b"top") {
            return Verdict::Within;
        }
        if name.windows(3).any(|three| three == b":~:") {
            return Verdict::Directive;
        }
        let document = u64::from(target_number);
        let make_key =
            |name: &[u8]| if is_map { key(document, &[b"\0", name].concat()) } else { key(document, name) };
        let first = make_key(name);
        let second = match first_line(name) {
            Some(line) => make_key(line),
            None if name.contains(&b'%') => make_key(&replace_invalid_utf8(&percent_decode(name))),
            None => first,
        };
        let has_anchor = |key| self.anchors.binary_search(&key).is_ok();
        if target_number != self.number {
            Verdict::DependsOnPage(first, second)
        } else if has_anchor(first) || has_anchor(second) {
            Verdict::Within
        } else {
            Verdict::Fault
        }
    }
}
