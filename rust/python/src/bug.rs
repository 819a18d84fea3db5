//! A panic is a bug in this library: every entry from CPython catches it, and raises `KernelBug`.

use std::panic::{catch_unwind, AssertUnwindSafe};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, Ordering};

use pyo3::ffi::PyObject;
use pyo3::intern;
use pyo3::prelude::*;

use crate::finalizing::Inside;

/// The exception `overthere.ground.errors.KernelBug` with a message.
#[cold]
pub fn bug(py: Python<'_>, message: &str) -> PyErr {
    let class =
        py.import(intern!(py, "overthere.ground.errors")).and_then(|m| m.getattr(intern!(py, "KernelBug")));
    match class.and_then(|class| class.call1((message,))) {
        Ok(error) => PyErr::from_value(error),
        Err(error) => error,
    }
}

/// The message of `KernelBug`, for callers that need a message instead of an exception.
pub fn message_of(message: &str) -> String {
    format!("a bug in overthere's native kernel, please report it: {message}")
}

/// Do the work of an entry from CPython; a panic in it becomes a `KernelBug`.
#[inline(always)]
pub fn guarded<T>(py: Python<'_>, work: impl FnOnce() -> PyResult<T>) -> PyResult<T> {
    let _inside = Inside::enter(py);
    guarded_quick(py, work)
}

/// `guarded` for an entry that runs no Python code, in which the thread could wait for the GIL; it is not counted.
#[inline(always)]
pub fn guarded_quick<T>(py: Python<'_>, work: impl FnOnce() -> PyResult<T>) -> PyResult<T> {
    caught(work).unwrap_or_else(|message| Err(bug(py, &message)))
}

/// `guarded` for an entry that returns a raw pointer to CPython: null, with the exception set, on error.
#[inline(always)]
pub fn entry(py: Python<'_>, work: impl FnOnce() -> PyResult<*mut PyObject>) -> *mut PyObject {
    or_null(py, guarded(py, work))
}

/// `entry` for an entry that runs no Python code.
#[inline(always)]
pub fn entry_quick(py: Python<'_>, work: impl FnOnce() -> PyResult<*mut PyObject>) -> *mut PyObject {
    or_null(py, guarded_quick(py, work))
}

fn or_null(py: Python<'_>, result: PyResult<*mut PyObject>) -> *mut PyObject {
    result.unwrap_or_else(|error| {
        error.restore(py);
        null_mut()
    })
}

/// Do the work; a panic in it becomes an error with its message.  Unfinished state is dropped with the result.
#[inline(always)]
pub fn caught<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    let tripped = || {
        if IS_TRIPPED.load(Ordering::Relaxed) {
            trip();
        }
        work()
    };
    catch_unwind(AssertUnwindSafe(tripped)).map_err(|panic| {
        let message = panic.downcast_ref::<String>().map(String::as_str);
        message.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no message").to_owned()
    })
}

/// Whether every entry panics.
static IS_TRIPPED: AtomicBool = AtomicBool::new(false);

#[cold]
#[expect(clippy::panic, reason = "tests check that a panic is caught")]
fn trip() {
    panic!("a panic on purpose");
}

/// Let every entry but this one panic, or no longer: a test sees what becomes of it.
#[pyfunction]
#[pyo3(name = "_panic")]
pub fn panic_on_purpose(is_wanted: bool) {
    IS_TRIPPED.store(is_wanted, Ordering::Relaxed);
}
