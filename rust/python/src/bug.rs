//! A panic is a mistake of ours: it comes out as an exception that says so.

use std::panic::{catch_unwind, AssertUnwindSafe};

use pyo3::intern;
use pyo3::prelude::*;

/// `overthere.errors.KernelBug`
#[cold]
pub fn bug(py: Python<'_>, what: &str) -> PyErr {
    let class = py.import(intern!(py, "overthere.errors")).and_then(|m| m.getattr(intern!(py, "KernelBug")));
    match class.and_then(|class| class.call1((what,))) {
        Ok(error) => PyErr::from_value(error),
        Err(error) => error,
    }
}

/// Do the work; a panic in it becomes a `KernelBug`.
pub fn guarded<T>(py: Python<'_>, work: impl FnOnce() -> PyResult<T>) -> PyResult<T> {
    caught(work).unwrap_or_else(|what| Err(bug(py, &what)))
}

/// Do the work; a panic in it becomes its message.  What it leaves half done is dropped with the answer.
pub fn caught<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|panic| {
        let what = panic.downcast_ref::<String>().map(String::as_str);
        what.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no message").to_owned()
    })
}

/// Panics, so that a test can see what becomes of it.
#[pyfunction]
#[pyo3(name = "_panic")]
pub fn panic_on_purpose(py: Python<'_>, what: String) -> PyResult<()> {
    guarded(py, || panic!("{what}"))
}
