//! Where in running text a URI may begin: the places at which the regular expression of `text/trigger.py` matches.

/// A character of a text, in as many bytes as CPython stores it.
pub trait Character: Copy {
    /// Its code point, which may be a surrogate's.
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

/// What is searched for; brackets, quotes, and "//" after a colon always are.
pub struct Trigger {
    /// The names of schemes by their last character, in lower case.
    names: Vec<Vec<Vec<u8>>>,
    /// How many characters of the shortest name, two at most, are compared where slashes follow.
    width: usize,
    abbreviated: bool,
    mail: bool,
    /// The characters that a place to look at has, some of them twice.
    marks: [u8; 5],
}

/// How many characters are looked at together.
const BLOCK: usize = 16;

/// Past either end of the text; no code point.
const OUTSIDE: u32 = u32::MAX;

impl Trigger {
    /// For schemes of these names, which are not empty and in lower case; None if they are anything else.
    ///
    /// abbreviated: also the dot of "www." and "ftp."; mail: also the "@" of an address.
    pub fn new<'a>(names: impl IntoIterator<Item = &'a str>, abbreviated: bool, mail: bool) -> Option<Self> {
        let dot = if abbreviated { b'.' } else { b':' };
        let at = if mail { b'@' } else { b':' };
        let marks = [b'<', b'"', b':', dot, at];
        let mut new = Trigger { names: vec![Vec::new(); 128], width: 2, abbreviated, mail, marks };
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

    /// The first place from `from` on where a URI may begin, has a colon or a dot.
    pub fn next<C: Character>(&self, text: &[C], from: usize) -> Option<usize> {
        let mut at = from;
        while let Some(block) = text.get(at..).and_then(<[C]>::first_chunk::<BLOCK>) {
            let mut marked = self.marked(block);
            while marked != 0 {
                let place = at + marked.trailing_zeros() as usize / 8;
                if self.is_trigger(text, place) {
                    return Some(place);
                }
                marked &= marked - 1;
            }
            at += BLOCK;
        }
        (at..text.len()).find(|&place| self.is_trigger(text, place))
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

    fn is_trigger<C: Character>(&self, text: &[C], place: usize) -> bool {
        match ascii(text, place) {
            Some(b':') => self.is_colon(text, place),
            Some(b'"') => self.is_quote(text, place),
            Some(b'<') => self.is_bracket(text, place),
            Some(b'.') => self.abbreviated && is_dot(text, place),
            Some(b'@') => self.mail && is_at_sign(text, place),
            _ => false,
        }
    }

    /// Whether one of the names stands before a place, or so many of its last characters.
    fn is_named<C: Character>(&self, text: &[C], place: usize, width: usize) -> bool {
        let before = |count| ascii(text, place.wrapping_sub(count));
        let Some(names) = before(1).and_then(|last| self.names.get(usize::from(last))) else { return false };
        let is_before = |(&b, count): (&u8, usize)| before(count) == Some(b);
        names.iter().any(|name| name.iter().rev().zip(2..=width).all(is_before))
    }

    /// Before what has the form of a scheme, of two characters or more, and a colon; where it is none of the names, with
    /// nothing but white space and line marks before a slash.
    fn is_quote<C: Character>(&self, text: &[C], place: usize) -> bool {
        if !ascii(text, place + 1).is_some_and(|first| first.is_ascii_lowercase()) {
            return false;
        }
        let rest = (0..64).take_while(|i| is_scheme(text.code(place + 2 + i))).count();
        let colon = place + 2 + rest;
        if rest == 0 || !is(text, colon, b':') {
            return false;
        }
        let mut next = colon + 1;
        while is_space(text.code(next)) || is_mark(text.code(next)) {
            next += 1;
        }
        is(text, next, b'/') || self.is_named(text, colon, usize::MAX)
    }

    /// Before "//" and something, or after the name of a scheme; before other slashes, after what ends as one does.
    fn is_colon<C: Character>(&self, text: &[C], place: usize) -> bool {
        if !(is(text, place + 1, b'/') && is(text, place + 2, b'/')) {
            return self.is_named(text, place, usize::MAX);
        }
        let next = text.code(place + 3);
        let authority = if next == u32::from(b'/') {
            is_black(text.code(place + 4)) && !is(text, place + 4, b'/')
        } else {
            is_black(next) && !is(text, place + 3, b'?') && !is(text, place + 3, b'#')
        };
        authority || self.is_named(text, place, self.width)
    }

    /// Before what may be a scheme or an abbreviated reference, however it is broken by white space and line marks.
    fn is_bracket<C: Character>(&self, text: &[C], place: usize) -> bool {
        let mut start = place + 1;
        while is_ascii_space(text.code(start)) {
            start += 1;
        }
        if !ascii(text, start).is_some_and(|first| first.is_ascii_lowercase()) {
            return false;
        }
        let mut end = start + 1;
        // A line mark stands after white space or another one.
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

/// After "www" or "ftp" at the start of a word, before something.
fn is_dot<C: Character>(text: &[C], place: usize) -> bool {
    let letter = |before| ascii(text, place.wrapping_sub(before));
    let (Some(one), Some(two), Some(three)) = (letter(3), letter(2), letter(1)) else { return false };
    matches!(&[one, two, three], b"www" | b"ftp")
        && !letter(4).is_some_and(|b| b.is_ascii_alphanumeric() || br"_@/.\-".contains(&b))
        && is_black(text.code(place + 1))
        && !is(text, place + 1, b'.')
}

/// Within what may be a mail address.
fn is_at_sign<C: Character>(text: &[C], place: usize) -> bool {
    let is_local = |b: u8| b.is_ascii_alphanumeric() || b"_+%-".contains(&b);
    ascii(text, place.wrapping_sub(1)).is_some_and(is_local)
        && ascii(text, place + 1).is_some_and(|b| b.is_ascii_alphanumeric())
}

/// Whether the letters stand there, with nothing but white space and line marks between them.
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

/// The character at a place if it is one of US-ASCII, a letter in lower case.
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

/// Whether something stands there, and no white space of US-ASCII.
fn is_black(code: u32) -> bool {
    code != OUTSIDE && !is_ascii_space(code)
}

/// White space of any script, as Python's `\s` knows it.
fn is_space(code: u32) -> bool {
    matches!(code, 9..=13 | 28..=32 | 0x85 | 0xA0)
        || matches!(code, 0x1680 | 0x2000..=0x200A | 0x2028 | 0x2029 | 0x202F | 0x205F | 0x3000)
}

/// ">" or "|", by which mail programs mark the lines that they quote.
fn is_mark(code: u32) -> bool {
    code == u32::from(b'>') || code == u32::from(b'|')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places<C: Character>(text: &[C], mail: bool) -> Vec<usize> {
        let trigger = Trigger::new(["url", "mailto", "xy"], true, mail);
        let next = |from| trigger.as_ref().and_then(|trigger| trigger.next(text, from));
        std::iter::successors(next(0), |&at| next(at + 1)).collect()
    }

    #[test]
    fn places_are_those_of_characters_of_any_width() {
        let text = "a http://h, <a\u{3000}b:c>, \"x:\" \"xy:\" www.w3.org awww.w MailTo:me@h.org x://\u{e9} www. <f\n> tP.";
        let found: Vec<usize> = ["://h", "<a", "\"xy", ":\" www", ".w3", ":me", "://\u{e9}", "<f"]
            .iter()
            .filter_map(|place| Some(text.split_once(place)?.0.chars().count()))
            .collect();
        let wide: Vec<u32> = text.chars().map(u32::from).collect();
        let units: Vec<u16> = text.encode_utf16().collect();
        assert_eq!(places(&wide, false), found);
        assert_eq!(places(&units, false), found);
        assert_eq!(places(&wide, true).len(), found.len() + 1);
    }

    #[test]
    fn names_are_of_us_ascii_in_lower_case() {
        assert!(Trigger::new(["a", "bc", "a+-.1"], true, true).is_some());
        for name in ["", "aB", "\u{e9}", "a\u{e9}", "\u{e9}a"] {
            assert!(Trigger::new([name], true, true).is_none());
        }
    }
}
