//! The link graph of a batch: links counted by pair of hosts.

use ahash::{HashMap, HashMapExt};
use arrow_array::Array;
use overthere_core::normalize;
use overthere_core::parse::Rule;
use overthere_core::place::Span;

use super::batch::LinkBatch;
use super::table::{BASE, TARGET};
use crate::fast;

/// Source host, target host, the scheme of targets without a host, and the number of links.
pub type Pair = (Option<String>, Option<String>, Option<String>, u64);

/// The rung of hosts in the graph: their case and escapes (RFC 3986 6.2.2).
const SYNTAX: u8 = 3;

/// The host of a URI, if it has an authority.
pub fn host(uri: &str) -> Option<&str> {
    fast::host(uri.as_bytes()).map(|span: Span| span.of_str(uri))
}

/// Where links lead.
#[derive(PartialEq, Eq, Hash)]
enum Place<T> {
    Host(T),
    /// The scheme of a URI without an authority.
    Scheme(Option<T>),
}

impl<'a> Place<&'a str> {
    fn of(uri: &'a str) -> Self {
        match host(uri) {
            Some(host) => Place::Host(host),
            None => Place::Scheme(uri.split_once(':').map(|(scheme, _)| scheme)),
        }
    }
}

/// A host in its normal form; one that is not valid stays as it is.
fn normal(host: &str) -> String {
    let reference = format!("//{host}");
    if fast::parse(reference.as_bytes(), Rule::UriReference, true).is_err() {
        return host.to_owned();
    }
    let mut out = Vec::with_capacity(host.len());
    normalize::host(host.as_bytes(), SYNTAX, &mut out);
    String::from_utf8(out).unwrap_or_else(|_| host.to_owned())
}

/// The pairs of the links with a target, each once, sorted, with None last.
pub fn count(batch: &LinkBatch) -> Vec<Pair> {
    let (base, target) = (batch.texts(BASE), batch.texts(TARGET));
    let mut raw_pairs: HashMap<(Option<&str>, Place<&str>), u64> = HashMap::new();
    // Links to one host often follow each other.
    let mut same_pair = ((None, Place::Scheme(None)), 0);
    for row in (0..target.len()).filter(|row| target.is_valid(*row)) {
        let source = if base.is_valid(row) { host(base.value(row)) } else { None };
        let pair = (source, Place::of(target.value(row)));
        if pair != same_pair.0 {
            let (last, links) = std::mem::replace(&mut same_pair, (pair, 0));
            *raw_pairs.entry(last).or_default() += links;
        }
        same_pair.1 += 1;
    }
    *raw_pairs.entry(same_pair.0).or_default() += same_pair.1;
    raw_pairs.retain(|_, links| *links > 0);
    let mut pairs: HashMap<(Option<String>, Place<String>), u64> = HashMap::new();
    for ((source, place), links) in raw_pairs {
        let place = match place {
            Place::Host(host) => Place::Host(normal(host)),
            Place::Scheme(scheme) => Place::Scheme(scheme.map(str::to_ascii_lowercase)),
        };
        *pairs.entry((source.map(normal), place)).or_default() += links;
    }
    let mut sorted: Vec<Pair> = pairs
        .into_iter()
        .map(|((source, place), links)| match place {
            Place::Host(host) => (source, Some(host), None, links),
            Place::Scheme(scheme) => (source, None, scheme, links),
        })
        .collect();
    let key = |text: &Option<String>| (text.is_none(), text.clone().unwrap_or_default());
    sorted.sort_by_cached_key(|(source, host, scheme, _)| (key(source), key(host), key(scheme)));
    sorted
}
