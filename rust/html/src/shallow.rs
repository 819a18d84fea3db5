//! The reader from which the tokenizer gets a document: it skips unneeded text, and bounds the tokenizer's stack.

use std::cell::{Cell, RefCell};
use std::fmt;

use html5gum::{Readable, Reader};
use memchr::memchr;
use memchr::memmem::find;
use overthere_core::place::Part;

use crate::passing::count_idle;
use crate::tree::Tree;
use crate::Attributes;

/// Double-quoted values in a row before the tokenizer must return: each is a recursive call, so a tag of a hundred
/// thousand attributes would overflow the stack.
const MAX_NESTED_VALUES: u32 = 64;

/// State that the reader (`Shallow`) and the emitter share.
pub(crate) struct Shared<'a> {
    /// The attributes to find: tags without one are skipped.  None: no tag is skipped.
    attributes: Option<&'a Attributes>,
    /// The open elements.
    pub(crate) tree: RefCell<Tree>,
    /// Whether the reader is in the content of elements that allow markup, and no frameset may follow.
    pub(crate) is_in_content: Cell<bool>,
    /// Whether the text that is read is a style sheet or a wanted script; other text is skipped.
    pub(crate) is_kept: Cell<bool>,
    /// The last comment or CDATA section that began.
    pub(crate) opened: Cell<Option<Opened>>,
    /// Whether the document ended within a tag, or an element of raw text.
    pub(crate) is_in_tag_or_raw: Cell<bool>,
}

/// A comment or CDATA section that began, and may not have ended.
#[derive(Clone, Copy)]
pub(crate) struct Opened {
    /// The texts that end it.
    ends: &'static [&'static [u8]],
    /// The number of bytes from the start of its content to the end of the document.
    remaining: usize,
}

impl<'a> Shared<'a> {
    pub(crate) fn new(attributes: Option<&'a Attributes>) -> Self {
        Shared {
            attributes,
            tree: RefCell::default(),
            is_in_content: Cell::default(),
            is_kept: Cell::default(),
            opened: Cell::default(),
            is_in_tag_or_raw: Cell::default(),
        }
    }

    /// The number of bytes at the beginning that the tokenizer need not read: text and idle tags.
    fn count_idle(&self, octets: &[u8]) -> usize {
        match self.attributes {
            Some(attributes) if self.is_in_content.get() => {
                count_idle(octets, attributes, &mut self.tree.borrow_mut())
            }
            _ => memchr(b'<', octets).unwrap_or(octets.len()),
        }
    }

    /// Whether a document ended within a construct that had begun.
    pub(crate) fn ends_within(&self, document: &[u8]) -> bool {
        let is_open = |Opened { ends, remaining }: Opened| {
            let content = document.part(document.len().saturating_sub(remaining)..);
            let is_empty = ends == COMMENT && (content.starts_with(b">") || content.starts_with(b"->"));
            !is_empty && ends.iter().all(|end| find(content, end).is_none())
        };
        self.is_in_tag_or_raw.get() || self.opened.get().is_some_and(is_open)
    }
}

/// The ends of a comment (13.2.5.45 to 13.2.5.52); an empty comment may have a shorter end.
const COMMENT: &[&[u8]] = &[b"-->", b"--!>"];
const CDATA: &[&[u8]] = &[b"]]>"];

/// A reader of a document that sometimes fails without consuming a byte, so that the tokenizer returns to its loop.
pub(crate) struct Shallow<'a> {
    octets: &'a [u8],
    remaining_values: u32,
    shared: &'a Shared<'a>,
}

/// The error with which the reader unwinds the tokenizer's stack; nothing is wrong with the document.
#[derive(Debug)]
pub(crate) struct Deep;

impl fmt::Display for Deep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("deep enough")
    }
}

impl std::error::Error for Deep {}

impl<'a> Shallow<'a> {
    pub(crate) fn new(octets: &'a [u8], shared: &'a Shared<'a>) -> Self {
        Shallow { octets, remaining_values: MAX_NESTED_VALUES, shared }
    }

    fn take(&mut self, count: usize) -> &'a [u8] {
        let (first, remaining) = self.octets.split_at(count);
        self.octets = remaining;
        first
    }
}

impl Reader for Shallow<'_> {
    type Error = Deep;

    #[inline]
    fn read_byte(&mut self) -> Result<Option<u8>, Deep> {
        Ok(self.octets.split_first().map(|(first, rest)| {
            self.octets = rest;
            *first
        }))
    }

    #[inline]
    fn try_read_string(&mut self, text: &[u8], case_sensitive: bool) -> Result<bool, Deep> {
        let matches = self.octets.get(..text.len()).is_some_and(|next| {
            if case_sensitive {
                next == text
            } else {
                next.eq_ignore_ascii_case(text)
            }
        });
        if matches {
            self.take(text.len());
            match text {
                b"-" => self.shared.opened.set(Some(Opened { ends: COMMENT, remaining: self.octets.len() })),
                b"CDATA[" => {
                    self.shared.opened.set(Some(Opened { ends: CDATA, remaining: self.octets.len() }))
                }
                _ => {}
            }
        }
        Ok(matches)
    }

    // Each state searches for other bytes: inlining makes the needle a constant.
    #[inline(always)]
    fn read_until<'b>(
        &'b mut self,
        needle: &[u8],
        buffer: &'b mut [u8; 4],
    ) -> Result<Option<&'b [u8]>, Deep> {
        // Text, of elements and of scripts, ends before a "<" (13.2.5.1, .2, .4); no other byte begins a tag.
        if (needle.starts_with(b"&<\0") || needle.starts_with(b"<\0")) && !self.shared.is_kept.get() {
            let idle = self.shared.count_idle(self.octets);
            return Ok((!self.octets.is_empty()).then(|| self.take(idle.max(1))));
        }
        // The bytes that may end a double-quoted value (13.2.5.36) show that this state begins.
        if needle.starts_with(b"\"&\0") {
            self.remaining_values -= 1;
            if self.remaining_values == 0 {
                self.remaining_values = MAX_NESTED_VALUES;
                return Err(Deep);
            }
        }
        let mut octets = self.octets.to_reader();
        let Ok(piece) = octets.read_until(needle, buffer);
        let length = piece.map(<[u8]>::len);
        Ok(length.map(|length| self.take(length)))
    }
}
