//! The site of the HTML documents that are checked: its names, its base, and the rules for reading documents.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use ahash::AHashMap;
use overthere_core::normalize::SchemeRules;
use overthere_core::parse::Rule;
use overthere_html::Attributes;
use pyo3::prelude::*;

use super::escapes::percent_decode;
use crate::fast::parse;
use crate::finalizing::attached;

/// The site and the rules for reading its documents.
pub struct Site {
    pub attributes: Attributes,
    pub ways: Vec<String>,
    /// Attribute values that announce embedded content, by the way of the attribute, with the number of the reason.
    pub embedded: HashMap<String, HashMap<Vec<u8>, usize>>,
    /// Schemes and places that are skipped, with the numbers of the reasons.
    pub passed: HashMap<Vec<u8>, usize>,
    /// Served names, as bytes below the base, with the number of the document.
    pub names: AHashMap<Vec<u8>, u32>,
    /// Prefixes of all URIs within, and the rules that normalise other spellings; None: only Python knows them.
    pub prefixes: Vec<(String, Option<SchemeRules>)>,
    pub fragments: bool,
    /// The folder that "/" refers to.
    pub root: Option<String>,
    /// Prefixes of targets that the settings map elsewhere.
    pub remaps: Vec<String>,
    /// The number of the reason to skip links with `rel=nofollow`; None: they are checked.
    pub nofollow: Option<usize>,
    /// Whether URIs outside will be requested, and their fragments checked.
    pub keeps_outside: bool,
    /// Python function: style sheet -> its references.
    pub styles: Py<PyAny>,
    /// Cache of the references of style sheets, which many documents share.
    pub sheets: Mutex<AHashMap<Vec<u8>, Arc<Vec<String>>>>,
}

/// Style sheets in the cache.
const MAX_CACHED_SHEETS: usize = 256;

impl Site {
    /// The path below the base of a URI that has neither query nor fragment.
    pub fn path_below_base<'a>(&self, uri: &'a str) -> Option<Cow<'a, str>> {
        if let Some(path) = self.prefixes.iter().find_map(|(prefix, _)| uri.strip_prefix(prefix.as_str())) {
            return Some(Cow::Borrowed(path));
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

    /// The number of the reason to skip this name.
    pub fn reason(&self, name: &[u8]) -> usize {
        self.passed.get(name).copied().unwrap_or_default()
    }

    /// The references of a style sheet, which Python finds; None if it fails.
    pub fn sheet_references(&self, text: &[u8]) -> Option<Arc<Vec<String>>> {
        if let Some(cached) = self.sheets.lock().ok()?.get(text) {
            return Some(cached.clone());
        }
        let sheet = String::from_utf8_lossy(text);
        let links: Vec<String> =
            attached(|py| self.styles.call1(py, (sheet,)).and_then(|links| links.extract(py)).ok())?;
        let links = Arc::new(links);
        let mut sheets = self.sheets.lock().ok()?;
        if sheets.len() >= MAX_CACHED_SHEETS {
            sheets.clear();
        }
        sheets.insert(text.to_vec(), links.clone());
        Some(links)
    }

    /// Whether the settings map a target elsewhere (`filters.remap`).
    pub fn is_mapped(&self, target: &str) -> bool {
        self.remaps.iter().any(|start| {
            target.strip_prefix(start.as_str()).is_some_and(|rest| {
                start.ends_with('/') || rest.is_empty() || rest.starts_with(['/', '?', '#'])
            })
        })
    }

    /// The number of the document that is served under a URI without query.
    pub fn served_number(&self, uri: &str) -> Option<u32> {
        let path = self.path_below_base(uri)?;
        self.names.get(&percent_decode(path.as_bytes())[..]).copied()
    }
}

/// Flag in the numbers of `Site::names`: a server redirects the name.
pub const REDIRECTED: u32 = 1 << 31;
