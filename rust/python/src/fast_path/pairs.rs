//! Reading, setting, adding, removing and sorting the pairs of a query (`overthere.forms`).

use overthere_core::edit::Pieces;
use overthere_core::parameters::{Change, Form, Given, Scratch};
use overthere_core::percent::{self, Safe};
use overthere_core::place::Part;
use overthere_core::resolve::Parsed;
use pyo3::ffi;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBool, PyBytes, PyDict, PyInt, PyList, PyString, PyTuple, PyType};

use super::edits::put_together;
use super::schemes::facts;
use super::values::{on_value, with_buffer};
use super::{Answer, Call};
use crate::components::Components;
use crate::quick;

/// Encode a name or a value for a form; false if it has an unusual type.
fn write_data(data: &Bound<'_, PyAny>, plus: bool, out: &mut Vec<u8>) -> PyResult<bool> {
    let Some(safe) = Safe::of("query") else { return Ok(false) };
    let octets = if let Ok(text) = data.cast_exact::<PyString>() {
        text.to_str()?.as_bytes()
    } else if let Ok(octets) = data.cast_exact::<PyBytes>() {
        octets.as_bytes()
    } else if let Ok(is_true) = data.cast_exact::<PyBool>() {
        out.extend_from_slice(if is_true.is_true() { b"true" } else { b"false" });
        return Ok(true);
    } else if data.is_exact_instance_of::<PyInt>() {
        out.extend_from_slice(data.extract::<i64>()?.to_string().as_bytes());
        return Ok(true);
    } else {
        return Ok(false);
    };
    for (i, word) in octets.split(|&octet| plus && octet == b' ').enumerate() {
        if i > 0 {
            out.push(b'+');
        }
        percent::encode(word, safe, out);
    }
    Ok(true)
}

/// Encode a pair; None if its name or value has an unusual type.
fn pair(name: &Bound<'_, PyAny>, value: &Bound<'_, PyAny>, plus: bool) -> PyResult<Option<Vec<u8>>> {
    let mut out = Vec::with_capacity(32);
    if !write_data(name, plus, &mut out)? {
        return Ok(None);
    }
    if !value.is_none() {
        out.push(b'=');
        if !write_data(value, plus, &mut out)? {
            return Ok(None);
        }
    }
    Ok(Some(out))
}

/// Whether an object is a list or a tuple, and not of a subclass.
fn is_sequence(object: &Bound<'_, PyAny>) -> bool {
    object.is_exact_instance_of::<PyList>() || object.is_exact_instance_of::<PyTuple>()
}

/// Encode pairs of data, in their order, with their names; None if they are not a mapping or a sequence of usual pairs.
fn encode_pairs(pairs: &Bound<'_, PyAny>, plus: bool) -> PyResult<Option<Vec<Given>>> {
    let mut encoded: Vec<Given> = Vec::new();
    if let Ok(mapping) = pairs.cast_exact::<PyDict>() {
        for (name, value) in mapping {
            let Ok(text) = name.cast_exact::<PyString>() else { return Ok(None) };
            let mut texts = Vec::with_capacity(1);
            if is_sequence(&value) {
                for item in value.try_iter()? {
                    let Some(text) = pair(&name, &item?, plus)? else { return Ok(None) };
                    texts.push(text);
                }
            } else {
                let Some(text) = pair(&name, &value, plus)? else { return Ok(None) };
                texts.push(text);
            }
            encoded.push((text.to_str()?.as_bytes().to_vec(), texts));
        }
        return Ok(Some(encoded));
    }
    if !is_sequence(pairs) {
        return Ok(None);
    }
    for item in pairs.try_iter()? {
        let item = item?;
        let Ok(item) = item.cast_exact::<PyTuple>() else { return Ok(None) };
        let [name, value] = item.as_slice() else { return Ok(None) };
        let Ok(name_text) = name.cast_exact::<PyString>() else { return Ok(None) };
        let Some(text) = pair(name, value, plus)? else { return Ok(None) };
        encoded.push((name_text.to_str()?.as_bytes().to_vec(), vec![text]));
    }
    Ok(Some(encoded))
}

/// Merge pairs of the same name at the place of the first; None if there are more than `MAX_PAIRS`.
fn by_name(pairs: Vec<Given>) -> Option<Vec<Given>> {
    const MAX_PAIRS: usize = 64;
    if pairs.len() > MAX_PAIRS {
        return None;
    }
    let mut merged: Vec<Given> = Vec::with_capacity(pairs.len());
    for (name, texts) in pairs {
        match merged.iter_mut().find(|(other, _)| *other == name) {
            Some((_, earlier)) => earlier.extend(texts),
            None => merged.push((name, texts)),
        }
    }
    Some(merged)
}

/// Encode data as the query of a URI with this scheme; false if Python must do it.
pub(super) fn query(data: &Bound<'_, PyAny>, scheme: Option<&[u8]>, out: &mut Vec<u8>) -> PyResult<bool> {
    let facts = facts(data.py(), scheme)?;
    if facts.text_parameters {
        return Ok(false);
    }
    let Some(pairs) = encode_pairs(data, facts.plus)? else { return Ok(false) };
    for (i, text) in pairs.iter().flat_map(|(_, texts)| texts).enumerate() {
        if i > 0 {
            out.push(b'&');
        }
        out.extend_from_slice(text);
    }
    Ok(true)
}

/// The value with its pairs changed; the value itself if nothing changes.
fn changed<'py>(
    value: &Borrowed<'_, 'py, Components>,
    parsed: Parsed<'_>,
    change: impl FnOnce(bool) -> PyResult<Option<Change>>,
) -> Answer<'py> {
    let facts = facts(value.py(), parsed.scheme())?;
    if facts.text_parameters {
        return Ok(None);
    }
    let Some(change) = change(facts.plus)? else { return Ok(None) };
    let (form, pieces) = (Form { separator: b'&', plus: facts.plus }, Pieces::of(parsed));
    with_buffer(|out| {
        let is_defined = form.change(pieces.query, &change, &mut Scratch::default(), out);
        let query = is_defined.then_some(out.as_slice());
        if query == pieces.query {
            return Ok(Some((**value).clone().into_any()));
        }
        put_together(&value.get_type(), &Pieces { query, ..pieces })
    })
}

/// `value.with_parameters(pairs)`
pub(super) fn with_parameters<'py>(call: &Call<'_, 'py>) -> Answer<'py> {
    let [value, pairs] = call.unnamed() else { return Ok(None) };
    on_value(value, |value, parsed| {
        changed(value, parsed, |plus| Ok(encode_pairs(pairs, plus)?.and_then(by_name).map(Change::Set)))
    })
}

/// `value.add_parameters(pairs)`
pub(super) fn add_parameters<'py>(call: &Call<'_, 'py>) -> Answer<'py> {
    let [value, pairs] = call.unnamed() else { return Ok(None) };
    on_value(value, |value, parsed| {
        changed(value, parsed, |plus| {
            let encoded = encode_pairs(pairs, plus)?;
            Ok(encoded.map(|pairs| Change::Add(pairs.into_iter().flat_map(|(_, texts)| texts).collect())))
        })
    })
}

/// `value.without_parameters("a", "utm_*")`
pub(super) fn without_parameters<'py>(call: &Call<'_, 'py>) -> Answer<'py> {
    let [value, names @ ..] = call.unnamed() else { return Ok(None) };
    on_value(value, |value, parsed| {
        changed(value, parsed, |_| {
            let mut patterns = Vec::with_capacity(names.len());
            for name in names {
                let Ok(name) = name.cast_exact::<PyString>() else { return Ok(None) };
                patterns.push(
                    name.to_str()?.as_bytes().split(|&octet| octet == b'*').map(<[u8]>::to_vec).collect(),
                );
            }
            Ok(Some(Change::Without(patterns)))
        })
    })
}

/// `value.sort_parameters()`
pub(super) fn sort_parameters<'py>(call: &Call<'_, 'py>) -> Answer<'py> {
    let [value] = call.unnamed() else { return Ok(None) };
    on_value(value, |value, parsed| changed(value, parsed, |_| Ok(Some(Change::Sort))))
}

/// `value.parameters`
pub(super) fn parameters<'py>(call: &Call<'_, 'py>) -> Answer<'py> {
    static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    let [value] = call.unnamed() else { return Ok(None) };
    on_value(value, |value, parsed| {
        let py = value.py();
        let facts = facts(py, parsed.scheme())?;
        let query = match parsed.query() {
            Some(query) => quick::text(py, query)?.into_any(),
            None => py.None().into_bound(py),
        };
        let class = CLASS.import(py, "overthere.forms", "Parameters")?;
        // SAFETY: the attributes of this Python class are slots, and all slots of the new object are set here.
        let new =
            unsafe { Bound::from_owned_ptr_or_err(py, ffi::PyType_GenericAlloc(class.as_type_ptr(), 0))? };
        set(&new, intern!(py, "query"), &query)?;
        set(&new, intern!(py, "separator"), intern!(py, "&"))?;
        set(&new, intern!(py, "plus"), &PyBool::new(py, facts.plus))?;
        set(&new, intern!(py, "charset"), intern!(py, "utf-8"))?;
        set(&new, intern!(py, "_first"), &py.None().into_bound(py))?;
        Ok(Some(new))
    })
}

/// Set an attribute as `object.__setattr__` does, even if the class overrides it.
fn set(object: &Bound<'_, PyAny>, name: &Bound<'_, PyString>, value: &Bound<'_, PyAny>) -> PyResult<()> {
    // SAFETY: the interpreter is attached, and the objects live as long as the call.
    match unsafe { ffi::PyObject_GenericSetAttr(object.as_ptr(), name.as_ptr(), value.as_ptr()) } {
        0 => Ok(()),
        _ => Err(PyErr::fetch(object.py())),
    }
}

/// Work on the query of `Parameters` in UTF-8; an undefined query counts as empty.
fn on_query<'py>(
    parameters: &Bound<'py, PyAny>,
    work: impl FnOnce(Form, &[u8]) -> Answer<'py>,
) -> Answer<'py> {
    let py = parameters.py();
    let charset = parameters.getattr(intern!(py, "charset"))?;
    if !charset.is(intern!(py, "utf-8")) {
        return Ok(None);
    }
    let plus = parameters.getattr(intern!(py, "plus"))?.is_truthy()?;
    let separator = parameters.getattr(intern!(py, "separator"))?;
    let form = Form { separator: if separator.is(intern!(py, "&")) { b'&' } else { return Ok(None) }, plus };
    let query = parameters.getattr(intern!(py, "query"))?;
    if query.is_none() {
        return work(form, b"");
    }
    let Ok(text) = query.cast_exact::<PyString>() else { return Ok(None) };
    work(form, text.to_str()?.as_bytes())
}

/// The octets of a name; None if it contains U+FFFD, for which several octets may stand, or is not a `str`.
fn name_octets<'a>(name: &'a Bound<'_, PyAny>) -> PyResult<Option<&'a [u8]>> {
    let Ok(name) = name.cast_exact::<PyString>() else { return Ok(None) };
    let text = name.to_str()?;
    Ok((!text.contains('\u{FFFD}')).then_some(text.as_bytes()))
}

/// Decode a name or a value; None if its octets are not UTF-8.
fn decoded<'py>(py: Python<'py>, form: Form, encoded: &[u8]) -> Answer<'py> {
    if form.is_plain(encoded) {
        return quick::text(py, encoded).map(|text| Some(text.into_any()));
    }
    with_buffer(|out| {
        form.decode(encoded, out);
        match std::str::from_utf8(out) {
            Ok(_) => Ok(Some(quick::text(py, out)?.into_any())),
            Err(_) => Ok(None),
        }
    })
}

/// The first value of a name, decoded; the result of `missing` if there is no such name.
fn first<'py>(
    parameters: &Bound<'py, PyAny>,
    name: &Bound<'py, PyAny>,
    missing: impl FnOnce() -> Answer<'py>,
) -> Answer<'py> {
    let Some(octets) = name_octets(name)? else { return Ok(None) };
    on_query(parameters, |form, query| match form.first(query, octets) {
        None => missing(),
        Some(None) => Ok(Some(name.py().None().into_bound(name.py()))),
        Some(Some((start, end))) => decoded(name.py(), form, query.part(start..end)),
    })
}

/// `parameters.get(name)`, `parameters.get(name, default)`
pub(super) fn get<'py>(call: &Call<'_, 'py>) -> Answer<'py> {
    let (parameters, name, default) = match call.unnamed() {
        [parameters, name] => (parameters, name, None),
        [parameters, name, default] => (parameters, name, Some((**default).clone())),
        _ => return Ok(None),
    };
    let py = name.py();
    first(parameters, name, || Ok(Some(default.unwrap_or_else(|| py.None().into_bound(py)))))
}

/// `parameters[name]`
pub(super) fn get_item<'py>(call: &Call<'_, 'py>) -> Answer<'py> {
    let [parameters, name] = call.unnamed() else { return Ok(None) };
    first(parameters, name, || Ok(None))
}

/// `name in parameters`
pub(super) fn contains<'py>(call: &Call<'_, 'py>) -> Answer<'py> {
    let [parameters, name] = call.unnamed() else { return Ok(None) };
    let Some(octets) = name_octets(name)? else { return Ok(None) };
    on_query(parameters, |form, query| {
        Ok(Some(PyBool::new(name.py(), form.first(query, octets).is_some()).to_owned().into_any()))
    })
}

/// `parameters.all(name)`
pub(super) fn all<'py>(call: &Call<'_, 'py>) -> Answer<'py> {
    let [parameters, name] = call.unnamed() else { return Ok(None) };
    let Some(octets) = name_octets(name)? else { return Ok(None) };
    let py = name.py();
    on_query(parameters, |form, query| {
        let values = PyList::empty(py);
        for value in form.all(query, octets) {
            match value {
                None => values.append(py.None())?,
                Some((start, end)) => {
                    let Some(text) = decoded(py, form, query.part(start..end))? else { return Ok(None) };
                    values.append(text)?;
                }
            }
        }
        Ok(Some(values.into_any()))
    })
}

/// `iter(parameters)`: for a long query, the function in Python decodes one pair at a time.
pub(super) fn iter<'py>(call: &Call<'_, 'py>) -> Answer<'py> {
    const MAX_LENGTH: usize = 1 << 16;
    let [parameters] = call.unnamed() else { return Ok(None) };
    let py = parameters.py();
    on_query(parameters, |form, query| {
        if query.len() > MAX_LENGTH {
            return Ok(None);
        }
        let pairs = PyList::empty(py);
        for (start, end) in form.pairs(query) {
            let pair = query.part(start..end);
            let (name, value) = match memchr::memchr(b'=', pair) {
                Some(at) => (pair.part(..at), Some(pair.part(at + 1..))),
                None => (pair, None),
            };
            let Some(name) = decoded(py, form, name)? else { return Ok(None) };
            let value = match value {
                Some(value) => {
                    let Some(value) = decoded(py, form, value)? else { return Ok(None) };
                    value
                }
                None => py.None().into_bound(py),
            };
            pairs.append((name, value))?;
        }
        Ok(Some(pairs.try_iter()?.into_any()))
    })
}
