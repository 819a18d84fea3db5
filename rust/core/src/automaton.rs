//! A rule's minimal automaton over bytes, as the grammar engine built it.

/// A deterministic automaton; state 0 is dead.
pub struct Automaton {
    /// Byte to class.
    pub classes: &'static [u8; 256],
    /// How many classes there are.
    pub width: usize,
    /// Per state and class, the next state.
    pub table: &'static [u16],
    /// The first state.
    pub start: u16,
}

impl Automaton {
    /// How many bytes can be read before nothing valid begins so any more.
    pub fn viable(&self, data: &[u8]) -> usize {
        let mut state = self.start as usize;
        for (offset, &byte) in data.iter().enumerate() {
            state = self.table[state * self.width + self.classes[byte as usize] as usize] as usize;
            if state == 0 {
                return offset;
            }
        }
        data.len()
    }
}
