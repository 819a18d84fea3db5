//! Canonical forms: named steps that rewrite a URI, as `overthere.canonical` defines them.
//!
//! A form is compiled once.  If a step cannot handle a row (a host that needs IDNA, a scheme with special rules), it
//! returns `NeedsPython`, and Python applies all steps to the row.

mod components;
mod hosts;
mod keys;
mod paths;
mod queries;
mod sessions;
mod steps;

use std::collections::HashMap;

use crate::normalize::SchemeRules;
use crate::parameters;
use crate::place::{Part, Spans};
use components::Components;
use keys::Key;
pub use sessions::{Session, Sessions};
use steps::Step;

/// The row needs Python.
pub(crate) struct NeedsPython;

type StepResult = Result<(), NeedsPython>;

/// The value of a step's parameter.
pub enum Argument {
    /// True or false.
    Flag(bool),
    /// A text.
    Text(String),
    /// Names.
    Names(Vec<String>),
}

/// A step as Python names it: its name, and its parameters by their names.
pub type Named = (String, HashMap<String, Argument>);

/// The facts about a scheme that steps use.
pub struct Scheme {
    /// The default port in decimal digits.
    pub port: Option<Vec<u8>>,
    /// The rules of its normal form; None if it has more than the common rules.
    pub rules: Option<SchemeRules>,
}

/// Facts that Python passes, for use by the steps.
#[derive(Default)]
pub struct Facts {
    /// Schemes by their names in lower case; where a step depends on the scheme, URIs of other schemes need Python.
    pub schemes: HashMap<Vec<u8>, Scheme>,
    /// The session identifiers to drop.
    pub sessions: Sessions,
}

/// A compiled form.
pub struct Form {
    steps: Vec<Step>,
    key: Option<Key>,
    facts: Facts,
}

/// Buffers of one thread, reused for all its rows.
#[derive(Default)]
pub struct Scratch {
    uri: Components,
    parameters: parameters::Scratch,
}

impl Form {
    /// The form of these steps; None if one of them, or the key, is unknown here.
    ///
    /// `key` names the text that `apply` writes as the key; "" means the URI itself.
    pub fn new(steps: &[Named], key: &str, facts: Facts) -> Option<Self> {
        let steps = steps.iter().map(Step::new).collect::<Option<Vec<_>>>()?;
        Some(Form { steps, key: if key.is_empty() { None } else { Some(Key::named(key)?) }, facts })
    }

    /// Write the canonical form of a valid URI, or its key, to the end of `out`; false, with nothing written, if the
    /// row needs Python.
    pub fn apply(
        &self,
        text: &[u8],
        spans: &Spans,
        wants_key: bool,
        scratch: &mut Scratch,
        out: &mut Vec<u8>,
    ) -> bool {
        let Scratch { uri, parameters } = scratch;
        uri.read(text, spans);
        for step in &self.steps {
            if step.apply(uri, &self.facts, parameters).is_err() {
                return false;
            }
            uri.guard();
        }
        match &self.key {
            Some(key) if wants_key => key.write(uri, out),
            _ => uri.write(out),
        }
        true
    }
}

/// The pieces of a query between "&"; even an empty query has one.
fn pieces(query: &[u8]) -> impl DoubleEndedIterator<Item = &[u8]> {
    query.split(|&b| b == b'&')
}

/// Split a pair at its first "=": the name, and the value if there is one.
fn name_and_value(pair: &[u8]) -> (&[u8], Option<&[u8]>) {
    memchr::memchr(b'=', pair).map_or((pair, None), |at| (pair.part(..at), Some(pair.part(at + 1..))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse::{parse, Rule};

    fn form(steps: &[(&str, &[(&str, &str)])], key: &str) -> Form {
        let named = |&(name, arguments): &(&str, &[(&str, &str)])| {
            let arguments =
                arguments.iter().map(|&(name, text)| (name.to_owned(), Argument::Text(text.to_owned())));
            (name.to_owned(), arguments.collect())
        };
        Form::new(&steps.iter().map(named).collect::<Vec<_>>(), key, Facts::default()).unwrap()
    }

    fn apply(form: &Form, text: &str) -> Option<String> {
        let spans = parse(text.as_bytes(), Rule::Uri, false).unwrap();
        let mut out = Vec::new();
        form.apply(text.as_bytes(), &spans, true, &mut Scratch::default(), &mut out)
            .then(|| String::from_utf8(out).unwrap())
    }

    #[test]
    fn steps_follow_one_another() {
        let form = form(&[("ladder", &[("rung", "CASE")]), ("host-dots", &[]), ("ipv4", &[])], "");
        assert_eq!(apply(&form, "HTTP://u@..0x7F.1.:80/A").as_deref(), Some("http://u@127.0.0.1:80/A"));
        assert_eq!(apply(&form, "X:A").as_deref(), Some("x:A"));
    }

    #[test]
    fn a_row_may_be_left_to_python() {
        let idna = form(&[("host-idna", &[])], "");
        assert_eq!(apply(&idna, "x://b%C3%BC/"), None);
        let port = form(&[("drop-port", &[])], "");
        assert_eq!(apply(&port, "x://h:1/"), None);
        assert_eq!(apply(&port, "x://h:/").as_deref(), Some("x://h/"));
    }

    #[test]
    fn a_path_is_read_back_as_one() {
        let form = form(&[("unescape", &[])], "");
        assert_eq!(apply(&form, "x:/%252f/a").as_deref(), Some("x:/.///a"));
    }

    #[test]
    fn keys_are_no_uris() {
        let surt = form(&[("drop-www", &[])], "surt");
        assert_eq!(apply(&surt, "x://www.A.b:8/P?b&a").as_deref(), Some("b,a:8)/p?a&b"));
        assert!(Form::new(&[("no-such-step".to_owned(), HashMap::new())], "", Facts::default()).is_none());
        assert!(Form::new(&[], "no-such-key", Facts::default()).is_none());
    }
}
