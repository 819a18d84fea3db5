//! Text arrays of views: filling them in threads, selecting, joining, and changing some rows.

use arrow_array::builder::make_view;
use arrow_array::cast::AsArray;
use arrow_array::{Array, StringViewArray};
use arrow_buffer::{BooleanBuffer, Buffer, NullBuffer, ScalarBuffer};
use overthere_core::place::Part;

use super::{Keys, Result};
use crate::threads::in_threads;

/// The minimum number of rows for a thread.
pub const MIN_ROWS_PER_THREAD: usize = 1 << 14;

/// The view of `text[start..end]`, where `text` is at `offset` of a buffer and may go on past `end`.
///
/// Arrow's `make_view` branches on the length of a short text; this computes both forms and selects one.
#[inline(always)]
pub fn view(text: &[u8], start: usize, end: usize, buffer: u32, offset: u32) -> u128 {
    let Some(octets) = text.part(start..).first_chunk::<16>() else {
        return make_view(text.part(start..end), buffer, offset + start as u32);
    };
    let (octets, length) = (u128::from_le_bytes(*octets), end - start);
    let inline = (octets & ((1 << (8 * length.min(12))) - 1)) << 32;
    let place =
        u128::from(octets as u32) << 32 | u128::from(buffer) << 64 | u128::from(offset + start as u32) << 96;
    length as u128 | if length > 12 { place } else { inline }
}

/// Views and validity of `columns` text columns of one length.
pub struct Views {
    views: Vec<Vec<u128>>,
    valid: Vec<Vec<u64>>,
    rows: usize,
}

/// A range of rows of `Views` for one thread.
pub struct Range<'a> {
    views: Vec<&'a mut [u128]>,
    valid: Vec<&'a mut [u64]>,
}

impl Range<'_> {
    /// Set a row of a column.
    #[inline(always)]
    pub fn set(&mut self, column: usize, row: usize, view: u128) {
        let place = self.views.get_mut(column).and_then(|views| views.get_mut(row));
        let valid = self.valid.get_mut(column).and_then(|valid| valid.get_mut(row / 64));
        if let (Some(place), Some(valid)) = (place, valid) {
            *place = view;
            *valid |= 1 << (row % 64);
        }
    }
}

/// Zeros, in huge pages if the system has them: otherwise page faults would be most of the cost of a split.
fn zeros(rows: usize) -> Vec<u128> {
    let zeros = vec![0u128; rows];
    #[cfg(target_os = "linux")]
    {
        const PAGE: usize = 1 << 21;
        let start = zeros.as_ptr() as usize;
        let (first, end) = (start.next_multiple_of(PAGE), (start + 16 * rows) / PAGE * PAGE);
        if first < end {
            // SAFETY: these are complete pages in our allocation; the advice changes no content, and may fail.
            unsafe { libc::madvise(first as *mut libc::c_void, end - first, libc::MADV_HUGEPAGE) };
        }
    }
    zeros
}

impl Views {
    pub fn new(columns: usize, rows: usize) -> Self {
        let views = (0..columns).map(|_| zeros(rows)).collect();
        Views { views, valid: vec![vec![0; rows.div_ceil(64)]; columns], rows }
    }

    /// Run `work(first row, rows, range)` over ranges of rows, on up to `threads` threads; return the results in order.
    pub fn run<T: Send>(
        &mut self,
        threads: usize,
        work: impl Fn(usize, usize, Range<'_>) -> T + Sync,
    ) -> Vec<T> {
        let per = self.rows.div_ceil(threads.max(1)).max(MIN_ROWS_PER_THREAD).next_multiple_of(64);
        let rows = self.rows;
        let mut ranges: Vec<Range<'_>> =
            (0..rows.div_ceil(per)).map(|_| Range { views: Vec::new(), valid: Vec::new() }).collect();
        for (views, valid) in self.views.iter_mut().zip(&mut self.valid) {
            for ((range, v), w) in
                ranges.iter_mut().zip(views.chunks_mut(per)).zip(valid.chunks_mut(per / 64))
            {
                range.views.push(v);
                range.valid.push(w);
            }
        }
        let count = |k: usize| per.min(rows - k * per);
        in_threads(ranges, threads, |k, range| work(k * per, count(k), range))
    }

    /// The columns, whose views point into these buffers.
    pub fn finish(self, buffers: &[Buffer]) -> Vec<StringViewArray> {
        let rows = self.rows;
        self.views
            .into_iter()
            .zip(self.valid)
            .map(|(views, valid)| {
                let nulls = NullBuffer::new(BooleanBuffer::new(Buffer::from_vec(valid), 0, rows));
                let nulls = Some(nulls).filter(|n| n.null_count() > 0);
                text_array(views, buffers.to_vec(), nulls)
            })
            .collect()
    }
}

/// The error for a result whose offsets exceed `i32`, the type of a view's offset in Arrow.
pub const TOO_LARGE: &str = "a chunk's result is larger than 2 GiB: pass it in smaller chunks";

/// The column with new texts in the given rows, one text for each; None makes a row null.
pub fn rewritten(
    column: &StringViewArray,
    rows: &[usize],
    texts: &[Option<String>],
) -> Result<StringViewArray> {
    if rows.len() != texts.len() {
        return Err("the number of texts must not change".to_owned());
    }
    let (mut views, mut buffers) = (column.views().to_vec(), column.data_buffers().to_vec());
    let (mut out, mut empty) = (Vec::new(), Vec::new());
    for (&row, text) in rows.iter().zip(texts) {
        let Some(text) = text else {
            empty.push(row);
            continue;
        };
        if column.value(row) == text {
            continue;
        }
        let offset = out.len();
        out.extend_from_slice(text.as_bytes());
        if out.len() > i32::MAX as usize {
            return Err(TOO_LARGE.to_owned());
        }
        if let Some(view) = views.get_mut(row) {
            *view = make_view(text.as_bytes(), buffers.len() as u32, offset as u32);
        }
    }
    buffers.push(Buffer::from_vec(out));
    let nulls = if empty.is_empty() {
        column.nulls().cloned()
    } else {
        let mut valid: Vec<bool> = (0..Array::len(column)).map(|row| Array::is_valid(column, row)).collect();
        empty.into_iter().for_each(|row| valid.get_mut(row).into_iter().for_each(|valid| *valid = false));
        Some(NullBuffer::from(valid))
    };
    Ok(text_array(views, buffers, nulls))
}

/// The column of text as views of its data.
pub fn views_of(column: &dyn Array) -> Result<StringViewArray> {
    if let Some(column) = column.as_string_opt::<i32>() {
        Ok(StringViewArray::from(column))
    } else if let Some(column) = column.as_string_opt::<i64>() {
        Ok(StringViewArray::from(column))
    } else {
        let views = column.as_string_view_opt().cloned();
        views.ok_or_else(|| format!("expected a text column, not {}", column.data_type()))
    }
}

/// The text of each key, with these rows null.
pub fn take_views(values: &StringViewArray, keys: &Keys, nulls: Option<NullBuffer>) -> StringViewArray {
    let all = values.views();
    let views = keys.numbers.iter().map(|&key| all.get(key as usize).copied().unwrap_or_default()).collect();
    text_array(views, values.data_buffers().to_vec(), nulls)
}

/// The rows of all chunks in one column.
pub fn concatenate(mut chunks: Vec<StringViewArray>) -> StringViewArray {
    if chunks.len() == 1 {
        return chunks.remove(0);
    }
    let rows = chunks.iter().map(Array::len).sum();
    let (mut views, mut buffers, mut valid) =
        (Vec::with_capacity(rows), Vec::new(), Vec::with_capacity(rows));
    for chunk in &chunks {
        let before = u128::from(buffers.len() as u32) << 64;
        // The third of four 32-bit parts is the buffer's number; in a short view it is text.
        let moved = |view: &u128| if *view as u32 > 12 { view.wrapping_add(before) } else { *view };
        views.extend(chunk.views().iter().map(moved));
        buffers.extend_from_slice(chunk.data_buffers());
        valid.extend((0..Array::len(chunk)).map(|row| Array::is_valid(chunk, row)));
    }
    let nulls = Some(NullBuffer::from(valid)).filter(|nulls| nulls.null_count() > 0);
    text_array(views, buffers, nulls)
}

/// An array of views that this file created or took from an array.
fn text_array(views: Vec<u128>, buffers: Vec<Buffer>, nulls: Option<NullBuffer>) -> StringViewArray {
    // SAFETY: every view is zero (empty), belongs to a null row, has been validated with these buffers, or was made by
    // `view` or `make_view` from a slice of one of the buffers, at its own place in it. Each slice is UTF-8: a row, a
    // part of a row cut at US-ASCII delimiters, or what the core wrote from such parts.
    unsafe { StringViewArray::new_unchecked(ScalarBuffer::from(views), buffers, nulls) }
}
