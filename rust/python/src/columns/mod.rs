//! The column functions of `overthere._native`: Arrow in, Arrow out, the GIL released.

mod drive;
mod rows;

use std::sync::Arc;

use arrow_array::builder::make_view;
use arrow_array::types::Int8Type;
use arrow_array::{
    Array, ArrayRef, BooleanArray, DictionaryArray, Int8Array, StringArray, StructArray, UInt32Array,
};
use arrow_buffer::{BooleanBuffer, NullBuffer};
use arrow_schema::{DataType, Field, Fields};
use arrow_select::take::take;
use overthere_core::check::{first_finding, Kind, NAMES};
use overthere_core::normalize::{may_change, normalize};
use overthere_core::parse::{parse, Rule, Spans};
use overthere_core::percent::{self, Safe};
use overthere_core::resolve::{resolve, Parsed};
use overthere_core::split::{host, split};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3_arrow::input::AnyArray;
use pyo3_arrow::{PyArray, PyChunkedArray};

use drive::{bits, code_points, text_column, Bad, Outcome, Views};
use rows::{visit, Rows, Visit};

type Result<T> = std::result::Result<T, String>;

fn rule_of(rule: &str) -> PyResult<Rule> {
    match rule {
        "URI" => Ok(Rule::Uri),
        "URI-reference" => Ok(Rule::UriReference),
        _ => Err(PyValueError::new_err(format!("columns read URI and URI-reference, not {rule:?}"))),
    }
}

fn not_text(column: &dyn Array) -> String {
    format!("a column of text is wanted, not of {}", column.data_type())
}

/// Work on the distinct values of a dictionary only, then give every row its answer.
fn each(column: &ArrayRef, work: &(dyn Fn(&ArrayRef) -> Result<ArrayRef> + Sync)) -> Result<ArrayRef> {
    match column.data_type() {
        DataType::Dictionary(_, _) => {
            let dictionary = arrow_array::cast::AsArray::as_any_dictionary(column.as_ref());
            let values = work(dictionary.values())?;
            take(&values, dictionary.keys(), None).map_err(|e| e.to_string())
        }
        _ => work(column),
    }
}

/// Over every chunk of an array or stream, with the GIL released; an array gives an array, a stream a chunked one.
fn over(
    py: Python<'_>,
    column: AnyArray,
    work: &(dyn Fn(&ArrayRef) -> Result<ArrayRef> + Sync),
) -> PyResult<Py<PyAny>> {
    match column {
        AnyArray::Array(array) => {
            let (array, _) = array.into_inner();
            let out = py.detach(|| each(&array, work)).map_err(PyTypeError::new_err)?;
            Ok(Py::new(py, PyArray::from_array_ref(out))?.into_any())
        }
        AnyArray::Stream(stream) => {
            let reader = stream.into_reader()?;
            let field = reader.field();
            let chunks: Vec<ArrayRef> = py
                .detach(|| {
                    reader.map(|chunk| each(&chunk.map_err(|e| e.to_string())?, work)).collect::<Result<_>>()
                })
                .map_err(PyTypeError::new_err)?;
            let kind = match chunks.first() {
                Some(chunk) => chunk.data_type().clone(),
                None => {
                    // No chunk tells the type: an empty one does.
                    let empty = arrow_array::new_empty_array(field.data_type());
                    each(&empty, work).map_err(PyTypeError::new_err)?.data_type().clone()
                }
            };
            let field = Arc::new(Field::new("", kind, true));
            Ok(Py::new(py, PyChunkedArray::try_new(chunks, field)?)?.into_any())
        }
    }
}

/// The kinds and places of refused rows as two columns.
fn error_columns(rows: usize, bad: &[Bad]) -> (ArrayRef, ArrayRef) {
    let (mut kinds, mut at) = (vec![None; rows], vec![None; rows]);
    for b in bad {
        kinds[b.row] = Some(b.kind as i8);
        at[b.row] = Some(b.at);
    }
    let names = Arc::new(StringArray::from(NAMES.to_vec()));
    let kinds = DictionaryArray::<Int8Type>::new(Int8Array::from(kinds), names);
    (Arc::new(kinds), Arc::new(UInt32Array::from(at)))
}

fn structure(names: &[&str], columns: Vec<ArrayRef>, nulls: Option<NullBuffer>) -> Result<ArrayRef> {
    let fields: Fields = names
        .iter()
        .zip(&columns)
        .map(|(name, column)| Field::new(*name, column.data_type().clone(), true))
        .collect();
    Ok(Arc::new(StructArray::try_new(fields, columns, nulls).map_err(|e| e.to_string())?))
}

/// The first finding on a row that was refused.
fn refusal(row: &[u8], rule: Rule, zone: bool) -> (Kind, usize) {
    first_finding(row, rule, zone).unwrap_or((Kind::PathChar, 0))
}

/// Which rows are null, if any is.
fn nulls<R: Rows>(rows: &R) -> Option<NullBuffer> {
    let valid = BooleanBuffer::collect_bool(rows.len(), |i| rows.is_valid(i));
    Some(NullBuffer::new(valid)).filter(|n| n.null_count() > 0)
}

struct Check {
    rule: Rule,
    zone: bool,
    threads: usize,
}

impl Visit for Check {
    type Output = ArrayRef;

    fn visit<R: Rows>(self, rows: &R) -> ArrayRef {
        let answers = bits(rows.len(), self.threads, |i| {
            rows.is_valid(i) && parse(rows.row(i), self.rule, self.zone).is_ok()
        });
        Arc::new(BooleanArray::new(BooleanBuffer::new(answers, 0, rows.len()), nulls(rows)))
    }
}

/// Whether each row is derivable from `rule`.
#[pyfunction]
pub fn column_check(
    py: Python<'_>,
    column: AnyArray,
    rule: &str,
    zone: bool,
    threads: usize,
) -> PyResult<Py<PyAny>> {
    let rule = rule_of(rule)?;
    over(py, column, &|column| visit(column, Check { rule, zone, threads }).ok_or_else(|| not_text(column)))
}

struct Parts<'a> {
    names: &'a [String],
    rule: Option<(Rule, bool)>,
    threads: usize,
}

/// A component that can be asked for.
#[derive(Clone, Copy)]
enum Component {
    Scheme,
    Authority,
    Userinfo,
    Host,
    Port,
    Path,
    Query,
    Fragment,
}

impl Component {
    fn of(name: &str) -> Self {
        match name {
            "scheme" => Component::Scheme,
            "authority" => Component::Authority,
            "userinfo" => Component::Userinfo,
            "host" => Component::Host,
            "port" => Component::Port,
            "path" => Component::Path,
            "query" => Component::Query,
            _ => Component::Fragment,
        }
    }

    #[inline(always)]
    fn span(self, spans: &Spans, length: usize) -> Option<(usize, usize)> {
        match self {
            Component::Scheme => spans.scheme(),
            Component::Authority => spans.authority(),
            Component::Userinfo => spans.userinfo(),
            Component::Host => spans.host(),
            Component::Port => spans.port(),
            Component::Path => Some(spans.path()),
            Component::Query => spans.query(),
            Component::Fragment => spans.fragment(length),
        }
    }
}

impl Visit for Parts<'_> {
    type Output = Result<ArrayRef>;

    fn visit<R: Rows>(self, rows: &R) -> Self::Output {
        let mut views = Views::new(self.names.len(), rows.len());
        let components: Vec<Component> = self.names.iter().map(|name| Component::of(name)).collect();
        let bad: Vec<Bad> = views
            .run(self.threads, |first, count, mut range| {
                let mut bad = Vec::new();
                for i in 0..count {
                    if !rows.is_valid(first + i) {
                        continue;
                    }
                    let row = rows.row(first + i);
                    let spans = match self.rule {
                        None => split(row),
                        Some((rule, zone)) => match parse(row, rule, zone) {
                            Ok(spans) => spans,
                            Err(_) => {
                                let (kind, at) = refusal(row, rule, zone);
                                bad.push(Bad { row: first + i, kind, at: code_points(row, at) });
                                continue;
                            }
                        },
                    };
                    let (buffer, offset) = rows.place(first + i);
                    for (column, component) in components.iter().enumerate() {
                        if let Some((start, end)) = component.span(&spans, row.len()) {
                            range.set(column, i, make_view(&row[start..end], buffer, offset + start as u32));
                        }
                    }
                }
                bad
            })
            .into_iter()
            .flatten()
            .collect();
        let mut columns: Vec<ArrayRef> =
            views.finish(&rows.buffers()).into_iter().map(|c| Arc::new(c) as ArrayRef).collect();
        let mut names: Vec<&str> = self.names.iter().map(String::as_str).collect();
        if self.rule.is_some() {
            let (kinds, at) = error_columns(rows.len(), &bad);
            columns.extend([kinds, at]);
            names.extend(["error", "error_at"]);
        }
        structure(&names, columns, nulls(rows))
    }
}

/// The named components of each row, as views into the input: unchecked (Appendix B) if `rule` is None.
#[pyfunction]
pub fn column_parts(
    py: Python<'_>,
    column: AnyArray,
    names: Vec<String>,
    rule: Option<&str>,
    zone: bool,
    threads: usize,
) -> PyResult<Py<PyAny>> {
    let rule = rule.map(rule_of).transpose()?.map(|rule| (rule, zone));
    over(py, column, &|column| {
        visit(column, Parts { names: &names, rule, threads }).ok_or_else(|| not_text(column))?
    })
}

/// What `column_text` does with each row.
enum Operation {
    Host,
    Normalize(u8),
    Resolve { base: String, spans: Spans, strict: bool },
    Encode(Safe),
    Decode,
}

struct Text<'a> {
    operation: &'a Operation,
    rule: Rule,
    details: bool,
    threads: usize,
}

impl Operation {
    fn apply(&self, row: &[u8], rule: Rule, out: &mut Vec<u8>) -> Outcome {
        match self {
            Operation::Host => match host(row) {
                Some((start, end)) => Outcome::Part(start, end),
                None => Outcome::Null,
            },
            Operation::Normalize(rung) => {
                let Ok(spans) = parse(row, rule, false) else {
                    let (kind, at) = refusal(row, rule, false);
                    return Outcome::Bad(kind, at);
                };
                if !may_change(row, &spans, *rung) {
                    return Outcome::Same;
                }
                let mark = out.len();
                normalize(row, &spans, *rung, out);
                if &out[mark..] == row {
                    out.truncate(mark);
                    return Outcome::Same;
                }
                Outcome::Written
            }
            Operation::Resolve { base, spans, strict } => {
                let Ok(own) = parse(row, Rule::UriReference, false) else {
                    let (kind, at) = refusal(row, Rule::UriReference, false);
                    return Outcome::Bad(kind, at);
                };
                let base = Parsed { text: base.as_bytes(), spans };
                resolve(base, Parsed { text: row, spans: &own }, *strict, out);
                Outcome::Written
            }
            Operation::Encode(safe) => {
                if safe.prefix(row) == row.len() {
                    return Outcome::Same;
                }
                percent::encode(row, safe, out);
                Outcome::Written
            }
            Operation::Decode => {
                if memchr::memchr(b'%', row).is_none() {
                    return Outcome::Same;
                }
                let mark = out.len();
                match percent::decode(row, out) {
                    Err(at) => Outcome::Bad(Kind::PctEncoded, at),
                    Ok(()) => match std::str::from_utf8(&out[mark..]) {
                        Ok(_) => Outcome::Written,
                        // Octets that are no text: the place is the escape of the first of them.
                        Err(error) => Outcome::Bad(Kind::NonAscii, place_of(row, error.valid_up_to())),
                    },
                }
            }
        }
    }
}

/// Where in component text the decoded octet of this number stands.
fn place_of(row: &[u8], octet: usize) -> usize {
    let (mut i, mut n) = (0, 0);
    while n < octet && i < row.len() {
        i += if row[i] == b'%' { 3 } else { 1 };
        n += 1;
    }
    i
}

impl Visit for Text<'_> {
    type Output = Result<ArrayRef>;

    fn visit<R: Rows>(self, rows: &R) -> Self::Output {
        let (column, bad) = text_column(rows, self.threads, || {
            |_: usize, row: &[u8], out: &mut Vec<u8>| self.operation.apply(row, self.rule, out)
        })?;
        let column: ArrayRef = Arc::new(column);
        if !self.details {
            return Ok(column);
        }
        let (kinds, at) = error_columns(rows.len(), &bad);
        structure(&["value", "error", "error_at"], vec![column, kinds, at], None)
    }
}

/// One text column out of another: host, normalize, resolve, encode or decode.
#[pyfunction]
#[pyo3(signature = (column, operation, *, rule = "URI-reference", rung = 3, base = "", strict = true, safe = "", details = false, threads = 1))]
#[allow(clippy::too_many_arguments)]
pub fn column_text(
    py: Python<'_>,
    column: AnyArray,
    operation: &str,
    rule: &str,
    rung: u8,
    base: &str,
    strict: bool,
    safe: &str,
    details: bool,
    threads: usize,
) -> PyResult<Py<PyAny>> {
    let operation = match operation {
        "host" => Operation::Host,
        "normalize" => Operation::Normalize(rung),
        "resolve" => {
            let spans = parse(base.as_bytes(), Rule::Uri, false)
                .map_err(|at| PyValueError::new_err(format!("the base is no URI (at {at})")))?;
            Operation::Resolve { base: base.to_owned(), spans, strict }
        }
        "encode" => Operation::Encode(Safe::new(safe.as_bytes())),
        "decode" => Operation::Decode,
        other => return Err(PyValueError::new_err(format!("there is no column operation {other:?}"))),
    };
    let rule = rule_of(rule)?;
    over(py, column, &|column| {
        visit(column, Text { operation: &operation, rule, details, threads })
            .ok_or_else(|| not_text(column))?
    })
}
