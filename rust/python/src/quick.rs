//! Shortcuts through CPython's full C API beyond its stable part: calls without an argument tuple, text without a
//! check.
//!
//! With the feature `abi3` only the stable part is used: one build for all versions, slower (see `docs/decisions.md`).

use pyo3::prelude::*;
use pyo3::types::{PyString, PyType};

use crate::components::{Components, SyntaxRule};

/// The text as an exact `str`: a subclass may override methods, hold other objects, and be part of a cycle.
#[inline]
pub fn exact<'py>(text: &Bound<'py, PyString>) -> PyResult<Bound<'py, PyString>> {
    if text.is_exact_instance_of::<PyString>() {
        return Ok(text.clone());
    }
    // SAFETY: CPython copies the content of a subclass, without calling its methods, or sets an error.
    unsafe {
        let copy = pyo3::ffi::PyUnicode_FromObject(text.as_ptr());
        Ok(Bound::from_owned_ptr_or_err(text.py(), copy)?.cast_into_unchecked())
    }
}

/// The truth of an argument, as `if` takes it: the flags of Python need not be `bool`.
pub fn truth(argument: &Bound<'_, PyAny>) -> PyResult<bool> {
    argument.is_truthy()
}

/// The bytes of a US-ASCII text, borrowed from it; None for another text, and if CPython does not expose them.
#[inline(always)]
pub fn ascii<'a>(text: &'a Bound<'_, PyString>) -> Option<&'a [u8]> {
    #[cfg(not(feature = "abi3"))]
    {
        use pyo3::ffi;
        // SAFETY: such a text stores a character in a byte; the bytes never change, and live as long as the text.
        unsafe {
            let object = text.as_ptr();
            // From 3.14 on the flags are private: only the width of a character is known, and Latin-1 has the same.
            #[cfg(not(Py_3_14))]
            let is_narrow = ffi::PyUnicode_IS_COMPACT_ASCII(object) != 0;
            #[cfg(Py_3_14)]
            let is_narrow = ffi::PyUnicode_KIND(object) == ffi::PyUnicode_1BYTE_KIND;
            if is_narrow {
                let length = ffi::PyUnicode_GET_LENGTH(object) as usize;
                let octets = std::slice::from_raw_parts(ffi::PyUnicode_1BYTE_DATA(object), length);
                return (cfg!(not(Py_3_14)) || octets.is_ascii()).then_some(octets);
            }
        }
    }
    let _ = text;
    None
}

/// UTF-8 as a `str`; US-ASCII, the usual case, is copied without decoding.
#[inline]
pub fn text<'py>(py: Python<'py>, octets: &[u8]) -> PyResult<Bound<'py, PyString>> {
    #[cfg(not(feature = "abi3"))]
    if octets.len() > 1 && octets.is_ascii() {
        use pyo3::ffi;
        // SAFETY: the new object has room for as many one-byte characters, nothing else refers to it yet, and all
        // characters are below 0x80, as promised to `PyUnicode_New`.
        unsafe {
            let new = ffi::PyUnicode_New(octets.len() as ffi::Py_ssize_t, 127);
            let object = Bound::from_owned_ptr_or_err(py, new)?;
            std::ptr::copy_nonoverlapping(octets.as_ptr(), ffi::PyUnicode_1BYTE_DATA(new), octets.len());
            return Ok(object.cast_into_unchecked());
        }
    }
    let characters = std::str::from_utf8(octets).map_err(|e| crate::bug::bug(py, &e.to_string()))?;
    Ok(PyString::new(py, characters))
}

/// The exception as if raised here: the exception that is being handled becomes its context.
pub fn raised(error: &Bound<'_, PyAny>) -> PyErr {
    // SAFETY: the interpreter is attached, and takes its own references to the exception and its class.
    unsafe { pyo3::ffi::PyErr_SetObject(error.get_type_ptr().cast(), error.as_ptr()) };
    PyErr::fetch(error.py())
}

#[cfg(feature = "abi3")]
mod values {
    use super::*;

    pub fn quicken(_: &Bound<'_, PyType>, _: SyntaxRule) {}

    pub fn rule_of_class(_: &Bound<'_, PyType>) -> Option<SyntaxRule> {
        None
    }

    pub fn instance<'py>(class: &Bound<'py, PyType>, value: Components) -> PyResult<Bound<'py, PyAny>> {
        class.call1((value.text,))
    }
}

#[cfg(not(feature = "abi3"))]
mod values {
    use super::*;

    use overthere_core::parse::Rule;
    use pyo3::ffi::{self, PyObject, PyTypeObject};
    use pyo3::impl_::pymethods::tp_new_impl;
    use pyo3::intern;
    use pyo3::{PyClassInitializer, PyTypeInfo};

    use crate::bug::guarded_quick;
    use crate::components::{refusal, Reading};

    /// Whether a call of the class currently only runs `Components.__new__`: `__new__` and `__init__` can be
    /// reassigned.
    #[inline]
    fn is_plain(py: Python<'_>, class: *mut PyTypeObject) -> bool {
        // SAFETY: both are types that the interpreter keeps alive.
        unsafe {
            let components = Components::type_object_raw(py);
            (*class).tp_new.map(|f| f as usize) == (*components).tp_new.map(|f| f as usize)
                && (*class).tp_init.map(|f| f as usize) == (*components).tp_init.map(|f| f as usize)
        }
    }

    /// `class(*arguments)` for each rule.
    macro_rules! calls {
        ($($call:ident, $rule:expr;)*) => {$(
            unsafe extern "C" fn $call(
                class: *mut PyObject,
                arguments: *const *mut PyObject,
                count: usize,
                names: *mut PyObject,
            ) -> *mut PyObject {
                // SAFETY: CPython calls it by its vectorcall protocol, as `call` requires.
                unsafe { call($rule, class, arguments, count, names) }
            }
        )*
            const CALLS: &[(ffi::vectorcallfunc, SyntaxRule)] = &[$(($call, $rule)),*];
        };
    }

    calls! {
        call_uri, (Rule::Uri, false);
        call_uri_reference, (Rule::UriReference, false);
        call_iri, (Rule::Uri, true);
        call_iri_reference, (Rule::UriReference, true);
    }

    /// `class(*arguments)`: a single `str` that the native parser can read becomes a value or is rejected here; all
    /// other calls go to `type.__call__`.
    ///
    /// # Safety
    /// As in CPython's vectorcall protocol, which this implements.
    #[inline(always)]
    unsafe fn call(
        rule: SyntaxRule,
        class: *mut PyObject,
        arguments: *const *mut PyObject,
        count: usize,
        names: *mut PyObject,
    ) -> *mut PyObject {
        // SAFETY: by the protocol the interpreter is attached, the class was passed to `quicken` and is a subclass of
        // `Components`, and `arguments` holds as many objects as `count` and `names` indicate during the call.
        unsafe {
            let py = Python::assume_attached();
            if ffi::PyVectorcall_NARGS(count) == 1 && names.is_null() && is_plain(py, class.cast()) {
                let text = Borrowed::from_ptr(py, *arguments);
                if let Ok(text) = text.cast_exact::<PyString>() {
                    let value = guarded_quick(py, || match Components::read(&text, rule, false) {
                        Reading::Derived(value) => new(py, value, class.cast()).map(Some),
                        Reading::NotDerived => Err(refusal(
                            &text,
                            &Bound::from_borrowed_ptr(py, class).getattr(intern!(py, "rule"))?,
                            false,
                        )),
                        Reading::Unread => Ok(None),
                    });
                    match value {
                        Ok(Some(new)) => return new,
                        Ok(None) => {}
                        Err(error) => {
                            error.restore(py);
                            return std::ptr::null_mut();
                        }
                    }
                }
            }
            by_type(class, arguments, ffi::PyVectorcall_NARGS(count), names)
        }
    }

    /// The memory layout of a value: CPython's object header, then `Components`.
    #[repr(C)]
    struct Object {
        base: PyObject,
        value: Components,
    }

    /// Whether objects of the class have exactly the layout `Object`.
    unsafe fn is_bare(class: *mut PyTypeObject) -> bool {
        // SAFETY: a type, as in `is_plain`.
        unsafe {
            (*class).tp_basicsize == size_of::<Object>() as ffi::Py_ssize_t
                && (*class).tp_dictoffset == 0
                && (*class).tp_weaklistoffset == 0
                && ffi::PyType_HasFeature(class, ffi::Py_TPFLAGS_HAVE_GC) != 0
        }
    }

    /// A new object of the class.
    ///
    /// # Safety
    /// The class is a subclass of `Components`.
    unsafe fn new(py: Python<'_>, value: Components, class: *mut PyTypeObject) -> PyResult<*mut PyObject> {
        // SAFETY: a subclass of `Components` can hold one.  If it adds no fields, its layout is `Object`, which is
        // written completely here; nothing else refers to the new object yet.
        unsafe {
            if !is_bare(class) {
                return tp_new_impl::<_, Components>(py, PyClassInitializer::from(value), class);
            }
            // It refers only to a text, so the garbage collector need not track it.
            let new = ffi::PyObject_GC_New::<Object>(class);
            if new.is_null() {
                return Err(PyErr::fetch(py));
            }
            (&raw mut (*new).value).write(value);
            Ok(new.cast())
        }
    }

    /// Deallocate a value: release the text, the memory and the class.
    unsafe extern "C" fn deallocate(object: *mut PyObject) {
        // SAFETY: CPython calls it when nothing refers to the object any more.  `quicken` set it for the object's
        // class, or for a base class, in which case `subtype_dealloc` has cleared everything beyond `Object`; it leaves
        // the reference to the class to us, as for every class created at run time.
        unsafe {
            let class = ffi::Py_TYPE(object);
            let is_direct =
                (*class).tp_dealloc.is_some_and(|f| std::ptr::fn_addr_eq(f, deallocate as ffi::destructor));
            // `__del__` can be assigned to a class at any time, and can keep the object alive.
            if is_direct
                && (*class).tp_finalize.is_some()
                && ffi::PyObject_CallFinalizerFromDealloc(object) < 0
            {
                return;
            }
            ffi::PyObject_GC_UnTrack(object.cast());
            ffi::Py_DECREF((*object.cast::<Object>()).value.text.as_ptr());
            if let Some(free) = (*class).tp_free {
                free(object.cast());
            }
            ffi::Py_DECREF(class.cast());
        }
    }

    /// Call a class as CPython does without vectorcall.
    ///
    /// # Safety
    /// As for `call`.
    #[cold]
    unsafe fn by_type(
        class: *mut PyObject,
        arguments: *const *mut PyObject,
        count: ffi::Py_ssize_t,
        names: *mut PyObject,
    ) -> *mut PyObject {
        // SAFETY: as for `call`; every object that is created here is passed on or released.
        unsafe {
            let positional = ffi::PyTuple_New(count);
            if positional.is_null() {
                return positional;
            }
            for i in 0..count {
                ffi::PyTuple_SetItem(positional, i, ffi::Py_NewRef(*arguments.offset(i)));
            }
            let named = if names.is_null() { names } else { ffi::PyDict_New() };
            let mut is_complete = names.is_null() || !named.is_null();
            if is_complete && !named.is_null() {
                for i in 0..ffi::PyTuple_Size(names) {
                    let value = *arguments.offset(count + i);
                    is_complete &= ffi::PyDict_SetItem(named, ffi::PyTuple_GetItem(names, i), value) == 0;
                }
            }
            let result = match (*ffi::Py_TYPE(class)).tp_call {
                Some(call) if is_complete => call(class, positional, named),
                _ => std::ptr::null_mut(),
            };
            ffi::Py_DECREF(positional);
            ffi::Py_XDECREF(named);
            result
        }
    }

    /// Install fast calls without an argument tuple, and fast deallocation.  CPython never lets a subclass inherit
    /// this.
    pub fn quicken(class: &Bound<'_, PyType>, rule: SyntaxRule) {
        let call = CALLS.iter().find(|(_, known)| *known == rule).map(|(call, _)| *call);
        let raw = class.as_type_ptr();
        // SAFETY: the class is being created (`__init_subclass__`), so nothing calls it yet, and it has no objects.
        unsafe {
            (*raw).tp_vectorcall = call;
            if is_bare(raw) {
                (*raw).tp_dealloc = Some(deallocate);
            }
        }
    }

    /// The rule of a class whose calls are still those that `quicken` installed; None for other classes.
    #[inline]
    pub fn rule_of_class(class: &Bound<'_, PyType>) -> Option<SyntaxRule> {
        let raw = class.as_type_ptr();
        if !is_plain(class.py(), raw) {
            return None;
        }
        // SAFETY: a type, as in `is_plain`.
        let call = unsafe { (*raw).tp_vectorcall }? as usize;
        CALLS.iter().find(|(known, _)| *known as usize == call).map(|(_, rule)| *rule)
    }

    /// A value of a class for which `rule_of_class` returns a rule.
    pub fn instance<'py>(class: &Bound<'py, PyType>, value: Components) -> PyResult<Bound<'py, PyAny>> {
        let py = class.py();
        // SAFETY: the class is a subclass of `Components`, because `quicken` was called with no other; the object is
        // new.
        unsafe { Ok(Bound::from_owned_ptr(py, new(py, value, class.as_type_ptr())?)) }
    }
}

pub use values::{instance, quicken, rule_of_class};
