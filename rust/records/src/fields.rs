//! Fields of a WARC or HTTP header.

use overthere_core::place::Part;

/// A text without the white space around it, as by Python's `bytes.strip`.
pub fn trim(text: &[u8]) -> &[u8] {
    let is_space = |octet: &u8| matches!(octet, b'\t'..=b'\r' | b' ');
    let start = text.iter().position(|octet| !is_space(octet)).unwrap_or(text.len());
    let end = text.iter().rposition(|octet| !is_space(octet)).map_or(start, |last| last + 1);
    text.part(start..end)
}

/// Whether a value is printable US-ASCII and blanks: then stripping and comparing gives the same result as in Python.
pub fn is_plain(value: &[u8]) -> bool {
    value.iter().all(|octet| matches!(octet, b'\t' | b' '..=b'~'))
}

/// Whether the space around a value is more than blanks and the CR of the line's end.
fn has_other_space(after_colon: &[u8], value: &[u8]) -> bool {
    let blanks = |text: &[u8]| text.iter().all(|octet| matches!(octet, b' ' | b'\t'));
    let line = after_colon.strip_suffix(b"\r").unwrap_or(after_colon);
    let start = line.iter().take_while(|octet| matches!(octet, b' ' | b'\t')).count();
    let end = start + value.len();
    line.get(start..end) != Some(value) || !blanks(line.part(end..))
}

/// The fields of a header.
pub struct Fields<'a>(Vec<(&'a [u8], &'a [u8])>);

impl<'a> Fields<'a> {
    /// The fields of a header whose lines end with LF; a CR before it is white space.
    ///
    /// None if a line continues the previous one, if there is white space around a name, or white space other than
    /// blanks around a value.
    pub fn read(header: &'a [u8]) -> Option<Self> {
        let mut fields = Vec::with_capacity(16);
        let mut start = 0;
        for end in memchr::memchr_iter(b'\n', header).chain([header.len()]) {
            let line = header.part(start..end);
            if start > 0 && matches!(line.first(), Some(b' ' | b'\t')) {
                return None;
            }
            start = end + 1;
            if let Some(colon) = memchr::memchr(b':', line) {
                let name = line.part(..colon);
                let after_colon = line.part(colon + 1..);
                let value = trim(after_colon);
                if trim(name).len() != name.len() || has_other_space(after_colon, value) {
                    return None;
                }
                fields.push((name, value));
            }
            if start > header.len() {
                break;
            }
        }
        Some(Fields(fields))
    }

    /// The value of the first field with a name, which must be in lower case.
    pub fn first(&self, name: &[u8]) -> Option<&'a [u8]> {
        self.all(name).next()
    }

    /// The values of all fields with a name.
    pub fn all<'b>(&'b self, name: &'b [u8]) -> impl Iterator<Item = &'a [u8]> + 'b {
        self.iter().filter(move |(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }

    /// The names, in their original case, and values.
    pub fn iter(&self) -> impl Iterator<Item = (&'a [u8], &'a [u8])> + '_ {
        self.0.iter().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_end_with_lf() {
        let fields = Fields::read(b" 200 OK\nA: b\r\nC:d \r\na: e\n\n").unwrap();
        assert_eq!(fields.first(b"a"), Some(&b"b"[..]));
        assert_eq!(fields.all(b"a").collect::<Vec<_>>(), [b"b", b"e"]);
        assert_eq!(fields.first(b"c"), Some(&b"d"[..]));
    }

    #[test]
    fn what_is_folded_is_left() {
        assert!(Fields::read(b"A: b\n c\n").is_none());
        assert!(Fields::read(b"A : b\n").is_none());
        assert!(Fields::read(b"A: b\x0b\n").is_none());
        assert!(Fields::read(b"A: b\r\r\n").is_none());
        assert!(Fields::read(b"A:\t \r\n").unwrap().first(b"a").unwrap().is_empty());
    }
}
