//! Rows that are IRIs (RFC 3987): read as they lie, mapped to URIs and back.

use overthere_core::iri::{escape, in_brackets, is_shown, show, stand_in};
use overthere_core::normalize::{may_change, normalize};
use overthere_core::parse::Rule;
use overthere_core::place::{Part, Spans};

use super::row_loop::Outcome;
use super::schemes::form;
use crate::components::SyntaxRule;
use crate::fast::parse;

/// What is written on the way, and written over by the next row.
#[derive(Default)]
pub struct Scratch {
    octets: Vec<u8>,
    form: Vec<u8>,
}

/// The components of a row in octets; None if the rule does not derive it.
#[inline(always)]
pub fn read(row: &str, (rule, iri): SyntaxRule, zone: bool, scratch: &mut Scratch) -> Option<Spans> {
    if !iri || row.is_ascii() {
        return parse(row.as_bytes(), rule, zone).ok();
    }
    let beyond = stand_in(row, &mut scratch.octets)?;
    let spans = parse(&scratch.octets, rule, zone).ok()?;
    (beyond.fits(&spans) && !in_brackets(row.as_bytes(), &spans)).then_some(spans)
}

/// 3.1; None if the row is no IRI-reference.
pub fn to_uri(row: &str, out: &mut Vec<u8>) -> Option<Outcome> {
    if row.is_ascii() {
        return parse(row.as_bytes(), Rule::UriReference, false).ok().map(|_| Outcome::Same);
    }
    let mark = out.len();
    let beyond = escape(row, out)?;
    let spans = parse(out.part(mark..), Rule::UriReference, false).ok()?;
    beyond.fits(&spans).then_some(Outcome::Written)
}

/// 3.2; None if the row is no URI-reference.
pub fn to_iri(row: &[u8], out: &mut Vec<u8>) -> Option<Outcome> {
    let spans = parse(row, Rule::UriReference, false).ok()?;
    Some(form(row, memchr::memchr(b'%', row).is_some(), out, |out| show(row, &spans, out)))
}

/// 5.3.2 at a generic rung; None if the row is no IRI-reference.
///
/// From the percent rung on it is the form of the URI that the row maps to, written as an IRI again (5.3.2.3).
pub fn normal(text: &str, rung: u8, scratch: &mut Scratch, out: &mut Vec<u8>) -> Option<Outcome> {
    const PERCENT: u8 = 2;
    let row = text.as_bytes();
    let spans = read(text, (Rule::UriReference, true), false, scratch)?;
    let may_change = may_change(row, &spans, rung);
    if rung < PERCENT {
        return Some(form(row, may_change, out, |out| normalize(row, &spans, rung, out)));
    }
    // What is mapped and shown again is the same.
    if !may_change && is_shown(text) {
        return Some(Outcome::Same);
    }
    let Scratch { octets, form: written } = scratch;
    octets.clear();
    written.clear();
    if text.is_ascii() {
        normalize(row, &spans, rung, written);
    } else {
        escape(text, octets)?;
        normalize(octets, &parse(octets, Rule::UriReference, false).ok()?, rung, written);
    }
    let spans = parse(written, Rule::UriReference, false).ok()?;
    Some(form(row, true, out, |out| show(written, &spans, out)))
}
