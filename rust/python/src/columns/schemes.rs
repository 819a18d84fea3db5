//! The scheme rung (RFC 3986 6.2.3): by the rules that Python passes, or finished by Python.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use arrow_array::StringViewArray;
use overthere_core::normalize::{may_change, normalize, SchemeRules, SYNTAX};
use overthere_core::place::{Part, Spans};
use pyo3::prelude::*;
use pyo3::types::PyList;

use super::row_loop::Outcome;
use crate::arrow::views::rewritten;
use crate::arrow::Result;
use crate::finalizing::attached;

/// The exception that Python raised during an operation on columns: the loop of rows only passes on messages.
pub type ErrorSlot = Arc<Mutex<Option<PyErr>>>;

/// The rules of each known scheme, by its name in lower case: default port, and whether an empty path becomes "/"; None
/// if it has other rules.
pub type Rules = HashMap<String, Option<(Option<String>, bool)>>;

/// The rules for the scheme rung, and the function for schemes with other rules.
pub struct Schemes {
    rules: HashMap<Vec<u8>, Option<SchemeRules>>,
    pub finisher: Finisher,
}

/// The Python function that finishes unfinished rows, and the slot for its exception.
pub struct Finisher {
    pub finish: Py<PyAny>,
    pub raised: ErrorSlot,
}

static NO_RULES: SchemeRules = SchemeRules { default_port: None, slash_for_empty_path: false };

impl Schemes {
    /// `finish` receives the texts of schemes with other rules, normalized by the generic rungs, and returns their
    /// forms.
    pub fn new(rules: Rules, finish: Py<PyAny>, raised: ErrorSlot) -> Self {
        let common =
            |(default_port, slash_for_empty_path)| SchemeRules { default_port, slash_for_empty_path };
        let rules = rules.into_iter().map(|(name, rules)| (name.into_bytes(), rules.map(common))).collect();
        Schemes { rules, finisher: Finisher { finish, raised } }
    }

    /// The rules of a scheme, whose name may be in any case; None if it has other rules.
    fn rules(&self, name: &[u8]) -> Option<&SchemeRules> {
        let rules = if name.iter().any(u8::is_ascii_uppercase) {
            self.rules.get(&name.to_ascii_lowercase())
        } else {
            self.rules.get(name)
        };
        rules.map_or(Some(&NO_RULES), Option::as_ref)
    }

    /// Normalize a valid row; a relative reference has no scheme, so only the generic rungs apply.
    pub fn normalize(&self, row: &[u8], spans: &Spans, out: &mut Vec<u8>) -> Outcome {
        let generic = || may_change(row, spans, SYNTAX);
        let Some(scheme) = spans.scheme() else {
            return form(row, generic(), out, |out| normalize(row, spans, SYNTAX, out));
        };
        match self.rules(scheme.of(row)) {
            Some(rules) => {
                form(row, rules.may_change(row, spans), out, |out| rules.normalize(row, spans, out))
            }
            None => {
                let generic_form = form(row, generic(), out, |out| normalize(row, spans, SYNTAX, out));
                Outcome::Open { written: matches!(generic_form, Outcome::Written) }
            }
        }
    }
}

impl Finisher {
    /// The column with its unfinished rows finished in Python.
    pub fn finish_rows(&self, column: StringViewArray, open: &[usize]) -> Result<StringViewArray> {
        if open.is_empty() {
            return Ok(column);
        }
        let forms = attached(|py| {
            let texts = PyList::new(py, open.iter().map(|&row| column.value(row)))?;
            self.finish.call1(py, (texts,))?.extract::<Vec<Option<String>>>(py)
        });
        match forms {
            Ok(forms) => rewritten(&column, open, &forms),
            Err(error) => {
                let message = error.to_string();
                *self.raised.lock().unwrap_or_else(|poisoned| poisoned.into_inner()) = Some(error);
                Err(message)
            }
        }
    }
}

/// The outcome of a row whose new form `write` writes; `Same` if it does not change.
pub fn form(row: &[u8], may_change: bool, out: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>)) -> Outcome {
    if !may_change {
        return Outcome::Same;
    }
    let mark = out.len();
    write(out);
    if out.part(mark..) == row {
        out.truncate(mark);
        return Outcome::Same;
    }
    Outcome::Written
}
