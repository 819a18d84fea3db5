//! The places in running text at which a URI may begin: where the regular expression of `text/trigger.py` matches.

use std::collections::BTreeSet;

use crate::place::Part;

/// A character of a text, in the width in which CPython stores it.
pub trait Character: Copy {
    /// Its code point, which may be a surrogate.
    fn code(self) -> u32;
}

macro_rules! characters {
    ($($stored:ty)*) => {$(
        impl Character for $stored {
            #[inline(always)]
            fn code(self) -> u32 {
                self.into()
            }
        }
    )*};
}

characters! { u8 u16 u32 }

/// A search for schemes, hosts or addresses; brackets, quotes, and "//" after a colon are always searched for.
pub struct Trigger {
    /// The names of schemes in lower case, by their last character, which they lack.
    names: Vec<Vec<Vec<u8>>>,
    /// The number of characters of a name that are compared before slashes: the length of the shortest, two at most.
    width: usize,
    abbreviated: bool,
    mail: bool,
    /// The last labels of the hosts to find, in lower case; empty for all hosts, None for no hosts.
    tops: Option<BTreeSet<Vec<u8>>>,
    /// The characters at which a match may be, some of them twice.
    marks: [u8; 5],
}

/// The next step of a search.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Next {
    /// The regular expression may match at this place.
    Match(usize),
    /// It matches nowhere before this place; only the expression can search the characters beyond US-ASCII after it.
    Search(usize),
}

/// The number of characters that are compared together.
const BLOCK: usize = 16;

/// The code outside of the text, which is not a code point.
const OUTSIDE: u32 = u32::MAX;

impl Trigger {
    /// A search for schemes of these names; None if one is empty or not US-ASCII in lower case.
    ///
    /// abbreviated: find the dot of "www." and "ftp." too; mail: find the "@" of an address too; tops: find hosts with
    /// such a last label of US-ASCII too, or all hosts if it is empty.
    pub fn new<'a>(
        names: impl IntoIterator<Item = &'a str>,
        abbreviated: bool,
        mail: bool,
        tops: Option<Vec<String>>,
    ) -> Option<Self> {
        let dot = if abbreviated || tops.is_some() { b'.' } else { b':' };
        let at = if mail { b'@' } else { b':' };
        let marks = [b'<', b'"', b':', dot, at];
        let mut new =
            Trigger { names: vec![Vec::new(); 128], width: 2, abbreviated, mail, tops: None, marks };
        new.tops = tops.map(|tops| tops.into_iter().map(String::into_bytes).collect());
        for name in names {
            let (last, before) = name.as_bytes().split_last()?;
            if !name.is_ascii() || name.bytes().any(|b| b.is_ascii_uppercase()) {
                return None;
            }
            new.width = new.width.min(name.len());
            new.names.get_mut(usize::from(*last))?.push(before.to_vec());
        }
        Some(new)
    }

    /// The first place from `from` on where a URI may begin, or has its colon or dot.
    pub fn next<C: Character>(&self, text: &[C], from: usize) -> Option<Next> {
        let mut at = from;
        while let Some(block) = text.get(at..).and_then(<[C]>::first_chunk::<BLOCK>) {
            let mut marked = self.marked(block);
            while marked != 0 {
                let place = at + marked.trailing_zeros() as usize / 8;
                if let Some(next) = self.trigger(text, place, from) {
                    return Some(next);
                }
                marked &= marked - 1;
            }
            at += BLOCK;
        }
        (at..text.len()).find_map(|place| self.trigger(text, place, from))
    }

    /// A byte for each character of a block: 1 where it is one of the marks.
    #[inline(always)]
    fn marked<C: Character>(&self, block: &[C; BLOCK]) -> u128 {
        let [a, b, c, d, e] = self.marks.map(u32::from);
        u128::from_le_bytes(block.map(|character| {
            let code = character.code();
            u8::from((code == a) | (code == b) | (code == c) | (code == d) | (code == e))
        }))
    }

    /// The step at a place with one of the marks; None if nothing matches there.
    fn trigger<C: Character>(&self, text: &[C], place: usize, from: usize) -> Option<Next> {
        let is_match = match ascii(text, place)? {
            b':' => self.is_colon(text, place),
            b'"' => self.is_quote(text, place),
            b'<' => self.is_bracket(text, place),
            b'@' => self.mail && is_at_sign(text, place),
            b'.' => match self.host(text, place, from) {
                None => self.abbreviated && is_dot(text, place),
                host => return host,
            },
            _ => false,
        };
        is_match.then_some(Next::Match(place))
    }

    /// The step at a host that begins at or after `from`, and whose first dot is at `dot`.
    fn host<C: Character>(&self, text: &[C], dot: usize, from: usize) -> Option<Next> {
        let tops = self.tops.as_ref()?;
        if !is_letter(text.code(dot + 1)) {
            return None;
        }
        let mut start = dot;
        while start > from && is_label(text.code(start - 1)) {
            start -= 1;
        }
        let before = text.code(start.wrapping_sub(1));
        if is_wide(before) || text.part(start..dot).iter().any(|character| is_wide(character.code())) {
            return Some(Next::Search(start));
        }
        let is_part = |b: u8| b.is_ascii_alphanumeric() || br"_@/.:%=\-".contains(&b);
        if start == dot || is(text, start, b'-') || (before < 128 && is_part(before as u8)) {
            return None;
        }
        let (mut top, mut end) = (dot, dot);
        while is(text, end, b'.') && is_letter(text.code(end + 1)) {
            top = end + 1;
            end = top + text.part(top..).iter().take_while(|c| c.code() < 128 && is_label(c.code())).count();
        }
        if is_wide(text.code(end)) {
            return Some(Next::Search(start));
        }
        let abbreviated = self.abbreviated && (spells(text, start, b"www.") || spells(text, start, b"ftp."));
        let is_known = tops.is_empty() || {
            let top = text.part(top..end).iter().map(|c| (c.code() as u8).to_ascii_lowercase());
            tops.contains(&top.collect::<Vec<u8>>())
        };
        (!abbreviated && is_known && !is(text, end, b'_')).then_some(Next::Match(start))
    }

    /// Whether one of the names, or its last `width` characters, precedes a place.
    fn is_named<C: Character>(&self, text: &[C], place: usize, width: usize) -> bool {
        let before = |count| ascii(text, place.wrapping_sub(count));
        let Some(names) = before(1).and_then(|last| self.names.get(usize::from(last))) else { return false };
        let is_before = |(&b, count): (&u8, usize)| before(count) == Some(b);
        names.iter().any(|name| name.iter().rev().zip(2..=width).all(is_before))
    }

    /// Whether the quote at a place precedes the form of a scheme, of two characters or more, and a colon; unless it is
    /// one of the names, a slash must follow, after nothing but white space and line marks.
    fn is_quote<C: Character>(&self, text: &[C], place: usize) -> bool {
        if !ascii(text, place + 1).is_some_and(|first| first.is_ascii_lowercase()) {
            return false;
        }
        let length = (0..64).take_while(|i| is_scheme(text.code(place + 2 + i))).count();
        let colon = place + 2 + length;
        if length == 0 || !is(text, colon, b':') {
            return false;
        }
        let mut next = colon + 1;
        while is_space(text.code(next)) || is_mark(text.code(next)) {
            next += 1;
        }
        is(text, next, b'/') || self.is_named(text, colon, usize::MAX)
    }

    /// Whether the colon at a place follows a name, or precedes "//" and an authority; before other "//", the end of a
    /// name suffices.
    fn is_colon<C: Character>(&self, text: &[C], place: usize) -> bool {
        if !(is(text, place + 1, b'/') && is(text, place + 2, b'/')) {
            return self.is_named(text, place, usize::MAX);
        }
        let next = text.code(place + 3);
        let authority = if next == u32::from(b'/') {
            is_visible(text.code(place + 4)) && !is(text, place + 4, b'/')
        } else {
            is_visible(next) && !is(text, place + 3, b'?') && !is(text, place + 3, b'#')
        };
        authority || self.is_named(text, place, self.width)
    }

    /// Whether the "<" at a place precedes a possible scheme or abbreviated reference, even one that white space and
    /// line marks interrupt.
    fn is_bracket<C: Character>(&self, text: &[C], place: usize) -> bool {
        let mut start = place + 1;
        while is_ascii_space(text.code(start)) {
            start += 1;
        }
        if !ascii(text, start).is_some_and(|first| first.is_ascii_lowercase()) {
            return false;
        }
        let mut end = start + 1;
        // A line mark follows white space or another line mark.
        let mut blank = false;
        loop {
            let code = text.code(end);
            let space = is_space(code);
            blank = space || (blank && is_mark(code));
            let local = self.mail && matches!(ascii(text, end), Some(b'_' | b'%' | b'\''));
            if !(blank || is_scheme(code) || local) {
                break;
            }
            end += 1;
        }
        is(text, end, b':')
            || (self.mail && is(text, end, b'@'))
            || (self.abbreviated && (spells(text, start, b"www.") || spells(text, start, b"ftp.")))
    }
}

trait Codes {
    /// The code point at a place, or `OUTSIDE`.
    fn code(&self, place: usize) -> u32;
}

impl<C: Character> Codes for [C] {
    #[inline(always)]
    fn code(&self, place: usize) -> u32 {
        self.get(place).map_or(OUTSIDE, |character| character.code())
    }
}

/// Whether the dot at a place follows "www" or "ftp" at the start of a word, and precedes a visible character.
fn is_dot<C: Character>(text: &[C], place: usize) -> bool {
    let before = |count| ascii(text, place.wrapping_sub(count));
    let (Some(first), Some(second), Some(third)) = (before(3), before(2), before(1)) else { return false };
    matches!(&[first, second, third], b"www" | b"ftp")
        && !before(4).is_some_and(|b| b.is_ascii_alphanumeric() || br"_@/.\-".contains(&b))
        && is_visible(text.code(place + 1))
        && !is(text, place + 1, b'.')
}

/// Whether the "@" at a place is within a possible mail address.
fn is_at_sign<C: Character>(text: &[C], place: usize) -> bool {
    let is_local = |b: u8| b.is_ascii_alphanumeric() || b"_+%-".contains(&b);
    ascii(text, place.wrapping_sub(1)).is_some_and(is_local)
        && ascii(text, place + 1).is_some_and(|b| b.is_ascii_alphanumeric())
}

/// Whether the text at `start` is these letters, with nothing but white space and line marks between them.
fn spells<C: Character>(text: &[C], start: usize, letters: &[u8]) -> bool {
    let mut at = start;
    for &letter in letters {
        while at > start && (is_space(text.code(at)) || is_mark(text.code(at))) {
            at += 1;
        }
        if ascii(text, at) != Some(letter) {
            return false;
        }
        at += 1;
    }
    true
}

/// The character at a place, in lower case; None beyond US-ASCII.
#[inline(always)]
fn ascii<C: Character>(text: &[C], place: usize) -> Option<u8> {
    let code = text.code(place);
    (code < 128).then(|| (code as u8).to_ascii_lowercase())
}

#[inline(always)]
fn is<C: Character>(text: &[C], place: usize, mark: u8) -> bool {
    text.code(place) == mark.into()
}

fn is_scheme(code: u32) -> bool {
    code < 128 && ((code as u8).is_ascii_alphanumeric() || b"+-.".contains(&(code as u8)))
}

fn is_ascii_space(code: u32) -> bool {
    matches!(code, 9..=13 | 32)
}

/// Whether a code is that of a character, and not white space of US-ASCII.
fn is_visible(code: u32) -> bool {
    code != OUTSIDE && !is_ascii_space(code)
}

/// Whether a character is beyond US-ASCII; it may be a letter.
fn is_wide(code: u32) -> bool {
    code >= 128 && code != OUTSIDE
}

/// Whether a character may begin a label of a host.
fn is_letter(code: u32) -> bool {
    is_wide(code) || (code < 128 && (code as u8).is_ascii_alphanumeric())
}

/// Whether a label of a host may contain a character.
fn is_label(code: u32) -> bool {
    is_letter(code) || code == u32::from(b'-')
}

/// Whether a character is white space of any script, by Python's `\s`.
fn is_space(code: u32) -> bool {
    matches!(code, 9..=13 | 28..=32 | 0x85 | 0xA0)
        || matches!(code, 0x1680 | 0x2000..=0x200A | 0x2028 | 0x2029 | 0x202F | 0x205F | 0x3000)
}

/// Whether a character is a line mark: ">" or "|", with which mail programs mark quoted lines.
fn is_mark(code: u32) -> bool {
    code == u32::from(b'>') || code == u32::from(b'|')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places<C: Character>(text: &[C], mail: bool) -> Vec<usize> {
        let trigger = Trigger::new(["url", "mailto", "xy"], true, mail, None);
        let next = |from| match trigger.as_ref()?.next(text, from)? {
            Next::Match(place) | Next::Search(place) => Some(place),
        };
        std::iter::successors(next(0), |&at| next(at + 1)).collect()
    }

    #[test]
    fn places_are_those_of_characters_of_any_width() {
        let text = "a http://h, <a\u{3000}b:c>, \"x:\" \"xy:\" www.w3.org awww.w MailTo:me@h.org x://\u{e9} www. <f\n> tP.";
        let expected: Vec<usize> = ["://h", "<a", "\"xy", ":\" www", ".w3", ":me", "://\u{e9}", "<f"]
            .iter()
            .filter_map(|place| Some(text.split_once(place)?.0.chars().count()))
            .collect();
        let wide: Vec<u32> = text.chars().map(u32::from).collect();
        let units: Vec<u16> = text.encode_utf16().collect();
        assert_eq!(places(&wide, false), expected);
        assert_eq!(places(&units, false), expected);
        assert_eq!(places(&wide, true).len(), expected.len() + 1);
    }

    #[test]
    fn names_are_of_us_ascii_in_lower_case() {
        assert!(Trigger::new(["a", "bc", "a+-.1"], true, true, None).is_some());
        for name in ["", "aB", "\u{e9}", "a\u{e9}", "\u{e9}a"] {
            assert!(Trigger::new([name], true, true, None).is_none());
        }
    }

    #[test]
    fn hosts_are_known_by_their_last_label() {
        let tops = || Some(vec!["org".to_owned(), "uk".to_owned()]);
        let trigger = Trigger::new(["url"], true, true, tops());
        let next = |text: &str| {
            let wide: Vec<u32> = text.chars().map(u32::from).collect();
            trigger.as_ref().and_then(|trigger| trigger.next(&wide, 0))
        };
        for (text, places) in [
            ("a h.org b", Some(Next::Match(2))),
            ("see a.b.co.UK.", Some(Next::Match(4))),
            ("a.b x.org", Some(Next::Match(4))),
            ("/a.org -a.org a_b.org a.org_ .org org. a..org", None),
            ("a.org\u{e9}", Some(Next::Search(0))),
            ("x a\u{e9}b.org", Some(Next::Search(2))),
            ("www.h.org", Some(Next::Match(3))),
        ] {
            assert_eq!(next(text), places, "{text}");
        }
    }
}
