//! The column functions of `overthere._native`: Arrow in, Arrow out, the GIL released.

mod chunks;
mod domains;
mod iris;
mod parameters;
mod parts;
mod row_loop;
mod rows;
mod schemes;
mod text;

use std::sync::Arc;

use arrow_array::types::Int8Type;
use arrow_array::{Array, ArrayRef, DictionaryArray, Int8Array, StringArray, StructArray, UInt32Array};
use arrow_buffer::{BooleanBuffer, NullBuffer};
use arrow_schema::{Field, Fields};
use overthere_core::check::{first_finding, first_finding_in_iri, Kind, NAMES};
use overthere_core::normalize::SYNTAX;
use overthere_core::parse::Rule;
use overthere_core::percent::Safe;
use overthere_core::place::At;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::arrow::Result;
use crate::automaton::Automaton;
use crate::bug::guarded;
use crate::canonical::CanonicalForm;
use crate::components::{rule_named, SyntaxRule};
use crate::quick::truth;
use chunks::{decoded, each, over, texts_of};
pub use domains::{column_domain, Suffixes};
use iris::Scratch;
use parameters::{ParameterArguments, Parameters};
use parts::{Check, Judge, Parts};
use row_loop::Bad;
use rows::{visit, Rows};
use schemes::{ErrorSlot, Finisher, Rules, Schemes};
use text::{BaseOperation, Operation, Text};

fn rule_of(rule: &str) -> PyResult<SyntaxRule> {
    rule_named(rule)
        .ok_or_else(|| PyValueError::new_err(format!("the rule must be one of URIs or IRIs, not {rule:?}")))
}

fn not_text(column: &dyn Array) -> String {
    format!("expected a text column, not {}", column.data_type())
}

/// The kinds and places of rejected rows as two columns.
fn error_columns(rows: usize, bad: &[Bad]) -> (ArrayRef, ArrayRef) {
    let (mut kinds, mut at) = (vec![None; rows], vec![None; rows]);
    for b in bad {
        if let (Some(kind), Some(place)) = (kinds.get_mut(b.row), at.get_mut(b.row)) {
            (*kind, *place) = (Some(b.kind as i8), Some(b.at));
        }
    }
    let names = Arc::new(StringArray::from(NAMES.to_vec()));
    let kinds = DictionaryArray::<Int8Type>::new(Int8Array::from(kinds), names);
    (Arc::new(kinds), Arc::new(UInt32Array::from(at)))
}

/// A struct column of named columns.
fn structure(names: &[&str], columns: Vec<ArrayRef>, nulls: Option<NullBuffer>) -> Result<ArrayRef> {
    let fields: Fields = names
        .iter()
        .zip(&columns)
        .map(|(name, column)| Field::new(*name, column.data_type().clone(), true))
        .collect();
    Ok(Arc::new(StructArray::try_new(fields, columns, nulls).map_err(|e| e.to_string())?))
}

/// The first finding of a rejected row.
fn refusal(row: &[u8], (rule, iri): SyntaxRule, zone: bool) -> (Kind, usize) {
    let finding = match std::str::from_utf8(row) {
        Ok(text) if iri => first_finding_in_iri(text, rule, zone),
        _ => first_finding(row, rule, zone),
    };
    finding.unwrap_or((Kind::PathChar, 0))
}

/// The validity of the rows; None if no row is null.
fn nulls<R: Rows>(rows: &R) -> Option<NullBuffer> {
    let valid = BooleanBuffer::collect_bool(rows.len(), |i| rows.is_valid(i));
    Some(NullBuffer::new(valid)).filter(|n| n.null_count() > 0)
}

/// Whether each row is derivable from `rule`, or from the rule of an automaton.
#[pyfunction]
pub fn column_check(
    column: &Bound<'_, PyAny>,
    rule: &Bound<'_, PyAny>,
    #[pyo3(from_py_with = truth)] zone: bool,
    threads: usize,
) -> PyResult<Py<PyAny>> {
    guarded(column.py(), || {
        let rule = match rule.cast::<Automaton>() {
            Ok(automaton) => Judge::Automaton(automaton.get().0.clone()),
            Err(_) => Judge::Rule(rule_of(&rule.extract::<String>()?)?, zone),
        };
        over(column, move |column, _| {
            each(column, true, |values| {
                visit(values, Check { rule: &rule, threads }).ok_or_else(|| not_text(values))
            })
        })
    })
}

/// The named components of each row, as views into the input: unchecked (Appendix B) if `rule` is None.
#[pyfunction]
pub fn column_parts(
    column: &Bound<'_, PyAny>,
    names: Vec<String>,
    rule: Option<&str>,
    #[pyo3(from_py_with = truth)] zone: bool,
    threads: usize,
    #[pyo3(from_py_with = truth)] views: bool,
) -> PyResult<Py<PyAny>> {
    guarded(column.py(), || {
        let rule = match rule.map(rule_of).transpose()? {
            Some((_, true)) => return Err(PyValueError::new_err("columns take the components of URIs")),
            rule => rule.map(|(rule, _)| (rule, zone)),
        };
        over(column, move |column, _| {
            each(column, views, |values| {
                visit(values, Parts { names: &names, rule, threads }).ok_or_else(|| not_text(values))?
            })
        })
    })
}

/// One text column out of another: host, normalize, canonicalize, resolve, relate, to_uri, to_iri, encode, decode, or what
/// is done with parameters.
///
/// `rule` is what rows and references follow, of URIs or of IRIs, which are normalized by the generic rungs only.
/// `base` is the text of a URI, or a column with the base of each row.  `schemes` is what the scheme rung goes by: the
/// rules by name, and the function that finishes the texts of schemes with other rules.  `parameters` is what to find or to
/// change.  `canonical` is a form, whether its keys are wanted, and the function that finishes the rows that need Python.
#[pyfunction]
#[pyo3(signature = (column, operation, *, rule = "URI-reference", rung = 3, base = None, strict = true, safe = "", schemes = None, parameters = None, canonical = None, details = false, threads = 1, views = true))]
#[expect(clippy::too_many_arguments, reason = "Python names each of them")]
pub fn column_text(
    column: &Bound<'_, PyAny>,
    operation: &str,
    rule: &str,
    rung: u8,
    base: Option<&Bound<'_, PyAny>>,
    #[pyo3(from_py_with = truth)] strict: bool,
    safe: &str,
    schemes: Option<(Rules, Py<PyAny>)>,
    parameters: Option<ParameterArguments>,
    canonical: Option<(Py<CanonicalForm>, bool, Py<PyAny>)>,
    details: bool,
    threads: usize,
    #[pyo3(from_py_with = truth)] views: bool,
) -> PyResult<Py<PyAny>> {
    guarded(column.py(), || {
        let raised = ErrorSlot::default();
        let of_parameters =
            parameters.map(|arguments| Parameters::new(operation, arguments)).transpose()?.flatten();
        let rule = rule_of(rule)?;
        let operation = match (operation, base) {
            ("host", _) => Operation::Host,
            ("normalize", _) if rung <= SYNTAX && rule.1 => Operation::NormalizeIri(rung),
            ("normalize", _) if rung <= SYNTAX => Operation::Normalize(rung),
            ("to_uri", _) => Operation::ToUri,
            ("to_iri", _) => Operation::ToIri,
            ("normalize", _) => {
                let (rules, finish) =
                    schemes.ok_or_else(|| PyValueError::new_err("the scheme rung needs schemes"))?;
                Operation::NormalizeByScheme(Schemes::new(rules, finish, raised.clone()))
            }
            ("resolve" | "relate", Some(base)) => {
                let relation = if operation == "relate" {
                    BaseOperation::Relate
                } else {
                    BaseOperation::Resolve { strict }
                };
                match base.extract::<String>() {
                    Ok(base) => {
                        let spans = iris::read(&base, (Rule::Uri, rule.1), false, &mut Scratch::default())
                            .ok_or_else(|| PyValueError::new_err("the base is missing"))?;
                        Operation::By { base, spans, operation: relation }
                    }
                    Err(_) => Operation::ByEach { bases: texts_of(base)?, operation: relation },
                }
            }
            ("canonicalize", _) => {
                let (form, key, finish) =
                    canonical.ok_or_else(|| PyValueError::new_err("a canonical form is missing"))?;
                let finisher = Finisher { finish, raised: raised.clone() };
                Operation::Canonical { form: form.get().0.clone(), key, finisher }
            }
            ("encode", _) => Operation::Encode(Box::new(Safe::new(safe.as_bytes()))),
            ("decode", _) => Operation::Decode,
            (other, _) => match of_parameters {
                Some(parameters) => Operation::Parameters(parameters),
                None => return Err(PyValueError::new_err(format!("unknown column operation {other:?}"))),
            },
        };
        let by_row = matches!(operation, Operation::ByEach { .. });
        let result = over(column, move |column, first| {
            let work = |values: &ArrayRef| {
                let text = Text { operation: &operation, first, rule, details, threads };
                visit(values, text).ok_or_else(|| not_text(values))?
            };
            if by_row {
                each(&decoded(column)?, views, work)
            } else {
                each(column, views, work)
            }
        });
        result.map_err(|error| {
            raised.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).take().unwrap_or(error)
        })
    })
}

/// The kind and place of the first finding of a US-ASCII text that is not a valid URI-reference.
pub fn refused(text: &[u8]) -> (&'static str, usize) {
    let (kind, at) = refusal(text, (Rule::UriReference, false), false);
    (NAMES.at(kind as usize), at)
}
