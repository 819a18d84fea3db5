//! Places in a text, counted in octets or in characters: two units that the compiler keeps apart.  And slicing and
//! indexing without a panic.

use std::marker::PhantomData;
use std::slice::SliceIndex;

/// The unit of places that are counted in octets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Octets;

/// The unit of places that are counted in characters.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Characters;

/// A range of a text, in one unit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Span<U = Octets> {
    /// Its first octet or character.
    pub start: usize,
    /// One past its last octet or character.
    pub end: usize,
    /// Private, so that only code that knows the unit makes a span.
    unit: PhantomData<U>,
}

impl<U> Span<U> {
    #[inline(always)]
    fn new(start: usize, end: usize) -> Self {
        Span { start, end, unit: PhantomData }
    }

    #[inline(always)]
    fn of_offsets(start: u32, end: u32) -> Option<Self> {
        Some(Self::new(start as usize, end as usize))
    }

    /// Whether the range is empty.
    pub fn is_empty(&self) -> bool {
        self.start == self.end
    }
}

impl Span<Octets> {
    /// The bytes of `text` in the range.
    #[inline(always)]
    pub fn of(self, text: &[u8]) -> &[u8] {
        text.part(self.start..self.end)
    }

    /// The part of `text` in the range.
    #[inline(always)]
    pub fn of_str(self, text: &str) -> &str {
        text.part(self.start..self.end)
    }

    /// The same span from a later place on.
    pub(crate) fn from(self, start: usize) -> Self {
        Self::new(start, self.end)
    }
}

/// Slicing without a panic: a range outside of the text gives an empty part.
///
/// The callers never ask for one, and tests of the core fail if one does.
pub trait Part<R> {
    /// The type of the parts.
    type Whole: ?Sized;
    /// The part in a range.
    fn part(&self, range: R) -> &Self::Whole;
}

impl<T, R: SliceIndex<[T], Output = [T]>> Part<R> for [T] {
    type Whole = [T];

    #[inline(always)]
    fn part(&self, range: R) -> &[T] {
        let part = self.get(range);
        debug_assert!(part.is_some(), "a range that is not in the text");
        part.unwrap_or_default()
    }
}

impl<R: SliceIndex<str, Output = str>> Part<R> for str {
    type Whole = str;

    #[inline(always)]
    fn part(&self, range: R) -> &str {
        let part = self.get(range);
        debug_assert!(part.is_some(), "a range that is not in the text");
        part.unwrap_or_default()
    }
}

/// Indexing without a panic: a place outside of the slice gives the default value, such as zero.
pub trait At<T> {
    /// The element at a place.
    fn at(&self, place: usize) -> T;
}

impl<T: Copy + Default> At<T> for [T] {
    #[inline(always)]
    fn at(&self, place: usize) -> T {
        let element = self.get(place);
        debug_assert!(element.is_some(), "a place that is not there");
        element.copied().unwrap_or_default()
    }
}

/// The components of section 3 of RFC 3986, and the parts of an authority (3.2).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(missing_docs, reason = "the names are those of the document")]
pub enum Component {
    Scheme,
    Authority,
    Userinfo,
    Host,
    Port,
    Path,
    Query,
    Fragment,
}

impl Component {
    /// The component of that name.
    pub fn named(name: &str) -> Option<Self> {
        Some(match name {
            "scheme" => Component::Scheme,
            "authority" => Component::Authority,
            "userinfo" => Component::Userinfo,
            "host" => Component::Host,
            "port" => Component::Port,
            "path" => Component::Path,
            "query" => Component::Query,
            "fragment" => Component::Fragment,
            _ => return None,
        })
    }
}

/// The offset of a component that is undefined.
pub const OMITTED: u32 = u32::MAX;

/// The places of the components of a text.
///
/// ```text
/// foo://user@example.com:8042/over/there?name=ferret#nose
///    |  |   |           |    |          |           |
///    |  |   userinfo_end|    path       path_end    query_end
///    |  authority       host_end
///    scheme_end
/// ```
///
/// A place is `OMITTED` if its component is undefined.  The path is always defined; it ends at `path_end`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Spans<U = Octets> {
    /// The end of the scheme.
    pub(crate) scheme_end: u32,
    /// The start of the authority, after its "//".
    pub(crate) authority: u32,
    /// The end of the userinfo.
    pub(crate) userinfo_end: u32,
    /// The end of the host.
    pub(crate) host_end: u32,
    /// The start of the path, which is the end of the authority.
    pub(crate) path: u32,
    /// The end of the path.
    pub(crate) path_end: u32,
    /// The end of the query, which begins one past `path_end`.
    pub(crate) query_end: u32,
    /// The start of the fragment, which ends with the text.
    pub(crate) fragment: u32,
    pub(crate) unit: PhantomData<U>,
}

impl<U> Spans<U> {
    /// The spans of the empty text: an empty path and nothing else.
    pub const EMPTY: Self = Spans {
        scheme_end: OMITTED,
        authority: OMITTED,
        userinfo_end: OMITTED,
        host_end: OMITTED,
        path: 0,
        path_end: 0,
        query_end: OMITTED,
        fragment: OMITTED,
        unit: PhantomData,
    };

    /// The span of a component, in a text of this length.
    #[inline(always)]
    pub fn get(&self, component: Component, length: usize) -> Option<Span<U>> {
        match component {
            Component::Scheme => self.scheme(),
            Component::Authority => self.authority(),
            Component::Userinfo => self.userinfo(),
            Component::Host => self.host(),
            Component::Port => self.port(),
            Component::Path => Some(self.path()),
            Component::Query => self.query(),
            Component::Fragment => self.fragment(length),
        }
    }

    /// The span of the scheme.
    pub fn scheme(&self) -> Option<Span<U>> {
        if self.scheme_end == OMITTED {
            None
        } else {
            Span::of_offsets(0, self.scheme_end)
        }
    }

    /// The span of the authority.
    pub fn authority(&self) -> Option<Span<U>> {
        if self.authority == OMITTED {
            None
        } else {
            Span::of_offsets(self.authority, self.path)
        }
    }

    /// The span of the userinfo.
    pub fn userinfo(&self) -> Option<Span<U>> {
        if self.userinfo_end == OMITTED {
            None
        } else {
            Span::of_offsets(self.authority, self.userinfo_end)
        }
    }

    /// The start of the host, if there is an authority.
    fn host_start(&self) -> u32 {
        if self.userinfo_end == OMITTED {
            self.authority
        } else {
            self.userinfo_end + 1
        }
    }

    /// The span of the host.
    pub fn host(&self) -> Option<Span<U>> {
        if self.authority == OMITTED {
            None
        } else {
            Span::of_offsets(self.host_start(), self.host_end)
        }
    }

    /// The span of the port.
    pub fn port(&self) -> Option<Span<U>> {
        if self.authority == OMITTED || self.host_end == self.path {
            None
        } else {
            Span::of_offsets(self.host_end + 1, self.path)
        }
    }

    /// The span of the path.
    pub fn path(&self) -> Span<U> {
        Span::new(self.path as usize, self.path_end as usize)
    }

    /// The span of the query.
    pub fn query(&self) -> Option<Span<U>> {
        if self.query_end == OMITTED {
            None
        } else {
            Span::of_offsets(self.path_end + 1, self.query_end)
        }
    }

    /// The span of the fragment in a text of this length.
    pub fn fragment(&self, length: usize) -> Option<Span<U>> {
        if self.fragment == OMITTED {
            None
        } else {
            Some(Span::new(self.fragment as usize, length))
        }
    }
}

impl Spans<Octets> {
    /// The same places in a text that has a character for each octet of this one.
    pub(crate) fn in_characters(self) -> Spans<Characters> {
        let Spans {
            scheme_end, authority, userinfo_end, host_end, path, path_end, query_end, fragment, ..
        } = self;
        let unit = PhantomData;
        Spans { scheme_end, authority, userinfo_end, host_end, path, path_end, query_end, fragment, unit }
    }
}

impl<U> Spans<U> {
    /// Spans from the result of `places`; the caller chooses the unit.
    pub fn of_places(places: [u32; 8]) -> Self {
        let [scheme_end, authority, userinfo_end, host_end, path, path_end, query_end, fragment] = places;
        let unit = PhantomData;
        Spans { scheme_end, authority, userinfo_end, host_end, path, path_end, query_end, fragment, unit }
    }

    /// All places, in the order of the fields.
    pub fn places(&self) -> [u32; 8] {
        [
            self.scheme_end,
            self.authority,
            self.userinfo_end,
            self.host_end,
            self.path,
            self.path_end,
            self.query_end,
            self.fragment,
        ]
    }
}
