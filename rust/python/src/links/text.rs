//! Rows of the link table as lines of text.

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{Array, ArrayRef, BooleanArray, Int64Array, StringArray, StructArray};
use arrow_schema::DataType;

/// A column whose values can be written.
enum Column<'a> {
    Text(&'a StringArray),
    Flag(&'a BooleanArray),
    Number(&'a Int64Array),
}

impl<'a> Column<'a> {
    fn of(column: &'a ArrayRef) -> Self {
        match column.data_type() {
            DataType::Boolean => Column::Flag(column.as_boolean()),
            DataType::Int64 => Column::Number(column.as_primitive::<Int64Type>()),
            _ => Column::Text(column.as_string()),
        }
    }

    /// Write a value: a text by `text`, others as JSON and CSV write both; `undefined` for none.
    fn write(&self, row: usize, undefined: &str, out: &mut Vec<u8>, text: impl Fn(&str, &mut Vec<u8>)) {
        match self {
            Column::Text(values) if values.is_valid(row) => text(values.value(row), out),
            Column::Flag(values) if values.is_valid(row) => {
                out.extend_from_slice(if values.value(row) { b"true" } else { b"false" });
            }
            Column::Number(values) if values.is_valid(row) => {
                out.extend_from_slice(values.value(row).to_string().as_bytes());
            }
            _ => out.extend_from_slice(undefined.as_bytes()),
        }
    }
}

/// One object a line.
pub fn json_lines(rows: &StructArray) -> Vec<u8> {
    let mut out = Vec::new();
    let columns: Vec<(String, Column<'_>)> = rows
        .fields()
        .iter()
        .zip(rows.columns())
        .enumerate()
        .map(|(index, (field, column))| {
            let mark = if index == 0 { "{" } else { ", " };
            (format!("{mark}\"{}\": ", field.name()), Column::of(column))
        })
        .collect();
    for row in 0..rows.len() {
        for (name, column) in &columns {
            out.extend_from_slice(name.as_bytes());
            column.write(row, "null", &mut out, json_text);
        }
        out.extend_from_slice(b"}\n");
    }
    out
}

/// A string of JSON: characters as they are, except those that must be escaped (RFC 8259 7).
fn json_text(text: &str, out: &mut Vec<u8>) {
    out.push(b'"');
    let mut remaining = text.as_bytes();
    while let Some(at) = remaining.iter().position(|octet| *octet < 0x20 || matches!(octet, b'"' | b'\\')) {
        let (before, onward) = remaining.split_at(at);
        out.extend_from_slice(before);
        let Some((octet, after)) = onward.split_first() else { break };
        match octet {
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\r' => out.extend_from_slice(b"\\r"),
            b'\t' => out.extend_from_slice(b"\\t"),
            0x08 => out.extend_from_slice(b"\\b"),
            0x0C => out.extend_from_slice(b"\\f"),
            b'"' | b'\\' => out.extend_from_slice(&[b'\\', *octet]),
            _ => out.extend_from_slice(format!("\\u{octet:04x}").as_bytes()),
        }
        remaining = after;
    }
    out.extend_from_slice(remaining);
    out.push(b'"');
}

/// Texts in quotes; undefined is empty.
pub fn csv(rows: &StructArray, is_safe: bool) -> Vec<u8> {
    let mut out = Vec::new();
    let columns: Vec<Column<'_>> = rows.columns().iter().map(Column::of).collect();
    for row in 0..rows.len() {
        for (index, column) in columns.iter().enumerate() {
            if index > 0 {
                out.push(b',');
            }
            column.write(row, "", &mut out, |text, out| {
                out.extend_from_slice(if is_safe && is_formula(text) { b"\"'" } else { b"\"" });
                for (number, part) in text.split('"').enumerate() {
                    if number > 0 {
                        out.extend_from_slice(b"\"\"");
                    }
                    out.extend_from_slice(part.as_bytes());
                }
                out.push(b'"');
            });
        }
        out.push(b'\n');
    }
    out
}

/// Whether a spreadsheet would compute a cell, or would without its apostrophes (`overthere.columns.cells`).
fn is_formula(text: &str) -> bool {
    text.trim_start_matches('\'')
        .starts_with(['=', '+', '-', '@', '\t', '\r', '\n', '\u{FF1D}', '\u{FF0B}', '\u{FF0D}', '\u{FF20}'])
}
