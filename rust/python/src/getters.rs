//! The components of a value as direct attributes for CPython: most reads return a few bytes or None, so a layer
//! between would dominate the cost.

use std::ffi::{c_void, CStr};
use std::ptr::null_mut;

use pyo3::ffi::{self, PyObject};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyType;

use overthere_core::place::{Component, Span};

use crate::bug::entry_quick;
use crate::components::{Components, Places};

/// A component as `str`, or None; null, with an exception set, if CPython has no memory.
///
/// # Safety
/// The interpreter is attached.
#[inline(always)]
unsafe fn part(py: Python<'_>, value: &Components, component: Component) -> PyResult<*mut PyObject> {
    let (start, end) = match &value.places {
        Places::Octets(spans) => match spans.get(component, value.length) {
            // CPython has shared objects for texts of at most one character.
            #[cfg(not(feature = "abi3"))]
            Some(span) if span.end > span.start + 1 => {
                let part = span.of(value.octets(py)?);
                // SAFETY: by the caller's promise; the new object has room for as many one-byte characters, and all are
                // below 0x80.
                return Ok(unsafe {
                    let new = ffi::PyUnicode_New(part.len() as ffi::Py_ssize_t, 127);
                    if !new.is_null() {
                        std::ptr::copy_nonoverlapping(
                            part.as_ptr(),
                            ffi::PyUnicode_1BYTE_DATA(new),
                            part.len(),
                        );
                    }
                    new
                });
            }
            Some(Span { start, end, .. }) => (start, end),
            None => return Ok(py.None().into_ptr()),
        },
        Places::Characters(spans) => match spans.get(component, value.length) {
            Some(Span { start, end, .. }) => (start, end),
            None => return Ok(py.None().into_ptr()),
        },
    };
    // SAFETY: by the caller's promise; the value keeps the text alive, and CPython checks the range.  Places are in
    // characters, or in octets of US-ASCII, which is the same.
    Ok(unsafe {
        ffi::PyUnicode_Substring(value.text.as_ptr(), start as ffi::Py_ssize_t, end as ffi::Py_ssize_t)
    })
}

/// The scheme: "http" and "https", the most common, need no new text.
///
/// # Safety
/// The interpreter is attached.
#[inline(always)]
unsafe fn scheme(py: Python<'_>, value: &Components) -> PyResult<*mut PyObject> {
    if let Places::Octets(spans) = &value.places {
        let shared = match spans.scheme() {
            Some(span) if span.end == 4 || span.end == 5 => match value.octets(py)? {
                [b'h', b't', b't', b'p', b's', b':', ..] => Some(intern!(py, "https")),
                [b'h', b't', b't', b'p', b':', ..] => Some(intern!(py, "http")),
                _ => None,
            },
            _ => None,
        };
        if let Some(text) = shared {
            return Ok(text.clone().into_ptr());
        }
    }
    // SAFETY: by the caller's promise.
    unsafe { part(py, value, Component::Scheme) }
}

/// The port as a number, or None if it is undefined, empty, or has more than 18 digits.
///
/// # Safety
/// The interpreter is attached.
unsafe fn number(py: Python<'_>, value: &Components) -> PyResult<*mut PyObject> {
    let number = match &value.places {
        Places::Octets(spans) => match spans.port() {
            Some(span) => digits(span.of(value.octets(py)?)),
            None => None,
        },
        Places::Characters(_) => match value.slice(py, Component::Port)? {
            Some(text) => digits(text.to_str()?.as_bytes()),
            None => None,
        },
    };
    Ok(match number {
        None => py.None().into_ptr(),
        // SAFETY: by the caller's promise.
        Some(number) => unsafe { ffi::PyLong_FromUnsignedLongLong(number) },
    })
}

/// The value of digits; None if there are none, or more than 18 after leading zeros.
pub(crate) fn digits(text: &[u8]) -> Option<u64> {
    let zeros = text.iter().take_while(|&&digit| digit == b'0').count();
    if text.is_empty() || text.len() - zeros > 18 {
        return None;
    }
    Some(text.iter().fold(0, |number, digit| 10 * number + u64::from(digit.wrapping_sub(b'0'))))
}

/// Defines getter functions, and the table of their attributes.
macro_rules! getters {
    ($($name:ident, $text:literal, $documentation:literal, |$py:ident, $value:ident| $read:expr;)*) => {
        $(
            unsafe extern "C" fn $name(object: *mut PyObject, _: *mut c_void) -> *mut PyObject {
                // SAFETY: CPython calls it with a value of the class that has the attribute, with the interpreter
                // attached.
                unsafe {
                    let $py = Python::assume_attached();
                    entry_quick($py, || {
                        let object = Borrowed::from_ptr($py, object);
                        let $value = object.cast_unchecked::<Components>().get();
                        $read
                    })
                }
            }
        )*

        const GETTERS: &[(&CStr, &CStr, ffi::getter)] = &[$(($text, $documentation, $name)),*];
    };
}

getters! {
    get_scheme, c"scheme", c"The scheme as written (RFC 3986 3.1), or None.", |py, v| scheme(py, v);
    get_authority, c"authority", c"The authority (3.2) without its \"//\", or None.",
        |py, v| part(py, v, Component::Authority);
    get_userinfo, c"userinfo", c"The userinfo (3.2.1) without its \"@\", or None.",
        |py, v| part(py, v, Component::Userinfo);
    get_host, c"host", c"The host (3.2.2), brackets included; None without an authority, \"\" if it is empty.",
        |py, v| part(py, v, Component::Host);
    get_port_text, c"port_text", c"The port's digits as written (3.2.3), \"\" after a bare colon, or None.",
        |py, v| part(py, v, Component::Port);
    get_path, c"path", c"The path (3.3); it is always defined, and may be empty.",
        |py, v| part(py, v, Component::Path);
    get_query, c"query", c"The query (3.4) without its \"?\", or None.", |py, v| part(py, v, Component::Query);
    get_fragment, c"fragment", c"The fragment (3.5) without its \"#\", or None.",
        |py, v| part(py, v, Component::Fragment);
    get_port, c"port", c"The port as a number; None if undefined, empty or of more than 18 digits.",
        |py, v| number(py, v);
}

/// Give a class the attributes: `Components`, and its most used subclasses, so that CPython need not check whether a
/// value's class is a subclass.
pub fn install(class: &Bound<'_, PyType>) -> PyResult<()> {
    let py = class.py();
    for (name, documentation, get) in GETTERS {
        // CPython keeps the definition as long as the process lives.
        let definition = Box::leak(Box::new(ffi::PyGetSetDef {
            name: name.as_ptr(),
            get: Some(*get),
            set: None,
            doc: documentation.as_ptr(),
            closure: null_mut(),
        }));
        // SAFETY: the definition is complete and never freed, and the getter takes values of this class, which is
        // `Components` or a subclass.
        let attribute = unsafe {
            Bound::from_owned_ptr_or_err(py, ffi::PyDescr_NewGetSet(class.as_type_ptr(), definition))?
        };
        class.setattr(name.to_string_lossy(), attribute)?;
    }
    Ok(())
}
