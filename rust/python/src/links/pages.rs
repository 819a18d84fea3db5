//! Many HTML documents to keys, on all cores, for the check for broken links.

use std::collections::HashMap;
use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Mutex;
use std::thread;

use overthere_core::normalize::SchemeRules;
use overthere_core::place::{At, Part as _};
use overthere_html::Attributes;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use super::page::{self, Gathered, Open, Page, Question, Targets};
use super::site::Site;
use crate::bug::{bug, guarded};
use crate::finalizing::detached;

/// The key of a name in a document, the same in every process.
#[pyfunction]
pub fn anchor_key(py: Python<'_>, document: u64, name: &[u8]) -> PyResult<u64> {
    guarded(py, || Ok(page::key(document, name)))
}

/// Keys that are there, eight octets each.
#[pyclass(module = "overthere._native")]
#[derive(Default)]
pub struct Keys {
    keys: Vec<u64>,
    sorted: usize,
}

fn words(octets: &[u8]) -> impl Iterator<Item = u64> + '_ {
    octets.chunks_exact(8).map(|word| u64::from_ne_bytes(word.try_into().unwrap_or_default()))
}

fn octets(words: &[u64]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_ne_bytes()).collect()
}

/// Octets of an open reference: where its tag begins, what holds it, which question, two keys.
const OPEN: usize = 24;

fn pack(open: &[Open]) -> Vec<u8> {
    let mut out = Vec::with_capacity(open.len() * OPEN);
    for Open { place, question } in open {
        let (number, first, second) = match *question {
            Question::Fault => (0, 0, 0),
            Question::Anchor(first, second) => (1, first, second),
            Question::Target(key) => (2, key, 0),
            Question::Refresh => (3, 0, 0),
        };
        out.extend_from_slice(&(place.at as u32).to_ne_bytes());
        out.extend_from_slice(&[place.holder as u8, number, 0, 0]);
        out.extend_from_slice(&octets(&[first, second]));
    }
    out
}

fn place(open: &[u8]) -> (u32, u8) {
    let at = open.first_chunk().map_or(0, |at| u32::from_ne_bytes(*at));
    (at, open.at(4))
}

fn question(open: &[u8]) -> Question {
    let mut keys = words(open.part(8..));
    let mut next = || keys.next().unwrap_or_default();
    match open.at(5) {
        0 => Question::Fault,
        1 => Question::Anchor(next(), next()),
        2 => Question::Target(next()),
        _ => Question::Refresh,
    }
}

impl Keys {
    /// Of keys that are sorted.
    fn has(&self, key: u64) -> bool {
        self.keys.binary_search(&key).is_ok()
    }

    fn sort(&mut self) {
        if self.sorted < self.keys.len() {
            self.keys.sort_unstable();
            self.keys.dedup();
            self.keys.shrink_to_fit();
            self.sorted = self.keys.len();
        }
    }
}

#[pymethods]
impl Keys {
    #[new]
    fn new(py: Python<'_>) -> PyResult<Self> {
        guarded(py, || Ok(Keys::default()))
    }

    /// Add keys, the octets of an array of them.
    fn update(&mut self, py: Python<'_>, octets: &[u8]) -> PyResult<()> {
        guarded(py, || {
            self.keys.extend(words(octets));
            Ok(())
        })
    }

    fn __contains__(&mut self, py: Python<'_>, key: u64) -> PyResult<bool> {
        guarded(py, || {
            self.sort();
            Ok(self.has(key))
        })
    }

    fn __len__(&mut self, py: Python<'_>) -> PyResult<usize> {
        guarded(py, || {
            self.sort();
            Ok(self.keys.len())
        })
    }

    /// Whether of two by two keys both are not there.
    fn lacks(&mut self, py: Python<'_>, pairs: &[u8]) -> PyResult<bool> {
        guarded(py, || {
            self.sort();
            let pairs: Vec<u64> = words(pairs).collect();
            Ok(pairs.chunks_exact(2).any(|pair| !self.has(pair.at(0)) && !self.has(pair.at(1))))
        })
    }

    /// The open references without those whose target is not among these keys.
    fn narrow<'py>(&mut self, py: Python<'py>, open: &[u8]) -> PyResult<Bound<'py, PyBytes>> {
        guarded(py, || {
            self.sort();
            let kept = open.chunks_exact(OPEN).filter(|one| match question(one) {
                Question::Target(key) => self.has(key),
                _ => true,
            });
            Ok(PyBytes::new(py, &kept.flatten().copied().collect::<Vec<u8>>()))
        })
    }

    /// Where the faults among open references are: where the tag of each begins, and what holds it.
    ///
    /// targets: the keys of those that are faults; turning: whether the document is on a circle.
    fn faults(
        &mut self,
        py: Python<'_>,
        open: &[u8],
        targets: &mut Keys,
        turning: bool,
    ) -> PyResult<Vec<(u32, u8)>> {
        guarded(py, || {
            self.sort();
            targets.sort();
            let is_fault = |one: &&[u8]| match question(one) {
                Question::Fault => true,
                Question::Anchor(first, second) => !self.has(first) && !self.has(second),
                Question::Target(key) => targets.has(key),
                Question::Refresh => turning,
            };
            let mut found: Vec<_> = open.chunks_exact(OPEN).filter(is_fault).map(place).collect();
            found.dedup();
            Ok(found)
        })
    }
}

/// What reads HTML files of a site.
#[pyclass(module = "overthere._native", frozen)]
pub struct Pages {
    site: Site,
}

/// The default port, and whether an empty path is "/".
type Differences = (Option<String>, bool);

/// A document that was read: number, octets, keys of its anchors, open references, references, within, its base,
/// passed, next.
type PageRow<'py> =
    (u32, u64, Bound<'py, PyBytes>, Bound<'py, PyBytes>, u64, u64, Option<String>, Vec<u32>, Option<u32>);

#[pymethods]
impl Pages {
    /// attributes: (name, elements, way) of each rule.
    /// embedded: (way, name, number of the reason for which it is passed over).
    /// passed: schemes, ways and places that are passed over, with the number of the reason.
    /// names: what is served, with the number of the document; prefixes: what each URI within begins with, and what
    /// its scheme lets one write differently (default port, whether an empty path is "/"), where it has no other rules.
    /// root, remaps, nofollow, keeps_outside: as in `Site`; styles: a style sheet to its references.
    #[new]
    #[expect(clippy::too_many_arguments, reason = "each is a fact of Python's own")]
    fn new(
        py: Python<'_>,
        attributes: Vec<(String, Vec<String>, String)>,
        embedded: Vec<(String, String, usize)>,
        passed: HashMap<String, usize>,
        names: Vec<(Vec<u8>, u32)>,
        prefixes: Vec<(String, Option<Differences>)>,
        fragments: bool,
        root: Option<String>,
        remaps: Vec<String>,
        nofollow: Option<usize>,
        keeps_outside: bool,
        styles: Py<PyAny>,
    ) -> PyResult<Self> {
        guarded(py, || {
            let mut rules = Attributes::default();
            let mut ways: Vec<String> = Vec::new();
            for (name, elements, way) in &attributes {
                let number = ways.iter().position(|known| known == way).unwrap_or_else(|| {
                    ways.push(way.clone());
                    ways.len() - 1
                });
                rules.add(name, elements, number);
            }
            let mut named: HashMap<String, HashMap<Vec<u8>, usize>> = HashMap::new();
            for (way, name, reason) in embedded {
                named.entry(way).or_default().insert(name.into_bytes(), reason);
            }
            let passed = passed.into_iter().map(|(name, reason)| (name.into_bytes(), reason)).collect();
            let names = names.into_iter().collect();
            let known =
                |(default_port, slash_for_empty_path)| SchemeRules { default_port, slash_for_empty_path };
            let prefixes = prefixes.into_iter().map(|(prefix, rules)| (prefix, rules.map(known))).collect();
            Ok(Pages {
                site: Site {
                    attributes: rules,
                    ways,
                    embedded: named,
                    passed,
                    names,
                    prefixes,
                    fragments,
                    root,
                    remaps,
                    nofollow,
                    keeps_outside,
                    styles,
                    sheets: Mutex::default(),
                },
            })
        })
    }

    /// The names of the anchors of a file; None if only Python reads it.
    fn anchors(&self, py: Python<'_>, path: PathBuf, limit: u64) -> PyResult<Option<Vec<Vec<u8>>>> {
        guarded(py, || {
            Ok(detached(py, || content(&path, limit).and_then(|data| page::anchors(&self.site, &data))))
        })
    }

    /// Read files: number, path, URI of each.
    ///
    /// Returns: what was read, in the order of the files, without what only Python reads; the targets that Python
    /// judges, by their keys; and the URIs outside that need no look, with the number of references to each.
    fn read<'py>(
        &self,
        py: Python<'py>,
        files: Vec<File>,
        threads: usize,
        limit: u64,
    ) -> PyResult<(Vec<PageRow<'py>>, Targets, HashMap<String, u64>)> {
        guarded(py, || {
            let done = detached(py, || self.all(&files, threads, limit));
            let mut gathered = Gathered::default();
            let mut pages: Vec<(usize, u64, Page)> = Vec::new();
            for part in done {
                let (some, others) = part.map_err(|()| bug(py, "a thread that reads pages"))?;
                pages.extend(some);
                gathered.add(others);
            }
            pages.sort_unstable_by_key(|(at, ..)| *at);
            let row = |(at, size, page): (usize, u64, Page)| {
                let anchors = PyBytes::new(py, &octets(&page.anchors));
                let open = PyBytes::new(py, &pack(&page.open));
                let (number, ..) = files.get(at)?;
                let Page { references, within, base, passed, next, .. } = page;
                Some((*number, size, anchors, open, references, within, base, passed, next))
            };
            Ok((pages.into_iter().filter_map(row).collect(), gathered.targets, gathered.outside))
        })
    }
}

/// Documents by their place in the list, their sizes.
type Part = (Vec<(usize, u64, Page)>, Gathered);

impl Pages {
    fn all(&self, files: &[File], threads: usize, limit: u64) -> Vec<Result<Part, ()>> {
        let next = AtomicUsize::new(0);
        let work = || {
            let mut pages = Vec::new();
            let mut gathered = Gathered::default();
            loop {
                let at = next.fetch_add(1, Ordering::Relaxed);
                let Some((number, path, uri)) = files.get(at) else { return (pages, gathered) };
                let Some(data) = content(path, limit.min(u64::from(u32::MAX))) else { continue };
                if let Ok(page) = page::read(&self.site, *number, uri, &data, &mut gathered) {
                    pages.push((at, data.len() as u64, page));
                }
            }
        };
        on_threads(threads, work)
    }
}

/// A file to read: its number, its path, its URI.
type File = (u32, PathBuf, String);

/// The same work on so many threads; an error for each that panics.
fn on_threads<T: Send>(threads: usize, work: impl Fn() -> T + Sync) -> Vec<Result<T, ()>> {
    thread::scope(|scope| {
        let running: Vec<_> = (0..threads.max(1)).map(|_| scope.spawn(&work)).collect();
        running.into_iter().map(|one| one.join().map_err(|_| ())).collect()
    })
}

/// The octets of a file that is HTML in UTF-8 beyond doubt.
fn content(path: &std::path::Path, limit: u64) -> Option<Vec<u8>> {
    let known = fs::symlink_metadata(path).ok()?;
    if !known.is_file() || known.len() > limit || known.len() < 4 {
        return None;
    }
    let data = fs::read(path).ok()?;
    let first = data.iter().find(|b| !b.is_ascii_whitespace())?;
    let is_text = *first == b'<' && data.len() as u64 <= limit && memchr::memchr2(0, 0x1B, &data).is_none();
    (is_text && (data.is_ascii() || (std::str::from_utf8(&data).is_ok() && is_unicode(&data))))
        .then_some(data)
}

/// Whether no charset but UTF-8 is declared anywhere.
fn is_unicode(data: &[u8]) -> bool {
    memchr::memchr2_iter(b'c', b'C', data)
        .filter(|at| data.part(*at..).get(..7).is_some_and(|word| word.eq_ignore_ascii_case(b"charset")))
        .all(|at| {
            let mut rest = data.part(at + 7..).trim_ascii_start();
            if rest.first() != Some(&b'=') {
                return true;
            }
            rest = rest.part(1..).trim_ascii_start();
            rest = rest.strip_prefix(b"\"").or(rest.strip_prefix(b"'")).unwrap_or(rest);
            rest.get(..5).is_some_and(|name| name.eq_ignore_ascii_case(b"utf-8"))
        })
}
