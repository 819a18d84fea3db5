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

use pyo3::prelude::*;

/// The fast kernel of overthere.
#[pymodule(gil_used = false)]
mod _native {
    #[pymodule_export]
    use super::arrow::{ArrowArray, ArrowChunks, ArrowRows, ArrowStream};
    #[pymodule_export]
    use super::automaton::Automaton;
    #[pymodule_export]
    use super::bug::panic_on_purpose;
    #[pymodule_export]
    use super::canonical::CanonicalForm;
    #[pymodule_export]
    use super::columns::{column_check, column_domain, column_parts, column_text, Suffixes};
    #[pymodule_export]
    use super::components::{parse_text, Components};
    #[pymodule_export]
    use super::fast::read_each_way;
    #[cfg(not(feature = "abi3"))]
    #[pymodule_export]
    use super::fast_path::with_fast_path;
    #[pymodule_init]
    fn init(module: &pyo3::Bound<'_, pyo3::types::PyModule>) -> pyo3::PyResult<()> {
        super::finalizing::install(module.py())?;
        super::getters::install(&module.py().get_type::<super::components::Components>())
    }
    #[pymodule_export]
    use super::gzip::is_gzip_members;
    #[pymodule_export]
    use super::links::pages::{anchor_key, Keys, Pages};
    #[pymodule_export]
    use super::links::{LinkArrow, LinkBatch, LinkParquet, LinkRows};
    #[pymodule_export]
    use super::quoting::{unquote, unquote_pairs};
    #[pymodule_export]
    use super::text::{normalize, percent_decode, percent_encode, remove_dot_segments, resolve};
    #[cfg(not(feature = "abi3"))]
    #[pymodule_export]
    use super::trigger::Trigger;
}
