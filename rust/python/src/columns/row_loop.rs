//! The loop of every column function: ranges of rows on several threads.

use arrow_array::builder::make_view;
use arrow_array::StringViewArray;
use arrow_buffer::Buffer;
use overthere_core::check::Kind;
use overthere_core::place::Part;

use super::rows::Rows;
use crate::arrow::views::{view, Views, LEAST, TOO_LARGE};

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

/// The offset in code points of a byte offset.
pub fn code_points(row: &[u8], at: usize) -> u32 {
    row.part(..at).iter().filter(|&&b| b & 0xC0 != 0x80).count() as u32
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
