//! Rows of IRIs (RFC 3987): reading them in place, mapping them to URIs and back.

use overthere_core::iri::{escape, in_brackets, is_shown, show, stand_in};
use overthere_core::normalize::{may_change, normalize};
use overthere_core::parse::Rule;
use overthere_core::place::{Part, Spans};

use super::row_loop::Outcome;
use super::schemes::form;
use crate::components::SyntaxRule;
use crate::fast::parse;

/// Buffers for intermediate results, reused for each row.
#[derive(Default)]
pub struct Scratch {
    octets: Vec<u8>,
    form: Vec<u8>,
}

/// The spans of a row in octets; None if the rule does not derive it.
#[inline(always)]
pub fn read(row: &str, (rule, iri): SyntaxRule, zone: bool, scratch: &mut Scratch) -> Option<Spans> {
    if !iri || row.is_ascii() {
        return parse(row.as_bytes(), rule, zone).ok();
    }
    let escaped = stand_in(row, &mut scratch.octets)?;
    let spans = parse(&scratch.octets, rule, zone).ok()?;
    (escaped.fits(&spans) && !in_brackets(row.as_bytes(), &spans)).then_some(spans)
}

/// Map an IRI-reference to a URI-reference (3.1); None if the row is invalid.
pub fn to_uri(row: &str, out: &mut Vec<u8>) -> Option<Outcome> {
    if row.is_ascii() {
        return parse(row.as_bytes(), Rule::UriReference, false).ok().map(|_| Outcome::Same);
    }
    let mark = out.len();
    let escaped = escape(row, out)?;
    let spans = parse(out.part(mark..), Rule::UriReference, false).ok()?;
    escaped.fits(&spans).then_some(Outcome::Written)
}

/// Convert a URI-reference to an IRI-reference (3.2); None if the row is invalid.
pub fn to_iri(row: &[u8], out: &mut Vec<u8>) -> Option<Outcome> {
    let spans = parse(row, Rule::UriReference, false).ok()?;
    Some(form(row, memchr::memchr(b'%', row).is_some(), out, |out| show(row, &spans, out)))
}

/// Normalize an IRI-reference at a generic rung (5.3.2); None if the row is invalid.
///
/// From the percent rung on this normalizes the URI to which the row maps, and converts it back to an IRI (5.3.2.3).
pub fn normal(text: &str, rung: u8, scratch: &mut Scratch, out: &mut Vec<u8>) -> Option<Outcome> {
    const PERCENT: u8 = 2;
    let row = text.as_bytes();
    let spans = read(text, (Rule::UriReference, true), false, scratch)?;
    let may_change = may_change(row, &spans, rung);
    if rung < PERCENT {
        return Some(form(row, may_change, out, |out| normalize(row, &spans, rung, out)));
    }
    // Mapping and converting back would give the same text.
    if !may_change && is_shown(text) {
        return Some(Outcome::Same);
    }
    let Scratch { octets, form: uri } = scratch;
    octets.clear();
    uri.clear();
    if text.is_ascii() {
        normalize(row, &spans, rung, uri);
    } else {
        escape(text, octets)?;
        normalize(octets, &parse(octets, Rule::UriReference, false).ok()?, rung, uri);
    }
    let spans = parse(uri, Rule::UriReference, false).ok()?;
    Some(form(row, true, out, |out| show(uri, &spans, out)))
}
