//! Fast paths of functions, methods and properties: usual calls are answered here, all others by the function in
//! Python.
//!
//! `overthere.kernel.native` creates them; name, signature and docstring are those of the function.

mod conversions;
mod domains;
mod edits;
mod ladder;
mod pairs;
mod reads;
mod schemes;
mod values;

use std::ffi::{c_void, CString};
use std::ptr::null_mut;

use pyo3::exceptions::{PyLookupError, PyRuntimeError};
use pyo3::ffi::{self, PyObject};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyTuple, PyType};

use crate::bug::{entry, guarded, guarded_quick};

/// The arguments of a call.
pub(crate) struct Call<'a, 'py> {
    /// The positional arguments; the first is the value in a method, and the class in a class method.
    plain: &'a [Borrowed<'a, 'py, PyAny>],
    names: Option<Borrowed<'a, 'py, PyTuple>>,
    /// The arguments by name, one for each of `names`.
    named: &'a [Borrowed<'a, 'py, PyAny>],
}

impl<'a, 'py> Call<'a, 'py> {
    /// The arguments of a call if all are positional; otherwise none.
    fn unnamed(&self) -> &'a [Borrowed<'a, 'py, PyAny>] {
        if self.names.is_none() {
            self.plain
        } else {
            &[]
        }
    }

    /// The arguments by name, each with its name, which CPython interns.
    fn named(&self) -> impl Iterator<Item = (*mut PyObject, &'a Bound<'py, PyAny>)> + use<'_, 'a, 'py> {
        self.named.iter().enumerate().filter_map(|(i, value)| {
            let names = self.names?.as_ptr();
            // SAFETY: the tuple has a name for each of the values, and lives as long as they do.
            Some((unsafe { ffi::PyTuple_GET_ITEM(names, i as ffi::Py_ssize_t) }, &**value))
        })
    }
}

/// The answer of a fast path; None if the function in Python must answer.
pub(crate) type Answer<'py> = PyResult<Option<Bound<'py, PyAny>>>;

type FastPath = for<'a, 'py> fn(&Call<'a, 'py>) -> Answer<'py>;

/// The kind of a name in Python.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Function,
    Method,
    ClassMethod,
    Property,
}

/// Answer a call by a fast path; return null without an error if the function in Python must answer.
///
/// # Safety
/// The interpreter is attached, and there are as many arguments as `count` and `names` indicate, by the protocol of
/// METH_FASTCALL.
#[inline(always)]
unsafe fn call_fast_path(
    fast_path: FastPath,
    holder: Option<*mut PyObject>,
    arguments: *const *mut PyObject,
    count: isize,
    names: *mut PyObject,
) -> *mut PyObject {
    const MAX_ARGUMENTS: usize = 8;
    if count >= MAX_ARGUMENTS as isize {
        return null_mut();
    }
    // SAFETY: the arguments live as long as the call; a `Borrowed` is the pointer to its object.
    unsafe {
        let py = Python::assume_attached();
        let positional: &[Borrowed<'_, '_, PyAny>] = slice_of(arguments, count);
        let mut storage = [Borrowed::from_ptr(py, ffi::Py_None()); MAX_ARGUMENTS];
        let plain = match holder {
            None => positional,
            Some(holder) => {
                for (place, value) in storage
                    .iter_mut()
                    .zip(std::iter::once(Borrowed::from_ptr(py, holder)).chain(positional.iter().copied()))
                {
                    *place = value;
                }
                storage.get(..positional.len() + 1).unwrap_or_default()
            }
        };
        let (names, named) = if names.is_null() {
            (None, &[][..])
        } else {
            let names = Borrowed::from_ptr(py, names).cast_unchecked::<PyTuple>();
            let number = ffi::PyTuple_GET_SIZE(names.as_ptr());
            (Some(names), slice_of(arguments.offset(count), number))
        };
        match guarded_quick(py, || fast_path(&Call { plain, names, named })) {
            Ok(Some(answer)) => answer.into_ptr(),
            // The function in Python reports errors of usual calls; only a bug of this library is reported here.
            Err(error) if error.is_instance_of::<PyRuntimeError>(py) => {
                error.restore(py);
                null_mut()
            }
            _ => null_mut(),
        }
    }
}

/// The objects from a pointer on.
///
/// # Safety
/// There are `count` objects, none of them null, while the slice lives.
unsafe fn slice_of<'a, 'py>(first: *const *mut PyObject, count: isize) -> &'a [Borrowed<'a, 'py, PyAny>] {
    if count <= 0 || first.is_null() {
        return &[];
    }
    // SAFETY: by the caller's promise; a `Borrowed` is the pointer to its object.
    unsafe { std::slice::from_raw_parts(first.cast(), count as usize) }
}

/// Call the function in Python: the attribute `_<name>_by_steps` of the module, of the class or of the value.
#[cold]
unsafe fn call_function(
    holder: *mut PyObject,
    name: &str,
    arguments: *const *mut PyObject,
    count: isize,
    names: *mut PyObject,
) -> *mut PyObject {
    // SAFETY: the same as for `call_fast_path`; the function is kept alive during the call.
    unsafe {
        let py = Python::assume_attached();
        entry(py, || {
            let function = Borrowed::from_ptr(py, holder).getattr(format!("_{name}_by_steps"))?;
            Ok(ffi::PyObject_Vectorcall(function.as_ptr(), arguments, count as usize, names))
        })
    }
}

/// The functions for CPython under a name: `call` for a function or method, `get` for a property.
struct Entry {
    name: &'static str,
    kind: Kind,
    call: ffi::PyCFunctionFastWithKeywords,
    get: ffi::getter,
}

/// The table of all fast paths, and the functions that CPython calls.
macro_rules! fast_paths {
    ($($module:ident: $name:literal, $kind:ident, $fast_path:expr;)*) => {
        $(mod $module {
            use super::*;

            pub unsafe extern "C" fn call(
                holder: *mut PyObject,
                arguments: *const *mut PyObject,
                count: isize,
                names: *mut PyObject,
            ) -> *mut PyObject {
                // SAFETY: CPython calls it by the protocol for METH_FASTCALL: with this many arguments, and the
                // interpreter attached.
                unsafe {
                    let first = (Kind::$kind != Kind::Function).then_some(holder);
                    let answer = call_fast_path($fast_path, first, arguments, count, names);
                    if !answer.is_null() || !ffi::PyErr_Occurred().is_null() {
                        return answer;
                    }
                    call_function(holder, $name, arguments, count, names)
                }
            }

            pub unsafe extern "C" fn get(value: *mut PyObject, _: *mut c_void) -> *mut PyObject {
                // SAFETY: CPython calls it with a value of the class, with the interpreter attached.
                unsafe { call(value, std::ptr::null(), 0, null_mut()) }
            }
        })*

        const FAST_PATHS: &[Entry] =
            &[$(Entry { name: $name, kind: Kind::$kind, call: $module::call, get: $module::get }),*];
    };
}

fast_paths! {
    call_encode: "encode", Function, conversions::encode;
    call_decode: "decode", Function, conversions::decode;
    call_relate: "relate", Function, conversions::relative;
    call_lowest_rung: "lowest_rung", Function, ladder::lowest_rung;
    join: "join", Method, conversions::join;
    normalize: "normalize", Method, ladder::normal;
    equivalent: "equivalent", Method, ladder::equivalent;
    same_document: "same_document", Method, ladder::same_document;
    relate: "relate", Method, conversions::relative_value;
    to_iri: "to_iri", Method, conversions::to_iri;
    to_uri: "to_uri", Method, conversions::to_uri;
    replace: "replace", Method, edits::replace;
    build: "build", ClassMethod, edits::build;
    append: "append", Method, edits::append;
    truediv: "__truediv__", Method, edits::divide;
    with_name: "with_name", Method, edits::with_name;
    with_suffix: "with_suffix", Method, edits::with_suffix;
    with_segments: "with_segments", Method, edits::with_segments;
    parent: "parent", Property, edits::parent;
    with_parameters: "with_parameters", Method, pairs::with_parameters;
    add_parameters: "add_parameters", Method, pairs::add_parameters;
    without_parameters: "without_parameters", Method, pairs::without_parameters;
    sort_parameters: "sort_parameters", Method, pairs::sort_parameters;
    parameters: "parameters", Property, pairs::parameters;
    get: "get", Method, pairs::get;
    get_item: "__getitem__", Method, pairs::get_item;
    all: "all", Method, pairs::all;
    contains: "__contains__", Method, pairs::contains;
    iterate: "__iter__", Method, pairs::iter;
    segments: "segments", Property, reads::segments;
    name: "name", Property, reads::name;
    suffix: "suffix", Property, reads::suffix;
    decoded: "decoded", Method, reads::decoded;
    decoded_bytes: "decoded_bytes", Method, reads::decoded_bytes;
    user: "user", Property, reads::user;
    password: "password", Property, reads::password;
    effective_port: "effective_port", Property, schemes::effective_port;
    origin: "origin", Property, schemes::origin;
    public_suffix: "public_suffix", Property, domains::public_suffix;
    registrable_domain: "registrable_domain", Property, domains::registrable_domain;
    subdomain: "subdomain", Property, domains::subdomain;
    redacted: "redacted", Method, reads::redacted;
    repr: "__repr__", Method, reads::repr;
}

/// A function of that name with a fast path, for a module or a class that has the function in Python.
///
/// kind: "Function", "Method", "ClassMethod" or "Property".
#[pyfunction]
pub fn with_fast_path<'py>(
    holder: &Bound<'py, PyAny>,
    name: &str,
    kind: &str,
    documentation: &str,
) -> PyResult<Bound<'py, PyAny>> {
    guarded(holder.py(), || {
        let kind = match kind {
            "Function" => Kind::Function,
            "ClassMethod" => Kind::ClassMethod,
            "Property" => Kind::Property,
            _ => Kind::Method,
        };
        let Some(entry) = FAST_PATHS.iter().find(|entry| (entry.name, entry.kind) == (name, kind)) else {
            return Err(PyLookupError::new_err(format!("there is no fast path for {name}")));
        };
        // SAFETY: definitions are complete and never freed; those of a class receive its values.
        unsafe {
            let class = holder.cast::<PyType>().map(|class| class.as_type_ptr());
            let new = match (kind, class) {
                (Kind::Property, Ok(class)) => ffi::PyDescr_NewGetSet(class, property(entry, documentation)?),
                (Kind::ClassMethod, Ok(class)) => {
                    ffi::PyDescr_NewClassMethod(class, method(entry, documentation)?)
                }
                (Kind::Method, Ok(class)) => ffi::PyDescr_NewMethod(class, method(entry, documentation)?),
                _ => {
                    let module = holder.getattr(intern!(holder.py(), "__name__"))?;
                    ffi::PyCFunction_NewEx(method(entry, documentation)?, holder.as_ptr(), module.as_ptr())
                }
            };
            Bound::from_owned_ptr_or_err(holder.py(), new)
        }
    })
}

/// The definition of a method, which lives as long as the process, as CPython requires.
fn method(entry: &Entry, documentation: &str) -> PyResult<*mut ffi::PyMethodDef> {
    Ok(Box::into_raw(Box::new(ffi::PyMethodDef {
        ml_name: CString::new(entry.name)?.into_raw(),
        ml_meth: ffi::PyMethodDefPointer { PyCFunctionFastWithKeywords: entry.call },
        ml_flags: ffi::METH_FASTCALL | ffi::METH_KEYWORDS,
        ml_doc: CString::new(documentation)?.into_raw(),
    })))
}

/// The definition of a property, which lives as long as the process.
fn property(entry: &Entry, documentation: &str) -> PyResult<*mut ffi::PyGetSetDef> {
    Ok(Box::into_raw(Box::new(ffi::PyGetSetDef {
        name: CString::new(entry.name)?.into_raw(),
        get: Some(entry.get),
        set: None,
        doc: CString::new(documentation)?.into_raw(),
        closure: null_mut(),
    })))
}
