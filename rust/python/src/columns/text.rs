//! What makes one text column out of another.

use std::sync::Arc;

use arrow_array::{Array, ArrayRef, StringViewArray};
use overthere_core::check::Kind;
use overthere_core::normalize::{may_change, normalize};
use overthere_core::parameters::Scratch;
use overthere_core::parse::{Rule, Spans};
use overthere_core::percent::{self, Safe};
use overthere_core::resolve::{resolve, Parsed};

use super::drive::{code_points, text_column, Outcome};
use super::parameters::Parameters;
use super::rows::{Rows, Visit};
use super::schemes::{form, Schemes};
use super::{error_columns, nulls, refusal, structure, Result};
use crate::fast::{host, parse};

/// What `column_text` does with each row.
pub enum Operation {
    Host,
    Normalize(u8),
    NormalizeByScheme(Schemes),
    Resolve { base: String, spans: Spans, strict: bool },
    ResolveEach { bases: StringViewArray, strict: bool },
    Encode(Box<Safe>),
    Decode,
    Parameters(Parameters),
}

/// An operation on a chunk whose first row has the number `first` in the whole column.
pub struct Text<'a> {
    pub operation: &'a Operation,
    pub first: usize,
    pub rule: Rule,
    pub details: bool,
    pub threads: usize,
}

/// What a thread keeps from row to row.
struct Kept<'a> {
    base: Base<'a>,
    scratch: Scratch,
}

/// The base of the row before, for rows of one document stand together.
struct Base<'a> {
    text: &'a [u8],
    spans: std::result::Result<Spans, usize>,
}

impl Operation {
    fn apply<'a>(
        &'a self,
        number: usize,
        kept: &mut Kept<'a>,
        row: &[u8],
        rule: Rule,
        out: &mut Vec<u8>,
    ) -> Outcome {
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
                form(row, may_change(row, &spans, *rung), out, |out| normalize(row, &spans, *rung, out))
            }
            Operation::NormalizeByScheme(schemes) => match parse(row, rule, false) {
                Ok(spans) => schemes.normalize(row, &spans, out),
                Err(_) => {
                    let (kind, at) = refusal(row, rule, false);
                    Outcome::Bad(kind, at)
                }
            },
            Operation::Resolve { base, spans, strict } => {
                against(Parsed { text: base.as_bytes(), spans }, row, *strict, out)
            }
            Operation::ResolveEach { bases, .. } if bases.is_null(number) => Outcome::Null,
            Operation::ResolveEach { bases, strict } => {
                let text = bases.value(number).as_bytes();
                if text != kept.base.text {
                    kept.base = Base { text, spans: parse(text, Rule::Uri, false) };
                }
                match &kept.base.spans {
                    Ok(spans) => against(Parsed { text, spans }, row, *strict, out),
                    Err(_) => {
                        let (_, at) = refusal(text, Rule::Uri, false);
                        Outcome::Elsewhere(Kind::Base, code_points(text, at))
                    }
                }
            }
            Operation::Parameters(asked) => match parse(row, rule, false) {
                Ok(spans) => asked.apply(row, &spans, &mut kept.scratch, out),
                Err(_) => {
                    let (kind, at) = refusal(row, rule, false);
                    Outcome::Bad(kind, at)
                }
            },
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

/// 5.2 on a row.
fn against(base: Parsed<'_>, row: &[u8], strict: bool, out: &mut Vec<u8>) -> Outcome {
    match parse(row, Rule::UriReference, false) {
        Ok(own) => {
            resolve(base, Parsed { text: row, spans: &own }, strict, out);
            Outcome::Written
        }
        Err(_) => {
            let (kind, at) = refusal(row, Rule::UriReference, false);
            Outcome::Bad(kind, at)
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
        if let Operation::ResolveEach { bases, .. } = self.operation {
            let count = Array::len(bases);
            if count < self.first + rows.len() {
                return Err(format!("{count} bases for more rows"));
            }
        }
        let (column, bad, open) = text_column(rows, self.threads, || {
            let mut kept = Kept { base: Base { text: b"", spans: Err(0) }, scratch: Scratch::default() };
            move |i: usize, row: &[u8], out: &mut Vec<u8>| {
                self.operation.apply(self.first + i, &mut kept, row, self.rule, out)
            }
        })?;
        let column = match self.operation {
            Operation::NormalizeByScheme(schemes) => schemes.finished(column, &open)?,
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
