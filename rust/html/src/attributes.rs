//! The attributes to find.

use ahash::AHashMap as HashMap;

/// The attributes to find: for each name, the elements and the number of the action for the value.
///
/// An empty list of elements means all.
#[derive(Default)]
pub struct Attributes {
    names: HashMap<Vec<u8>, Vec<Rule>>,
    longest: usize,
    /// The lengths of the names with each first letter, as bits.
    lengths: Vec<u64>,
}

/// The elements, and the action for the value.
type Rule = (Vec<Vec<u8>>, usize);

impl Attributes {
    /// Add a rule; the first rule that matches an attribute counts.
    pub fn add(&mut self, name: &str, elements: &[String], action: usize) {
        let elements = elements.iter().map(|element| element.clone().into_bytes()).collect();
        self.names.entry(name.as_bytes().to_vec()).or_default().push((elements, action));
        self.longest = self.longest.max(name.len());
        self.lengths.resize(256, 0);
        if let Some(lengths) = name.bytes().next().and_then(|first| self.lengths.get_mut(usize::from(first)))
        {
            *lengths |= length_bit(name.len());
        }
    }

    /// Whether a name, in any case, may be one of these; `false` is certain.
    pub(crate) fn may_have(&self, name: &[u8]) -> bool {
        let first = name.first().map(u8::to_ascii_lowercase);
        let lengths =
            first.and_then(|first| self.lengths.get(usize::from(first))).copied().unwrap_or_default();
        lengths & length_bit(name.len()) != 0
            && (name.iter().any(u8::is_ascii_uppercase) || self.names.contains_key(name))
    }

    /// The action for an attribute; None if it is not one of these.
    pub(crate) fn action(&self, element: &[u8], name: &[u8]) -> Option<usize> {
        if name.len() > self.longest {
            return None;
        }
        let rules = self.names.get(name)?;
        let matches =
            |(elements, _): &&Rule| elements.is_empty() || elements.iter().any(|name| name == element);
        rules.iter().find(matches).map(|(_, action)| *action)
    }
}

/// The bit of a length; long names share one.
fn length_bit(length: usize) -> u64 {
    1 << length.min(63)
}
