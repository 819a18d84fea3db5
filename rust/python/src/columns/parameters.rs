//! The parameters of the queries of a column: finding the value of a name, or changing pairs.

use overthere_core::parameters::{Change, Form, Given, Scratch};
use overthere_core::place::{Part, Spans};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use super::row_loop::Outcome;

/// The arguments from Python: names with their pairs, the separator, whether "+" is a space.
pub type ParameterArguments = (Vec<Given>, char, bool);

/// An operation on the query of each row.
pub enum Parameters {
    /// The first value of a name, decoded unless it is `raw`.
    Find {
        form: Form,
        name: Vec<u8>,
        raw: bool,
    },
    Change {
        form: Form,
        change: Change,
    },
}

impl Parameters {
    /// The operation with its arguments; None if it is not an operation on parameters.
    pub fn new(operation: &str, (pairs, separator, plus): ParameterArguments) -> PyResult<Option<Self>> {
        let separator = u8::try_from(separator).map_err(|_| {
            PyValueError::new_err(format!("the separator must be \"&\" or \";\", not {separator:?}"))
        })?;
        let form = Form { separator, plus };
        let pieces = |pairs: Vec<Given>| pairs.into_iter().map(|(_, pieces)| pieces);
        let change = match operation {
            "parameter" | "raw_parameter" => {
                let name = pairs.into_iter().next().map(|(name, _)| name).unwrap_or_default();
                return Ok(Some(Parameters::Find { form, name, raw: operation == "raw_parameter" }));
            }
            "with_parameters" => Change::Set(pairs),
            "add_parameters" => Change::Add(pieces(pairs).flatten().collect()),
            "without_parameters" => Change::Without(pieces(pairs).collect()),
            "sort_parameters" => Change::Sort,
            _ => return Ok(None),
        };
        Ok(Some(Parameters::Change { form, change }))
    }

    /// Apply the operation to a valid row.
    pub fn apply(&self, row: &[u8], spans: &Spans, scratch: &mut Scratch, out: &mut Vec<u8>) -> Outcome {
        match self {
            Parameters::Find { form, name, raw } => {
                let Some(span) = spans.query() else { return Outcome::Null };
                let query = span.of(row);
                let Some((from, to)) = form.find(query, name) else { return Outcome::Null };
                if *raw || form.is_plain(query.part(from..to)) {
                    return Outcome::Part(span.start + from, span.start + to);
                }
                let mark = out.len();
                form.decode(query.part(from..to), out);
                if let Err(error) = std::str::from_utf8(out.part(mark..)) {
                    // From the first invalid octet on, decode again with U+FFFD.
                    let from = mark + error.valid_up_to();
                    let decoded = String::from_utf8_lossy(out.part(from..)).into_owned();
                    out.truncate(from);
                    out.extend_from_slice(decoded.as_bytes());
                }
                Outcome::Written
            }
            Parameters::Change { form, change } => {
                let mark = out.len();
                let path_end = spans.path().end;
                out.extend_from_slice(row.part(..path_end));
                out.push(b'?');
                let query = spans.query();
                let defined = form.change(query.map(|query| query.of(row)), change, scratch, out);
                if !defined {
                    out.truncate(mark + path_end);
                }
                out.extend_from_slice(row.part(query.map_or(path_end, |query| query.end)..));
                if out.part(mark..) == row {
                    out.truncate(mark);
                    return Outcome::Same;
                }
                Outcome::Written
            }
        }
    }
}
