//! Many HTML documents to keys, on all cores: pass 1 of the check for broken links.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use overthere_core::normalize::SchemeRules;
use overthere_core::place::{At, Part as _};
use overthere_html::Attributes;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use super::page::{self, Lookup, Page, Site};
use crate::bug::{bug, guarded};

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
}

/// What reads HTML files of a site.
#[pyclass(module = "overthere._native", frozen)]
pub struct Pages {
    site: Site,
}

/// The default port, and whether an empty path is "/".
type Differences = (Option<String>, bool);

/// A document that was read again: anchors, its own base, and of each fault where its tag begins, whether that
/// is of SVG, and the reference; None for the last two: only Python reads it.
type Again = (Vec<Vec<u8>>, Option<Vec<u8>>, Vec<(usize, bool, Vec<u8>)>);

/// A document that was read: number, octets, anchors, pairs, others, references, within, passed, findings, next.
type PageRow<'py> = (
    u32,
    u64,
    Bound<'py, PyBytes>,
    Bound<'py, PyBytes>,
    Bound<'py, PyBytes>,
    u64,
    u64,
    Vec<u32>,
    bool,
    Option<u32>,
);

#[pymethods]
impl Pages {
    /// attributes: (name, elements, way) of each rule.
    /// embedded: (way, name, number of the reason for which it is passed over).
    /// passed: schemes, ways and places that are passed over, with the number of the reason.
    /// names: what is served, with the number of the document; prefixes: what each URI within begins with, and what
    /// its scheme lets one write differently (default port, whether an empty path is "/"), where it has no other rules.
    #[new]
    fn new(
        py: Python<'_>,
        attributes: Vec<(String, Vec<String>, String)>,
        embedded: Vec<(String, String, usize)>,
        passed: HashMap<String, usize>,
        names: Vec<(Vec<u8>, u32)>,
        prefixes: Vec<(String, Option<Differences>)>,
        fragments: bool,
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
                site: Site { attributes: rules, ways, embedded: named, passed, names, prefixes, fragments },
            })
        })
    }

    /// Read files once more, for the places of their faults.
    ///
    /// keys: of all anchors; targets: the keys of the targets that are faults.
    ///
    /// Returns: by their numbers, what was read; a file that only Python places is missing.
    fn again(
        &self,
        py: Python<'_>,
        files: Vec<File>,
        keys: &mut Keys,
        targets: HashSet<u64>,
        threads: usize,
        limit: u64,
    ) -> PyResult<HashMap<u32, Again>> {
        guarded(py, || {
            keys.sort();
            let keys: &Keys = keys;
            let next = AtomicUsize::new(0);
            let work = || {
                let mut found: Vec<(u32, Again)> = Vec::new();
                while let Some(file) = files.get(next.fetch_add(1, Ordering::Relaxed)) {
                    found.extend(self.faults(keys, &targets, file, limit));
                }
                found
            };
            let done = py.detach(|| on_threads(threads, work));
            let mut told = HashMap::new();
            for part in done {
                told.extend(part.map_err(|()| bug(py, "a thread that reads pages"))?);
            }
            Ok(told)
        })
    }

    /// Read files: number, path, URI of each.
    ///
    /// Returns: what was read, in the order of the files; the numbers of those that only Python reads; and the targets
    /// that Python judges, by their keys.
    #[expect(clippy::type_complexity, reason = "it is taken apart at once")]
    fn read<'py>(
        &self,
        py: Python<'py>,
        files: Vec<File>,
        threads: usize,
        limit: u64,
    ) -> PyResult<(Vec<PageRow<'py>>, Vec<u32>, HashMap<u64, String>)> {
        guarded(py, || {
            let done = py.detach(|| self.all(&files, threads, limit));
            let mut others: HashMap<u64, String> = HashMap::new();
            let mut pages: Vec<(usize, u64, Option<Page>)> = Vec::new();
            for part in done {
                let (some, targets) = part.map_err(|()| bug(py, "a thread that reads pages"))?;
                pages.extend(some);
                others.extend(targets);
            }
            pages.sort_unstable_by_key(|(at, ..)| *at);
            let mut rows = Vec::new();
            let mut left = Vec::new();
            for (at, size, page) in pages {
                let Some(&(number, ..)) = files.get(at) else { continue };
                match page {
                    None => left.push(number),
                    Some(page) => rows.push((
                        number,
                        size,
                        PyBytes::new(py, &octets(&page.anchors)),
                        PyBytes::new(py, &octets(&page.pairs)),
                        PyBytes::new(py, &octets(&page.others)),
                        page.references,
                        page.within,
                        page.passed,
                        page.findings,
                        page.next,
                    )),
                }
            }
            Ok((rows, left, others))
        })
    }
}

/// Documents by their place in the list, their sizes; None: only Python reads it.
type Part = (Vec<(usize, u64, Option<Page>)>, HashMap<u64, String>);

impl Pages {
    fn all(&self, files: &[File], threads: usize, limit: u64) -> Vec<Result<Part, ()>> {
        let next = AtomicUsize::new(0);
        let work = || {
            let mut pages = Vec::new();
            let mut others = HashMap::new();
            loop {
                let at = next.fetch_add(1, Ordering::Relaxed);
                let Some((number, path, uri)) = files.get(at) else { return (pages, others) };
                let data = content(path, limit);
                let size = data.as_ref().map_or(0, Vec::len) as u64;
                let page =
                    data.and_then(|data| page::read(&self.site, *number, uri, &data, &mut others).ok());
                pages.push((at, size, page));
            }
        };
        on_threads(threads, work)
    }

    /// The faults of a file; None if only Python can place them.
    fn faults(&self, keys: &Keys, targets: &HashSet<u64>, file: &File, limit: u64) -> Option<(u32, Again)> {
        let (number, path, uri) = file;
        let data = content(path, limit)?;
        let found = page::again(&self.site, *number, uri, &data, |asked| match asked {
            Lookup::Anchor(first, second) => !keys.has(first) && !keys.has(second),
            Lookup::Target(key) => targets.contains(&key),
        });
        let found = found.ok()?;
        let faults: Option<Vec<_>> =
            found.faults.into_iter().map(|one| Some((one.tag.at?, one.tag.is_svg, one.text))).collect();
        Some((*number, (found.anchors, found.base, faults?)))
    }
}

/// A file to read: its number, its path, its URI.
type File = (u32, std::path::PathBuf, String);

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
