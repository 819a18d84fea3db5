//! Reduces many HTML documents to keys, on all cores, for the check for broken links.

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

use super::page::{self, CollectedTargets, OpenReference, Page, Question, Targets};
use super::site::Site;
use crate::bug::{bug, guarded};
use crate::finalizing::detached;

/// The key of a name in a document, the same in every process.
#[pyfunction]
pub fn anchor_key(py: Python<'_>, document: u64, name: &[u8]) -> PyResult<u64> {
    guarded(py, || Ok(page::key(document, name)))
}

/// A set of 64-bit keys.
#[pyclass(module = "overthere._native")]
#[derive(Default)]
pub struct Keys {
    keys: Vec<u64>,
    sorted: usize,
}

fn unpack_keys(octets: &[u8]) -> impl Iterator<Item = u64> + '_ {
    octets.chunks_exact(8).map(|word| u64::from_ne_bytes(word.try_into().unwrap_or_default()))
}

fn pack_keys(keys: &[u64]) -> Vec<u8> {
    keys.iter().flat_map(|word| word.to_ne_bytes()).collect()
}

/// Bytes of a packed open reference: offset of its tag, holder, question, two keys.
const STRIDE: usize = 24;

fn pack_references(open: &[OpenReference]) -> Vec<u8> {
    let mut out = Vec::with_capacity(open.len() * STRIDE);
    for OpenReference { place, question } in open {
        let (number, first, second) = match *question {
            Question::Fault => (0, 0, 0),
            Question::Anchor(first, second) => (1, first, second),
            Question::Target(key) => (2, key, 0),
            Question::Refresh => (3, 0, 0),
        };
        out.extend_from_slice(&(place.at as u32).to_ne_bytes());
        out.extend_from_slice(&[place.holder as u8, number, 0, 0]);
        out.extend_from_slice(&pack_keys(&[first, second]));
    }
    out
}

fn unpack_place(open: &[u8]) -> (u32, u8) {
    let at = open.first_chunk().map_or(0, |at| u32::from_ne_bytes(*at));
    (at, open.at(4))
}

fn unpack_question(open: &[u8]) -> Question {
    let mut keys = unpack_keys(open.part(8..));
    let mut next = || keys.next().unwrap_or_default();
    match open.at(5) {
        0 => Question::Fault,
        1 => Question::Anchor(next(), next()),
        2 => Question::Target(next()),
        _ => Question::Refresh,
    }
}

impl Keys {
    /// Whether a key is in the set, which must be sorted.
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

    /// Add keys, from the bytes of an array of them.
    fn update(&mut self, py: Python<'_>, octets: &[u8]) -> PyResult<()> {
        guarded(py, || {
            self.keys.extend(unpack_keys(octets));
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

    /// Return whether this set contains neither key of some pair.
    fn lacks(&mut self, py: Python<'_>, pairs: &[u8]) -> PyResult<bool> {
        guarded(py, || {
            self.sort();
            let pairs: Vec<u64> = unpack_keys(pairs).collect();
            Ok(pairs.chunks_exact(2).any(|pair| !self.has(pair.at(0)) && !self.has(pair.at(1))))
        })
    }

    /// Return the open references without those whose target is not one of these keys.
    fn narrow<'py>(&mut self, py: Python<'py>, open: &[u8]) -> PyResult<Bound<'py, PyBytes>> {
        guarded(py, || {
            self.sort();
            let remaining = open.chunks_exact(STRIDE).filter(|packed| match unpack_question(packed) {
                Question::Target(key) => self.has(key),
                _ => true,
            });
            Ok(PyBytes::new(py, &remaining.flatten().copied().collect::<Vec<u8>>()))
        })
    }

    /// Return the places of the faults among open references: the offset of each tag, and the holder.
    ///
    /// targets: the keys of targets that are faults; turning: whether the document is part of a refresh cycle.
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
            let is_fault = |packed: &&[u8]| match unpack_question(packed) {
                Question::Fault => true,
                Question::Anchor(first, second) => !self.has(first) && !self.has(second),
                Question::Target(key) => targets.has(key),
                Question::Refresh => turning,
            };
            let mut found: Vec<_> = open.chunks_exact(STRIDE).filter(is_fault).map(unpack_place).collect();
            found.dedup();
            Ok(found)
        })
    }
}

/// Reads HTML files of a site.
#[pyclass(module = "overthere._native", frozen)]
pub struct Pages {
    site: Site,
}

/// Rules of a scheme: the default port, and whether an empty path is "/".
type Differences = (Option<String>, bool);

/// A document that was read: number, bytes, keys of its anchors, open references, counts of references and of those
/// within, its declared base, skipped counts, next page.
type PageRow<'py> =
    (u32, u64, Bound<'py, PyBytes>, Bound<'py, PyBytes>, u64, u64, Option<String>, Vec<u32>, Option<u32>);

#[pymethods]
impl Pages {
    /// attributes: (name, elements, way) of each rule.
    /// embedded: (way, name, number of the reason to skip it).
    /// passed: schemes, ways and places to skip, with the number of the reason.
    /// names: served names, with the number of the document; prefixes: the prefixes of URIs within, and the rules of
    /// their schemes (default port, whether an empty path is "/"); None if a scheme has other rules.
    /// root, remaps, nofollow, keeps_outside: as in `Site`; styles: style sheet -> its references.
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
                let number = ways.iter().position(|other| other == way).unwrap_or_else(|| {
                    ways.push(way.clone());
                    ways.len() - 1
                });
                rules.add(name, elements, number);
            }
            let mut reasons: HashMap<String, HashMap<Vec<u8>, usize>> = HashMap::new();
            for (way, name, reason) in embedded {
                reasons.entry(way).or_default().insert(name.into_bytes(), reason);
            }
            let passed = passed.into_iter().map(|(name, reason)| (name.into_bytes(), reason)).collect();
            let names = names.into_iter().collect();
            let other =
                |(default_port, slash_for_empty_path)| SchemeRules { default_port, slash_for_empty_path };
            let prefixes = prefixes.into_iter().map(|(prefix, rules)| (prefix, rules.map(other))).collect();
            Ok(Pages {
                site: Site {
                    attributes: rules,
                    ways,
                    embedded: reasons,
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

    /// The names of the anchors of a file; None if only Python can read it.
    fn anchors(&self, py: Python<'_>, path: PathBuf, limit: u64) -> PyResult<Option<Vec<Vec<u8>>>> {
        guarded(py, || {
            Ok(detached(py, || read_html(&path, limit).and_then(|data| page::anchors(&self.site, &data))))
        })
    }

    /// Read files, given as number, path, URI.
    ///
    /// Returns: the pages in the order of the files, without those that only Python can read; the targets that Python
    /// judges, by key; and the URIs outside that are not checked, with the number of references to each.
    fn read<'py>(
        &self,
        py: Python<'py>,
        files: Vec<File>,
        threads: usize,
        limit: u64,
    ) -> PyResult<(Vec<PageRow<'py>>, Targets, HashMap<String, u64>)> {
        guarded(py, || {
            let results = detached(py, || self.read_files(&files, threads, limit));
            let mut collected = CollectedTargets::default();
            let mut pages: Vec<(usize, u64, Page)> = Vec::new();
            for part in results {
                let (read_pages, targets) = part.map_err(|()| bug(py, "a thread that reads pages"))?;
                pages.extend(read_pages);
                collected.add(targets);
            }
            pages.sort_unstable_by_key(|(index, ..)| *index);
            let row = |(index, size, page): (usize, u64, Page)| {
                let anchors = PyBytes::new(py, &pack_keys(&page.anchors));
                let open = PyBytes::new(py, &pack_references(&page.open));
                let (number, ..) = files.get(index)?;
                let Page { references, within, base, passed, next, .. } = page;
                Some((*number, size, anchors, open, references, within, base, passed, next))
            };
            Ok((pages.into_iter().filter_map(row).collect(), collected.targets, collected.outside))
        })
    }
}

/// The result of a thread: (index in the list, size, page) of each document, and targets.
type Part = (Vec<(usize, u64, Page)>, CollectedTargets);

impl Pages {
    fn read_files(&self, files: &[File], threads: usize, limit: u64) -> Vec<Result<Part, ()>> {
        let next = AtomicUsize::new(0);
        let work = || {
            let mut pages = Vec::new();
            let mut collected = CollectedTargets::default();
            loop {
                let index = next.fetch_add(1, Ordering::Relaxed);
                let Some((number, path, uri)) = files.get(index) else { return (pages, collected) };
                let Some(data) = read_html(path, limit.min(u64::from(u32::MAX))) else { continue };
                if let Ok(page) = page::read(&self.site, *number, uri, &data, &mut collected) {
                    pages.push((index, data.len() as u64, page));
                }
            }
        };
        run_on_threads(threads.min(files.len()), work)
    }
}

/// A file to read: its number, its path, its URI.
type File = (u32, PathBuf, String);

/// Run the same work on each of `threads` threads, or on fewer if the system gives no further one, even on none; return
/// an error for each that panics.
fn run_on_threads<T: Send>(threads: usize, work: impl Fn() -> T + Sync) -> Vec<Result<T, ()>> {
    thread::scope(|scope| {
        let start = |_| thread::Builder::new().spawn_scoped(scope, &work).ok();
        let running: Vec<_> = (0..threads).map_while(start).collect();
        running.into_iter().map(|thread| thread.join().map_err(|_| ())).collect()
    })
}

/// The content of a file; None unless it is certainly HTML in UTF-8 or US-ASCII.
fn read_html(path: &std::path::Path, limit: u64) -> Option<Vec<u8>> {
    let metadata = fs::symlink_metadata(path).ok()?;
    if !metadata.is_file() || metadata.len() > limit || metadata.len() < 4 {
        return None;
    }
    let data = fs::read(path).ok()?;
    let first = data.iter().find(|b| !b.is_ascii_whitespace())?;
    let is_text = *first == b'<' && data.len() as u64 <= limit && memchr::memchr2(0, 0x1B, &data).is_none();
    (is_text && (data.is_ascii() || (std::str::from_utf8(&data).is_ok() && declares_only_utf8(&data))))
        .then_some(data)
}

/// Whether the content declares no charset except UTF-8.
fn declares_only_utf8(data: &[u8]) -> bool {
    let xml = data
        .strip_prefix(b"<?xml")
        .and_then(|tail| tail.split(|byte| *byte == b'>').next())
        .unwrap_or_default();
    let xml_is_utf8 = memchr::memmem::find_iter(xml, b"encoding")
        .all(|at| xml.part(at + 8..).get(..8).is_some_and(|name| name.eq_ignore_ascii_case(b"=\"utf-8\"")));
    let mut words = memchr::memchr2_iter(b'c', b'C', data)
        .filter(|at| data.part(*at..).get(..7).is_some_and(|word| word.eq_ignore_ascii_case(b"charset")));
    xml_is_utf8
        && words.all(|at| {
            let mut tail = data.part(at + 7..).trim_ascii_start();
            if tail.first() != Some(&b'=') {
                return tail.first() != Some(&b'&'); // a character reference may be "="
            }
            tail = tail.part(1..).trim_ascii_start();
            tail = tail.strip_prefix(b"\"").or(tail.strip_prefix(b"'")).unwrap_or(tail);
            tail.get(..5).is_some_and(|name| name.eq_ignore_ascii_case(b"utf-8"))
        })
}
