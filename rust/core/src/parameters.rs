//! Find, set, add, remove and sort the pairs of a query, `name=value&name=value`; the other pairs stay as they are.
//!
//! The results are those of `forms.Parameters`.  The query is part of a valid text, so its escapes are valid.

use memchr::{memchr, memmem};

use crate::percent::octet;
use crate::place::{At, Part};

/// How pairs are written.
#[derive(Clone, Copy)]
pub struct Form {
    /// Their separator: "&" or ";".
    pub separator: u8,
    /// Whether "+" means a space.
    pub plus: bool,
}

/// A decoded name, and the pairs to write for it.
pub type Given = (Vec<u8>, Vec<Vec<u8>>);

/// A change of the pairs of a query.
pub enum Change {
    /// Set values: new pairs replace the first pair of a name, its other pairs are removed, new names are appended.
    Set(Vec<Given>),
    /// Append pairs.
    Add(Vec<Vec<u8>>),
    /// Remove the pairs of names; each name is a list of the texts between its "*", which match any octets.
    Without(Vec<Vec<Vec<u8>>>),
    /// Sort by decoded name; pairs of one name keep their order.
    Sort,
}

/// Buffers of one thread, reused for all its rows.
#[derive(Default)]
pub struct Scratch {
    placed: Vec<bool>,
    octets: Vec<u8>,
    places: Vec<Place>,
}

/// A pair: the first octets of its name, the place of its name in `Scratch::octets`, and its place in the query.
struct Place {
    first: u64,
    name: (usize, usize),
    pair: (usize, usize),
}

impl Form {
    /// The places of the pairs of a query; an empty query has none.
    pub fn pairs<'a>(&self, query: &'a [u8]) -> impl Iterator<Item = (usize, usize)> + 'a {
        let separator = self.separator;
        let mut at = if query.is_empty() { None } else { Some(0) };
        std::iter::from_fn(move || {
            let start = at?;
            let end = memchr(separator, query.part(start..)).map(|i| start + i);
            at = end.map(|end| end + 1);
            Some((start, end.unwrap_or(query.len())))
        })
    }

    /// The decoded octet at a place, and the length of its notation.
    #[inline(always)]
    fn octet_at(&self, text: &[u8], i: usize) -> (u8, usize) {
        match text.at(i) {
            b'%' => octet(text, i).map_or((b'%', 1), |octet| (octet, 3)),
            b'+' if self.plus => (b' ', 1),
            other => (other, 1),
        }
    }

    /// Append the decoded octets of a text.
    pub fn decode(&self, text: &[u8], out: &mut Vec<u8>) {
        if self.is_plain(text) {
            out.extend_from_slice(text);
            return;
        }
        let mut i = 0;
        while i < text.len() {
            let (octet, count) = self.octet_at(text, i);
            out.push(octet);
            i += count;
        }
    }

    /// Whether decoding leaves a text unchanged.
    pub fn is_plain(&self, text: &[u8]) -> bool {
        !text.iter().any(|&b| b == b'%' || (b == b'+' && self.plus))
    }

    /// The end of the name in a pair; None if the decoded name differs from these octets.
    #[inline(always)]
    fn name_end(&self, pair: &[u8], octets: &[u8]) -> Option<usize> {
        let mut i = 0;
        for &expected in octets {
            if i >= pair.len() || pair.at(i) == b'=' {
                return None;
            }
            let (octet, count) = self.octet_at(pair, i);
            if octet != expected {
                return None;
            }
            i += count;
        }
        (i == pair.len() || pair.at(i) == b'=').then_some(i)
    }

    /// The places of the values of all pairs with a name, in order; None for a pair without "=".
    pub fn all<'a>(
        &'a self,
        query: &'a [u8],
        name: &'a [u8],
    ) -> impl Iterator<Item = Option<(usize, usize)>> + 'a {
        self.pairs(query).filter_map(move |(start, end)| {
            let name_end = start + self.name_end(query.part(start..end), name)?;
            Some((name_end < end).then_some((name_end + 1, end)))
        })
    }

    /// The place of the value of the first pair with a name, as in `all`; None if there is no such pair.
    pub fn first(&self, query: &[u8], name: &[u8]) -> Option<Option<(usize, usize)>> {
        self.all(query, name).next()
    }

    /// The place of the value of the first pair with a name; None if there is no such pair, or it has no "=".
    pub fn find(&self, query: &[u8], name: &[u8]) -> Option<(usize, usize)> {
        self.first(query, name).flatten()
    }

    /// The decoded name of a pair: a part of the pair if it has no escapes, otherwise written to `octets`.
    #[inline(always)]
    fn name<'a>(&self, pair: &'a [u8], octets: &'a mut Vec<u8>) -> &'a [u8] {
        let mut escaped = false;
        let mut end = 0;
        while end < pair.len() && pair.at(end) != b'=' {
            escaped |= pair.at(end) == b'%' || pair.at(end) == b'+';
            end += 1;
        }
        if !escaped {
            return pair.part(..end);
        }
        octets.clear();
        self.decode(pair.part(..end), octets);
        octets
    }

    /// Whether the name of a pair matches one of these patterns, each a list of the texts between its "*".
    pub(crate) fn has_name(&self, pair: &[u8], names: &[Vec<Vec<u8>>], scratch: &mut Scratch) -> bool {
        let name = self.name(pair, &mut scratch.octets);
        names.iter().any(|pattern| matches(pattern, name))
    }

    /// Write the query with its pairs changed, and return whether it is defined.
    pub fn change(
        &self,
        query: Option<&[u8]>,
        change: &Change,
        scratch: &mut Scratch,
        out: &mut Vec<u8>,
    ) -> bool {
        let text = query.unwrap_or_default();
        let mut to = PairWriter { out, text, pending: None, has_pairs: false, separator: self.separator };
        match change {
            Change::Set(replacements) => self.set(replacements, scratch, &mut to),
            Change::Add(texts) => {
                if !text.is_empty() {
                    to.keep(0, text.len());
                }
                texts.iter().for_each(|text| to.pair(text));
            }
            Change::Without(names) => {
                for (start, end) in self.pairs(text) {
                    if !self.has_name(text.part(start..end), names, scratch) {
                        to.keep(start, end);
                    }
                }
            }
            Change::Sort => self.sort(scratch, &mut to),
        }
        to.flush();
        // A query that has lost all its pairs is undefined; an empty query stays as it is.
        to.has_pairs || (text.is_empty() && query.is_some())
    }

    fn set(&self, replacements: &[Given], scratch: &mut Scratch, to: &mut PairWriter<'_>) {
        let (text, placed) = (to.text, &mut scratch.placed);
        placed.clear();
        placed.resize(replacements.len(), false);
        for (start, end) in self.pairs(text) {
            let pair = text.part(start..end);
            let mut candidates = replacements.iter().zip(placed.iter_mut());
            match candidates.find(|((name, _), _)| self.name_end(pair, name).is_some()) {
                None => to.keep(start, end),
                Some(((_, texts), placed)) => {
                    if !std::mem::replace(placed, true) {
                        texts.iter().for_each(|text| to.pair(text));
                    }
                }
            }
        }
        for ((_, texts), placed) in replacements.iter().zip(placed) {
            if !*placed {
                texts.iter().for_each(|text| to.pair(text));
            }
        }
    }

    fn sort(&self, scratch: &mut Scratch, to: &mut PairWriter<'_>) {
        let Scratch { octets, places, .. } = scratch;
        octets.clear();
        places.clear();
        for pair in self.pairs(to.text) {
            let start = octets.len();
            self.decode(name_of(to.text.part(pair.0..pair.1)), octets);
            places.push(Place { first: first(octets.part(start..)), name: (start, octets.len()), pair });
        }
        places.sort_by(|a, b| {
            let by_name = || octets.part(a.name.0..a.name.1).cmp(octets.part(b.name.0..b.name.1));
            a.first.cmp(&b.first).then_with(by_name)
        });
        places.iter().for_each(|place| to.keep(place.pair.0, place.pair.1));
    }
}

/// The first eight octets of a name, padded with zeros, as a number that sorts like them.
fn first(name: &[u8]) -> u64 {
    let mut octets = [0; 8];
    octets.iter_mut().zip(name).for_each(|(place, octet)| *place = *octet);
    u64::from_be_bytes(octets)
}

/// Writes pairs with separators; pairs that are adjacent in the query are copied together.
struct PairWriter<'a> {
    out: &'a mut Vec<u8>,
    text: &'a [u8],
    /// Adjacent pairs of the query that are not written yet.
    pending: Option<(usize, usize)>,
    has_pairs: bool,
    separator: u8,
}

impl PairWriter<'_> {
    /// Write a pair of the query.
    #[inline(always)]
    fn keep(&mut self, start: usize, end: usize) {
        match &mut self.pending {
            Some((_, before)) if *before + 1 == start => *before = end,
            _ => {
                self.flush();
                self.pending = Some((start, end));
            }
        }
    }

    fn flush(&mut self) {
        if let Some((start, end)) = self.pending.take() {
            let text = self.text;
            self.write(text.part(start..end));
        }
    }

    /// Write a new pair.
    fn pair(&mut self, text: &[u8]) {
        self.flush();
        self.write(text);
    }

    fn write(&mut self, text: &[u8]) {
        if self.has_pairs {
            self.out.push(self.separator);
        }
        self.out.extend_from_slice(text);
        self.has_pairs = true;
    }
}

fn name_of(pair: &[u8]) -> &[u8] {
    memchr(b'=', pair).map_or(pair, |i| pair.part(..i))
}

/// Whether a name begins with the first piece, ends with the last, and has the others between them in order.
fn matches(pieces: &[Vec<u8>], name: &[u8]) -> bool {
    let [first, following @ ..] = pieces else { return false };
    let [inner @ .., last] = following else { return first == name };
    let Some(mut middle) =
        name.strip_prefix(first.as_slice()).and_then(|name| name.strip_suffix(last.as_slice()))
    else {
        return false;
    };
    for piece in inner {
        let Some(at) = memmem::find(middle, piece) else { return false };
        middle = middle.part(at + piece.len()..);
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    const FORM: Form = Form { separator: b'&', plus: true };

    fn change_query(query: Option<&str>, change: &Change) -> Option<String> {
        let mut out = Vec::new();
        let defined = FORM.change(query.map(str::as_bytes), change, &mut Scratch::default(), &mut out);
        defined.then(|| String::from_utf8(out).unwrap())
    }

    fn octets(texts: &[&str]) -> Vec<Vec<u8>> {
        texts.iter().map(|text| text.as_bytes().to_vec()).collect()
    }

    #[test]
    fn values_are_found_by_the_octets_of_their_names() {
        let query = b"k%6=&%6Bk=1&a+b=2&flag&flag=3&=4";
        let value = |name: &[u8]| FORM.find(query, name).map(|(start, end)| &query[start..end]);
        assert_eq!(value(b"kk"), Some(b"1".as_slice()));
        assert_eq!(value(b"a b"), Some(b"2".as_slice()));
        assert_eq!((value(b"flag"), value(b"none"), value(b"")), (None, None, Some(b"4".as_slice())));
    }

    #[test]
    fn unchanged_pairs_stay() {
        let set =
            Change::Set(vec![(b"a".to_vec(), octets(&["a=x", "a=y"])), (b"n".to_vec(), octets(&["n"]))]);
        assert_eq!(change_query(Some("b=%3b&%61=1&a"), &set).as_deref(), Some("b=%3b&a=x&a=y&n"));
        assert_eq!(change_query(None, &set).as_deref(), Some("a=x&a=y&n"));
        assert_eq!(change_query(Some(""), &Change::Add(octets(&["a"]))).as_deref(), Some("a"));
        assert_eq!(change_query(Some("&b=1&a&b=0"), &Change::Sort).as_deref(), Some("&a&b=1&b=0"));
    }

    #[test]
    fn a_query_without_remaining_pairs_is_undefined() {
        let removal = Change::Without(vec![octets(&["utm_", ""]), octets(&["x"]), octets(&["a", "b", "c"])]);
        assert_eq!(change_query(Some("utm_a=1&x&%75tm_=2"), &removal), None);
        assert_eq!(change_query(Some("axbxc&abxbc&ac&acbc"), &removal).as_deref(), Some("ac"));
        assert_eq!(change_query(Some(""), &removal).as_deref(), Some(""));
        assert_eq!(change_query(None, &removal), None);
    }
}
