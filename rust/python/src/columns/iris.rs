//! Rows that are IRIs (RFC 3987): read as they lie, mapped to URIs and back.

use overthere_core::iri::{escape, in_brackets, show, stand_in};
use overthere_core::normalize::{may_change, normalize};
use overthere_core::parse::{Rule, Spans};

use super::drive::Outcome;
use super::schemes::form;
use crate::components::Asked;
use crate::fast::parse;

/// What is written on the way, and written over by the next row.
#[derive(Default)]
pub struct Scratch {
    octets: Vec<u8>,
    form: Vec<u8>,
}

/// The components of a row in octets; None if the rule does not derive it.
#[inline(always)]
pub fn read(row: &[u8], (rule, iri): Asked, zone: bool, scratch: &mut Scratch) -> Option<Spans> {
    if !iri || row.is_ascii() {
        return parse(row, rule, zone).ok();
    }
    let beyond = stand_in(std::str::from_utf8(row).ok()?, &mut scratch.octets)?;
    let spans = parse(&scratch.octets, rule, zone).ok()?;
    (beyond.fits(&spans) && !in_brackets(row, &spans)).then_some(spans)
}

/// The URI-reference that a row beyond US-ASCII maps to (3.1), at the end of `out`, and where its components stand.
fn mapped(row: &[u8], out: &mut Vec<u8>) -> Option<Spans> {
    let mark = out.len();
    let beyond = escape(std::str::from_utf8(row).ok()?, out)?;
    parse(&out[mark..], Rule::UriReference, false).ok().filter(|spans| beyond.fits(spans))
}

/// 3.1; None if the row is no IRI-reference.
pub fn to_uri(row: &[u8], out: &mut Vec<u8>) -> Option<Outcome> {
    if row.is_ascii() {
        return parse(row, Rule::UriReference, false).ok().map(|_| Outcome::Same);
    }
    mapped(row, out).map(|_| Outcome::Written)
}

/// 3.2; None if the row is no URI-reference.
pub fn to_iri(row: &[u8], out: &mut Vec<u8>) -> Option<Outcome> {
    let spans = parse(row, Rule::UriReference, false).ok()?;
    Some(form(row, memchr::memchr(b'%', row).is_some(), out, |out| show(row, &spans, out)))
}

/// 5.3.2 at a generic rung; None if the row is no IRI-reference.
///
/// From the percent rung on it is the form of the URI that the row maps to, written as an IRI again (5.3.2.3).
pub fn normal(row: &[u8], rung: u8, scratch: &mut Scratch, out: &mut Vec<u8>) -> Option<Outcome> {
    const PERCENT: u8 = 2;
    if rung < PERCENT {
        let spans = read(row, (Rule::UriReference, true), false, scratch)?;
        return Some(form(row, may_change(row, &spans, rung), out, |out| normalize(row, &spans, rung, out)));
    }
    let Scratch { octets, form: written } = scratch;
    octets.clear();
    let ascii = row.is_ascii();
    let spans = if ascii { parse(row, Rule::UriReference, false).ok()? } else { mapped(row, octets)? };
    let uri = if ascii { row } else { octets };
    if ascii && !may_change(row, &spans, rung) {
        return Some(Outcome::Same);
    }
    written.clear();
    normalize(uri, &spans, rung, written);
    let spans = parse(written, Rule::UriReference, false).ok()?;
    Some(form(row, true, out, |out| show(written, &spans, out)))
}
