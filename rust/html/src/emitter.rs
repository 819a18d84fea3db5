//! Collects the attributes of each tag, and the texts of style sheets and scripts, from the tokens of html5gum.

use std::convert::Infallible;

use html5gum::emitters::Emitter;
use html5gum::{Error, State};
use overthere_core::place::Part;

use crate::shallow::Shared;
use crate::tree::TagAttributes;
use crate::{is_raw, Attributes, Element, Namespace, Sink};

/// The state of the attribute that is being read.
#[derive(Clone, Copy, PartialEq)]
enum AttributeState {
    /// No attribute is being read.
    Absent,
    /// Its name is being read.
    InName,
    /// Its value is not needed.
    Ignored,
    /// The `encoding` of `annotation-xml`, or the `type` of `input`.
    OfTag,
    /// A chosen attribute, with its action.
    Known(usize),
}

/// Turns the tokens of html5gum into calls of the sink.
pub(crate) struct TagEmitter<'a> {
    attributes: &'a Attributes,
    sink: &'a mut dyn Sink,
    element: Vec<u8>,
    /// The name of the last start tag: only its end tag ends raw text.
    opened: Vec<u8>,
    is_start: bool,
    /// The number of bytes read, and the offset of the tag's name.
    position: usize,
    at: usize,
    tag: TagAttributes,
    /// Whether the tag already has an attribute in state `OfTag`: only the first counts.
    has_attribute_of_tag: bool,
    /// Whether the document contains "shadowrootmode": contents of templates may be shown.
    has_shadow_roots: bool,
    /// Whether the effective `base` is in the body; None before there is one.
    base: Option<bool>,
    /// The names and values of the tag so far, and the start of the last name and value.
    octets: Vec<u8>,
    name: usize,
    value: usize,
    state: AttributeState,
    /// The chosen attributes of the tag so far; they are dropped if the tag does not end.
    pending: Vec<PendingAttribute>,
    /// The text of a style sheet, or of a wanted script.
    text: Vec<u8>,
    is_script: bool,
    /// The offset of the tag name of a style sheet of HTML.
    sheet: Option<usize>,
    /// Whether a tag has begun and not ended.
    is_tag: bool,
    /// State shared with the reader.
    shared: &'a Shared<'a>,
}

/// An attribute in the octets of the tag: the start and end of its name, the end of its value, and its action.
struct PendingAttribute {
    start: usize,
    name: usize,
    value: usize,
    action: usize,
}

impl<'a> TagEmitter<'a> {
    pub(crate) fn new(
        octets: &[u8],
        attributes: &'a Attributes,
        sink: &'a mut dyn Sink,
        shared: &'a Shared<'a>,
    ) -> Self {
        TagEmitter {
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
            pending: Vec::new(),
            is_script: false,
            sheet: None,
            text: Vec::new(),
            is_tag: false,
            shared,
        }
    }

    /// Look up the attribute whose name has ended.
    fn find_action(&mut self) {
        self.value = self.octets.len();
        let name = self.octets.part(self.name..);
        // Only the first of several attributes with the same name counts.
        let is_repeated =
            self.pending.iter().any(|earlier| self.octets.part(earlier.start..earlier.name) == name);
        let action =
            if self.is_start && !is_repeated { self.attributes.action(&self.element, name) } else { None };
        self.state = action.map_or(AttributeState::Ignored, AttributeState::Known);
        let is_plain = self.shared.tree.borrow().is_plain();
        if !is_plain {
            self.note_for_the_tree();
        }
    }

    /// Note the attributes that the tree needs.
    #[cold]
    fn note_for_the_tree(&mut self) {
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
        let html_types = [&b"text/html"[..], b"application/xhtml+xml"];
        self.tag.is_html = html_types.iter().any(|html_type| value.eq_ignore_ascii_case(html_type));
        self.tag.is_hidden = value.eq_ignore_ascii_case(b"hidden");
    }

    #[inline]
    fn end_attribute(&mut self) {
        if self.state == AttributeState::InName {
            self.find_action();
        }
        if let AttributeState::Known(action) = self.state {
            let (start, name, value) = (self.name, self.value, self.octets.len());
            self.pending.push(PendingAttribute { start, name, value, action });
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

    fn begin_tag(&mut self, is_start: bool) {
        (self.is_start, self.is_tag) = (is_start, true);
        self.at = self.position.saturating_sub(1); // its first letter has been read
        self.tag = TagAttributes::default();
        self.has_attribute_of_tag = false;
        self.element.clear();
        self.pending.clear();
        self.octets.clear();
        self.name = 0;
        self.state = AttributeState::Absent;
    }
}

impl Emitter for TagEmitter<'_> {
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
        self.begin_tag(true);
    }

    fn init_end_tag(&mut self) {
        self.begin_tag(false);
    }

    fn init_comment(&mut self) {}

    /// Handle the tag; return the tokenizer state that tree construction would set, without scripting (13.2.6).
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
            && self.pending.iter().any(|earlier| self.octets.part(earlier.start..earlier.name) == b"href");
        if is_base {
            self.base = Some(tree.is_body);
        }
        if tree.is_dropped && self.base == Some(true) {
            self.base = Some(false);
            self.sink.no_base();
        }
        drop(tree);
        let element = Element { name: &self.element, namespace, is_base, is_inert, at: self.at };
        for attribute in &self.pending {
            let (name, value) = (
                self.octets.part(attribute.start..attribute.name),
                self.octets.part(attribute.name..attribute.value),
            );
            self.sink.attribute(element, name, attribute.action, value);
        }
        let is_wanted = !self.pending.is_empty() && self.sink.end_tag();
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
            self.shared.opened.set(None); // outside of foreign content, "<![CDATA[" begins a comment up to the next ">"
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
            self.find_action();
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
