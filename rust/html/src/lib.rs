//! What of an HTML document may hold URI references: attributes of start tags, style sheets, scripts that are wanted.
//!
//! Tokens (HTML Standard 13.2.5) and no tree: nesting costs nothing, and a reference stands once where it is written.
//! Of the tree, only what the tokenizer goes by is known (`tree`).  Which attributes hold references is not known here;
//! the caller says so.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod attributes;
mod passing;
mod shallow;
mod tree;

use std::convert::Infallible;

use html5gum::emitters::Emitter;
use html5gum::{Error, State, Tokenizer};
use overthere_core::place::Part;

pub use attributes::Attributes;
use shallow::{Shallow, Shared};
use tree::TagAttributes;
pub use tree::{Namespace, DEPTH};

/// Takes what is found, in the order of the document; octets are as in the input, character references decoded.
pub trait Sink {
    /// An attribute that was looked for.
    fn attribute(&mut self, element: Element<'_>, name: &[u8], way: usize, value: &[u8]);
    /// The tag that had attributes which were looked for is over.  Returns: whether the text of a `script` is wanted.
    fn end_tag(&mut self) -> bool;
    /// The text of a `style` element, and where the name of its tag begins; None for one of SVG.
    fn style(&mut self, text: &[u8], at: Option<usize>);
    /// The text of the `script` element of HTML that was wanted.
    fn script(&mut self, text: &[u8]);
    /// The `base` that counted stood in a body that a frameset took the place of: none counts (13.2.6.4.7).
    fn no_base(&mut self);
}

/// An element that has an attribute.
#[derive(Clone, Copy)]
pub struct Element<'a> {
    /// As the tokenizer has it, in lower case.
    pub name: &'a [u8],
    /// Where it belongs.
    pub namespace: Namespace,
    /// It is the `base` that counts: the first of HTML with an `href` in the document's tree (4.2.3), which has no
    /// contents of templates, and nothing but frames where there is a frameset.
    pub is_base: bool,
    /// It is in the contents of a `template`, which no browser shows (4.12.3), unless the document has shadow roots.
    pub is_inert: bool,
    /// Where its name begins, in octets; not relied on by who can look.
    pub at: usize,
}

/// Read a document in UTF-8 (or near to it) into the sink.
///
/// Returns: what there is to say of it as a whole.
pub fn read(octets: &[u8], attributes: &Attributes, sink: &mut impl Sink) -> Notes {
    read_with(octets, attributes, sink, &Shared::new(Some(attributes)))
}

/// The same, every tag token by token: what `read` is compared with, which passes over tags that say nothing.
#[doc(hidden)]
pub fn read_each_tag(octets: &[u8], attributes: &Attributes, sink: &mut impl Sink) -> Notes {
    read_with(octets, attributes, sink, &Shared::new(None))
}

fn read_with(octets: &[u8], attributes: &Attributes, sink: &mut impl Sink, shared: &Shared<'_>) -> Notes {
    let emitter = Reading {
        attributes,
        sink,
        element: Vec::new(),
        opened: Vec::new(),
        is_start: false,
        position: 0,
        at: 0,
        tag: TagAttributes::default(),
        has_attribute_of_tag: false,
        base: None,
        has_shadow_roots: memchr::memmem::find(octets, b"shadowrootmode").is_some(),
        octets: Vec::new(),
        name: 0,
        value: 0,
        state: AttributeState::Absent,
        held: Vec::new(),
        is_script: false,
        sheet: None,
        text: Vec::new(),
        is_tag: false,
        shared,
    };
    let mut tokenizer = Tokenizer::new_with_emitter(Shallow::new(octets, shared), emitter);
    // It goes on after an error of its reader where it was.
    while tokenizer.next().is_some() {}
    drop(tokenizer);
    let is_too_deep = shared.tree.borrow().is_lossy;
    Notes { is_too_deep, is_unclosed: shared.ends_within(octets) }
}

/// What there is to say of a document as a whole.
#[derive(Clone, Copy, Default)]
pub struct Notes {
    /// Elements of SVG or MathML, or a template, lay so deep (`DEPTH`) that they were forgotten before they ended.
    pub is_too_deep: bool,
    /// It ends within a comment, a CDATA section, a tag, or an element whose text is no markup.
    pub is_unclosed: bool,
}

/// Elements of HTML in which there is no markup, and whose text says nothing of a frameset.
fn is_raw(name: &[u8]) -> bool {
    matches!(
        name,
        b"title" | b"textarea" | b"style" | b"script" | b"iframe" | b"xmp" | b"noembed" | b"noframes"
    )
}

/// How far the attribute is that is being read.
#[derive(Clone, Copy, PartialEq)]
enum AttributeState {
    /// No attribute is being read.
    Absent,
    /// Its name is being read.
    InName,
    /// It holds no reference.
    Ignored,
    /// The `encoding` of `annotation-xml`, or the `type` of `input`.
    OfTag,
    Known(usize),
}

struct Reading<'a, S> {
    attributes: &'a Attributes,
    sink: &'a mut S,
    element: Vec<u8>,
    /// The last start tag: only its end tag ends raw text.
    opened: Vec<u8>,
    is_start: bool,
    /// Octets that were read, and how many before the name of the tag.
    position: usize,
    at: usize,
    tag: TagAttributes,
    /// It has an attribute in state `OfTag`: of two the first counts.
    has_attribute_of_tag: bool,
    /// Whether the `base` that counts is in the body; None before there is one.
    /// The document says `shadowrootmode`: contents of templates may be shown.
    has_shadow_roots: bool,
    base: Option<bool>,
    /// The names and values of the tag so far, and where the last of them begin.
    octets: Vec<u8>,
    name: usize,
    value: usize,
    state: AttributeState,
    /// What was found in the tag so far: one that does not end is none.
    held: Vec<HeldAttribute>,
    /// The text of a style sheet, or of a script that is wanted.
    text: Vec<u8>,
    is_script: bool,
    /// Where the name of the tag of a style sheet of HTML begins.
    sheet: Option<usize>,
    /// A tag has begun, and nothing has come after it.
    is_tag: bool,
    /// The text that is read goes to `text` if it is kept.
    shared: &'a Shared<'a>,
}

/// The ends of a name and of its value in the octets of the tag.
struct HeldAttribute {
    start: usize,
    name: usize,
    value: usize,
    way: usize,
}

impl<S: Sink> Reading<'_, S> {
    fn decide(&mut self) {
        self.value = self.octets.len();
        let name = self.octets.part(self.name..);
        // Of an attribute that stands twice the first counts.
        let twice = self.held.iter().any(|held| self.octets.part(held.start..held.name) == name);
        let way = if self.is_start && !twice { self.attributes.way(&self.element, name) } else { None };
        self.state = way.map_or(AttributeState::Ignored, AttributeState::Known);
        let is_plain = self.shared.tree.borrow().is_plain();
        if !is_plain {
            self.decide_for_the_tree();
        }
    }

    #[cold]
    fn decide_for_the_tree(&mut self) {
        match (&self.element[..], self.octets.part(self.name..)) {
            (b"font", b"color" | b"face" | b"size") => self.tag.is_styled = true,
            (b"annotation-xml", b"encoding") | (b"input", b"type") if !self.has_attribute_of_tag => {
                self.has_attribute_of_tag = true;
                self.state = AttributeState::OfTag;
            }
            _ => {}
        }
    }

    #[cold]
    fn end_attribute_of_tag(&mut self) {
        let value = self.octets.part(self.value..);
        let known = [&b"text/html"[..], b"application/xhtml+xml"];
        self.tag.is_html = known.iter().any(|known| value.eq_ignore_ascii_case(known));
        self.tag.is_hidden = value.eq_ignore_ascii_case(b"hidden");
    }

    #[inline]
    fn end_attribute(&mut self) {
        if self.state == AttributeState::InName {
            self.decide();
        }
        if let AttributeState::Known(way) = self.state {
            let (start, name, value) = (self.name, self.value, self.octets.len());
            self.held.push(HeldAttribute { start, name, value, way });
        } else {
            if self.state == AttributeState::OfTag {
                self.end_attribute_of_tag();
            }
            self.octets.truncate(self.name);
        }
        self.state = AttributeState::Absent;
    }

    #[inline]
    fn end_text(&mut self) {
        if self.shared.is_kept.replace(false) {
            if self.is_script {
                self.sink.script(&self.text);
            } else {
                self.sink.style(&self.text, self.sheet);
            }
            self.text.clear();
        }
    }

    fn begin(&mut self, is_start: bool) {
        (self.is_start, self.is_tag) = (is_start, true);
        self.at = self.position.saturating_sub(1); // its first letter has been read
        self.tag = TagAttributes::default();
        self.has_attribute_of_tag = false;
        self.element.clear();
        self.held.clear();
        self.octets.clear();
        self.name = 0;
        self.state = AttributeState::Absent;
    }
}

impl<S: Sink> Emitter for Reading<'_, S> {
    type Token = Infallible;

    #[inline]
    fn move_position(&mut self, offset: isize) {
        self.position = self.position.wrapping_add_signed(offset);
    }

    fn set_last_start_tag(&mut self, name: Option<&[u8]>) {
        self.opened.clear();
        self.opened.extend_from_slice(name.unwrap_or_default());
    }

    fn emit_eof(&mut self) {
        self.end_text();
        self.shared.is_in_tag_or_raw.set(self.is_tag || is_raw(&self.opened));
    }

    fn emit_error(&mut self, _: Error) {}

    fn should_emit_errors(&mut self) -> bool {
        false
    }

    fn pop_token(&mut self) -> Option<Infallible> {
        None
    }

    fn emit_string(&mut self, text: &[u8]) {
        self.is_tag = false;
        let mut tree = self.shared.tree.borrow_mut();
        if !tree.is_settled && !is_raw(&self.opened) {
            tree.is_settled =
                !text.iter().all(|octet| matches!(octet, b'\t' | b'\n' | 0x0C | b'\r' | b' ' | 0));
        }
        if self.shared.is_kept.get() {
            self.text.extend_from_slice(text);
        }
    }

    fn init_start_tag(&mut self) {
        self.begin(true);
    }

    fn init_end_tag(&mut self) {
        self.begin(false);
    }

    fn init_comment(&mut self) {}

    /// 13.2.6: what the tree's construction would switch the tokenizer to, without scripting.
    fn emit_current_tag(&mut self) -> Option<State> {
        self.is_tag = false;
        self.end_attribute();
        self.end_text();
        let mut tree = self.shared.tree.borrow_mut();
        if !self.is_start {
            self.opened.clear();
            tree.end(&self.element);
            self.shared.is_in_content.set(tree.is_settled);
            return None;
        }
        let is_inert = tree.is_in_template() && !self.has_shadow_roots;
        let namespace = tree.start(&self.element, self.tag);
        self.shared.is_in_content.set(tree.is_settled);
        let is_base = self.element == b"base"
            && namespace == Namespace::Html
            && self.base.is_none()
            && !(tree.is_in_template() || tree.is_dropped)
            && self.held.iter().any(|held| self.octets.part(held.start..held.name) == b"href");
        if is_base {
            self.base = Some(tree.is_body);
        }
        if tree.is_dropped && self.base == Some(true) {
            self.base = Some(false);
            self.sink.no_base();
        }
        drop(tree);
        let element = Element { name: &self.element, namespace, is_base, is_inert, at: self.at };
        for held in &self.held {
            let (name, value) =
                (self.octets.part(held.start..held.name), self.octets.part(held.name..held.value));
            self.sink.attribute(element, name, held.way, value);
        }
        let is_wanted = !self.held.is_empty() && self.sink.end_tag();
        self.is_script = false;
        if namespace != Namespace::Html {
            let is_sheet =
                namespace == Namespace::Svg && self.element == b"style" && !self.tag.is_self_closing;
            self.shared.is_kept.set(is_sheet);
            self.sheet = None;
            return None;
        }
        self.opened.clone_from(&self.element);
        let state = match &self.element[..] {
            b"textarea" | b"title" => Some(State::RcData),
            b"plaintext" => Some(State::PlainText),
            b"script" => {
                self.is_script = is_wanted;
                self.shared.is_kept.set(is_wanted);
                Some(State::ScriptData)
            }
            b"style" => {
                self.shared.is_kept.set(true);
                self.sheet = Some(self.at);
                Some(State::RawText)
            }
            b"iframe" | b"xmp" | b"noembed" | b"noframes" => Some(State::RawText),
            _ => return None,
        };
        self.shared.is_in_content.set(false);
        state
    }

    fn emit_current_comment(&mut self) {}

    fn emit_current_doctype(&mut self) {}

    fn set_self_closing(&mut self) {
        self.tag.is_self_closing = true;
    }

    fn adjusted_current_node_present_but_not_in_html_namespace(&mut self) -> bool {
        let is_foreign = self.shared.tree.borrow().is_foreign();
        if !is_foreign {
            self.shared.opened.set(None); // what looks like a CDATA section is a comment to the next ">"
        }
        is_foreign
    }

    fn set_force_quirks(&mut self) {}

    fn push_tag_name(&mut self, name: &[u8]) {
        self.element.extend_from_slice(name);
    }

    fn push_comment(&mut self, _: &[u8]) {}

    fn push_doctype_name(&mut self, _: &[u8]) {}

    fn init_doctype(&mut self) {}

    fn init_attribute(&mut self) {
        self.end_attribute();
        self.state = AttributeState::InName;
        self.name = self.octets.len();
    }

    fn push_attribute_name(&mut self, name: &[u8]) {
        self.octets.extend_from_slice(name);
    }

    fn push_attribute_value(&mut self, value: &[u8]) {
        if self.state == AttributeState::InName {
            self.decide();
        }
        if self.state != AttributeState::Ignored {
            self.octets.extend_from_slice(value);
        }
    }

    fn set_doctype_public_identifier(&mut self, _: &[u8]) {}

    fn set_doctype_system_identifier(&mut self, _: &[u8]) {}

    fn push_doctype_public_identifier(&mut self, _: &[u8]) {}

    fn push_doctype_system_identifier(&mut self, _: &[u8]) {}

    fn current_is_appropriate_end_tag_token(&mut self) -> bool {
        !self.is_start && !self.element.is_empty() && self.element == self.opened
    }
}
