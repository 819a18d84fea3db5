//! The open elements: the part of tree construction that the tokenizer needs (HTML 13.2.6).
//!
//! In SVG and MathML a `title` or `style` is an element like others, and `<![CDATA[` begins text.  The namespace of an
//! element follows from the rules for foreign content (13.2.6.5), and from the end tags of the elements around it
//! (13.2.6.4.7).  Omitted tags and the structure of tables do not affect this, and are ignored.  The tree also tracks
//! whether a `frameset` replaces the body (13.2.6.4.7), whose `base` elements are then in no tree.

use overthere_core::place::{At, Part};

/// Maximum number of open elements; when it is exceeded, the outer half is forgotten.
pub const DEPTH: usize = 512;

/// The namespace of an element.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Namespace {
    /// HTML
    Html,
    /// SVG
    Svg,
    /// MathML
    MathMl,
}

/// The kinds of elements that the rules distinguish.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Kind {
    #[default]
    Html,
    Svg,
    MathMl,
    /// HTML integration points of SVG.
    SvgPoint,
    /// `annotation-xml` whose encoding is HTML.
    MathMlPoint,
    /// MathML text integration points.
    TextPoint,
    /// Other `annotation-xml`.
    Annotation,
}

impl Kind {
    fn is_point(self) -> bool {
        matches!(self, Kind::SvgPoint | Kind::MathMlPoint | Kind::TextPoint)
    }

    /// Whether "in scope" and "any other end tag" stop at this element.
    fn is_border(self) -> bool {
        self.is_point() || self == Kind::Annotation
    }

    /// Whether a start tag follows the rules of HTML content if this is the current node (13.2.6).
    fn takes_html(self, name: &[u8]) -> bool {
        match self {
            Kind::Html | Kind::SvgPoint | Kind::MathMlPoint => true,
            Kind::TextPoint => !matches!(name, b"mglyph" | b"malignmark"),
            Kind::Annotation => name == b"svg",
            Kind::Svg | Kind::MathMl => false,
        }
    }
}

/// The facts about the attributes of a start tag that the tree needs.
#[derive(Clone, Copy, Default)]
pub struct TagAttributes {
    /// `<a/>`
    pub is_self_closing: bool,
    /// Whether a `font` has `color`, `face` or `size`.
    pub is_styled: bool,
    /// Whether the `encoding` of an `annotation-xml` is HTML or XHTML.
    pub is_html: bool,
    /// Whether the type of an `input` is hidden.
    pub is_hidden: bool,
}

/// The open elements.
#[derive(Default)]
pub struct Tree {
    names: Vec<u8>,
    open: Vec<(usize, Kind)>,
    /// The number of open `template` elements of HTML.
    templates: usize,
    /// Whether an open element of SVG or MathML, or a template, was forgotten, so that namespaces may be wrong.
    pub is_lossy: bool,
    /// Whether the body has begun; not updated once `is_settled`.
    pub is_body: bool,
    /// Whether no frameset may follow: the frameset-ok flag is "not ok" (13.2.4.5), or there is one.
    pub is_settled: bool,
    /// Whether a frameset replaced the body: elements other than frames are in no tree.
    pub is_dropped: bool,
}

impl Tree {
    fn current(&self) -> Kind {
        self.open.last().map_or(Kind::Html, |(_, kind)| *kind)
    }

    /// Whether the current node is an element of SVG or MathML.
    pub fn is_foreign(&self) -> bool {
        self.current() != Kind::Html
    }

    /// Whether only the name of a tag matters: there is no foreign content, and no frameset may follow.
    pub fn is_plain(&self) -> bool {
        self.is_settled && !self.is_foreign()
    }

    /// Whether the current place is in the contents of a `template`, which are not in the document's tree (4.12.3).
    pub fn is_in_template(&self) -> bool {
        self.templates > 0
    }

    /// Handle a start tag, and return the namespace of its element.
    #[inline]
    pub fn start(&mut self, name: &[u8], tag: TagAttributes) -> Namespace {
        if self.is_foreign() || matches!(name, b"svg" | b"math") {
            return self.start_in_foreign(name, tag);
        }
        if !self.is_settled {
            self.settle(name, tag);
        }
        if !has_no_end(name) {
            self.push(name, Kind::Html);
        }
        Namespace::Html
    }

    #[cold]
    fn start_in_foreign(&mut self, name: &[u8], tag: TagAttributes) -> Namespace {
        let current = self.current();
        let namespace = if current.takes_html(name) {
            namespace_in_html(name)
        } else if breaks_out(name) || name == b"font" && tag.is_styled {
            self.leave_foreign();
            namespace_in_html(name)
        } else if current == Kind::Svg {
            Namespace::Svg
        } else {
            Namespace::MathMl
        };
        if !self.is_settled && (namespace == Namespace::Html || namespace_in_html(name) != Namespace::Html) {
            self.settle(name, tag);
        }
        match namespace {
            Namespace::Html if has_no_end(name) => {}
            Namespace::Html => self.push(name, Kind::Html),
            _ if tag.is_self_closing => {}
            Namespace::Svg if matches!(name, b"foreignobject" | b"desc" | b"title") => {
                self.push(name, Kind::SvgPoint);
            }
            Namespace::Svg => self.push(name, Kind::Svg),
            Namespace::MathMl => self.push(
                name,
                match name {
                    b"mi" | b"mo" | b"mn" | b"ms" | b"mtext" => Kind::TextPoint,
                    b"annotation-xml" if tag.is_html => Kind::MathMlPoint,
                    b"annotation-xml" => Kind::Annotation,
                    _ => Kind::MathMl,
                },
            ),
        }
        namespace
    }

    /// Update the state of framesets after a start tag of HTML (13.2.6.4.6, 13.2.6.4.7).
    #[cold]
    fn settle(&mut self, name: &[u8], tag: TagAttributes) {
        if name == b"frameset" {
            // In a template of the head, the second open element is not a body.
            self.is_dropped = self.is_body || self.templates == 0;
            self.is_settled = self.is_dropped;
        } else if !is_of_head(name) {
            self.is_settled = ends_framesets(name) && !(name == b"input" && tag.is_hidden);
            self.is_body |= self.templates == 0;
        }
    }

    /// Handle an end tag.
    #[inline]
    pub fn end(&mut self, name: &[u8]) {
        if !self.is_settled && matches!(name, b"body" | b"br" | b"html") {
            self.is_settled = name == b"br";
            self.is_body |= self.templates == 0;
        }
        match self.open.last() {
            Some((start, Kind::Html)) if self.names.part(*start..) == name => {
                self.truncate_stack(self.open.len() - 1)
            }
            _ => self.end_of_another(name),
        }
    }

    /// Handle an end tag that does not match the current node, or whose current node is not HTML.
    fn end_of_another(&mut self, name: &[u8]) {
        if matches!(name, b"br" | b"p") {
            self.leave_foreign();
        }
        let mut at = self.open.len();
        while at > 0 && self.open.at(at - 1).1 != Kind::Html {
            at -= 1;
            if self.name(at) == name {
                return self.truncate_stack(at);
            }
        }
        if name == b"template" && self.templates > 0 {
            // This closes all elements in the template too (13.2.6.4.4).
            let template = (0..self.open.len()).rev().find(|at| self.is_template(*at));
            return self.truncate_stack(template.unwrap_or_default());
        }
        let name_is_special = is_special(name);
        for at in (0..self.open.len()).rev() {
            let (kind, open) = (self.open.at(at).1, self.name(at));
            if kind == Kind::Html && open == name {
                return self.truncate_stack(at);
            }
            let is_border = kind.is_border()
                || kind == Kind::Html && if name_is_special { is_scope(open) } else { is_special(open) };
            if is_border {
                return;
            }
        }
    }

    /// Close foreign elements up to the nearest one that may contain HTML.
    fn leave_foreign(&mut self) {
        while self.is_foreign() && !self.current().is_point() {
            self.truncate_stack(self.open.len() - 1);
        }
    }

    fn is_template(&self, at: usize) -> bool {
        self.open.at(at).1 == Kind::Html && self.name(at) == b"template"
    }

    fn name(&self, at: usize) -> &[u8] {
        let end = self.open.get(at + 1).map_or(self.names.len(), |(start, _)| *start);
        self.names.part(self.open.at(at).0..end)
    }

    #[cold]
    fn drop_lowest(&mut self) {
        let (start, _) = self.open.at(DEPTH / 2);
        let templates = (0..DEPTH / 2).filter(|at| self.is_template(*at)).count();
        self.templates -= templates;
        self.is_lossy |= templates > 0;
        self.is_lossy |= self.open.drain(..DEPTH / 2).any(|(_, kind)| kind != Kind::Html);
        self.names.drain(..start);
        self.open.iter_mut().for_each(|(at, _)| *at -= start);
    }

    #[inline]
    fn push(&mut self, name: &[u8], kind: Kind) {
        if self.open.len() == DEPTH {
            self.drop_lowest();
        }
        self.templates += usize::from(kind == Kind::Html && name == b"template");
        self.open.push((self.names.len(), kind));
        self.names.extend_from_slice(name);
    }

    fn truncate_stack(&mut self, at: usize) {
        if self.templates > 0 {
            self.templates -= (at..self.open.len()).filter(|at| self.is_template(*at)).count();
        }
        self.names.truncate(self.open.at(at).0);
        self.open.truncate(at);
    }
}

/// The namespace of a start tag in HTML content.
fn namespace_in_html(name: &[u8]) -> Namespace {
    match name {
        b"svg" => Namespace::Svg,
        b"math" => Namespace::MathMl,
        _ => Namespace::Html,
    }
}

/// Whether an element of HTML stays off the stack: void elements (13.1.2), and elements that occur only once.
#[rustfmt::skip]
fn has_no_end(name: &[u8]) -> bool {
    matches!(
        name,
        b"area" | b"base" | b"basefont" | b"bgsound" | b"br" | b"col" | b"embed" | b"frame" | b"hr" | b"image" | b"img"
            | b"input" | b"keygen" | b"link" | b"meta" | b"param" | b"source" | b"track" | b"wbr"
            | b"body" | b"form" | b"head" | b"html"
    )
}

/// Whether a start tag does not begin a body (13.2.6.4.4, 13.2.6.4.6).
#[rustfmt::skip]
fn is_of_head(name: &[u8]) -> bool {
    matches!(
        name,
        b"html" | b"head" | b"base" | b"basefont" | b"bgsound" | b"link" | b"meta" | b"title" | b"noscript"
            | b"noframes" | b"style" | b"script" | b"template"
    )
}

/// Whether no frameset may follow a start tag: it sets the frameset-ok flag to "not ok" (13.2.6.4.7).
#[rustfmt::skip]
fn ends_framesets(name: &[u8]) -> bool {
    matches!(
        name,
        b"applet" | b"area" | b"body" | b"br" | b"button" | b"dd" | b"dt" | b"embed" | b"hr" | b"iframe" | b"image"
            | b"img" | b"input" | b"keygen" | b"li" | b"listing" | b"marquee" | b"object" | b"pre" | b"select"
            | b"table" | b"textarea" | b"wbr" | b"xmp"
    )
}

/// Whether a start tag ends foreign content (13.2.6.5).
#[rustfmt::skip]
fn breaks_out(name: &[u8]) -> bool {
    matches!(
        name,
        b"b" | b"big" | b"blockquote" | b"body" | b"br" | b"center" | b"code" | b"dd" | b"div" | b"dl" | b"dt" | b"em"
            | b"embed" | b"h1" | b"h2" | b"h3" | b"h4" | b"h5" | b"h6" | b"head" | b"hr" | b"i" | b"img" | b"li"
            | b"listing" | b"menu" | b"meta" | b"nobr" | b"ol" | b"p" | b"pre" | b"ruby" | b"s" | b"small" | b"span"
            | b"strong" | b"strike" | b"sub" | b"sup" | b"table" | b"tt" | b"u" | b"ul" | b"var"
    )
}

/// Whether an element is "special" (13.2.4.2): end tags of other names do not close it.
#[rustfmt::skip]
fn is_special(name: &[u8]) -> bool {
    matches!(
        name,
        b"address" | b"applet" | b"article" | b"aside" | b"blockquote" | b"button" | b"caption" | b"center"
            | b"colgroup" | b"dd" | b"details" | b"dir" | b"div" | b"dl" | b"dt" | b"fieldset" | b"figcaption"
            | b"figure" | b"footer" | b"frameset" | b"h1" | b"h2" | b"h3" | b"h4" | b"h5" | b"h6"
            | b"header" | b"hgroup" | b"iframe" | b"li" | b"listing" | b"main" | b"marquee" | b"menu" | b"nav"
            | b"noembed" | b"noframes" | b"noscript" | b"object" | b"ol" | b"p" | b"plaintext" | b"pre" | b"script"
            | b"search" | b"section" | b"select" | b"style" | b"summary" | b"table" | b"tbody" | b"td" | b"template"
            | b"textarea" | b"tfoot" | b"th" | b"thead" | b"title" | b"tr" | b"ul" | b"xmp"
    )
}

/// Whether "has an element in scope" stops at an element (13.2.4.2).
fn is_scope(name: &[u8]) -> bool {
    matches!(name, b"applet" | b"caption" | b"table" | b"td" | b"th" | b"marquee" | b"object" | b"template")
}
