//! Operations that compute a text column from another.

use std::sync::Arc;

use arrow_array::{Array, ArrayRef, StringViewArray};
use overthere_core::canonical;
use overthere_core::check::Kind;
use overthere_core::normalize::{may_change, normalize};
use overthere_core::parameters;
use overthere_core::parse::Rule;
use overthere_core::percent::{self, Safe};
use overthere_core::place::{At, Part, Span, Spans};
use overthere_core::relate::relate;
use overthere_core::resolve::{resolve, Parsed};

use super::iris::{normal, read, to_iri, to_uri, Scratch};
use super::parameters::Parameters;
use super::row_loop::{code_points, text_column, Outcome};
use super::rows::{Rows, Visit};
use super::schemes::{form, Finisher, Schemes};
use super::{error_columns, nulls, refusal, structure};
use crate::arrow::Result;
use crate::components::SyntaxRule;
use crate::fast::{decode, host, parse};

/// The operation of `column_text` on each row.
pub enum Operation {
    Host,
    Normalize(u8),
    NormalizeByScheme(Schemes),
    NormalizeIri(u8),
    ToUri,
    ToIri,
    By { base: String, spans: Spans, operation: BaseOperation },
    ByEach { bases: StringViewArray, operation: BaseOperation },
    Encode(Box<Safe>),
    Decode,
    Parameters(Parameters),
    Canonical { form: Arc<canonical::Form>, key: bool, finisher: Finisher },
}

/// An operation of a row and a base.
#[derive(Clone, Copy)]
pub enum BaseOperation {
    Resolve { strict: bool },
    Relate,
}

/// An operation on a chunk whose first row has the number `first` in the whole column.
pub struct Text<'a> {
    pub operation: &'a Operation,
    pub first: usize,
    pub rule: SyntaxRule,
    pub details: bool,
    pub threads: usize,
}

/// The base of the previous row: rows of one document are adjacent, so it is often the same.
struct Base<'a> {
    text: &'a str,
    /// Its components, or the offset of the fault in code points.
    parsed: std::result::Result<Spans, u32>,
}

/// The state that a thread keeps from row to row.
struct Memory<'a> {
    base: Base<'a>,
    scratch: Scratch,
    parameters: parameters::Scratch,
    canonical: canonical::Scratch,
}

impl Operation {
    /// Apply the operation to a row; `onward` begins with the row and may go on past it.
    fn apply<'a>(
        &'a self,
        number: usize,
        memory: &mut Memory<'a>,
        row_text: &str,
        onward: &[u8],
        rule: SyntaxRule,
        out: &mut Vec<u8>,
    ) -> Outcome {
        let row = row_text.as_bytes();
        let rejected = |rule| {
            let (kind, at) = refusal(row, rule, false);
            Outcome::Bad(kind, at)
        };
        match self {
            Operation::Host => match host(row) {
                Some(Span { start, end, .. }) => Outcome::Part(start, end),
                None => Outcome::Null,
            },
            Operation::Normalize(rung) => {
                let Ok(spans) = parse(row, rule.0, false) else { return rejected(rule) };
                form(row, may_change(row, &spans, *rung), out, |out| normalize(row, &spans, *rung, out))
            }
            Operation::NormalizeByScheme(schemes) => match parse(row, rule.0, false) {
                Ok(spans) => schemes.normalize(row, &spans, out),
                Err(_) => rejected(rule),
            },
            Operation::NormalizeIri(rung) => {
                normal(row_text, *rung, &mut memory.scratch, out).unwrap_or_else(|| rejected(rule))
            }
            Operation::ToUri => to_uri(row_text, out).unwrap_or_else(|| rejected((rule.0, true))),
            Operation::ToIri => to_iri(row, out).unwrap_or_else(|| rejected(rule)),
            Operation::By { base, spans, operation } => resolve_row(
                Parsed { text: base.as_bytes(), spans },
                row_text,
                rule,
                *operation,
                &mut memory.scratch,
                out,
            ),
            Operation::ByEach { bases, .. } if bases.is_null(number) => Outcome::Null,
            Operation::ByEach { bases, operation } => {
                let text = bases.value(number);
                let Memory { base, scratch, .. } = memory;
                if !std::ptr::eq(text, base.text) && text != base.text {
                    let octets = text.as_bytes();
                    let parsed = read(text, (Rule::Uri, rule.1), false, scratch)
                        .ok_or_else(|| code_points(octets, refusal(octets, (Rule::Uri, rule.1), false).1));
                    *base = Base { text, parsed };
                }
                match &base.parsed {
                    Ok(spans) => resolve_row(
                        Parsed { text: text.as_bytes(), spans },
                        row_text,
                        rule,
                        *operation,
                        scratch,
                        out,
                    ),
                    Err(fault) => Outcome::Elsewhere(Kind::Base, *fault),
                }
            }
            Operation::Parameters(parameters) => match parse(row, rule.0, false) {
                Ok(spans) => parameters.apply(row, &spans, &mut memory.parameters, out),
                Err(_) => rejected(rule),
            },
            Operation::Canonical { form, key, .. } => {
                let Ok(spans) = parse(row, rule.0, false) else { return rejected(rule) };
                let mark = out.len();
                if !form.apply(row, &spans, *key, &mut memory.canonical, out) {
                    return Outcome::Open { written: false };
                }
                if out.part(mark..) == row {
                    out.truncate(mark);
                    return Outcome::Same;
                }
                Outcome::Written
            }
            Operation::Encode(safe) => {
                if safe.prefix(row) == row.len() {
                    return Outcome::Same;
                }
                percent::encode(row, safe, out);
                Outcome::Written
            }
            Operation::Decode => decode_row(onward, row.len(), out),
        }
    }
}

/// Decode a row: the first `length` bytes of `onward`.
fn decode_row(onward: &[u8], length: usize, out: &mut Vec<u8>) -> Outcome {
    let mark = out.len();
    match decode(onward, length, out) {
        Err(at) => Outcome::Bad(Kind::PctEncoded, at),
        Ok(_) if out.len() - mark == length => {
            out.truncate(mark);
            Outcome::Same
        }
        Ok(false) => Outcome::Written,
        Ok(true) => match std::str::from_utf8(out.part(mark..)) {
            Ok(_) => Outcome::Written,
            // The octets are not UTF-8: report the escape of the first invalid one.
            Err(error) => Outcome::Bad(Kind::NonAscii, place_of(onward.part(..length), error.valid_up_to())),
        },
    }
}

/// Resolve a row (5.2), or relate it, for URIs or IRIs (RFC 3987 6.5).
fn resolve_row(
    base: Parsed<'_>,
    row: &str,
    rule: SyntaxRule,
    operation: BaseOperation,
    scratch: &mut Scratch,
    out: &mut Vec<u8>,
) -> Outcome {
    let Some(spans) = read(row, rule, false, scratch) else {
        let (kind, at) = refusal(row.as_bytes(), rule, false);
        return Outcome::Bad(kind, at);
    };
    let row = Parsed { text: row.as_bytes(), spans: &spans };
    match operation {
        BaseOperation::Resolve { strict } => {
            resolve(base, row, strict, out);
        }
        BaseOperation::Relate => {
            if relate(base, row, out).is_none() {
                return Outcome::Bad(Kind::Unreachable, spans.path().start);
            }
        }
    }
    Outcome::Written
}

/// The offset in a row of the decoded octet with this number.
fn place_of(row: &[u8], octet: usize) -> usize {
    let (mut i, mut n) = (0, 0);
    while n < octet && i < row.len() {
        i += if row.at(i) == b'%' { 3 } else { 1 };
        n += 1;
    }
    i
}

impl Visit for Text<'_> {
    type Output = Result<ArrayRef>;

    fn visit<R: Rows>(self, rows: &R) -> Self::Output {
        if let Operation::ByEach { bases, .. } = self.operation {
            let count = Array::len(bases);
            if count < self.first + rows.len() {
                return Err(format!("{count} bases for more rows"));
            }
        }
        let (column, bad, open) = text_column(rows, self.threads, || {
            let base = Base { text: "", parsed: Err(0) };
            let mut memory = Memory {
                base,
                scratch: Scratch::default(),
                parameters: parameters::Scratch::default(),
                canonical: canonical::Scratch::default(),
            };
            move |i: usize, row: &str, out: &mut Vec<u8>| {
                self.operation.apply(self.first + i, &mut memory, row, rows.onward(i), self.rule, out)
            }
        })?;
        let column = match self.operation {
            Operation::NormalizeByScheme(Schemes { finisher, .. })
            | Operation::Canonical { finisher, .. } => finisher.finish_rows(column, &open)?,
            _ => column,
        };
        let column: ArrayRef = Arc::new(column);
        if !self.details {
            return Ok(column);
        }
        let (kinds, at) = error_columns(rows.len(), &bad);
        structure(&["value", "error", "error_at"], vec![column, kinds, at], nulls(rows))
    }
}
