//! Reading parts of a value: names, decoded text, user and password; and showing it without secrets.

use std::collections::HashSet;

use overthere_core::edit::{split_path, suffix_start};
use overthere_core::percent;
use overthere_core::place::{At, Component, Part};
use overthere_core::resolve::Parsed;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBytes, PyString, PyTuple};

use super::values::{on_value, with_buffer};
use super::{Answer, Call};
use crate::quick;

/// Decode a part of a value; None if its octets are not UTF-8.
fn decoded_text<'py>(py: Python<'py>, part: &[u8]) -> Answer<'py> {
    if memchr::memchr(b'%', part).is_none() {
        return quick::text(py, part).map(|text| Some(text.into_any()));
    }
    with_buffer(|out| match percent::decode(part, out).map(|_| std::str::from_utf8(out)) {
        Ok(Ok(_)) => quick::text(py, out).map(|text| Some(text.into_any())),
        _ => Ok(None),
    })
}

/// `value.segments`
pub(super) fn segments<'py>(call: &Call<'_, 'py>) -> Answer<'py> {
    let [value] = call.unnamed() else { return Ok(None) };
    on_value(value, |value, parsed| {
        let (py, path) = (value.py(), parsed.path());
        if path.is_empty() {
            return Ok(Some(PyTuple::empty(py).into_any()));
        }
        let path = path.strip_prefix(b"/").unwrap_or(path);
        let texts: PyResult<Vec<_>> =
            path.split(|&octet| octet == b'/').map(|segment| quick::text(py, segment)).collect();
        Ok(Some(PyTuple::new(py, texts?)?.into_any()))
    })
}

/// `value.name`
pub(super) fn name<'py>(call: &Call<'_, 'py>) -> Answer<'py> {
    let [value] = call.unnamed() else { return Ok(None) };
    on_value(value, |value, parsed| decoded_text(value.py(), split_path(parsed.path()).1))
}

/// `value.suffix`
pub(super) fn suffix<'py>(call: &Call<'_, 'py>) -> Answer<'py> {
    let [value] = call.unnamed() else { return Ok(None) };
    on_value(value, |value, parsed| {
        let name = split_path(parsed.path()).1;
        decoded_text(value.py(), name.part(suffix_start(name)..))
    })
}

/// The component that the call names, or the path by default; `Some(None)` if it is undefined, None if Python must
/// answer.
fn component<'a>(call: &Call<'_, '_>, parsed: Parsed<'a>) -> PyResult<Option<Option<&'a [u8]>>> {
    let component = match call.unnamed() {
        [_] => Some(Component::Path),
        [_, name] => match name.cast_exact::<PyString>() {
            Ok(name) => name.to_str().ok().and_then(Component::named),
            Err(_) => None, // the function in Python reports the error
        },
        _ => None,
    };
    let get = |component| parsed.spans.get(component, parsed.text.len()).map(|span| span.of(parsed.text));
    Ok(component.map(get))
}

/// `value.decoded()`, `value.decoded("query")`
pub(super) fn decoded<'py>(call: &Call<'_, 'py>) -> Answer<'py> {
    let [value, ..] = call.unnamed() else { return Ok(None) };
    on_value(value, |value, parsed| match component(call, parsed)? {
        Some(Some(part)) => decoded_text(value.py(), part),
        Some(None) => Ok(Some(value.py().None().into_bound(value.py()))),
        None => Ok(None),
    })
}

/// `value.decoded_bytes()`, `value.decoded_bytes("query")`
pub(super) fn decoded_bytes<'py>(call: &Call<'_, 'py>) -> Answer<'py> {
    let [value, ..] = call.unnamed() else { return Ok(None) };
    on_value(value, |value, parsed| match component(call, parsed)? {
        Some(Some(part)) => with_buffer(|out| {
            Ok(percent::decode(part, out).ok().map(|_| PyBytes::new(value.py(), out).into_any()))
        }),
        Some(None) => Ok(Some(value.py().None().into_bound(value.py()))),
        None => Ok(None),
    })
}

/// The userinfo split at its first ":"; None if it is undefined.
fn credentials<'a>(parsed: Parsed<'a>) -> Option<(&'a [u8], Option<&'a [u8]>)> {
    let userinfo = parsed.spans.userinfo()?.of(parsed.text);
    Some(match memchr::memchr(b':', userinfo) {
        Some(at) => (userinfo.part(..at), Some(userinfo.part(at + 1..))),
        None => (userinfo, None),
    })
}

/// `value.user`
pub(super) fn user<'py>(call: &Call<'_, 'py>) -> Answer<'py> {
    let [value] = call.unnamed() else { return Ok(None) };
    on_value(value, |value, parsed| match credentials(parsed) {
        Some((user, _)) => decoded_text(value.py(), user),
        None => Ok(Some(value.py().None().into_bound(value.py()))),
    })
}

/// `value.password`
pub(super) fn password<'py>(call: &Call<'_, 'py>) -> Answer<'py> {
    let [value] = call.unnamed() else { return Ok(None) };
    on_value(value, |value, parsed| match credentials(parsed) {
        Some((_, Some(password))) => decoded_text(value.py(), password),
        _ => Ok(Some(value.py().None().into_bound(value.py()))),
    })
}

/// `value.redacted()` for a text without a secret
pub(super) fn redacted<'py>(call: &Call<'_, 'py>) -> Answer<'py> {
    let [value] = call.unnamed() else { return Ok(None) };
    on_value(value, |value, parsed| {
        let is_safe = !may_hold_secret(value.py(), parsed.text)?;
        Ok(is_safe.then(|| value.get().text.bind(value.py()).clone().into_any()))
    })
}

/// `repr(value)` for a text without a secret
pub(super) fn repr<'py>(call: &Call<'_, 'py>) -> Answer<'py> {
    let [value] = call.unnamed() else { return Ok(None) };
    on_value(value, |value, parsed| {
        let py = value.py();
        // Python uses other quotes if the text has an apostrophe.
        if memchr::memchr(b'\'', parsed.text).is_some() || may_hold_secret(py, parsed.text)? {
            return Ok(None);
        }
        let name = value.get_type().name()?;
        with_buffer(|out| {
            for piece in [name.to_str()?.as_bytes(), b"('", parsed.text, b"')"] {
                out.extend_from_slice(piece);
            }
            quick::text(py, out).map(|text| Some(text.into_any()))
        })
    })
}

/// Whether a valid text may contain a secret that `overthere.ground.redact` masks; `false` is certain.
fn may_hold_secret(py: Python<'_>, text: &[u8]) -> PyResult<bool> {
    // "@" follows a password; an escaped text may itself be a URI.
    if memchr::memchr(b'@', text).is_some()
        || memchr::memchr_iter(b'%', text).any(|at| is_delimiter(text, at))
    {
        return Ok(true);
    }
    let (mut start, mut is_name) = (0, true);
    for at in memchr::memchr_iter(b'=', text).chain([text.len()]) {
        let delimiter = text.part(start..at).iter().rposition(|octet| b"?&#;".contains(octet));
        if let Some(delimiter) = delimiter {
            (start, is_name) = (start + delimiter + 1, true);
            // The components of URNs begin with "+" or "=" (RFC 8141 2.3).
            start += usize::from(matches!(text.get(start), Some(b'+' | b'=')));
        }
        if at < start {
            continue;
        }
        let name = text.part(start..at);
        start = at;
        // A text after "=" belongs to a value.
        if !std::mem::replace(&mut is_name, false) || name.len() > MAX_NAME_LENGTH || at == text.len() {
            continue;
        }
        let name = name.iter().map(|octet| if *octet == b'-' { b'_' } else { octet.to_ascii_lowercase() });
        if secret_names(py)?.contains(&name.collect::<Vec<u8>>()) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Maximum length of a name in bytes: no name in `overthere.ground.secret_parameters` is longer.
const MAX_NAME_LENGTH: usize = 64;

/// Whether the escape at a place may encode a delimiter, a letter of a name, or the "%" of another escape.
fn is_delimiter(text: &[u8], at: usize) -> bool {
    matches!(
        percent::octet(text, at),
        Some(
            b'a'..=b'z'
            | b'A'..=b'Z'
            | b'='
            | b'-'
            | b'_'
            | b'@'
            | b'%'
            | b'?'
            | b'&'
            | b'#'
            | b';'
            | b':'
            | b'/'
            | b'\\',
        )
    ) || text.len() < at + 3
        || text.at(at) != b'%'
}

/// The names of parameters whose values are secrets, in lower case and with "_" for "-".
fn secret_names(py: Python<'_>) -> PyResult<&HashSet<Vec<u8>>> {
    static NAMES: PyOnceLock<HashSet<Vec<u8>>> = PyOnceLock::new();
    NAMES.get_or_try_init(py, || {
        let names =
            py.import(intern!(py, "overthere.ground.secret_parameters"))?.getattr(intern!(py, "NAMES"))?;
        names.try_iter()?.map(|name| Ok(name?.extract::<String>()?.into_bytes())).collect()
    })
}
