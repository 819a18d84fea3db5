//! One HTML document to keys: its anchors, and what its references ask of other documents.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};

use ahash::AHashMap;
use overthere_core::iri::escape;
use overthere_core::normalize::SchemeRules;
use overthere_core::parse::Rule;
use overthere_core::place::{At, Part, Spans};
use overthere_core::resolve::{resolve, Parsed};
use overthere_html::Attributes;

use super::document::{Count, Document, Place, Reference};
use super::escapes::{decoded, is_odd, lines, plain};
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
    pub names: AHashMap<Vec<u8>, u32>,
    /// What every URI within begins with, and by which rules others of its scheme become such; None: only Python knows.
    pub prefixes: Vec<(String, Option<SchemeRules>)>,
    pub fragments: bool,
}

impl Site {
    /// The path below the base of a URI that has neither query nor fragment.
    fn path_below_base<'a>(&self, uri: &'a str) -> Option<Cow<'a, str>> {
        if let Some(below) = self.prefixes.iter().find_map(|(prefix, _)| uri.strip_prefix(prefix.as_str())) {
            return Some(Cow::Borrowed(below));
        }
        // 6.2.3: capitals in the host, a default port.
        let spans = parse(uri.as_bytes(), Rule::Uri, true).ok()?;
        self.prefixes.iter().find_map(|(prefix, rules)| {
            let rules = rules.as_ref().filter(|rules| rules.may_change(uri.as_bytes(), &spans))?;
            let scheme = spans.scheme()?.of_str(uri);
            if !prefix.get(..scheme.len())?.eq_ignore_ascii_case(scheme) {
                return None;
            }
            let mut form = Vec::new();
            rules.normalize(uri.as_bytes(), &spans, &mut form);
            Some(Cow::Owned(String::from_utf8(form).ok()?.strip_prefix(prefix.as_str())?.to_owned()))
        })
    }

    /// The number of the reason for which what has this name is passed over.
    pub fn reason(&self, name: &[u8]) -> usize {
        self.passed.get(name).copied().unwrap_or_default()
    }

    /// The number of what is served under a URI without its query.
    fn served_number(&self, uri: &str) -> Option<u32> {
        let below = self.path_below_base(uri)?;
        self.names.get(&decoded(below.as_bytes())[..]).copied()
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
    /// Targets that Python judges, each as often as it stands there, by the keys of their texts; a "#" at the end:
    /// an anchor of it is asked for.
    pub others: Vec<u64>,
    pub references: u64,
    pub within: u64,
    pub passed: Vec<u32>,
    /// It is to be read again whatever the others have.
    pub findings: bool,
    /// The page to which its reader is sent at once.
    pub next: Option<u32>,
}

/// What is known of a reference.
#[derive(Clone, Copy)]
enum Verdict {
    Passed(usize),
    Within,
    /// Within, with a fragment directive: only a browser finds that text.
    Directive,
    /// A server redirects it, or the document itself has no such anchor.
    Fault,
    /// An anchor of another document, which has one of two keys.
    Asks(u64, u64),
    /// A target that Python judges, by the key of its text.
    Other(u64),
}

/// The document has something that only Python reads.
pub struct NeedsPython;

/// A reference for which the document is read again.
pub struct Fault {
    pub text: Vec<u8>,
    pub tag: Place,
}

/// A document that is read again: its anchors, its own base if it says one, and its faults.
pub struct Again {
    pub anchors: Vec<Vec<u8>>,
    pub base: Option<Vec<u8>>,
    pub faults: Vec<Fault>,
}

/// Read a document.
///
/// others: the targets that Python judges, by the keys of their texts.
pub fn read(
    site: &Site,
    number: u32,
    uri: &str,
    data: &[u8],
    others: &mut HashMap<u64, String>,
) -> Result<Page, NeedsPython> {
    let taken = Document::of(site, data).ok_or(NeedsPython)?;
    let asks = Asks::new(site, number, uri, &taken, others)?;
    let next = taken.refresh.flatten().and_then(|(start, end)| asks.page_at(taken.texts.part(start..end)));
    let mut page = Page { next, ..Page::default() };
    let mut pairs: HashSet<(u64, u64)> = HashSet::new();
    let mut count = Count::default();
    let anchors = asks.judge_references(&taken, |_, verdict| {
        count.references += 1;
        page.within += u64::from(!matches!(verdict, Verdict::Passed(_) | Verdict::Other(_)));
        match verdict {
            Verdict::Passed(reason) => count.pass(reason),
            Verdict::Within => {}
            Verdict::Directive => count.pass(site.reason(b" text-fragment")),
            Verdict::Fault => page.findings = true,
            Verdict::Asks(first, second) => {
                pairs.insert((first, second));
            }
            Verdict::Other(key) => page.others.push(key),
        }
    })?;
    page.anchors = anchors;
    page.references = taken.count.references + count.references;
    page.passed = taken.count.passed;
    for (reason, times) in count.passed.into_iter().enumerate() {
        page.passed.resize(page.passed.len().max(reason + 1), 0);
        if let Some(count) = page.passed.get_mut(reason) {
            *count += times;
        }
    }
    page.pairs = pairs.into_iter().flat_map(|(first, second)| [first, second]).collect();
    Ok(page)
}

/// Read a document once more.  What is in its style sheets only Python places.
///
/// is_fault: whether an anchor of another document, or a target that Python has judged, is not there.
pub fn again(
    site: &Site,
    number: u32,
    uri: &str,
    data: &[u8],
    is_fault: impl Fn(Lookup) -> bool,
) -> Result<Again, NeedsPython> {
    let taken = Document::of(site, data).ok_or(NeedsPython)?;
    let mut others = HashMap::new();
    let asks = Asks::new(site, number, uri, &taken, &mut others)?;
    let mut faults = Vec::new();
    asks.judge_references(&taken, |one, verdict| {
        let is_one = match verdict {
            Verdict::Fault => true,
            Verdict::Asks(first, second) => is_fault(Lookup::Anchor(first, second)),
            Verdict::Other(key) => is_fault(Lookup::Target(key)),
            _ => false,
        };
        if is_one {
            faults.push(Fault { text: taken.texts.part(one.start..one.end).to_vec(), tag: one.tag });
        }
    })?;
    let base = taken.base.map(|(start, end)| taken.texts.part(start..end).to_vec());
    Ok(Again { anchors: taken.anchors, base, faults })
}

/// What only somebody who knows all documents can look up.
pub enum Lookup {
    Anchor(u64, u64),
    Target(u64),
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
    inner: Base,
    /// The base is one that the document says.
    is_content: bool,
    /// The base names the document itself.
    is_own_base: bool,
    /// The keys of the anchors of the document, sorted.
    anchors: Vec<u64>,
    others: &'a mut HashMap<u64, String>,
}

impl<'a> Asks<'a> {
    fn new(
        site: &'a Site,
        number: u32,
        uri: &str,
        taken: &Document<'_>,
        others: &'a mut HashMap<u64, String>,
    ) -> Result<Self, NeedsPython> {
        let mut anchors: Vec<u64> = taken.anchors.iter().map(|name| key(u64::from(number), name)).collect();
        anchors.sort_unstable();
        anchors.dedup();
        let mut inner = Base::new(uri.to_owned()).ok_or(NeedsPython)?;
        if let Some((start, end)) = taken.base {
            let mut text = inner.join(taken.texts.part(start..end)).ok_or(NeedsPython)?.0;
            text.truncate(text.find('#').unwrap_or(text.len()));
            inner = Base::new(text).ok_or(NeedsPython)?;
            let scheme = inner.spans.scheme().map_or("", |scheme| scheme.of_str(&inner.text));
            if site.passed.contains_key(scheme.to_ascii_lowercase().as_bytes()) {
                return Err(NeedsPython);
            }
        }
        let path = inner.text.part(..inner.text.find('?').unwrap_or(inner.text.len()));
        let is_own_base = site.served_number(path) == Some(number);
        Ok(Asks { site, number, inner, is_content: taken.base.is_some(), is_own_base, anchors, others })
    }

    /// Look at each reference; at one that stands often only once.  Returns: the keys of the anchors.
    fn judge_references(
        mut self,
        taken: &Document<'_>,
        mut tell: impl FnMut(&Reference, Verdict),
    ) -> Result<Vec<u64>, NeedsPython> {
        let mut known: AHashMap<(&[u8], bool), Verdict> = AHashMap::with_capacity(taken.found.len());
        for one in &taken.found {
            let text = taken.texts.part(one.start..one.end);
            let verdict = match known.get(&(text, one.is_map)) {
                Some(verdict) => *verdict,
                None => {
                    let verdict = self.judge_reference(text, one.is_map)?;
                    known.insert((text, one.is_map), verdict);
                    verdict
                }
            };
            tell(one, verdict);
        }
        Ok(self.anchors)
    }

    fn judge_reference(&mut self, text: &[u8], is_map: bool) -> Result<Verdict, NeedsPython> {
        if let Some(reason) = self.passed_reason(text) {
            return Ok(Verdict::Passed(reason));
        }
        // The commonest reference of all: an anchor of the document itself.
        if let ([b'#', name @ ..], true) = (text, self.is_own_base) {
            if name.iter().all(|b| b.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=:@/?".contains(b)) {
                return Ok(self.fragment(self.number, name, is_map));
            }
        }
        let (target, spans) = self.inner.join(text).ok_or(NeedsPython)?;
        if let Some(reason) = self.passed_reason(target.as_bytes()) {
            return Ok(Verdict::Passed(reason));
        }
        let fragment = spans.fragment(target.len());
        let whole = target.part(..fragment.map_or(target.len(), |fragment| fragment.start - 1));
        let path = whole.part(..memchr::memchr(b'?', whole.as_bytes()).unwrap_or(whole.len()));
        let Some(below) = self.site.path_below_base(path) else {
            // What is written relatively and leads out is a finding of its own.
            let is_absolute =
                self.is_content || text.starts_with(b"//") || parse(text, Rule::Uri, false).is_ok();
            return if is_absolute || !text.is_ascii() && text.contains(&b':') {
                Ok(self.judge_other_target(whole, fragment.is_some()))
            } else {
                Err(NeedsPython)
            };
        };
        if below.contains("/.") || below.starts_with('.') || is_odd(below.as_bytes()) {
            return Err(NeedsPython);
        }
        let Some(&found) = self.site.names.get(&decoded(below.as_bytes())[..]) else {
            return Ok(self.judge_other_target(whole, fragment.is_some()));
        };
        if found & REDIRECTED != 0 {
            return Ok(Verdict::Fault);
        }
        Ok(match fragment {
            Some(fragment) => self.fragment(found, fragment.of(target.as_bytes()), is_map),
            None => Verdict::Within,
        })
    }

    /// The page that a reference opens anew, where no server chooses it by a query (`refresh_cycles.refresh_target`).
    fn page_at(&self, text: &[u8]) -> Option<u32> {
        let (target, spans) = self.inner.join(text)?;
        let fragment = spans.fragment(target.len());
        let found = self
            .site
            .served_number(target.part(..fragment.map_or(target.len(), |fragment| fragment.start - 1)))?;
        let is_plain = !target.contains('?') && found & REDIRECTED == 0;
        (is_plain && !(found == self.number && fragment.is_some())).then_some(found)
    }

    fn passed_reason(&self, text: &[u8]) -> Option<usize> {
        let end = memchr::memchr3(b':', b'/', b'#', text).filter(|end| text.at(*end) == b':')?;
        if end > 16 {
            return None;
        }
        self.site.passed.get(text.part(..end).to_ascii_lowercase().as_slice()).copied()
    }

    /// A "#" behind a target says that an anchor of it is asked for.
    fn judge_other_target(&mut self, whole: &str, has_fragment: bool) -> Verdict {
        let mut asked = whole.to_owned();
        if has_fragment {
            asked.push('#');
        }
        let found = key(0, asked.as_bytes());
        self.others.entry(found).or_insert(asked);
        Verdict::Other(found)
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
