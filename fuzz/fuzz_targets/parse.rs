//! Any bytes: `parse`, `split`, `first_finding` against Appendix A and B as expressions, and against fluent-uri 0.4.1,
//! which has agreed with Appendix A on every text so far.

#![no_main]

use fluent_uri::{Uri, UriRef};
use libfuzzer_sys::fuzz_target;
use oracle::{cut, derived, eight, show};
use overthere_core::check::first_finding;
use overthere_core::host::{host_kind, HostKind};
use overthere_core::parse::{self, Rule};
use overthere_core::place::{Span, Spans};
use overthere_core::{quickest, split};

/// A way of the kernel to read a text.
struct Way {
    name: &'static str,
    parse: fn(&[u8], Rule, bool) -> Result<Spans, usize>,
    split: fn(&[u8]) -> Spans,
    host: fn(&[u8]) -> Option<Span>,
}

// SAFETY, three times: `quickest!` asks the machine first.
const WAYS: [Way; 2] = [
    Way { name: "plain", parse: parse::parse, split: split::split, host: split::host },
    Way {
        name: "quickest",
        parse: |text, rule, zone| {
            quickest!(unsafe { parse::parse_avx2(text, rule, zone) }, parse::parse(text, rule, zone))
        },
        split: |text| quickest!(unsafe { split::split_avx2(text) }, split::split(text)),
        host: |text| quickest!(unsafe { split::host_avx2(text) }, split::host(text)),
    },
];

fuzz_target!(|text: &[u8]| {
    let cuts = cut(text);
    let characters = std::str::from_utf8(text).ok();
    for way in WAYS {
        let name = way.name;
        assert_eq!(eight(&(way.split)(text), text.len()), cuts, "split ({name}) is not B: {}", show(text));
        assert_eq!(
            oracle::bounds((way.host)(text)),
            cuts[3],
            "host ({name}) is not that of split: {}",
            show(text)
        );
    }
    for (rule, zone) in [Rule::Uri, Rule::UriReference].into_iter().flat_map(|r| [(r, false), (r, true)]) {
        let wanted = derived(text, rule, zone);
        let finding = first_finding(text, rule, zone);
        let case = || format!("{rule:?} zone={zone} {}", show(text));
        assert_eq!(finding.is_none(), wanted.is_some(), "first_finding {finding:?}: {}", case());
        if let Some((_, at)) = finding {
            let whole = characters.is_none_or(|c| c.is_char_boundary(at));
            assert!(at <= text.len() && whole, "first_finding {finding:?}: {}", case());
        }
        if wanted.is_some() {
            assert_eq!(wanted, Some(cuts), "Appendix B is not Appendix A: {}", case());
        }
        for way in WAYS {
            let found = (way.parse)(text, rule, zone);
            let name = way.name;
            match found {
                Ok(spans) => assert_eq!(Some(eight(&spans, text.len())), wanted, "{name}: {}", case()),
                Err(at) => {
                    assert!(wanted.is_none(), "{name} refuses at {at}: {}", case());
                    let whole = characters.is_none_or(|c| c.is_char_boundary(at));
                    assert!(at <= text.len() && whole, "{name} stops at {at}: {}", case());
                }
            }
        }
        if let (true, Some((start, end))) = (wanted.is_some(), cuts[3]) {
            let ipv4 = oracle::is_ipv4_address(&text[start..end]);
            let kind = host_kind(&text[start..end]);
            assert_eq!(kind == HostKind::IPv4address, ipv4, "host_kind {kind:?}: {}", case());
        }
    }
    if let Some(characters) = characters {
        let reference = derived(text, Rule::UriReference, false).is_some();
        let uri = derived(text, Rule::Uri, false).is_some();
        assert_eq!(
            UriRef::parse(characters).is_ok(),
            reference,
            "fluent-uri on URI-reference: {}",
            show(text)
        );
        assert_eq!(Uri::parse(characters).is_ok(), uri, "fluent-uri on URI: {}", show(text));
    }
});
