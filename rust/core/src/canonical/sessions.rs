//! Session identifiers of well-known servers in paths and queries.

use super::components::{Components, Text};
use super::{NeedsPython, StepResult};
use crate::place::{At, Part};

/// The session identifiers to remove from a query.
#[derive(Default)]
pub struct Sessions {
    /// Those in one pair.
    pub single: Vec<Session>,
    /// The beginnings of two adjacent pairs that form one identifier, in lower case, with their "=".
    pub double: (Vec<u8>, Vec<u8>),
}

/// A session identifier at the end of a pair.
pub struct Session {
    /// The start of the name, in lower case: "aspsessionid".
    pub name: Vec<u8>,
    /// The number of letters that follow it.
    pub letters: usize,
    /// Whether the value may have digits besides letters.
    pub has_digits: bool,
    /// The length of the value, after "=".
    pub length: usize,
}

impl Session {
    /// The start of the identifier in a pair that ends with it.
    fn start(&self, pair: &[u8]) -> Option<usize> {
        let value = pair.len().checked_sub(self.length)?;
        let is_value = |b: &u8| b.is_ascii_alphabetic() || (self.has_digits && b.is_ascii_digit());
        let name = value.checked_sub(self.name.len() + self.letters + 1)?;
        let letters = name + self.name.len();
        (pair.at(value - 1) == b'='
            && pair.part(name..letters).eq_ignore_ascii_case(&self.name)
            && pair.part(letters..value - 1).iter().all(u8::is_ascii_alphabetic)
            && pair.part(value..).iter().all(is_value)
            && !is_in_escape(pair, name))
        .then_some(name)
    }
}

/// Remove the last identifier of each kind, and join the text around it.
pub(super) fn drop(uri: &mut Components, sessions: &Sessions) -> StepResult {
    // Session identifiers in folders of ASP.NET need Python.
    if memchr::memchr(b'(', &uri.path).is_some() && has_aspx_page(&uri.path) {
        return Err(NeedsPython);
    }
    drop_from_query(&mut uri.query, sessions);
    Ok(())
}

/// Whether a path contains ".aspx".
fn has_aspx_page(path: &[u8]) -> bool {
    memchr::memchr_iter(b'.', path)
        .any(|dot| path.get(dot..dot + 5).is_some_and(|end| end.eq_ignore_ascii_case(b".aspx")))
}

fn drop_from_query(query: &mut Text, sessions: &Sessions) {
    let Some(text) = query.get_mut().filter(|text| !text.is_empty()) else { return };
    for session in &sessions.single {
        let place = pairs_from_the_end(text)
            .find_map(|(start, end)| Some((start + session.start(text.part(start..end))?, end)));
        if let Some((start, end)) = place {
            text.drain(start..(end + 1).min(text.len()));
        }
    }
    let mut after: Option<(usize, usize)> = None;
    let mut place = None;
    for (start, end) in pairs_from_the_end(text) {
        if let Some(second) = after.filter(|&(from, to)| is_second(text.part(from..to), &sessions.double.1)) {
            if let Some(at) = first_start(text.part(start..end), &sessions.double.0) {
                place = Some((start + at, second.1));
                break;
            }
        }
        after = Some((start, end));
    }
    if let Some((start, end)) = place {
        text.drain(start..(end + 1).min(text.len()));
    }
}

/// The places of the pairs, from the last to the first.
fn pairs_from_the_end(query: &[u8]) -> impl Iterator<Item = (usize, usize)> + '_ {
    let mut end = Some(query.len());
    std::iter::from_fn(move || {
        let pair_end = end?;
        let separator = memchr::memrchr(b'&', query.part(..pair_end));
        end = separator;
        Some((separator.map_or(0, |at| at + 1), pair_end))
    })
}

/// Whether a pair can be the second of two: it has the name and a value.
fn is_second(pair: &[u8], name: &[u8]) -> bool {
    pair.len() > name.len() && pair.part(..name.len()).eq_ignore_ascii_case(name)
}

/// The offset of the last occurrence of the name, with a value, in the first pair of two.
fn first_start(pair: &[u8], name: &[u8]) -> Option<usize> {
    let before_last = pair.part(..pair.len().saturating_sub(1));
    let mut names = before_last.windows(name.len().max(1)).enumerate().rev();
    names.find(|(at, window)| window.eq_ignore_ascii_case(name) && !is_in_escape(pair, *at)).map(|(at, _)| at)
}

/// Whether a place is within an escape, whose digits may look like the first letters of a name.
fn is_in_escape(pair: &[u8], at: usize) -> bool {
    memchr::memchr(b'%', pair.part(at.saturating_sub(2)..at)).is_some()
}
