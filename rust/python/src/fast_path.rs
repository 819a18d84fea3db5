//! Functions of Python with a fast path: usual calls are answered here, all others go to the function in Python.
//!
//! `overthere.kernel.native.front` makes them; name, signature and docstring are the function's own.

use std::cell::Cell;
use std::ffi::CString;

use overthere_core::iri;
use overthere_core::normalize::{may_change, normalize, SYNTAX};
use overthere_core::parse::Rule;
use overthere_core::percent::{self, Safe};
use overthere_core::place::{Component, Part, Spans, OMITTED};
use overthere_core::relate::relate;
use overthere_core::resolve::{may_have_dot_segments, resolve, Parsed};
use pyo3::exceptions::{PyLookupError, PyRuntimeError};
use pyo3::ffi::{self, PyObject};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyString, PyType};

use crate::bug::{entry, guarded};
use crate::components::{Components, Places};
use crate::fast::parse;
use crate::quick;

/// The arguments of a usual call.
struct Call<'a, 'py> {
    /// One or two; of a method the first is the value.
    plain: &'a [Borrowed<'a, 'py, PyAny>],
    /// `keep=...`, the only one that comes by name in a usual call.
    keep: Option<Borrowed<'a, 'py, PyAny>>,
}

type Answer<'py> = PyResult<Option<Bound<'py, PyAny>>>;

/// `encode(text)`, `encode(text, component)`, either with `keep=""`
fn encode<'py>(call: &Call<'_, 'py>) -> Answer<'py> {
    let Some(data) = call.plain.first() else { return Ok(None) };
    let component = call.plain.get(1).map(|component| component.cast::<PyString>()).transpose()?;
    let component = component.as_ref().map_or(Ok("segment"), |component| component.to_str())?;
    if let Some(keep) = call.keep {
        if !keep.cast_exact::<PyString>()?.to_str()?.is_empty() {
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
fn decode<'py>(call: &Call<'_, 'py>) -> Answer<'py> {
    let ([data], None) = (call.plain, call.keep) else { return Ok(None) };
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

/// Whether the host is an IP-literal with a zone identifier.
fn zone(value: Parsed<'_>) -> bool {
    let host = value.spans.host().map_or(&[][..], |host| host.of(value.text));
    host.first() == Some(&b'[') && host.contains(&b'%')
}

/// A value that is US-ASCII and has no zone, as nearly all are.
fn usual<'a, 'py>(value: &Borrowed<'a, 'py, PyAny>) -> PyResult<Option<Borrowed<'a, 'py, Components>>> {
    let Ok(value) = value.cast::<Components>() else { return Ok(None) };
    Ok(ascii_value(&value)?.is_some_and(|parsed| !zone(parsed)).then_some(value))
}

/// A value that is US-ASCII.
fn ascii_value<'a>(value: &'a Borrowed<'_, '_, Components>) -> PyResult<Option<Parsed<'a>>> {
    let own = value.get();
    let Some(spans) = own.octet_spans() else { return Ok(None) };
    Ok(Some(Parsed { text: own.octets(value.py())?, spans }))
}

/// Do the work with a buffer that is used again: most of what is written is short.
fn with_buffer<T>(work: impl FnOnce(&mut Vec<u8>) -> T) -> T {
    const KEPT: usize = 1 << 12;
    thread_local! {
        static BUFFER: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
    }
    let mut buffer = BUFFER.take();
    buffer.clear();
    let found = work(&mut buffer);
    if buffer.capacity() <= KEPT {
        BUFFER.set(buffer);
    }
    found
}

/// A value of a class with a text, which a URI is, of these octets; its spans if they are known.
fn new_value<'py>(
    class: &Bound<'py, PyType>,
    text: Bound<'py, PyString>,
    octets: &[u8],
    spans: Option<Spans>,
) -> PyResult<Bound<'py, PyAny>> {
    if let Some((rule, false)) = quick::rule_of_class(class) {
        let known = spans.filter(|_| octets.len() < OMITTED as usize);
        let found = known.map_or_else(|| parse(octets, rule, false).ok(), Some);
        if let Some(spans) = found {
            let length = octets.len();
            let places = Places::Octets(spans);
            return quick::instance(class, Components { text: text.unbind(), places, length });
        }
    }
    class.call1((text,))
}

/// A text that a rule derives, without a zone.
fn read<'a>(text: &'a Borrowed<'_, '_, PyString>, rule: Rule) -> Option<(&'a [u8], Spans)> {
    let octets = quick::ascii(text)?;
    Some((octets, parse(octets, rule, false).ok()?))
}

/// What a fast path makes of a base with a scheme and of a text that the rule derives, or a value; it has the text too.
fn with_base<'py>(
    call: &Call<'_, 'py>,
    rule: Rule,
    answer: impl FnOnce(&Bound<'py, PyType>, Parsed<'_>, Parsed<'_>, &Bound<'py, PyString>) -> Answer<'py>,
) -> Answer<'py> {
    let ([base, other], None) = (call.plain, call.keep) else { return Ok(None) };
    let Some(base) = usual(base)? else { return Ok(None) };
    let Some(one) = ascii_value(&base)? else { return Ok(None) };
    if one.spans.scheme().is_none() {
        return Ok(None);
    }
    let class = base.get_type();
    if let Ok(text) = other.cast_exact::<PyString>() {
        let Some((octets, spans)) = read(&text, rule) else { return Ok(None) };
        answer(&class, one, Parsed { text: octets, spans: &spans }, &text)
    } else if let Some(other) = usual(other)? {
        let Some(two) = ascii_value(&other)? else { return Ok(None) };
        answer(&class, one, two, other.get().text.bind(other.py()))
    } else {
        Ok(None)
    }
}

/// `base.join(reference)`, of text or a value
fn join<'py>(call: &Call<'_, 'py>) -> Answer<'py> {
    with_base(call, Rule::UriReference, |class, base, reference, text| {
        // 5.2.2: of a reference with a scheme only dot-segments change.
        if reference.spans.scheme().is_some() && !may_have_dot_segments(reference.path()) {
            return new_value(class, text.clone(), reference.text, Some(*reference.spans)).map(Some);
        }
        with_buffer(|out| {
            let spans = resolve(base, reference, true, out);
            new_value(class, quick::text(class.py(), out)?, out, Some(spans)).map(Some)
        })
    })
}

/// `value.normalize()`, `value.normalize(rung)` of a generic rung
fn normal<'py>(call: &Call<'_, 'py>) -> Answer<'py> {
    let (value, rung) = match (call.plain, call.keep) {
        ([value], None) => (value, i64::from(SYNTAX)),
        ([value, rung], None) => (value, rung.extract()?),
        _ => return Ok(None),
    };
    let Some(value) = usual(value)? else { return Ok(None) };
    let Some(Parsed { text, spans }) = ascii_value(&value)? else { return Ok(None) };
    if !(0..=i64::from(SYNTAX)).contains(&rung) {
        return Ok(None);
    }
    let rung = rung as u8;
    if !may_change(text, spans, rung) {
        return Ok(Some((*value).clone().into_any()));
    }
    with_buffer(|out| {
        normalize(text, spans, rung, out);
        if out == text {
            return Ok(Some((*value).clone().into_any()));
        }
        new_value(&value.get_type(), quick::text(value.py(), out)?, out, None).map(Some)
    })
}

/// `relate(base, target)`, of texts
fn relative<'py>(call: &Call<'_, 'py>) -> Answer<'py> {
    let ([base, target], None) = (call.plain, call.keep) else { return Ok(None) };
    let (Ok(base), Ok(target)) = (base.cast_exact(), target.cast_exact()) else { return Ok(None) };
    let (Some((one, from)), Some((two, to))) = (read(&base, Rule::Uri), read(&target, Rule::Uri)) else {
        return Ok(None);
    };
    with_buffer(|out| {
        match relate(Parsed { text: one, spans: &from }, Parsed { text: two, spans: &to }, out) {
            Some(_) => Ok(Some(quick::text(base.py(), out)?.into_any())),
            None => Ok(None),
        }
    })
}

/// `base.relate(target)`, of text or a value
fn relative_value<'py>(call: &Call<'_, 'py>) -> Answer<'py> {
    with_base(call, Rule::Uri, |class, base, target, _| {
        with_buffer(|out| {
            let Some(spans) = relate(base, target, out) else { return Ok(None) };
            let (py, class) = (class.py(), kind(class.py(), false, false)?);
            new_value(class, quick::text(py, out)?, out, Some(spans)).map(Some)
        })
    })
}

/// The class of a URI or an IRI, or of a reference where there is no scheme.
fn kind(py: Python<'_>, is_iri: bool, has_scheme: bool) -> PyResult<&Bound<'_, PyType>> {
    type Kind = PyOnceLock<Py<PyType>>;
    static URI_REFERENCE: Kind = PyOnceLock::new();
    static URI: Kind = PyOnceLock::new();
    static IRI_REFERENCE: Kind = PyOnceLock::new();
    static IRI: Kind = PyOnceLock::new();
    match (is_iri, has_scheme) {
        (false, false) => URI_REFERENCE.import(py, "overthere.values.uri", "URIReference"),
        (false, true) => URI.import(py, "overthere.values.uri", "URI"),
        (true, false) => IRI_REFERENCE.import(py, "overthere.iri", "IRIReference"),
        (true, true) => IRI.import(py, "overthere.iri", "IRI"),
    }
}

/// `value.to_iri()`
fn to_iri<'py>(call: &Call<'_, 'py>) -> Answer<'py> {
    let ([value], None) = (call.plain, call.keep) else { return Ok(None) };
    let (py, Some(value)) = (value.py(), usual(value)?) else { return Ok(None) };
    let Some(Parsed { text, spans }) = ascii_value(&value)? else { return Ok(None) };
    with_buffer(|out| {
        iri::show(text, spans, out);
        kind(py, true, spans.scheme().is_some())?.call1((quick::text(py, out)?,)).map(Some)
    })
}

/// `value.to_uri()`
fn to_uri<'py>(call: &Call<'_, 'py>) -> Answer<'py> {
    let ([value], None) = (call.plain, call.keep) else { return Ok(None) };
    let (py, Ok(value)) = (value.py(), value.cast::<Components>()) else { return Ok(None) };
    let own = value.get();
    let text = own.text.bind(py);
    if memchr::memchr(b'[', own.octets(py)?).is_some() {
        return Ok(None); // where a zone may stand
    }
    let kind = kind(py, false, own.bounds(Component::Scheme).is_some())?;
    if own.octet_spans().is_some() {
        return kind.call1((text,)).map(Some);
    }
    with_buffer(|out| match iri::escape(text.to_str()?, out) {
        Some(_) => kind.call1((quick::text(py, out)?,)).map(Some),
        None => Ok(None),
    })
}

/// A function above: the answer to a usual call; None for another call.
type FastPath = for<'a, 'py> fn(&Call<'a, 'py>) -> Answer<'py>;

/// The answer of a fast path to the first argument and the others; null without an error if the function must answer.
///
/// # Safety
/// As of CPython's vectorcall protocol.
#[inline(always)]
unsafe fn call_fast_path(
    fast_path: FastPath,
    first: *mut PyObject,
    others: *const *mut PyObject,
    count: isize,
    names: *mut PyObject,
) -> *mut PyObject {
    if count > 1 {
        return std::ptr::null_mut();
    }
    // SAFETY: the caller's arguments live as long as the call, in which the interpreter is attached.
    unsafe {
        let py = Python::assume_attached();
        let first = Borrowed::from_ptr(py, first);
        let second = if count == 1 { Borrowed::from_ptr(py, *others) } else { first };
        let mut keep = None;
        if !names.is_null() {
            // CPython interns the names of arguments.
            let keeps = ffi::PyTuple_GET_ITEM(names, 0) == intern!(py, "keep").as_ptr();
            if ffi::PyTuple_GET_SIZE(names) != 1 || !keeps {
                return std::ptr::null_mut();
            }
            keep = Some(Borrowed::from_ptr(py, *others.offset(count)));
        }
        let plain = [first, second];
        let call = Call { plain: plain.part(..count as usize + 1), keep };
        match guarded(py, || fast_path(&call)) {
            Ok(Some(answer)) => answer.into_ptr(),
            // Errors of a usual call are the function's to report; only a bug of ours is reported here.
            Err(error) if error.is_instance_of::<PyRuntimeError>(py) => {
                error.restore(py);
                std::ptr::null_mut()
            }
            _ => std::ptr::null_mut(),
        }
    }
}

/// Call the function: the attribute `_<name>_by_steps` of the module or of the value.
#[cold]
unsafe fn call_function(
    holder: *mut PyObject,
    name: &str,
    arguments: *const *mut PyObject,
    count: isize,
    names: *mut PyObject,
) -> *mut PyObject {
    // SAFETY: the same as for `call_fast_path`; the function is kept while it is called.
    unsafe {
        let py = Python::assume_attached();
        entry(py, || {
            let function = Borrowed::from_ptr(py, holder).getattr(format!("_{name}_by_steps"))?;
            Ok(ffi::PyObject_Vectorcall(function.as_ptr(), arguments, count as usize, names))
        })
    }
}

/// What CPython calls: with the module and all arguments for a function, with the value and the others for a method.
macro_rules! fast_path {
    ($call:ident, $name:literal, $fast_path:expr, method: $method:literal) => {
        unsafe extern "C" fn $call(
            holder: *mut PyObject,
            arguments: *const *mut PyObject,
            count: isize,
            names: *mut PyObject,
        ) -> *mut PyObject {
            // SAFETY: CPython calls it by the protocol for METH_FASTCALL: so many arguments, and the interpreter attached.
            unsafe {
                let answer = if $method {
                    call_fast_path($fast_path, holder, arguments, count, names)
                } else if count > 0 {
                    call_fast_path($fast_path, *arguments, arguments.offset(1), count - 1, names)
                } else {
                    std::ptr::null_mut()
                };
                if !answer.is_null() || !ffi::PyErr_Occurred().is_null() {
                    return answer;
                }
                call_function(holder, $name, arguments, count, names)
            }
        }
    };
}

fast_path!(call_encode, "encode", encode, method: false);
fast_path!(call_decode, "decode", decode, method: false);
fast_path!(call_relate, "relate", relative, method: false);
fast_path!(call_join, "join", join, method: true);
fast_path!(call_normalize, "normalize", normal, method: true);
fast_path!(call_to_iri, "to_iri", to_iri, method: true);
fast_path!(call_to_uri, "to_uri", to_uri, method: true);
fast_path!(call_relate_value, "relate", relative_value, method: true);

/// A definition that lives as long as the process, as CPython wants it.
fn definition(name: &str, method: bool, documentation: &str) -> PyResult<*mut ffi::PyMethodDef> {
    let call = match (name, method) {
        ("encode", false) => call_encode,
        ("decode", false) => call_decode,
        ("relate", false) => call_relate,
        ("join", true) => call_join,
        ("normalize", true) => call_normalize,
        ("relate", true) => call_relate_value,
        ("to_iri", true) => call_to_iri,
        ("to_uri", true) => call_to_uri,
        _ => return Err(PyLookupError::new_err(format!("there is no fast path for {name}"))),
    };
    Ok(Box::into_raw(Box::new(ffi::PyMethodDef {
        ml_name: CString::new(name)?.into_raw(),
        ml_meth: ffi::PyMethodDefPointer { PyCFunctionFastWithKeywords: call },
        ml_flags: ffi::METH_FASTCALL | ffi::METH_KEYWORDS,
        ml_doc: CString::new(documentation)?.into_raw(),
    })))
}

/// A function of that name with a fast path, for a module or a class that has the function in Python.
#[pyfunction]
pub fn with_fast_path<'py>(
    holder: &Bound<'py, PyAny>,
    name: &str,
    documentation: &str,
) -> PyResult<Bound<'py, PyAny>> {
    guarded(holder.py(), || {
        let new = definition(name, holder.is_instance_of::<PyType>(), documentation)?;
        // SAFETY: the definition is whole and never freed.
        unsafe {
            let new = match holder.cast::<PyType>() {
                Ok(class) => ffi::PyDescr_NewMethod(class.as_type_ptr(), new),
                Err(_) => {
                    let module = holder.getattr(intern!(holder.py(), "__name__"))?;
                    ffi::PyCFunction_NewEx(new, holder.as_ptr(), module.as_ptr())
                }
            };
            Bound::from_owned_ptr_or_err(holder.py(), new)
        }
    })
}
