//! Encoding, decoding, resolution, relative references, and conversion between URIs and IRIs.

use overthere_core::iri;
use overthere_core::parse::Rule;
use overthere_core::percent::{self, Safe};
use overthere_core::place::Component;
use overthere_core::relate::relate;
use overthere_core::resolve::{may_have_dot_segments, resolve, Parsed};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyString, PyType};

use super::values::{ascii_value, kind, new_value, read, usual, with_buffer};
use super::{Answer, Call};
use crate::components::Components;
use crate::quick;

/// `encode(text)`, `encode(text, component)`, either with `keep=""`
pub(super) fn encode<'py>(call: &Call<'_, 'py>) -> Answer<'py> {
    let ([data] | [data, _]) = call.plain else { return Ok(None) };
    let component = call.plain.get(1).map(|component| component.cast::<PyString>()).transpose()?;
    let component = component.as_ref().map_or(Ok("segment"), |component| component.to_str())?;
    for (name, value) in call.named() {
        if name != intern!(data.py(), "keep").as_ptr()
            || !value.cast_exact::<PyString>()?.to_str()?.is_empty()
        {
            return Ok(None);
        }
    }
    let Ok(text) = data.cast_exact::<PyString>() else { return Ok(None) };
    let (Ok(characters), Some(safe)) = (text.to_str(), Safe::of(component)) else { return Ok(None) };
    let octets = characters.as_bytes();
    if safe.prefix(octets) == octets.len() {
        return Ok(Some((**data).clone()));
    }
    with_buffer(|out| {
        percent::encode(octets, safe, out);
        Ok(Some(quick::text(data.py(), out)?.into_any()))
    })
}

/// `decode(text)`
pub(super) fn decode<'py>(call: &Call<'_, 'py>) -> Answer<'py> {
    let [data] = call.unnamed() else { return Ok(None) };
    let Ok(text) = data.cast_exact::<PyString>() else { return Ok(None) };
    let Ok(characters) = text.to_str() else { return Ok(None) };
    if memchr::memchr(b'%', characters.as_bytes()).is_none() {
        return Ok(Some((**data).clone()));
    }
    with_buffer(|out| match percent::decode(characters.as_bytes(), out).map(|_| std::str::from_utf8(out)) {
        Ok(Ok(_)) => Ok(Some(quick::text(data.py(), out)?.into_any())),
        _ => Ok(None),
    })
}

/// Answer a call with a base that has a scheme, and a text that the rule derives, or a value; `answer` gets the text
/// too.
fn with_base<'py>(
    call: &Call<'_, 'py>,
    rule: Rule,
    answer: impl FnOnce(&Bound<'py, PyType>, Parsed<'_>, Parsed<'_>, &Bound<'py, PyString>) -> Answer<'py>,
) -> Answer<'py> {
    let [base, other] = call.unnamed() else { return Ok(None) };
    let Some(base) = usual(base)? else { return Ok(None) };
    let Some(parsed_base) = ascii_value(&base)? else { return Ok(None) };
    if parsed_base.spans.scheme().is_none() {
        return Ok(None);
    }
    let class = base.get_type();
    if let Ok(text) = other.cast_exact::<PyString>() {
        let Some((octets, spans)) = read(&text, rule) else { return Ok(None) };
        answer(&class, parsed_base, Parsed { text: octets, spans: &spans }, &text)
    } else if let Some(other) = usual(other)? {
        let Some(parsed) = ascii_value(&other)? else { return Ok(None) };
        answer(&class, parsed_base, parsed, other.get().text.bind(other.py()))
    } else {
        Ok(None)
    }
}

/// `base.join(reference)`, with a text or a value
pub(super) fn join<'py>(call: &Call<'_, 'py>) -> Answer<'py> {
    with_base(call, Rule::UriReference, |class, base, reference, text| {
        // 5.2.2: in a reference with a scheme, only dot-segments change.
        if reference.spans.scheme().is_some() && !may_have_dot_segments(reference.path()) {
            return new_value(class, text.clone(), reference.text, Some(*reference.spans)).map(Some);
        }
        with_buffer(|out| {
            let spans = resolve(base, reference, true, out);
            new_value(class, quick::text(class.py(), out)?, out, Some(spans)).map(Some)
        })
    })
}

/// `relate(base, target)`, with texts
pub(super) fn relative<'py>(call: &Call<'_, 'py>) -> Answer<'py> {
    let [base, target] = call.unnamed() else { return Ok(None) };
    let (Ok(base), Ok(target)) = (base.cast_exact(), target.cast_exact()) else { return Ok(None) };
    let (Some((base_text, from)), Some((target_text, to))) =
        (read(&base, Rule::Uri), read(&target, Rule::Uri))
    else {
        return Ok(None);
    };
    with_buffer(|out| {
        match relate(Parsed { text: base_text, spans: &from }, Parsed { text: target_text, spans: &to }, out)
        {
            Some(_) => Ok(Some(quick::text(base.py(), out)?.into_any())),
            None => Ok(None),
        }
    })
}

/// `base.relate(target)`, with a text or a value
pub(super) fn relative_value<'py>(call: &Call<'_, 'py>) -> Answer<'py> {
    with_base(call, Rule::Uri, |class, base, target, _| {
        with_buffer(|out| {
            let Some(spans) = relate(base, target, out) else { return Ok(None) };
            let (py, class) = (class.py(), kind(class.py(), false, false)?);
            new_value(class, quick::text(py, out)?, out, Some(spans)).map(Some)
        })
    })
}

/// `value.to_iri()`
pub(super) fn to_iri<'py>(call: &Call<'_, 'py>) -> Answer<'py> {
    let [value] = call.unnamed() else { return Ok(None) };
    let (py, Some(value)) = (value.py(), usual(value)?) else { return Ok(None) };
    let Some(Parsed { text, spans }) = ascii_value(&value)? else { return Ok(None) };
    with_buffer(|out| {
        iri::show(text, spans, out);
        kind(py, true, spans.scheme().is_some())?.call1((quick::text(py, out)?,)).map(Some)
    })
}

/// `value.to_uri()`
pub(super) fn to_uri<'py>(call: &Call<'_, 'py>) -> Answer<'py> {
    let [value] = call.unnamed() else { return Ok(None) };
    let (py, Ok(value)) = (value.py(), value.cast::<Components>()) else { return Ok(None) };
    let components = value.get();
    let text = components.text.bind(py);
    if memchr::memchr(b'[', components.octets(py)?).is_some() {
        return Ok(None); // there may be a zone
    }
    let kind = kind(py, false, components.bounds(Component::Scheme).is_some())?;
    if components.octet_spans().is_some() {
        return kind.call1((text,)).map(Some);
    }
    with_buffer(|out| match iri::escape(text.to_str()?, out) {
        Some(_) => kind.call1((quick::text(py, out)?,)).map(Some),
        None => Ok(None),
    })
}
