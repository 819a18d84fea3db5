//! The loop of every column function: ranges of rows in several threads.

use arrow_array::builder::make_view;
use arrow_array::StringViewArray;
use arrow_buffer::Buffer;
use overthere_core::check::Kind;
use overthere_core::place::Part;

use super::rows::Rows;
use crate::arrow::views::{view, Views, MIN_ROWS_PER_THREAD, TOO_LARGE};
use crate::threads::in_threads;

/// The result of a row.
pub enum Outcome {
    /// Undefined.
    Null,
    /// The row itself.
    Same,
    /// A part of the row.
    Part(usize, usize),
    /// The text that was written to the output.
    Written,
    /// Unfinished: the text that was written to the output, or the row itself; the caller finishes it.
    Open { written: bool },
    /// Rejected: the kind, and the byte offset.
    Bad(Kind, usize),
    /// Rejected because of another text, such as a base: the kind, and the offset in that text in code points.
    Elsewhere(Kind, u32),
}

/// A rejected row; the offset is in code points.
pub struct Bad {
    pub row: usize,
    pub kind: Kind,
    pub at: u32,
}

/// The offset in code points of a byte offset.
pub fn code_points(row: &[u8], at: usize) -> u32 {
    row.part(..at).iter().filter(|&&b| b & 0xC0 != 0x80).count() as u32
}

/// A bit for each row, on up to `threads` threads; `make()` returns the test for a thread.
pub fn bits<F: FnMut(usize) -> bool>(rows: usize, threads: usize, make: impl Fn() -> F + Sync) -> Buffer {
    let mut words = vec![0u64; rows.div_ceil(64)];
    let per = rows.div_ceil(threads.max(1)).max(MIN_ROWS_PER_THREAD).div_ceil(64);
    let fill = |first: usize, words: &mut [u64]| {
        let mut test = make();
        for (n, word) in words.iter_mut().enumerate() {
            let first_row = (first + n) * 64;
            for i in 0..64.min(rows - first_row) {
                *word |= u64::from(test(first_row + i)) << i;
            }
        }
    };
    in_threads(words.chunks_mut(per).collect(), threads, |k, chunk| fill(k * per, chunk));
    Buffer::from_vec(words)
}

/// Compute a text column from another; return it, its rejected rows, and its unfinished rows.  `make()` returns the
/// function of a row for a thread.
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
    let first_buffer = buffers.len() as u32;
    let mut views = Views::new(1, rows.len());
    let per = rows.len().div_ceil(threads.max(1)).max(MIN_ROWS_PER_THREAD).next_multiple_of(64);
    let parts = views.run(threads, |first, count, mut range| {
        let (mut out, mut bad, mut open, mut work) = (Vec::new(), Vec::new(), Vec::new(), make());
        let number = first_buffer + (first / per) as u32;
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
    let (mut all_bad, mut all_open) = (Vec::new(), Vec::new());
    for part in parts {
        let (out, bad, open) = part?;
        buffers.push(Buffer::from_vec(out));
        all_bad.extend(bad);
        all_open.extend(open);
    }
    let mut columns = views.finish(&buffers);
    Ok((columns.remove(0), all_bad, all_open))
}
