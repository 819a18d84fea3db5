//! A column of text, whatever its Arrow type: rows as bytes, and where each lies in the input's buffers.

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, GenericStringArray, OffsetSizeTrait, StringViewArray};
use arrow_buffer::Buffer;
use overthere_core::place::{At, Part};

/// Rows of text.
pub trait Rows: Sync {
    /// How many there are.
    fn len(&self) -> usize;
    /// Whether the row is not null.
    fn is_valid(&self, i: usize) -> bool;
    /// A row.
    fn text(&self, i: usize) -> &str;
    /// The bytes of a row.
    #[inline(always)]
    fn row(&self, i: usize) -> &[u8] {
        self.text(i).as_bytes()
    }
    /// The number of its buffer and its offset there; without meaning where a view holds the text itself.
    fn place(&self, i: usize) -> (u32, u32);
    /// Octets that begin with the row and go on as far as its buffer.
    fn onward(&self, i: usize) -> &[u8];
    /// The buffers that views can point into.
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
        // A buffer of views may end with the row; what the row has is enough.
        self.row(i)
    }

    fn buffers(&self) -> Vec<Buffer> {
        self.data_buffers().to_vec()
    }
}

/// What to do with rows, once for each type of them.
pub trait Visit {
    /// What comes out.
    type Output;
    /// The work.
    fn visit<R: Rows>(self, rows: &R) -> Self::Output;
}

/// Run a visit over a column of Utf8, LargeUtf8 or Utf8View; None for another type.
pub fn visit<V: Visit>(column: &ArrayRef, visitor: V) -> Option<V::Output> {
    if let Some(rows) = column.as_string_opt::<i32>() {
        Some(visitor.visit(rows))
    } else if let Some(rows) = column.as_string_opt::<i64>() {
        if rows.value_data().len() > u32::MAX as usize {
            // A view's offset has 32 bits: give the rows buffers of their own.
            return Some(visitor.visit(&StringViewArray::from(rows)));
        }
        Some(visitor.visit(rows))
    } else {
        column.as_string_view_opt().map(|rows| visitor.visit(rows))
    }
}
