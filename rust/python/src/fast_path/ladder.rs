//! The comparison ladder (RFC 3986 6.2) for values: normal forms, and whether two values have the same one.

use std::sync::Arc;

use overthere_core::normalize::{may_change, normalize, SYNTAX};
use overthere_core::parse::Rule;
use overthere_core::place::Part;
use overthere_core::resolve::{resolve, Parsed};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyString};

use super::schemes::{facts, Facts};
use super::values::{ascii_value, new_value, on_value, read, usual, with_buffer};
use super::{Answer, Call};
use crate::quick;

/// The numbers of the scheme rung, and of the protocol rung, which without evidence equals the scheme rung.
const SCHEME: u8 = 4;
const PROTOCOL: i64 = 5;

/// A rung, with the facts about the scheme if it needs them; None for an unknown rung, or a scheme with other rules.
fn rung_of(py: Python<'_>, number: i64, value: Parsed<'_>) -> PyResult<Option<(u8, Option<Arc<Facts>>)>> {
    if !(0..=PROTOCOL).contains(&number) {
        return Ok(None);
    }
    let rung = number.min(i64::from(SCHEME)) as u8;
    if rung < SCHEME || value.scheme().is_none() {
        return Ok(Some((rung.min(SYNTAX), None)));
    }
    let facts = facts(py, value.scheme())?;
    Ok(facts.rules.is_some().then_some((rung, Some(facts))))
}

/// Write the normal form of a value at a rung.
fn write_form(value: Parsed<'_>, (rung, facts): &(u8, Option<Arc<Facts>>), out: &mut Vec<u8>) {
    match facts.as_ref().and_then(|facts| facts.rules.as_ref()) {
        Some(rules) => rules.normalize(value.text, value.spans, out),
        None => normalize(value.text, value.spans, *rung, out),
    }
}

/// `value.normalize()`, `value.normalize(rung)`
pub(super) fn normal<'py>(call: &Call<'_, 'py>) -> Answer<'py> {
    let (value, rung) = match call.unnamed() {
        [value] => (value, i64::from(SYNTAX)),
        [value, rung] => (value, rung.extract()?),
        _ => return Ok(None),
    };
    on_value(value, |value, parsed| {
        let Some(rung) = rung_of(value.py(), rung, parsed)? else { return Ok(None) };
        let same = || Ok(Some((**value).clone().into_any()));
        let may_change = match rung.1.as_ref().and_then(|facts| facts.rules.as_ref()) {
            Some(rules) => rules.may_change(parsed.text, parsed.spans),
            None => may_change(parsed.text, parsed.spans, rung.0),
        };
        if !may_change {
            return same();
        }
        with_buffer(|out| {
            write_form(parsed, &rung, out);
            if out == parsed.text {
                return same();
            }
            new_value(&value.get_type(), quick::text(value.py(), out)?, out, None).map(Some)
        })
    })
}

/// Whether two valid texts have the same normal form at a rung; None if the ladder in Python must decide.
fn are_equal(py: Python<'_>, a: Parsed<'_>, b: Parsed<'_>, number: i64) -> PyResult<Option<bool>> {
    if a.text == b.text {
        return Ok((0..=PROTOCOL).contains(&number).then_some(true));
    }
    let (Some(first), Some(second)) = (rung_of(py, number, a)?, rung_of(py, number, b)?) else {
        return Ok(None);
    };
    Ok(Some(with_buffer(|out| {
        write_form(a, &first, out);
        let end = out.len();
        write_form(b, &second, out);
        out.part(..end) == out.part(end..)
    })))
}

/// Work on two texts or values of URIs.
fn on_two<'py>(
    a: &Borrowed<'_, 'py, PyAny>,
    b: &Borrowed<'_, 'py, PyAny>,
    work: impl FnOnce(Parsed<'_>, Parsed<'_>) -> Answer<'py>,
) -> Answer<'py> {
    on_text(a, |a| on_text(b, |b| work(a, b)))
}

/// Work on the text of a URI-reference, or on a value of a URI.
fn on_text<'py>(
    object: &Borrowed<'_, 'py, PyAny>,
    work: impl FnOnce(Parsed<'_>) -> Answer<'py>,
) -> Answer<'py> {
    if let Ok(text) = object.cast_exact::<PyString>() {
        let Some((text, spans)) = read(&text, Rule::UriReference) else { return Ok(None) };
        return work(Parsed { text, spans: &spans });
    }
    let Some(value) = usual(object)? else { return Ok(None) };
    if !matches!(quick::rule_of_class(&value.get_type()), Some((_, false))) {
        return Ok(None);
    }
    match ascii_value(&value)? {
        Some(parsed) => work(parsed),
        None => Ok(None),
    }
}

/// `value.equivalent(other)`, `value.equivalent(other, rung)`
pub(super) fn equivalent<'py>(call: &Call<'_, 'py>) -> Answer<'py> {
    let (value, other, rung) = match call.unnamed() {
        [value, other] => (value, other, i64::from(SYNTAX)),
        [value, other, rung] => (value, other, rung.extract()?),
        _ => return Ok(None),
    };
    let py = value.py();
    on_two(value, other, |value, other| {
        Ok(are_equal(py, value, other, rung)?.map(|equal| PyBool::new(py, equal).to_owned().into_any()))
    })
}

/// `lowest_rung(a, b)`
pub(super) fn lowest_rung<'py>(call: &Call<'_, 'py>) -> Answer<'py> {
    let [a, b] = call.unnamed() else { return Ok(None) };
    let py = a.py();
    on_two(a, b, |a, b| {
        for rung in 0..PROTOCOL {
            match are_equal(py, a, b, rung)? {
                None => return Ok(None),
                Some(false) => {}
                Some(true) => {
                    let rungs =
                        py.import(intern!(py, "overthere.ground.rung"))?.getattr(intern!(py, "Rung"))?;
                    return rungs.call1((rung,)).map(Some);
                }
            }
        }
        Ok(Some(py.None().into_bound(py)))
    })
}

/// `reference.same_document(base)`
pub(super) fn same_document<'py>(call: &Call<'_, 'py>) -> Answer<'py> {
    let [reference, base] = call.unnamed() else { return Ok(None) };
    let py = reference.py();
    on_two(reference, base, |reference, base| {
        if base.scheme().is_none() {
            return Ok(None);
        }
        with_buffer(|out| {
            resolve(base, reference, true, out);
            let document = |text: &[u8]| memchr::memchr(b'#', text).unwrap_or(text.len());
            let equal = out.part(..document(out)) == base.text.part(..document(base.text));
            Ok(Some(PyBool::new(py, equal).to_owned().into_any()))
        })
    })
}
