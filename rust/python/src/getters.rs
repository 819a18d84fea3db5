//! The components of a value, as CPython reads them: attributes without a layer between, for most reads find a few
//! octets or None.

use std::ffi::{c_void, CStr};
use std::ptr::null_mut;

use pyo3::ffi::{self, PyObject};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyType;

use crate::components::{Components, Place};

/// A part of the text, or None.
///
/// # Safety
/// The interpreter is attached.
#[inline(always)]
unsafe fn part(py: Python<'_>, value: &Components, place: Place) -> *mut PyObject {
    // SAFETY: as the caller says; the text is alive, for the value is, and where it is not sliced here CPython looks
    // whether the place is in it.  What is new has room for as many characters of one byte, all of them below 0x80.
    unsafe {
        match place {
            None => ffi::Py_NewRef(ffi::Py_None()),
            // Of one character and of none CPython has what it gives.
            #[cfg(not(feature = "abi3"))]
            Some((start, end)) if value.ascii && end > start + 1 => {
                let Some(part) = value.octets(py).ok().and_then(|text| text.get(start..end)) else {
                    return null_mut();
                };
                let new = ffi::PyUnicode_New(part.len() as ffi::Py_ssize_t, 127);
                if !new.is_null() {
                    std::ptr::copy_nonoverlapping(part.as_ptr(), ffi::PyUnicode_1BYTE_DATA(new), part.len());
                }
                new
            }
            Some((start, end)) => ffi::PyUnicode_Substring(
                value.text.as_ptr(),
                start as ffi::Py_ssize_t,
                end as ffi::Py_ssize_t,
            ),
        }
    }
}

/// The scheme: most are one of two, and need no new text.
///
/// # Safety
/// The interpreter is attached.
#[inline(always)]
unsafe fn scheme(py: Python<'_>, value: &Components) -> *mut PyObject {
    let known = match value.spans.scheme_end {
        4 | 5 => match value.octets(py).unwrap_or_default() {
            [b'h', b't', b't', b'p', b's', b':', ..] => Some(intern!(py, "https")),
            [b'h', b't', b't', b'p', b':', ..] => Some(intern!(py, "http")),
            _ => None,
        },
        _ => None,
    };
    match known {
        Some(text) => text.clone().into_ptr().cast(),
        // SAFETY: as the caller says.
        None => unsafe { part(py, value, value.spans.scheme()) },
    }
}

/// The port as a number of up to 18 digits, or None.
///
/// # Safety
/// The interpreter is attached.
unsafe fn number(py: Python<'_>, value: &Components) -> *mut PyObject {
    let digits = value.spans.port().and_then(|(start, end)| {
        let text = value.part(py, Some((start, end))).ok()?;
        let digits = text.trim_start_matches('0');
        if text.is_empty() || digits.len() > 18 {
            None
        } else {
            Some(digits)
        }
    });
    // SAFETY: as the caller says.
    unsafe {
        match digits {
            None => ffi::Py_NewRef(ffi::Py_None()),
            Some(digits) => ffi::PyLong_FromUnsignedLongLong(digits.parse().unwrap_or(0)),
        }
    }
}

/// Getters, and what makes their attributes.
macro_rules! getters {
    ($($name:ident, $text:literal, $documentation:literal, |$py:ident, $value:ident| $read:expr;)*) => {
        $(
            unsafe extern "C" fn $name(object: *mut PyObject, _: *mut c_void) -> *mut PyObject {
                // SAFETY: CPython calls it for a value of the class that has the attribute, and is attached.
                unsafe {
                    let $py = Python::assume_attached();
                    let object = Borrowed::from_ptr($py, object);
                    let $value = object.cast_unchecked::<Components>().get();
                    $read
                }
            }
        )*

        const GETTERS: &[(&CStr, &CStr, ffi::getter)] = &[$(($text, $documentation, $name)),*];
    };
}

getters! {
    get_scheme, c"scheme", c"The scheme as written (RFC 3986 3.1), or None.", |py, v| scheme(py, v);
    get_authority, c"authority", c"The authority (3.2) without its \"//\", or None.", |py, v| part(py, v, v.spans.authority());
    get_userinfo, c"userinfo", c"The userinfo (3.2.1) without its \"@\", or None.", |py, v| part(py, v, v.spans.userinfo());
    get_host, c"host", c"The host (3.2.2), brackets included; None without an authority, \"\" if it is empty.",
        |py, v| part(py, v, v.spans.host());
    get_port_text, c"port_text", c"The port's digits as written (3.2.3), \"\" after a bare colon, or None.",
        |py, v| part(py, v, v.spans.port());
    get_path, c"path", c"The path (3.3); it is always defined, and may be empty.", |py, v| part(py, v, Some(v.spans.path()));
    get_query, c"query", c"The query (3.4) without its \"?\", or None.", |py, v| part(py, v, v.spans.query());
    get_fragment, c"fragment", c"The fragment (3.5) without its \"#\", or None.",
        |py, v| part(py, v, v.spans.fragment(v.length));
    get_port, c"port", c"The port as a number; None if undefined, empty or of more than 18 digits.",
        |py, v| number(py, v);
}

/// Give a class its attributes: `Components`, and those below that are asked most, for CPython then need not look
/// whether a value's class is one below.
pub fn install(class: &Bound<'_, PyType>) -> PyResult<()> {
    let py = class.py();
    for (name, documentation, get) in GETTERS {
        // What CPython keeps for as long as the process lives.
        let own = Box::leak(Box::new(ffi::PyGetSetDef {
            name: name.as_ptr(),
            get: Some(*get),
            set: None,
            doc: documentation.as_ptr(),
            closure: null_mut(),
        }));
        // SAFETY: the definition is whole and never freed, and the getter takes values of this class, which is
        // `Components` or below.
        let attribute =
            unsafe { Bound::from_owned_ptr_or_err(py, ffi::PyDescr_NewGetSet(class.as_type_ptr(), own))? };
        class.setattr(name.to_string_lossy(), attribute)?;
    }
    Ok(())
}
