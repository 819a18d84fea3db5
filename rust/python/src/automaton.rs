//! Automata of the grammar engine, for Python.

use std::sync::Arc;

use overthere_core::automaton::Automaton as Core;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::bug::guarded;

/// The automaton of a rule.
#[pyclass(frozen, module = "overthere._native")]
pub struct Automaton(pub(crate) Arc<Core>);

#[pymethods]
impl Automaton {
    #[new]
    fn new(
        py: Python<'_>,
        classes: Vec<u8>,
        width: usize,
        table: Vec<u16>,
        start: u16,
        accepting: Vec<u16>,
    ) -> PyResult<Self> {
        guarded(py, || match Core::new(classes, width, table, start, accepting) {
            Some(core) => Ok(Automaton(Arc::new(core))),
            None => Err(PyValueError::new_err("the parts of the automaton do not fit together")),
        })
    }

    /// Read from a state on: how many bytes were read before the dead state, and the last live state.
    fn run(&self, py: Python<'_>, data: &[u8], state: u16) -> PyResult<(usize, u16)> {
        guarded(py, || {
            if usize::from(state) * self.0.width >= self.0.table.len() {
                return Err(PyValueError::new_err(format!("there is no state {state}")));
            }
            Ok(self.0.run(data, state))
        })
    }
}
