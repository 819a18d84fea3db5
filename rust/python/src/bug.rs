//! A panic is a mistake of ours: at every entry from CPython it is caught, and comes out as an exception that says so.

use std::panic::{catch_unwind, AssertUnwindSafe};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, Ordering};

use pyo3::ffi::PyObject;
use pyo3::intern;
use pyo3::prelude::*;

use crate::finalizing::Inside;

/// `overthere.ground.errors.KernelBug`
#[cold]
pub fn bug(py: Python<'_>, what: &str) -> PyErr {
    let class =
        py.import(intern!(py, "overthere.ground.errors")).and_then(|m| m.getattr(intern!(py, "KernelBug")));
    match class.and_then(|class| class.call1((what,))) {
        Ok(error) => PyErr::from_value(error),
        Err(error) => error,
    }
}

/// What `KernelBug` says, where there is no exception but a message.
pub fn message_of(what: &str) -> String {
    format!("a bug in overthere's native kernel, please report it: {what}")
}

/// Do the work of an entry; a panic in it becomes a `KernelBug`.
#[inline(always)]
pub fn guarded<T>(py: Python<'_>, work: impl FnOnce() -> PyResult<T>) -> PyResult<T> {
    let _inside = Inside::enter(py);
    guarded_quick(py, work)
}

/// The same of an entry that runs no Python code, in which a thread could wait for the GIL; it is not counted.
#[inline(always)]
pub fn guarded_quick<T>(py: Python<'_>, work: impl FnOnce() -> PyResult<T>) -> PyResult<T> {
    caught(work).unwrap_or_else(|what| Err(bug(py, &what)))
}

/// The same of an entry that answers CPython itself: null, with the exception set, where there is one.
#[inline(always)]
pub fn entry(py: Python<'_>, work: impl FnOnce() -> PyResult<*mut PyObject>) -> *mut PyObject {
    or_null(py, guarded(py, work))
}

/// The same of an entry that runs no Python code.
#[inline(always)]
pub fn entry_quick(py: Python<'_>, work: impl FnOnce() -> PyResult<*mut PyObject>) -> *mut PyObject {
    or_null(py, guarded_quick(py, work))
}

fn or_null(py: Python<'_>, found: PyResult<*mut PyObject>) -> *mut PyObject {
    found.unwrap_or_else(|error| {
        error.restore(py);
        null_mut()
    })
}

/// Do the work; a panic in it becomes its message.  What it leaves half done is dropped with the answer.
#[inline(always)]
pub fn caught<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    let tripped = || {
        if IS_TRIPPED.load(Ordering::Relaxed) {
            trip();
        }
        work()
    };
    catch_unwind(AssertUnwindSafe(tripped)).map_err(|panic| {
        let what = panic.downcast_ref::<String>().map(String::as_str);
        what.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no message").to_owned()
    })
}

/// Whether every entry panics.
static IS_TRIPPED: AtomicBool = AtomicBool::new(false);

#[cold]
#[expect(clippy::panic, reason = "a test asks for it, to see what becomes of it")]
fn trip() {
    panic!("a panic on purpose");
}

/// Let every entry but this one panic, or no longer: a test sees what becomes of it.
#[pyfunction]
#[pyo3(name = "_panic")]
pub fn panic_on_purpose(is_wanted: bool) {
    IS_TRIPPED.store(is_wanted, Ordering::Relaxed);
}
