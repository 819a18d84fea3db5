//! The scheme rung (RFC 3986 6.2.3): by the rules that Python hands over, or finished by Python.

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

/// The exception that an operation on columns raised in Python: the loop of rows knows messages only.
pub type ErrorSlot = Arc<Mutex<Option<PyErr>>>;

/// The rules of each scheme that is known, by its name in lower case: default port, and whether an empty path is
/// written "/"; None where it has others.
pub type Rules = HashMap<String, Option<(Option<String>, bool)>>;

/// What the scheme rung goes by.
pub struct Schemes {
    rules: HashMap<Vec<u8>, Option<SchemeRules>>,
    pub finisher: Finisher,
}

/// The function of Python that finishes open rows, and where its exception goes.
pub struct Finisher {
    pub finish: Py<PyAny>,
    pub raised: ErrorSlot,
}

static NO_RULES: SchemeRules = SchemeRules { default_port: None, slash_for_empty_path: false };

impl Schemes {
    /// `finish` takes the texts, normal by the generic rungs, of schemes that have other rules, and returns their forms.
    pub fn new(rules: Rules, finish: Py<PyAny>, raised: ErrorSlot) -> Self {
        let known = |(default_port, slash_for_empty_path)| SchemeRules { default_port, slash_for_empty_path };
        let rules = rules.into_iter().map(|(name, rules)| (name.into_bytes(), rules.map(known))).collect();
        Schemes { rules, finisher: Finisher { finish, raised } }
    }

    /// The rules of a scheme, whose name may be in any case; None where it has others.
    fn rules(&self, name: &[u8]) -> Option<&SchemeRules> {
        let found = if name.iter().any(u8::is_ascii_uppercase) {
            self.rules.get(&name.to_ascii_lowercase())
        } else {
            self.rules.get(name)
        };
        found.map_or(Some(&NO_RULES), Option::as_ref)
    }

    /// The normal form of a valid row; a relative reference has no scheme that says more than the generic rungs.
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
                let so_far = form(row, generic(), out, |out| normalize(row, spans, SYNTAX, out));
                Outcome::Open { written: matches!(so_far, Outcome::Written) }
            }
        }
    }
}

impl Finisher {
    /// The column with its open rows finished in Python.
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
                *self.raised.lock().unwrap_or_else(|held| held.into_inner()) = Some(error);
                Err(message)
            }
        }
    }
}

/// What a row becomes whose normal form is written, if it changes at all.
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
