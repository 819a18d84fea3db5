//! A base, a newline, a reference: `resolve` against the pseudo-code of 5.2.2, and against fluent-uri where it follows it.

#![no_main]

use fluent_uri::{Uri, UriRef};
use libfuzzer_sys::{fuzz_target, Corpus};
use oracle::{has_dot_segment, has_hidden_dot_segment, same, show, written};
use overthere_core::parse::{parse, Rule};
use overthere_core::resolve::{resolve, Parsed};

fuzz_target!(|data: &[u8]| -> Corpus {
    let Some(newline) = data.iter().position(|&b| b == b'\n') else { return Corpus::Reject };
    let (base, reference) = (&data[..newline], &data[newline + 1..]);
    let (Ok(one), Ok(two)) = (parse(base, Rule::Uri, true), parse(reference, Rule::UriReference, true))
    else {
        return Corpus::Reject;
    };
    let case = || format!("base {} reference {}", show(base), show(reference));
    let (b, r) = (Parsed { text: base, spans: &one }, Parsed { text: reference, spans: &two });
    for strict in [true, false] {
        let (told, target) = written(|out| resolve(b, r, strict, out));
        let wanted = oracle::resolve(base, reference, strict);
        same(&target, &wanted, || format!("5.2.2 strict={strict}: {}", case()));
        let Ok(spans) = parse(&target, Rule::Uri, true) else {
            panic!("the target is no URI: {} of {}", show(&target), case());
        };
        assert!(told == spans, "the parts of {} are {told:?} and not {spans:?}: {}", show(&target), case());
        // 5.2.2 keeps the base's path as it is under a reference without one.
        let path = spans.path().of(&target).strip_prefix(b"/.").filter(|p| p.starts_with(b"//"));
        let own = two.authority().is_some() || !r.path().is_empty() || (strict && two.scheme().is_some());
        if own {
            let path = path.unwrap_or(spans.path().of(&target));
            assert!(!has_dot_segment(path), "a dot-segment is left in {}: {}", show(&target), case());
        }
        // The target is a URI with no more dots to remove: it resolves to itself, unless it kept the base's.
        if own {
            let itself = Parsed { text: &target, spans: &spans };
            let again = written(|out| resolve(b, itself, true, out)).1;
            same(&again, &target, || format!("the target does not resolve to itself: {}", case()));
        }
    }
    compare(b, r, case);
    Corpus::Keep
});

/// fluent-uri 0.4.1, where it follows 5.2.2.  It differs by intent, and the document is with the kernel:
///
/// - a base with a fragment, and a relative reference against an opaque base, are refused (5.1, 5.2.2 take both);
/// - the base's path is cleaned too: "http://a/b/../c" + "?q" is "http://a/c?q" (5.2.2: T.path = Base.path), and
///   "http://a/b/.." + "g" is "http://a/g" (5.2.3, 5.2.4: "http://a/b/g");
/// - the dots of a rootless path stay: "x:a/../b" (5.2.2 removes them: "x:/b", decision 3986-2);
/// - "%2e" is taken for "." (5.2.4 decodes nothing, decision 3986-12).
fn compare(base: Parsed, reference: Parsed, case: impl Fn() -> String) {
    let (Ok(one), Ok(two)) = (std::str::from_utf8(base.text), std::str::from_utf8(reference.text)) else {
        return;
    };
    let (Ok(one), Ok(two)) = (Uri::parse(one), UriRef::parse(two)) else { return };
    let rootless = reference.spans.scheme().is_some() && !reference.path().starts_with(b"/");
    if has_hidden_dot_segment(base.path())
        || String::from_utf8_lossy(reference.path()).to_lowercase().contains("%2e")
        || (rootless && has_dot_segment(reference.path()))
    {
        return;
    }
    let Ok(wanted) = two.resolve_against(&one) else { return };
    let (_, found) = written(|out| resolve(base, reference, true, out));
    same(&found, wanted.as_str().as_bytes(), || format!("fluent-uri: {}", case()));
}
