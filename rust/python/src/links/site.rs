//! The site that HTML documents are checked within: its names, its base, and the rules by which documents are read.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use ahash::AHashMap;
use overthere_core::normalize::SchemeRules;
use overthere_core::parse::Rule;
use overthere_html::Attributes;
use pyo3::prelude::*;

use super::escapes::decoded;
use crate::fast::parse;
use crate::finalizing::attached;

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
    /// The folder to which "/" leads.
    pub root: Option<String>,
    /// Beginnings of targets that are looked up elsewhere.
    pub remaps: Vec<String>,
    /// The number of the reason for which links with `rel=nofollow` are skipped; None: they are not.
    pub nofollow: Option<usize>,
    /// Whether the URIs outside are going to be asked for, with their fragments.
    pub keeps_outside: bool,
    /// A style sheet to its references.
    pub styles: Py<PyAny>,
    /// Those of style sheets that many documents have.
    pub sheets: Mutex<AHashMap<Vec<u8>, Arc<Vec<String>>>>,
}

/// Style sheets that are held.
const SHEETS: usize = 256;

impl Site {
    /// The path below the base of a URI that has neither query nor fragment.
    pub fn path_below_base<'a>(&self, uri: &'a str) -> Option<Cow<'a, str>> {
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

    /// The references of a style sheet, which Python finds; None if it fails.
    pub fn sheet(&self, text: &[u8]) -> Option<Arc<Vec<String>>> {
        if let Some(known) = self.sheets.lock().ok()?.get(text) {
            return Some(known.clone());
        }
        let told = String::from_utf8_lossy(text);
        let found: Vec<String> =
            attached(|py| self.styles.call1(py, (told,)).and_then(|found| found.extract(py)).ok())?;
        let found = Arc::new(found);
        let mut sheets = self.sheets.lock().ok()?;
        if sheets.len() >= SHEETS {
            sheets.clear();
        }
        sheets.insert(text.to_vec(), found.clone());
        Some(found)
    }

    /// Whether the settings lead a target elsewhere (`filters.remap`).
    pub fn is_mapped(&self, target: &str) -> bool {
        self.remaps.iter().any(|start| {
            target.strip_prefix(start.as_str()).is_some_and(|rest| {
                start.ends_with('/') || rest.is_empty() || rest.starts_with(['/', '?', '#'])
            })
        })
    }

    /// The number of what is served under a URI without its query.
    pub fn served_number(&self, uri: &str) -> Option<u32> {
        let below = self.path_below_base(uri)?;
        self.names.get(&decoded(below.as_bytes())[..]).copied()
    }
}

/// Set in a number of `Site::names`: a server redirects it.
pub const REDIRECTED: u32 = 1 << 31;
