//! A column of text of any Arrow type: its rows as bytes, and their places in the input's buffers.

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, GenericStringArray, OffsetSizeTrait, StringViewArray};
use arrow_buffer::Buffer;
use overthere_core::place::{At, Part};

/// Rows of text.
pub trait Rows: Sync {
    /// The number of rows.
    fn len(&self) -> usize;
    /// Whether the row is not null.
    fn is_valid(&self, i: usize) -> bool;
    /// The text of a row.
    fn text(&self, i: usize) -> &str;
    /// The bytes of a row.
    #[inline(always)]
    fn row(&self, i: usize) -> &[u8] {
        self.text(i).as_bytes()
    }
    /// The number of a row's buffer and its offset there; meaningless if the row's view contains the text.
    fn place(&self, i: usize) -> (u32, u32);
    /// Bytes that begin with the row, and may go on to the end of its buffer.
    fn onward(&self, i: usize) -> &[u8];
    /// The buffers into which views can point.
    fn buffers(&self) -> Vec<Buffer>;
}

impl<O: OffsetSizeTrait> Rows for GenericStringArray<O> {
    fn len(&self) -> usize {
        Array::len(self)
    }

    fn is_valid(&self, i: usize) -> bool {
        Array::is_valid(self, i)
    }

    #[inline(always)]
    fn text(&self, i: usize) -> &str {
        self.value(i)
    }

    #[inline(always)]
    fn place(&self, i: usize) -> (u32, u32) {
        (0, self.value_offsets().at(i).as_usize() as u32)
    }

    #[inline(always)]
    fn onward(&self, i: usize) -> &[u8] {
        self.values().part(self.value_offsets().at(i).as_usize()..)
    }

    fn buffers(&self) -> Vec<Buffer> {
        vec![self.values().clone()]
    }
}

impl Rows for StringViewArray {
    fn len(&self) -> usize {
        Array::len(self)
    }

    fn is_valid(&self, i: usize) -> bool {
        Array::is_valid(self, i)
    }

    #[inline(always)]
    fn text(&self, i: usize) -> &str {
        self.value(i)
    }

    #[inline(always)]
    fn place(&self, i: usize) -> (u32, u32) {
        let view = self.views().at(i);
        if view as u32 <= 12 {
            (0, 0)
        } else {
            ((view >> 64) as u32, (view >> 96) as u32)
        }
    }

    #[inline(always)]
    fn onward(&self, i: usize) -> &[u8] {
        // The buffer may end with the row, so only the row itself is returned.
        self.row(i)
    }

    fn buffers(&self) -> Vec<Buffer> {
        self.data_buffers().to_vec()
    }
}

/// Work on rows that is compiled for each type of rows.
pub trait Visit {
    /// The result.
    type Output;
    /// Do the work.
    fn visit<R: Rows>(self, rows: &R) -> Self::Output;
}

/// Run a visit over a column of Utf8, LargeUtf8 or Utf8View; None for another type.
pub fn visit<V: Visit>(column: &ArrayRef, visitor: V) -> Option<V::Output> {
    if let Some(rows) = column.as_string_opt::<i32>() {
        Some(visitor.visit(rows))
    } else if let Some(rows) = column.as_string_opt::<i64>() {
        if rows.value_data().len() > u32::MAX as usize {
            // A view's offset has 32 bits, so the rows need smaller buffers.
            return Some(visitor.visit(&StringViewArray::from(rows)));
        }
        Some(visitor.visit(rows))
    } else {
        column.as_string_view_opt().map(|rows| visitor.visit(rows))
    }
}
