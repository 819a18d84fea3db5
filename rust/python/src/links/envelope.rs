//! The links in an envelope of WAT: JSON that describes a record of a crawl (WAT 1.0).
//!
//! Only the form that crawls write is read here.  A value of another type, a repeated name and invalid JSON are left to
//! `metadata.py`.

use std::borrow::Cow;
use std::fmt;

use overthere_records::is_plain;
use serde_core::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};

use super::crawl::is_reference_field;

/// The references of an envelope, in the order of the rows.
#[derive(Default)]
pub struct Envelope<'a> {
    /// The header fields with references, by name.
    pub fields: Vec<(Cow<'a, str>, Cow<'a, str>)>,
    /// The href of the base element.
    pub base: Option<Cow<'a, str>>,
    /// The links of the head, of its scripts, and of the page.
    pub links: [Vec<Link<'a>>; 3],
    /// The contents of the metas with a refresh.
    pub refreshes: Vec<Cow<'a, str>>,
}

/// A link, and its place in the page.
pub struct Link<'a> {
    pub place: Option<Cow<'a, str>>,
    pub url: Cow<'a, str>,
}

/// The envelope in the content of a record; None if Python must read it.
pub fn read_envelope(content: &[u8]) -> Option<Envelope<'_>> {
    let count_containers = || memchr::memchr2_iter(b'{', b'[', content).count();
    if !is_metadata(content) || (content.len() > MAX_CONTAINERS && count_containers() > MAX_CONTAINERS) {
        return None;
    }
    let text = simdutf8::basic::from_utf8(content).ok()?;
    let mut envelope = Envelope::default();
    let mut reader = serde_json::Deserializer::from_str(text);
    Seed { place: Place::Top, envelope: &mut envelope }.deserialize(&mut reader).ok()?;
    reader.end().ok()?;
    Some(envelope)
}

/// Whether the content begins like metadata that describes a record (`warc._REFERENCE_METADATA`).
fn is_metadata(content: &[u8]) -> bool {
    let trimmed = content.trim_ascii_start();
    let inner = trimmed.strip_prefix(b"{").map(<[u8]>::trim_ascii_start);
    inner.is_some_and(|name| name.starts_with(b"\"Envelope\"") || name.starts_with(b"\"Container\""))
}

/// The error for an envelope that Python must read.
fn needs_python<E: Error>() -> E {
    E::custom("for Python")
}

/// Remove the white space around a text, like Python's `str.strip`.
pub fn strip(text: &str) -> &str {
    text.trim_matches(|char: char| char.is_whitespace() || matches!(char, '\x1c'..='\x1f'))
}

/// The maximum number of objects and lists, as in `metadata.py`.
const MAX_CONTAINERS: usize = 1_500_000;

/// The most names of one object, since they are compared with one another.
const MAX_NAMES: usize = 32;

/// A place in the envelope.
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
    /// A text that must be read.
    Text,
    /// A skipped value.  It is parsed all the same: it must be JSON, and not too deep.
    Other,
}

impl Place {
    /// The place of the value with this name; None if Python must read the envelope.
    fn child(self, name: &str) -> Option<Place> {
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
                name if is_reference_field(name.as_bytes()) => Place::Text,
                _ => Place::Other,
            },
            _ => Place::Other,
        })
    }
}

/// Reads the value at a place.
struct Seed<'f, 'a> {
    place: Place,
    envelope: &'f mut Envelope<'a>,
}

impl<'a> DeserializeSeed<'a> for Seed<'_, 'a> {
    /// The text at a place of texts.
    type Value = Option<Cow<'a, str>>;

    fn deserialize<D: Deserializer<'a>>(self, reader: D) -> Result<Self::Value, D::Error> {
        reader.deserialize_any(self)
    }
}

impl<'a> Seed<'_, 'a> {
    /// Skip a value of a type that only `Other` may have.
    fn skip<E: Error>(self) -> Result<Option<Cow<'a, str>>, E> {
        if self.place == Place::Other {
            Ok(None)
        } else {
            Err(needs_python())
        }
    }
}

impl<'a> Visitor<'a> for Seed<'_, 'a> {
    type Value = Option<Cow<'a, str>>;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("what crawls write")
    }

    fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
        self.skip()
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<Self::Value, E> {
        self.skip()
    }

    fn visit_i64<E: Error>(self, _: i64) -> Result<Self::Value, E> {
        self.skip()
    }

    fn visit_u64<E: Error>(self, _: u64) -> Result<Self::Value, E> {
        self.skip()
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<Self::Value, E> {
        self.skip()
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
        if self.place == Place::Text {
            Ok(Some(Cow::Owned(text.to_owned())))
        } else {
            self.skip()
        }
    }

    fn visit_borrowed_str<E: Error>(self, text: &'a str) -> Result<Self::Value, E> {
        if self.place == Place::Text {
            Ok(Some(Cow::Borrowed(text)))
        } else {
            self.skip()
        }
    }

    fn visit_seq<A: SeqAccess<'a>>(self, mut items: A) -> Result<Self::Value, A::Error> {
        let place = match self.place {
            Place::Links(number) => Place::Link(number),
            Place::Metas => Place::Meta,
            Place::Other => Place::Other,
            _ => return self.skip(),
        };
        while items.next_element_seed(Seed { place, envelope: &mut *self.envelope })?.is_some() {}
        Ok(None)
    }

    fn visit_map<A: MapAccess<'a>>(self, mut items: A) -> Result<Self::Value, A::Error> {
        let Seed { place: outer, envelope } = self;
        if matches!(outer, Place::Links(_) | Place::Metas | Place::Text) {
            return Seed { place: outer, envelope }.skip();
        }
        let mut names: Vec<Cow<'a, str>> = Vec::new();
        let mut pair = (None, None);
        while let Some(name) = items.next_key_seed(Seed { place: Place::Text, envelope: &mut *envelope })? {
            let name = name.unwrap_or_default();
            let place = outer.child(&name).filter(|place| *place == Place::Other || !names.contains(&name));
            let Some(place) = place else { return Err(needs_python()) };
            let text = items.next_value_seed(Seed { place, envelope: &mut *envelope })?;
            if place == Place::Other {
                continue;
            }
            match (outer, text) {
                (Place::Link(_) | Place::Meta, text) if name == "url" || name == "content" => pair.0 = text,
                (Place::Link(_) | Place::Meta, text) => pair.1 = text,
                (Place::Head, Some(text)) => envelope.base = Some(text),
                (Place::Fields, Some(text)) if is_plain(text.as_bytes()) => {
                    envelope.fields.push((name.clone(), text))
                }
                (Place::Fields, _) => return Err(needs_python()),
                _ => {}
            }
            names.push(name);
            if names.len() > MAX_NAMES {
                return Err(needs_python());
            }
        }
        match (outer, pair) {
            (Place::Meta, (Some(content), Some(name))) if strip(&name).eq_ignore_ascii_case("refresh") => {
                envelope.refreshes.push(content);
            }
            (Place::Link(number), (Some(url), place)) => {
                if let Some(links) = envelope.links.get_mut(number) {
                    links.push(Link { place, url });
                }
            }
            (Place::Top, _) if !names.iter().any(|name| name == "Envelope") => {
                return Err(needs_python());
            }
            _ => {}
        }
        Ok(None)
    }
}
