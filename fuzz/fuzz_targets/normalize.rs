//! A text: the laws of the generic rungs (6.2.2), and fluent-uri where it follows the same choices.

#![no_main]

use fluent_uri::normalize::Normalizer;
use fluent_uri::UriRef;
use libfuzzer_sys::{fuzz_target, Corpus};
use oracle::{has_hidden_dot_segment, same, show, written};
use overthere_core::host::{host_kind, HostKind};
use overthere_core::normalize::{may_change, normalize, SYNTAX};
use overthere_core::parse::{parse, Rule};
use overthere_core::place::Spans;

fn form(text: &[u8], rung: u8) -> Vec<u8> {
    let Ok(spans) = parse(text, Rule::UriReference, true) else {
        panic!("not valid any more: {}", show(text))
    };
    written(|out| normalize(text, &spans, rung, out)).1
}

fuzz_target!(|text: &[u8]| -> Corpus {
    let Ok(spans) = parse(text, Rule::UriReference, true) else { return Corpus::Reject };
    let case = || show(text);
    let forms: Vec<Vec<u8>> = (0..=SYNTAX).map(|rung| form(text, rung)).collect();
    same(&forms[0], text, || format!("rung 0 of {}", case()));
    // 6.2.2.1 changes the case of letters, and nothing else.
    assert!(forms[1].eq_ignore_ascii_case(text), "rung 1: {} of {}", show(&forms[1]), case());
    for rung in 0..=SYNTAX {
        let own = &forms[usize::from(rung)];
        if !may_change(text, &spans, rung) {
            same(own, text, || format!("may_change was sure at rung {rung}: {}", case()));
        }
        assert_eq!(parse(own, Rule::Uri, true).is_ok(), spans.scheme().is_some(), "rung {rung}: {}", case());
        for (lower, below) in forms.iter().enumerate().take(usize::from(rung) + 1) {
            // What is equal below stays equal above; with lower == rung, twice is once.
            same(&form(below, rung), own, || format!("rung {rung} of rung {lower}: {}", case()));
        }
        // The form of a rung is normal by the rungs below it too.
        for lower in 0..rung {
            same(&form(own, lower), own, || format!("rung {lower} of rung {rung}: {}", case()));
        }
    }
    compare(text, &spans, &forms[usize::from(SYNTAX)]);
    Corpus::Keep
});

/// fluent-uri 0.4.1, where it stays with 6.2.2.  It differs by intent:
///
/// - IPv6 addresses are written anew (RFC 5952; 6.2.2.1 lowers letters only), an empty port is dropped (6.2.3, which is
///   the rung above);
/// - dots are removed only after a scheme and a "/": "x:a/../b", "//h/a/../b" and "/a/../b" stay as they are (6.2.2.3
///   with 5.2.4; a choice of `docs/decisions.md` for references).
fn compare(text: &[u8], spans: &Spans, found: &[u8]) {
    let Ok(reference) = UriRef::parse(std::str::from_utf8(text).unwrap()) else { return };
    let path = spans.path().of(text);
    let relative = spans.scheme().is_none() && spans.authority().is_none() && !path.starts_with(b"/");
    let cleans = spans.scheme().is_some() && path.starts_with(b"/");
    if spans.host().is_some_and(|host| host_kind(host.of(text)) == HostKind::IPv6address)
        || spans.port().is_some_and(|port| port.is_empty())
        || !(cleans || relative || !has_hidden_dot_segment(path))
    {
        return;
    }
    let wanted = Normalizer::new().default_port_with(|_| None).normalize(&reference).unwrap();
    same(found, wanted.as_str().as_bytes(), || format!("fluent-uri: {}", show(text)));
}
