//! A rule's minimal automaton over bytes, as the grammar engine built it.

use std::borrow::Cow;

use crate::place::At;

/// A deterministic automaton; state 0 is dead.
pub struct Automaton {
    /// The class of each of the 256 bytes.
    pub classes: Cow<'static, [u8]>,
    /// The number of classes.
    pub width: usize,
    /// The next state, per state and class.
    pub table: Cow<'static, [u16]>,
    /// The first state.
    pub start: u16,
    /// The states in which a text may end, in ascending order.
    pub accepting: Cow<'static, [u16]>,
}

impl Automaton {
    /// Make an automaton whose every step stays inside its table; None if the parts do not fit together.
    pub fn new(
        classes: Vec<u8>,
        width: usize,
        table: Vec<u16>,
        start: u16,
        accepting: Vec<u16>,
    ) -> Option<Self> {
        let states = table.len().checked_div(width)?;
        let fits = classes.len() == 256
            && states * width == table.len()
            && classes.iter().all(|&class| usize::from(class) < width)
            && table.iter().chain([&start]).all(|&state| usize::from(state) < states)
            && accepting.is_sorted();
        fits.then(|| Automaton {
            classes: classes.into(),
            width,
            table: table.into(),
            start,
            accepting: accepting.into(),
        })
    }

    /// Read from a state on; return the number of bytes read before the dead state, and the last live state.
    pub fn run(&self, data: &[u8], mut state: u16) -> (usize, u16) {
        for (offset, &byte) in data.iter().enumerate() {
            let next = self
                .table
                .at(usize::from(state) * self.width + usize::from(self.classes.at(usize::from(byte))));
            if next == 0 {
                return (offset, state);
            }
            state = next;
        }
        (data.len(), state)
    }

    /// The length of the longest prefix that a valid text can begin with.
    pub fn viable(&self, data: &[u8]) -> usize {
        self.run(data, self.start).0
    }

    /// Whether the rule derives the data.
    pub fn accepts(&self, data: &[u8]) -> bool {
        let (offset, state) = self.run(data, self.start);
        offset == data.len() && self.accepting.binary_search(&state).is_ok()
    }
}
