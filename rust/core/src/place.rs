//! Places in a text: in octets or in characters, two units that the compiler keeps apart; and parts of a text, which
//! are taken without a panic.

use std::marker::PhantomData;
use std::slice::SliceIndex;

/// The unit of places that are counted in octets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Octets;

/// The unit of places that are counted in characters.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Characters;

/// From a place up to another one, in one unit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Span<U = Octets> {
    /// Where it begins.
    pub start: usize,
    /// One past its last octet or character.
    pub end: usize,
    /// Only what knows the unit makes a span.
    unit: PhantomData<U>,
}

impl<U> Span<U> {
    #[inline(always)]
    fn new(start: usize, end: usize) -> Self {
        Span { start, end, unit: PhantomData }
    }

    #[inline(always)]
    fn some(start: u32, end: u32) -> Option<Self> {
        Some(Self::new(start as usize, end as usize))
    }

    /// Whether nothing stands there.
    pub fn is_empty(&self) -> bool {
        self.start == self.end
    }
}

impl Span<Octets> {
    /// The octets that stand there.
    #[inline(always)]
    pub fn of(self, text: &[u8]) -> &[u8] {
        text.part(self.start..self.end)
    }

    /// The characters that stand there.
    #[inline(always)]
    pub fn of_str(self, text: &str) -> &str {
        text.part(self.start..self.end)
    }

    /// From a later place on.
    pub(crate) fn from(self, start: usize) -> Self {
        Self::new(start, self.end)
    }
}

/// What is taken of a text: never a panic, for a place that is not in the text gives nothing.
///
/// No such place is asked for; tests of the core stop where one is.
pub trait Part<R> {
    /// What has so many parts.
    type Whole: ?Sized;
    /// What stands in a range.
    fn part(&self, range: R) -> &Self::Whole;
}

impl<T, R: SliceIndex<[T], Output = [T]>> Part<R> for [T] {
    type Whole = [T];

    #[inline(always)]
    fn part(&self, range: R) -> &[T] {
        let found = self.get(range);
        debug_assert!(found.is_some(), "a range that is not in the text");
        found.unwrap_or_default()
    }
}

impl<R: SliceIndex<str, Output = str>> Part<R> for str {
    type Whole = str;

    #[inline(always)]
    fn part(&self, range: R) -> &str {
        let found = self.get(range);
        debug_assert!(found.is_some(), "a range that is not in the text");
        found.unwrap_or_default()
    }
}

/// One of several: never a panic, for a place that is not there gives zero.
pub trait At<T> {
    /// What stands at a place.
    fn at(&self, place: usize) -> T;
}

impl<T: Copy + Default> At<T> for [T] {
    #[inline(always)]
    fn at(&self, place: usize) -> T {
        let found = self.get(place);
        debug_assert!(found.is_some(), "a place that is not there");
        found.copied().unwrap_or_default()
    }
}

/// The components of section 3 of RFC 3986, and what an authority is made of (3.2).
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

/// Where the components stand.
///
/// ```text
/// foo://user@example.com:8042/over/there?name=ferret#nose
///    |  |   |           |    |          |           |
///    |  |   userinfo_end|    path       path_end    query_end
///    |  authority       host_end
///    scheme_end
/// ```
///
/// `OMITTED` where the component is undefined.  The path is always defined; it ends at `path_end`.
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
            Span::some(0, self.scheme_end)
        }
    }

    /// The span of the authority.
    pub fn authority(&self) -> Option<Span<U>> {
        if self.authority == OMITTED {
            None
        } else {
            Span::some(self.authority, self.path)
        }
    }

    /// The span of the userinfo.
    pub fn userinfo(&self) -> Option<Span<U>> {
        if self.userinfo_end == OMITTED {
            None
        } else {
            Span::some(self.authority, self.userinfo_end)
        }
    }

    /// The start of the host, given that there is an authority.
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
            Span::some(self.host_start(), self.host_end)
        }
    }

    /// The span of the port.
    pub fn port(&self) -> Option<Span<U>> {
        if self.authority == OMITTED || self.host_end == self.path {
            None
        } else {
            Span::some(self.host_end + 1, self.path)
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
            Span::some(self.path_end + 1, self.query_end)
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
    /// The same of a text that has one character where the other had one octet.
    pub(crate) fn in_characters(self) -> Spans<Characters> {
        let Spans {
            scheme_end, authority, userinfo_end, host_end, path, path_end, query_end, fragment, ..
        } = self;
        let unit = PhantomData;
        Spans { scheme_end, authority, userinfo_end, host_end, path, path_end, query_end, fragment, unit }
    }
}

impl<U> Spans<U> {
    /// What `places` gave; the caller says in which unit.
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
