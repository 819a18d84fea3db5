//! One HTML document to keys: its anchors, and what its references ask of other documents.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};

use overthere_core::iri::escape;
use overthere_core::normalize::SchemeRules;
use overthere_core::parse::{Rule, Spans};
use overthere_core::resolve::{resolve, Parsed};
use overthere_html::Attributes;

use super::taking::Taking;
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
    let mut taking = Taking::new(site);
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
    pub fn pass(&mut self, reason: usize) {
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
