//! Find the parts of an HTML document that may contain URI references: attributes of start tags, style sheets, scripts.
//!
//! This reads tokens (HTML Standard 13.2.5) and builds no tree: nesting costs nothing, and each reference is found
//! once, where it is written.  `tree` tracks only the state that the tokenizer needs.  The caller chooses the
//! attributes.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod attributes;
mod emitter;
mod passing;
mod shallow;
mod tree;

use html5gum::Tokenizer;

pub use attributes::Attributes;
use emitter::TagEmitter;
use shallow::{Shallow, Shared};
pub use tree::{Namespace, DEPTH};

/// Receives the results in document order, as bytes of the input with character references decoded.
pub trait Sink {
    /// Handle one of the chosen attributes.
    fn attribute(&mut self, element: Element<'_>, name: &[u8], action: usize, value: &[u8]);
    /// Handle the end of a tag with chosen attributes; return whether the text of its `script` is wanted.
    fn end_tag(&mut self) -> bool;
    /// Handle the text of a `style` element; `at` is the offset of its tag's name, None in SVG.
    fn style(&mut self, text: &[u8], at: Option<usize>);
    /// Handle the text of a wanted `script` element of HTML.
    fn script(&mut self, text: &[u8]);
    /// Forget the effective `base`: a frameset replaced the body that contained it, so there is none (13.2.6.4.7).
    fn no_base(&mut self);
}

/// An element that has an attribute.
#[derive(Clone, Copy)]
pub struct Element<'a> {
    /// The name from the tokenizer, in lower case.
    pub name: &'a [u8],
    /// Its namespace.
    pub namespace: Namespace,
    /// Whether it is the effective `base`: the first of HTML with an `href` in the document's tree (4.2.3), which
    /// excludes contents of templates, and consists only of frames if there is a frameset.
    pub is_base: bool,
    /// Whether it is in the contents of a `template`, which browsers do not show (4.12.3); false if the document has
    /// shadow roots.
    pub is_inert: bool,
    /// The offset of its name, in bytes; callers with the input must check it.
    pub at: usize,
}

/// Read a document in UTF-8 (or near to it) into the sink.
///
/// Returns notes on the document as a whole.
pub fn read(octets: &[u8], attributes: &Attributes, sink: &mut dyn Sink) -> Notes {
    read_with(octets, attributes, sink, &Shared::new(Some(attributes)))
}

/// Read a document without skipping any tag: tests compare `read` with it, which skips tags without results.
#[doc(hidden)]
pub fn read_each_tag(octets: &[u8], attributes: &Attributes, sink: &mut dyn Sink) -> Notes {
    read_with(octets, attributes, sink, &Shared::new(None))
}

fn read_with(octets: &[u8], attributes: &Attributes, sink: &mut dyn Sink, shared: &Shared<'_>) -> Notes {
    let emitter = TagEmitter::new(octets, attributes, sink, shared);
    let mut tokenizer = Tokenizer::new_with_emitter(Shallow::new(octets, shared), emitter);
    // After an error of its reader, the tokenizer resumes at the same place.
    while tokenizer.next().is_some() {}
    drop(tokenizer);
    let is_too_deep = shared.tree.borrow().is_lossy;
    Notes { is_too_deep, is_unclosed: shared.ends_within(octets) }
}

/// Notes on a document as a whole.
#[derive(Clone, Copy, Default)]
pub struct Notes {
    /// Whether elements of SVG or MathML, or a template, were nested so deep (`DEPTH`) that they were forgotten too
    /// early.
    pub is_too_deep: bool,
    /// Whether the document ends within a comment, a CDATA section, a tag, or an element of raw text.
    pub is_unclosed: bool,
}

/// Whether an element of HTML contains no markup, and its text does not affect framesets.
fn is_raw(name: &[u8]) -> bool {
    matches!(
        name,
        b"title" | b"textarea" | b"style" | b"script" | b"iframe" | b"xmp" | b"noembed" | b"noframes"
    )
}
