//! Canonical forms of `overthere.canonical`, compiled from their steps.

use std::collections::HashMap;
use std::sync::Arc;

use overthere_core::canonical::{Argument, Facts, Form, Named, Scheme, Scratch, Session, Sessions};
use overthere_core::normalize::SchemeRules;
use overthere_core::parse::Rule;
use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::bug::guarded;
use crate::fast::parse;
use crate::quick::{exact, text};

/// A step: its name, and its parameters.
type StepArguments<'py> = (String, HashMap<String, Bound<'py, PyAny>>);

/// The facts about a scheme: its name in lower case, its default port, and the rules of its normal form (the omitted
/// port, whether an empty path becomes "/"); None if it has other rules.
type SchemeArguments = (String, Option<u32>, Option<(Option<String>, bool)>);

/// Session identifiers: those of one pair (name, number of letters after it, whether the value may have digits, its
/// length), and the beginnings of the two pairs of another one.
type SessionArguments = (Vec<(String, usize, bool, usize)>, (String, String));

/// The steps of a form, compiled.
#[pyclass(frozen, module = "overthere._native")]
pub struct CanonicalForm(pub(crate) Arc<Form>);

#[pymethods]
impl CanonicalForm {
    /// The form of these steps; None where one of them is not known here.
    #[staticmethod]
    fn compile(
        py: Python<'_>,
        steps: Vec<StepArguments<'_>>,
        key: &str,
        schemes: Vec<SchemeArguments>,
        sessions: SessionArguments,
    ) -> PyResult<Option<Self>> {
        guarded(py, || {
            let Some(steps) = steps.into_iter().map(step).collect::<Option<Vec<_>>>() else {
                return Ok(None);
            };
            let facts = Facts { schemes: schemes.into_iter().map(scheme).collect(), sessions: ids(sessions) };
            Ok(Form::new(&steps, key, facts).map(|form| CanonicalForm(Arc::new(form))))
        })
    }

    /// The canonical form of a URI, or its key; None of what is not valid, and where a step needs Python.
    fn apply<'py>(&self, uri: &Bound<'py, PyString>, key: bool) -> PyResult<Option<Bound<'py, PyString>>> {
        guarded(uri.py(), || {
            let uri = &exact(uri)?;
            let Ok(characters) = uri.to_str() else { return Ok(None) };
            let octets = characters.as_bytes();
            let Ok(spans) = parse(octets, Rule::Uri, false) else { return Ok(None) };
            let mut out = Vec::with_capacity(octets.len() + 8);
            if !self.0.apply(octets, &spans, key, &mut Scratch::default(), &mut out) {
                return Ok(None);
            }
            if out == octets {
                return Ok(Some(uri.clone()));
            }
            text(uri.py(), &out).map(Some)
        })
    }
}

/// A step for the core; None if a text has no UTF-8 form.
fn step((name, arguments): StepArguments<'_>) -> Option<Named> {
    let argument = |value: Bound<'_, PyAny>| {
        let flag = value.extract::<bool>().map(Argument::Flag);
        flag.or_else(|_| value.extract().map(Argument::Text))
            .or_else(|_| value.extract().map(Argument::Names))
            .ok()
    };
    let arguments = arguments.into_iter().map(|(name, value)| Some((name, argument(value)?)));
    Some((name, arguments.collect::<Option<_>>()?))
}

fn scheme((name, port, rules): SchemeArguments) -> (Vec<u8>, Scheme) {
    let rules =
        rules.map(|(default_port, slash_for_empty_path)| SchemeRules { default_port, slash_for_empty_path });
    (name.into_bytes(), Scheme { port: port.map(|port| port.to_string().into_bytes()), rules })
}

fn ids((single, (first, second)): SessionArguments) -> Sessions {
    let single = single
        .into_iter()
        .map(|(name, letters, has_digits, length)| Session {
            name: name.into_bytes(),
            letters,
            has_digits,
            length,
        })
        .collect();
    Sessions { single, double: (first.into_bytes(), second.into_bytes()) }
}
