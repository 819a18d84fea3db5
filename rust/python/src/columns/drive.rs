//! The loop under every column function: rows in ranges over threads, views and validity out.

use arrow_array::builder::make_view;
use arrow_array::{Array, StringViewArray};
use arrow_buffer::{BooleanBuffer, Buffer, NullBuffer, ScalarBuffer};
use overthere_core::check::Kind;
use overthere_core::place::Part;

use super::rows::Rows;

/// What a row becomes.
pub enum Outcome {
    /// Undefined.
    Null,
    /// The row itself.
    Same,
    /// A part of the row.
    Part(usize, usize),
    /// What was written to the output.
    Written,
    /// What was written to the output, or the row itself, and to be finished elsewhere.
    Open { written: bool },
    /// Refused: the kind, and the byte where.
    Bad(Kind, usize),
    /// Refused for a text beside the row: the kind, and the code point where in that text.
    Elsewhere(Kind, u32),
}

/// A row that was refused; the offset is in code points.
pub struct Bad {
    pub row: usize,
    pub kind: Kind,
    pub at: u32,
}

/// How many rows a thread takes at a time at the least.
const LEAST: usize = 1 << 14;

/// The offset in code points of a byte offset.
pub fn code_points(row: &[u8], at: usize) -> u32 {
    row.part(..at).iter().filter(|&&b| b & 0xC0 != 0x80).count() as u32
}

/// The view of `text[start..end]`, where `text` stands at `offset` of a buffer and may go on past `end`.
///
/// Arrow's own `make_view` asks how long a short text is; here both forms are made and one is taken.
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

/// One range of `Views`, held by one thread.
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

/// Zeros, in large pages where the system has them: most of what a split costs would else be page faults.
fn zeros(rows: usize) -> Vec<u128> {
    let zeros = vec![0u128; rows];
    #[cfg(target_os = "linux")]
    {
        const PAGE: usize = 1 << 21;
        let start = zeros.as_ptr() as usize;
        let (first, end) = (start.next_multiple_of(PAGE), (start + 16 * rows) / PAGE * PAGE);
        if first < end {
            // SAFETY: whole pages inside our own allocation; the advice changes no content, and may be refused.
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

    /// Run `work(first row, rows, range)` over ranges of rows, on as many threads; the answers in order.
    pub fn run<T: Send>(
        &mut self,
        threads: usize,
        work: impl Fn(usize, usize, Range<'_>) -> T + Sync,
    ) -> Vec<T> {
        let per = self.rows.div_ceil(threads.max(1)).max(LEAST).next_multiple_of(64);
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
        if ranges.len() <= 1 {
            return ranges.into_iter().enumerate().map(|(k, r)| work(k * per, count(k), r)).collect();
        }
        let work = &work;
        std::thread::scope(|scope| {
            let running: Vec<_> = ranges
                .into_iter()
                .enumerate()
                .map(|(k, range)| scope.spawn(move || work(k * per, count(k), range)))
                .collect();
            running.into_iter().map(|r| r.join().unwrap_or_else(|p| std::panic::resume_unwind(p))).collect()
        })
    }

    /// The columns, over these buffers.
    pub fn finish(self, buffers: &[Buffer]) -> Vec<StringViewArray> {
        let rows = self.rows;
        self.views
            .into_iter()
            .zip(self.valid)
            .map(|(views, valid)| {
                let nulls = NullBuffer::new(BooleanBuffer::new(Buffer::from_vec(valid), 0, rows));
                let nulls = Some(nulls).filter(|n| n.null_count() > 0);
                // SAFETY: every view is zero (empty) or was made by `make_view` from a slice of one of the
                // buffers, at its own place in it, and each slice is UTF-8: a row, a part of a row cut at
                // US-ASCII delimiters, or what the core wrote from such parts.
                unsafe { StringViewArray::new_unchecked(ScalarBuffer::from(views), buffers.to_vec(), nulls) }
            })
            .collect()
    }
}

/// One bit a row, on as many threads; `make()` gives each thread its own test.
pub fn bits<F: FnMut(usize) -> bool>(rows: usize, threads: usize, make: impl Fn() -> F + Sync) -> Buffer {
    let mut words = vec![0u64; rows.div_ceil(64)];
    let per = rows.div_ceil(threads.max(1)).max(LEAST).div_ceil(64);
    let fill = |first: usize, words: &mut [u64]| {
        let mut test = make();
        for (n, word) in words.iter_mut().enumerate() {
            let here = (first + n) * 64;
            for i in 0..64.min(rows - here) {
                *word |= u64::from(test(here + i)) << i;
            }
        }
    };
    if words.len() <= per {
        fill(0, &mut words);
    } else {
        let fill = &fill;
        std::thread::scope(|scope| {
            for (k, chunk) in words.chunks_mut(per).enumerate() {
                scope.spawn(move || fill(k * per, chunk));
            }
        });
    }
    Buffer::from_vec(words)
}

/// What a chunk's result is refused with: a view's offset is an `i32` in Arrow.
const TOO_LARGE: &str = "a chunk's result is larger than 2 GiB: pass it in smaller chunks";

/// One text column out of another, its refused rows, and the rows that are to be finished elsewhere; `make()` gives
/// each thread its own function of a row.
pub fn text_column<R, F, M>(
    rows: &R,
    threads: usize,
    make: M,
) -> Result<(StringViewArray, Vec<Bad>, Vec<usize>), &'static str>
where
    R: Rows,
    F: FnMut(usize, &str, &mut Vec<u8>) -> Outcome,
    M: Fn() -> F + Sync,
{
    let mut buffers = rows.buffers();
    let own = buffers.len() as u32;
    let mut views = Views::new(1, rows.len());
    let per = rows.len().div_ceil(threads.max(1)).max(LEAST).next_multiple_of(64);
    let parts = views.run(threads, |first, count, mut range| {
        let (mut out, mut bad, mut open, mut work) = (Vec::new(), Vec::new(), Vec::new(), make());
        let number = own + (first / per) as u32;
        for i in 0..count {
            if !rows.is_valid(first + i) {
                continue;
            }
            let row = rows.row(first + i);
            let mark = out.len();
            let (buffer, offset) = rows.place(first + i);
            let outcome = work(first + i, rows.text(first + i), &mut out);
            if matches!(outcome, Outcome::Open { .. }) {
                open.push(first + i);
            }
            match outcome {
                Outcome::Null => {}
                Outcome::Same | Outcome::Open { written: false } => {
                    range.set(0, i, make_view(row, buffer, offset))
                }
                Outcome::Part(start, end) => {
                    range.set(0, i, view(rows.onward(first + i), start, end, buffer, offset));
                }
                Outcome::Written | Outcome::Open { written: true } => {
                    if out.len() > i32::MAX as usize {
                        return Err(TOO_LARGE);
                    }
                    range.set(0, i, make_view(out.part(mark..), number, mark as u32));
                }
                Outcome::Bad(kind, at) => {
                    out.truncate(mark);
                    bad.push(Bad { row: first + i, kind, at: code_points(row, at) });
                }
                Outcome::Elsewhere(kind, at) => bad.push(Bad { row: first + i, kind, at }),
            }
        }
        Ok((out, bad, open))
    });
    let (mut all, mut still_open) = (Vec::new(), Vec::new());
    for part in parts {
        let (out, bad, open) = part?;
        buffers.push(Buffer::from_vec(out));
        all.extend(bad);
        still_open.extend(open);
    }
    let mut columns = views.finish(&buffers);
    Ok((columns.remove(0), all, still_open))
}

/// The column with other texts in some of its rows, as many as there are rows named; None makes a row null.
pub fn rewritten(
    column: &StringViewArray,
    rows: &[usize],
    texts: &[Option<String>],
) -> Result<StringViewArray, &'static str> {
    if rows.len() != texts.len() {
        return Err("as many texts must come back as were given");
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
            return Err(TOO_LARGE);
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
    // SAFETY: the views and buffers of a sound column, and views by `make_view` of whole texts at their places in one
    // buffer more.
    Ok(unsafe { StringViewArray::new_unchecked(ScalarBuffer::from(views), buffers, nulls) })
}
