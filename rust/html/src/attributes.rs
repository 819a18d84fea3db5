//! Which attributes are looked for.

use ahash::AHashMap as HashMap;

/// The attributes to look for: a name, then the elements and the number of what to do with the value.
///
/// No elements: every one.
#[derive(Default)]
pub struct Attributes {
    names: HashMap<Vec<u8>, Vec<Rule>>,
    longest: usize,
    /// By the first letter of a name: a bit for each length.
    lengths: Vec<u64>,
}

/// The elements, and what to do with the value.
type Rule = (Vec<Vec<u8>>, usize);

impl Attributes {
    /// A rule more; the first that fits counts.
    pub fn add(&mut self, name: &str, elements: &[String], way: usize) {
        let elements = elements.iter().map(|element| element.clone().into_bytes()).collect();
        self.names.entry(name.as_bytes().to_vec()).or_default().push((elements, way));
        self.longest = self.longest.max(name.len());
        self.lengths.resize(256, 0);
        if let Some(lengths) = name.bytes().next().and_then(|first| self.lengths.get_mut(usize::from(first)))
        {
            *lengths |= length_bit(name.len());
        }
    }

    /// Whether a name, in any case, may be one that is looked for.
    pub(crate) fn may_have(&self, name: &[u8]) -> bool {
        let first = name.first().map(u8::to_ascii_lowercase);
        let lengths =
            first.and_then(|first| self.lengths.get(usize::from(first))).copied().unwrap_or_default();
        lengths & length_bit(name.len()) != 0
            && (name.iter().any(u8::is_ascii_uppercase) || self.names.contains_key(name))
    }

    pub(crate) fn way(&self, element: &[u8], name: &[u8]) -> Option<usize> {
        if name.len() > self.longest {
            return None;
        }
        let rules = self.names.get(name)?;
        let fits =
            |(elements, _): &&Rule| elements.is_empty() || elements.iter().any(|known| known == element);
        rules.iter().find(fits).map(|(_, way)| *way)
    }
}

/// The bit of a length; long names share one.
fn length_bit(length: usize) -> u64 {
    1 << length.min(63)
}
