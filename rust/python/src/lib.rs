//! The Python bindings: `overthere._native`.  The implementation of RFC 3986 is in `overthere-core`.

#![deny(clippy::undocumented_unsafe_blocks)]

mod arrow;
mod automaton;
mod bug;
mod canonical;
mod columns;
mod components;
mod fast;
#[cfg(not(feature = "abi3"))]
mod fast_path;
mod finalizing;
mod getters;
mod gzip;
mod links;
mod quick;
mod quoting;
mod text;
mod threads;
#[cfg(not(feature = "abi3"))]
mod trigger;

use pyo3::exceptions::PyImportError;
use pyo3::ffi;
use pyo3::prelude::*;

/// The fast kernel of overthere.
#[pymodule(gil_used = false)]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    require_main_interpreter()?;
    finalizing::install(module.py())?;

    module.add_class::<arrow::ArrowArray>()?;
    module.add_class::<arrow::ArrowChunks>()?;
    module.add_class::<arrow::ArrowRows>()?;
    module.add_class::<arrow::ArrowStream>()?;
    module.add_class::<automaton::Automaton>()?;
    module.add_class::<canonical::CanonicalForm>()?;
    module.add_class::<columns::Suffixes>()?;
    module.add_class::<components::Components>()?;
    getters::install(&module.py().get_type::<components::Components>())?;
    module.add_class::<links::pages::Keys>()?;
    module.add_class::<links::pages::Pages>()?;
    module.add_class::<links::LinkArrow>()?;
    module.add_class::<links::LinkBatch>()?;
    module.add_class::<links::LinkParquet>()?;
    module.add_class::<links::LinkRows>()?;
    #[cfg(not(feature = "abi3"))]
    module.add_class::<trigger::Trigger>()?;

    module.add_function(wrap_pyfunction!(bug::panic_on_purpose, module)?)?;
    module.add_function(wrap_pyfunction!(columns::column_check, module)?)?;
    module.add_function(wrap_pyfunction!(columns::column_domain, module)?)?;
    module.add_function(wrap_pyfunction!(columns::column_parts, module)?)?;
    module.add_function(wrap_pyfunction!(columns::column_text, module)?)?;
    module.add_function(wrap_pyfunction!(components::parse_text, module)?)?;
    module.add_function(wrap_pyfunction!(fast::read_each_way, module)?)?;
    module.add_function(wrap_pyfunction!(gzip::is_gzip_members, module)?)?;
    module.add_function(wrap_pyfunction!(links::pages::anchor_key, module)?)?;
    module.add_function(wrap_pyfunction!(quoting::unquote, module)?)?;
    module.add_function(wrap_pyfunction!(quoting::unquote_pairs, module)?)?;
    module.add_function(wrap_pyfunction!(text::normalize, module)?)?;
    module.add_function(wrap_pyfunction!(text::percent_decode, module)?)?;
    module.add_function(wrap_pyfunction!(text::percent_encode, module)?)?;
    module.add_function(wrap_pyfunction!(text::remove_dot_segments, module)?)?;
    module.add_function(wrap_pyfunction!(text::resolve, module)?)?;
    #[cfg(not(feature = "abi3"))]
    module.add_function(wrap_pyfunction!(fast_path::with_fast_path, module)?)?;
    Ok(())
}

/// Reject subinterpreters: this crate and pyo3 keep objects for the whole process, and a subinterpreter may end earlier.
/// Nothing is kept before this check.
fn require_main_interpreter() -> PyResult<()> {
    // SAFETY: a thread that is attached may call both.
    let number = unsafe { ffi::PyInterpreterState_GetID(ffi::PyInterpreterState_Get()) };
    if number == 0 {
        return Ok(());
    }
    Err(PyImportError::new_err(
        "overthere._native works in the main interpreter only; others use the reference kernel",
    ))
}
