//! Which attributes are looked for.

use ahash::AHashMap as HashMap;

/// The attributes to look for: a name, then the elements and the number of what to do with the value.
///
/// No elements: every one.
#[derive(Default)]
pub struct Attributes {
    names: HashMap<Vec<u8>, Vec<Rule>>,
    longest: usize,
}

/// The elements, and what to do with the value.
type Rule = (Vec<Vec<u8>>, usize);

impl Attributes {
    /// A rule more; the first that fits counts.
    pub fn add(&mut self, name: &str, elements: &[String], way: usize) {
        let elements = elements.iter().map(|element| element.clone().into_bytes()).collect();
        self.names.entry(name.as_bytes().to_vec()).or_default().push((elements, way));
        self.longest = self.longest.max(name.len());
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
