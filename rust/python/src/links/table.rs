//! The columns of the link table.

use std::sync::Arc;

use arrow_array::builder::{ArrayBuilder, BooleanBuilder, Int64Builder, StringBuilder};
use arrow_array::{new_null_array, ArrayRef, StructArray};
use arrow_schema::{DataType, Field, Fields};
use overthere_core::normalize::{may_change, normalize};
use overthere_core::parse::Rule;
use overthere_core::place::{Span, Spans};
use pyo3::exceptions::PyValueError;
use pyo3::PyResult;

use crate::fast::parse;

/// A base URI and the layer that gave it.
#[derive(Clone)]
pub struct Base {
    pub text: String,
    pub spans: Spans,
    pub layer: String,
}

impl Default for Base {
    fn default() -> Self {
        Base { text: String::new(), spans: Spans::EMPTY, layer: String::new() }
    }
}

impl Base {
    pub fn new(text: String, layer: String) -> PyResult<Base> {
        let spans = parse(text.as_bytes(), Rule::Uri, true)
            .map_err(|at| PyValueError::new_err(format!("the base is not a valid URI (at {at})")))?;
        Ok(Base { text, spans, layer })
    }
}

/// The fields of a row, except those of its document.
#[derive(Default)]
pub struct Row<'a> {
    pub place: &'a str,
    pub reference: Option<&'a str>,
    pub target: Option<String>,
    /// The spans of the components of the target.
    pub spans: Option<Spans>,
    /// The span of the fragment in the target.
    pub fragment: Option<Span>,
    pub same_document: Option<bool>,
    /// The normal form of the target, if it differs.
    pub normal: Option<String>,
    pub error: Option<String>,
    pub error_at: Option<i64>,
    pub part: Option<String>,
}

/// The normal form of a target at a generic rung; None if it equals the target.
pub fn normal(target: &str, spans: &Spans, rung: u8) -> Option<String> {
    if !may_change(target.as_bytes(), spans, rung) {
        return None;
    }
    let mut out = Vec::new();
    normalize(target.as_bytes(), spans, rung, &mut out);
    Some(String::from_utf8(out).unwrap_or_default())
}

/// Finish a column; the next one gets the same capacity.
fn finish_column(column: &mut StringBuilder) -> ArrayRef {
    let (rows, octets) = (column.len(), column.values_slice().len());
    let array = column.finish();
    *column = StringBuilder::with_capacity(rows, octets);
    Arc::new(array)
}

/// The columns in the order of `Link`.
#[derive(Default)]
pub struct Columns {
    source: StringBuilder,
    base: StringBuilder,
    base_from: StringBuilder,
    reference: StringBuilder,
    place: StringBuilder,
    target: StringBuilder,
    fragment: StringBuilder,
    same_document: BooleanBuilder,
    normal: StringBuilder,
    error: StringBuilder,
    error_at: Int64Builder,
    part: StringBuilder,
    count: usize,
    pub octets: usize,
}

pub const COLUMN_NAMES: [&str; 14] = [
    "source",
    "base",
    "base_from",
    "reference",
    "where",
    "target",
    "fragment",
    "same_document",
    "normal",
    "error",
    "error_at",
    "part",
    "audit",
    "browser",
];

pub const SOURCE: usize = 0;
pub const BASE: usize = 1;
pub const BASE_FROM: usize = 2;
pub const REFERENCE: usize = 3;
pub const TARGET: usize = 5;
pub const SAME_DOCUMENT: usize = 7;
pub const ERROR: usize = 9;
pub const ERROR_AT: usize = 10;
pub const PART: usize = 11;
pub const AUDIT: usize = 12;
pub const BROWSER: usize = 13;

/// The rows of columns in the order of `Link`.
pub fn rows(columns: Vec<ArrayRef>) -> Result<StructArray, String> {
    if columns.len() != COLUMN_NAMES.len() {
        return Err("other columns than those of the link table".into());
    }
    StructArray::try_new(fields(), columns, None).map_err(|error| error.to_string())
}

/// The names and types of the columns.
pub fn fields() -> Fields {
    let field = |(index, name): (usize, &&str)| {
        let kind = match index {
            SAME_DOCUMENT => DataType::Boolean,
            ERROR_AT => DataType::Int64,
            _ => DataType::Utf8,
        };
        Field::new(*name, kind, true)
    };
    COLUMN_NAMES.iter().enumerate().map(field).collect()
}

impl Columns {
    pub fn len(&self) -> usize {
        self.count
    }

    pub fn push(&mut self, source: &str, base: &Base, row: Row<'_>) {
        let target = row.target.as_deref();
        self.octets += source.len() + base.text.len() + row.reference.map_or(0, str::len);
        self.octets += 2 * target.map_or(0, str::len);
        self.source.append_value(source);
        self.base.append_value(&base.text);
        self.base_from.append_value(&base.layer);
        self.reference.append_option(row.reference);
        self.place.append_value(row.place);
        self.target.append_option(target);
        self.fragment.append_option(target.zip(row.fragment).map(|(text, fragment)| fragment.of_str(text)));
        self.same_document.append_option(row.same_document);
        self.normal.append_option(row.normal.as_deref().or(target));
        self.error.append_option(row.error);
        self.error_at.append_option(row.error_at);
        self.part.append_option(row.part);
        self.count += 1;
    }

    pub fn note(&mut self, source: &str, base: &str, kind: &str) {
        self.source.append_value(source);
        self.base.append_value(base);
        self.error.append_value(kind);
        for column in [
            &mut self.base_from,
            &mut self.reference,
            &mut self.place,
            &mut self.target,
            &mut self.fragment,
            &mut self.normal,
            &mut self.part,
        ] {
            column.append_null();
        }
        self.same_document.append_null();
        self.error_at.append_null();
        self.octets += source.len() + base.len();
        self.count += 1;
    }

    pub fn take(&mut self) -> Result<StructArray, String> {
        // The columns `audit` and `browser` are filled in Python.
        let empty = new_null_array(&DataType::Utf8, self.count);
        self.count = 0;
        self.octets = 0;
        let columns: Vec<ArrayRef> = vec![
            finish_column(&mut self.source),
            finish_column(&mut self.base),
            finish_column(&mut self.base_from),
            finish_column(&mut self.reference),
            finish_column(&mut self.place),
            finish_column(&mut self.target),
            finish_column(&mut self.fragment),
            Arc::new(self.same_document.finish()),
            finish_column(&mut self.normal),
            finish_column(&mut self.error),
            Arc::new(self.error_at.finish()),
            finish_column(&mut self.part),
            empty.clone(),
            empty,
        ];
        rows(columns)
    }
}
