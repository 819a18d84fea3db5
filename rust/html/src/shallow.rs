//! How the tokenizer is given a document: text that nobody asks for is passed over, and no tag takes the whole stack.

use std::cell::{Cell, RefCell};
use std::fmt;

use html5gum::{Readable, Reader};
use memchr::memchr;
use memchr::memmem::find;
use overthere_core::place::Part;

use crate::passing::pass_over;
use crate::tree::Tree;
use crate::Attributes;

/// Double-quoted values in a row before the tokenizer comes back: one calls for the next from within, and a tag
/// of a hundred thousand attributes would take the whole stack.
const VALUES: u32 = 64;

/// What the reader and what takes the tokens tell one another.
pub(crate) struct Shared<'a> {
    /// The attributes that are looked for: a tag without one is passed over; None: none is.
    attributes: Option<&'a Attributes>,
    /// The open elements.
    pub(crate) tree: RefCell<Tree>,
    /// What is read is content of elements, not of those whose text is no markup, and no frameset may come.
    pub(crate) is_in_content: Cell<bool>,
    /// The text that is read is a style sheet or a script that is wanted: of other text only its end counts.
    pub(crate) is_kept: Cell<bool>,
    /// The last comment or CDATA section.
    pub(crate) opened: Cell<Option<Opened>>,
    /// The document ended within a tag, or an element whose text is no markup.
    pub(crate) is_in_tag_or_raw: Cell<bool>,
}

/// What began, and may not have ended.
#[derive(Clone, Copy)]
pub(crate) struct Opened {
    /// How it ends.
    ends: &'static [&'static [u8]],
    /// The octets of the document that are left where its content begins.
    left: usize,
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

    /// How many octets there are of text, and of tags that say nothing.
    fn count_idle(&self, octets: &[u8]) -> usize {
        match self.attributes {
            Some(attributes) if self.is_in_content.get() => {
                pass_over(octets, attributes, &mut self.tree.borrow_mut())
            }
            _ => memchr(b'<', octets).unwrap_or(octets.len()),
        }
    }

    /// Whether a document ended within something that had begun.
    pub(crate) fn ends_within(&self, document: &[u8]) -> bool {
        let is_open = |Opened { ends, left }: Opened| {
            let content = document.part(document.len().saturating_sub(left)..);
            let is_empty = ends == COMMENT && (content.starts_with(b">") || content.starts_with(b"->"));
            !is_empty && ends.iter().all(|end| find(content, end).is_none())
        };
        self.is_in_tag_or_raw.get() || self.opened.get().is_some_and(is_open)
    }
}

/// How a comment ends (13.2.5.45 to 13.2.5.52); at once, it may with less.
const COMMENT: &[&[u8]] = &[b"-->", b"--!>"];
const CDATA: &[&[u8]] = &[b"]]>"];

/// The octets of a document; an error now and then, which takes the tokenizer back to its beginning and no octet away.
pub(crate) struct Shallow<'a> {
    octets: &'a [u8],
    left: u32,
    shared: &'a Shared<'a>,
}

/// Nothing is wrong.
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
        Shallow { octets, left: VALUES, shared }
    }

    fn take(&mut self, count: usize) -> &'a [u8] {
        let (taken, rest) = self.octets.split_at(count);
        self.octets = rest;
        taken
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
        let found = self.octets.get(..text.len()).is_some_and(|next| {
            if case_sensitive {
                next == text
            } else {
                next.eq_ignore_ascii_case(text)
            }
        });
        if found {
            self.take(text.len());
            match text {
                b"-" => self.shared.opened.set(Some(Opened { ends: COMMENT, left: self.octets.len() })),
                b"CDATA[" => self.shared.opened.set(Some(Opened { ends: CDATA, left: self.octets.len() })),
                _ => {}
            }
        }
        Ok(found)
    }

    // Each state has bytes of its own to look for: told where it is compiled, they take no work when it runs.
    #[inline(always)]
    fn read_until<'b>(
        &'b mut self,
        needle: &[u8],
        buffer: &'b mut [u8; 4],
    ) -> Result<Option<&'b [u8]>, Deep> {
        // Text, of elements and of scripts, ends before a "<" (13.2.5.1, .2, .4); what else it holds makes no tag.
        if (needle.starts_with(b"&<\0") || needle.starts_with(b"<\0")) && !self.shared.is_kept.get() {
            let idle = self.shared.count_idle(self.octets);
            return Ok((!self.octets.is_empty()).then(|| self.take(idle.max(1))));
        }
        // What a double-quoted value may end with (13.2.5.36): this state is noted when it is entered.
        if needle.starts_with(b"\"&\0") {
            self.left -= 1;
            if self.left == 0 {
                self.left = VALUES;
                return Err(Deep);
            }
        }
        let mut octets = self.octets.to_reader();
        let Ok(found) = octets.read_until(needle, buffer);
        let length = found.map(<[u8]>::len);
        Ok(length.map(|length| self.take(length)))
    }
}
