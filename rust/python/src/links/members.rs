//! Makes rows of the HTML pages in a ZIP or tar file.

use overthere_records::{zip_content, ZipMember};
use pyo3::prelude::*;

use super::crawl::{Limits, Reading, RecordPosition, Stop};
use super::table::Base;
use super::LinkRows;

/// An entry of the directory of a ZIP file: the name of a member, the bytes and the checksum of its content, and whether
/// it is compressed by deflate.
type Entry = (Vec<u8>, usize, u32, bool);

/// A member with an HTML page.
#[derive(FromPyObject)]
pub struct PageMember {
    source: String,
    base: String,
    /// The layer that gave the base.
    layer: String,
    /// The offset of its local header in the window (ZIP), or of its content (tar).
    start: usize,
    /// The bytes of its content in the file.
    packed: usize,
    /// Its entry in the directory; None in a tar file.
    entry: Option<Entry>,
}

impl PageMember {
    /// The content, if it is complete and what the directory says.
    fn content<'a>(&self, window: &'a [u8], inflated: &'a mut Vec<u8>) -> Option<&'a [u8]> {
        let data = window.get(self.start..)?;
        match &self.entry {
            None => data.get(..self.packed),
            Some((name, size, crc, is_deflated)) => {
                let member = ZipMember {
                    name,
                    packed: self.packed,
                    size: *size,
                    crc: *crc,
                    is_deflated: *is_deflated,
                };
                zip_content(data, &member, inflated)
            }
        }
    }
}

impl LinkRows {
    /// Make rows of the pages of members, from number `first` on, until Python must act; `Crawl::current` has the
    /// number of the member as its offset.
    pub fn read_members(
        &mut self,
        window: &[u8],
        members: &[PageMember],
        first: usize,
        limits: &Limits,
    ) -> PyResult<Stop> {
        let mut inflated = std::mem::take(&mut self.crawl.inflated);
        let stop = self.read_all(window, members, first, limits, &mut inflated);
        self.crawl.inflated = inflated;
        stop
    }

    fn read_all(
        &mut self,
        window: &[u8],
        members: &[PageMember],
        first: usize,
        limits: &Limits,
        inflated: &mut Vec<u8>,
    ) -> PyResult<Stop> {
        self.parts = None;
        for (number, member) in members.iter().enumerate().skip(first) {
            self.crawl.current = RecordPosition { at: number, next: Some(number), base: None };
            if self.is_full(limits) {
                return Ok(Stop::Full);
            }
            let Some(content) = member.content(window, inflated) else { return Ok(Stop::Odd) };
            if content.is_empty() || self.has_other_signature(content) {
                return Ok(Stop::Odd);
            }
            self.crawl.current.next = Some(number + 1);
            self.source.clone_from(&member.source);
            let base = Base::new(member.base.clone(), member.layer.clone())?;
            if let Reading::Unfinished(notes) = self.read_content(content, b"", base, Vec::new(), limits)? {
                return Ok(Stop::Page(notes, content.len()));
            }
        }
        Ok(Stop::End)
    }
}
