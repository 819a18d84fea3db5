//! Whether each row is a URI, and the components of each row.

use std::sync::Arc;

use arrow_array::{ArrayRef, BooleanArray};
use arrow_buffer::BooleanBuffer;
use overthere_core::automaton::Automaton;
use overthere_core::parse::Rule;
use overthere_core::place::{Component, Span};

use super::iris::{read, Scratch};
use super::row_loop::{bits, code_points, Bad};
use super::rows::{Rows, Visit};
use super::{error_columns, nulls, refusal, structure};
use crate::arrow::views::{view, Views};
use crate::arrow::Result;
use crate::components::SyntaxRule;
use crate::fast::{parse, split};

/// The rule by which rows are checked.
pub enum Judge {
    Rule(SyntaxRule, bool),
    Automaton(Arc<Automaton>),
}

/// Whether each row follows a rule.
pub struct Check<'a> {
    pub rule: &'a Judge,
    pub threads: usize,
}

impl Visit for Check<'_> {
    type Output = ArrayRef;

    fn visit<R: Rows>(self, rows: &R) -> ArrayRef {
        let valid = |i| rows.is_valid(i);
        let (count, threads) = (rows.len(), self.threads);
        let answers = match self.rule {
            Judge::Rule((rule, false), zone) => {
                bits(count, threads, || move |i| valid(i) && parse(rows.row(i), *rule, *zone).is_ok())
            }
            Judge::Rule(rule, zone) => bits(count, threads, || {
                let mut scratch = Scratch::default();
                move |i| valid(i) && read(rows.text(i), *rule, *zone, &mut scratch).is_some()
            }),
            Judge::Automaton(dfa) => bits(count, threads, || move |i| valid(i) && dfa.accepts(rows.row(i))),
        };
        Arc::new(BooleanArray::new(BooleanBuffer::new(answers, 0, rows.len()), nulls(rows)))
    }
}

/// The named components of each row; with a rule, rows are checked, and two more columns hold the error and its place.
pub struct Parts<'a> {
    pub names: &'a [String],
    pub rule: Option<(Rule, bool)>,
    pub threads: usize,
}

impl Visit for Parts<'_> {
    type Output = Result<ArrayRef>;

    fn visit<R: Rows>(self, rows: &R) -> Self::Output {
        let mut views = Views::new(self.names.len(), rows.len());
        let components: Vec<Component> =
            self.names.iter().map(|name| Component::named(name).unwrap_or(Component::Fragment)).collect();
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
                                let (kind, at) = refusal(row, (rule, false), zone);
                                bad.push(Bad { row: first + i, kind, at: code_points(row, at) });
                                continue;
                            }
                        },
                    };
                    let (buffer, offset) = rows.place(first + i);
                    let onward = rows.onward(first + i);
                    for (column, component) in components.iter().enumerate() {
                        if let Some(Span { start, end, .. }) = spans.get(*component, row.len()) {
                            range.set(column, i, view(onward, start, end, buffer, offset));
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
