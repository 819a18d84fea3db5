//! The links in an envelope of WAT: JSON that describes a record of a crawl (WAT 1.0).
//!
//! Only what crawls write is read here.  A value of another type, a name that stands twice, text that is no JSON: all
//! that is left to `metadata.py`, which knows what to make of it.

use std::borrow::Cow;
use std::fmt;

use overthere_records::is_plain;
use serde_core::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};

use super::crawl::is_pointing;

/// What an envelope refers to, in the order of the rows.
#[derive(Default)]
pub struct Envelope<'a> {
    /// The fields of HTTP that refer to something, by name.
    pub fields: Vec<(Cow<'a, str>, Cow<'a, str>)>,
    /// The href of the base element.
    pub base: Option<Cow<'a, str>>,
    /// The links, each with its place: those of the head, its scripts, those of the page.
    pub links: [Vec<Link<'a>>; 3],
    /// The contents of the metas that refresh.
    pub refreshes: Vec<Cow<'a, str>>,
}

/// A link, and its place in the page.
pub struct Link<'a> {
    pub place: Option<Cow<'a, str>>,
    pub url: Cow<'a, str>,
}

/// The envelope in the content of a record; None if Python reads it.
pub fn read_envelope(content: &[u8]) -> Option<Envelope<'_>> {
    if !begins(content) {
        return None;
    }
    let text = simdutf8::basic::from_utf8(content).ok()?;
    let mut found = Envelope::default();
    let mut reader = serde_json::Deserializer::from_str(text);
    Walk { place: Place::Top, found: &mut found }.deserialize(&mut reader).ok()?;
    reader.end().ok()?;
    Some(found)
}

/// Whether it begins as metadata does that describes a record (`warc._HOLDS_REFERENCES`).
fn begins(content: &[u8]) -> bool {
    let trimmed = content.trim_ascii_start();
    let inner = trimmed.strip_prefix(b"{").map(<[u8]>::trim_ascii_start);
    inner.is_some_and(|name| name.starts_with(b"\"Envelope\"") || name.starts_with(b"\"Container\""))
}

/// Python reads the envelope.
fn for_python<E: Error>() -> E {
    E::custom("for Python")
}

/// Without the white space around it, as `str.strip` of Python has it.
pub fn strip(text: &str) -> &str {
    text.trim_matches(|char: char| char.is_whitespace() || matches!(char, '\x1c'..='\x1f'))
}

/// Names of one object that are compared with one another, at most.
const KNOWN: usize = 32;

/// What stands at a place of the envelope.
#[derive(Clone, Copy, PartialEq)]
enum Place {
    Top,
    Envelope,
    Payload,
    Response,
    Fields,
    Html,
    Head,
    Metas,
    Meta,
    /// A list of links, by its number in `Envelope::links`.
    Links(usize),
    Link(usize),
    /// A text that is needed.
    Text,
    /// What is passed over.  It is read all the same: it must be JSON, and not too deep.
    Other,
}

impl Place {
    /// The place of the value that has this name; None if Python reads the envelope.
    fn below(self, name: &str) -> Option<Place> {
        Some(match (self, name) {
            (Place::Top, "Envelope") => Place::Envelope,
            (Place::Envelope, "Payload-Metadata") => Place::Payload,
            (Place::Payload, "HTTP-Response-Metadata") => Place::Response,
            (Place::Response, "Headers") => Place::Fields,
            (Place::Response, "HTML-Metadata") => Place::Html,
            (Place::Html, "Head") => Place::Head,
            (Place::Head, "Base") => Place::Text,
            (Place::Head, "Metas") => Place::Metas,
            (Place::Head, "Link") => Place::Links(0),
            (Place::Head, "Scripts") => Place::Links(1),
            (Place::Html, "Links") => Place::Links(2),
            (Place::Link(_), "url" | "path") | (Place::Meta, "http-equiv" | "content") => Place::Text,
            (Place::Fields, name) => match strip(name) {
                name if !name.is_ascii() || name.eq_ignore_ascii_case("content-location") => return None,
                name if is_pointing(name.as_bytes()) => Place::Text,
                _ => Place::Other,
            },
            _ => Place::Other,
        })
    }
}

/// The value at a place.
struct Walk<'f, 'a> {
    place: Place,
    found: &'f mut Envelope<'a>,
}

impl<'a> DeserializeSeed<'a> for Walk<'_, 'a> {
    /// The text, where one is needed.
    type Value = Option<Cow<'a, str>>;

    fn deserialize<D: Deserializer<'a>>(self, reader: D) -> Result<Self::Value, D::Error> {
        reader.deserialize_any(self)
    }
}

impl<'a> Walk<'_, 'a> {
    /// A value that no place but `Other` may have.
    fn pass<E: Error>(self) -> Result<Option<Cow<'a, str>>, E> {
        if self.place == Place::Other {
            Ok(None)
        } else {
            Err(for_python())
        }
    }
}

impl<'a> Visitor<'a> for Walk<'_, 'a> {
    type Value = Option<Cow<'a, str>>;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("what crawls write")
    }

    fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
        self.pass()
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<Self::Value, E> {
        self.pass()
    }

    fn visit_i64<E: Error>(self, _: i64) -> Result<Self::Value, E> {
        self.pass()
    }

    fn visit_u64<E: Error>(self, _: u64) -> Result<Self::Value, E> {
        self.pass()
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<Self::Value, E> {
        self.pass()
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
        if self.place == Place::Text {
            Ok(Some(Cow::Owned(text.to_owned())))
        } else {
            self.pass()
        }
    }

    fn visit_borrowed_str<E: Error>(self, text: &'a str) -> Result<Self::Value, E> {
        if self.place == Place::Text {
            Ok(Some(Cow::Borrowed(text)))
        } else {
            self.pass()
        }
    }

    fn visit_seq<A: SeqAccess<'a>>(self, mut items: A) -> Result<Self::Value, A::Error> {
        let place = match self.place {
            Place::Links(number) => Place::Link(number),
            Place::Metas => Place::Meta,
            Place::Other => Place::Other,
            _ => return self.pass(),
        };
        while items.next_element_seed(Walk { place, found: &mut *self.found })?.is_some() {}
        Ok(None)
    }

    fn visit_map<A: MapAccess<'a>>(self, mut items: A) -> Result<Self::Value, A::Error> {
        let Walk { place: outer, found } = self;
        if matches!(outer, Place::Links(_) | Place::Metas | Place::Text) {
            return Walk { place: outer, found }.pass();
        }
        let mut known: Vec<Cow<'a, str>> = Vec::new();
        let mut pair = (None, None);
        while let Some(name) = items.next_key_seed(Walk { place: Place::Text, found: &mut *found })? {
            let name = name.unwrap_or_default();
            let place = outer.below(&name).filter(|place| *place == Place::Other || !known.contains(&name));
            let Some(place) = place else { return Err(for_python()) };
            let text = items.next_value_seed(Walk { place, found: &mut *found })?;
            if place == Place::Other {
                continue;
            }
            match (outer, text) {
                (Place::Link(_) | Place::Meta, text) if name == "url" || name == "content" => pair.0 = text,
                (Place::Link(_) | Place::Meta, text) => pair.1 = text,
                (Place::Head, Some(text)) => found.base = Some(text),
                (Place::Fields, Some(text)) if is_plain(text.as_bytes()) => {
                    found.fields.push((name.clone(), text))
                }
                (Place::Fields, _) => return Err(for_python()),
                _ => {}
            }
            known.push(name);
            if known.len() > KNOWN {
                return Err(for_python());
            }
        }
        match (outer, pair) {
            (Place::Meta, (Some(content), Some(name))) if strip(&name).eq_ignore_ascii_case("refresh") => {
                found.refreshes.push(content);
            }
            (Place::Link(number), (Some(url), place)) => {
                if let Some(links) = found.links.get_mut(number) {
                    links.push(Link { place, url });
                }
            }
            (Place::Top, _) if !known.iter().any(|name| name == "Envelope") => {
                return Err(for_python());
            }
            _ => {}
        }
        Ok(None)
    }
}
