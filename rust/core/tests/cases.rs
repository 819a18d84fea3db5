//! The rows of `tests/cases`, which Python's values are tested with, on the kernel by itself.

#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::string_slice,
    reason = "a test stops where it is wrong"
)]

use std::fs;
use std::path::Path;

use overthere_core::check::{first_finding, NAMES};
use overthere_core::host::{host_kind, HostKind};
use overthere_core::iri;
use overthere_core::normalize::{may_change, normalize, SchemeRules};
use overthere_core::parse::{self, Rule};
use overthere_core::percent::{self, encode, Safe};
use overthere_core::place::Spans;
use overthere_core::relate::relate;
use overthere_core::resolve::{remove_dot_segments, resolve, Parsed};
use overthere_core::{quickest, split};
use toml::{Table, Value};

/// The rows of a file, which are not suddenly few.
fn rows(name: &str, least: usize) -> Vec<Table> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../tests/cases/{name}.toml"));
    let text = fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    let rows = text.parse::<Table>().expect("TOML")["case"].clone().try_into::<Vec<Table>>().expect("tables");
    assert!(rows.len() >= least, "{name}: {} rows", rows.len());
    rows
}

fn text<'a>(row: &'a Table, key: &str) -> &'a str {
    row[key].as_str().unwrap_or_else(|| panic!("{key} is a text in {row}"))
}

/// Split and check, by whichever code this machine could run: one answer.
fn parse(text: &[u8], rule: Rule) -> Result<Spans, usize> {
    let plain = parse::parse(text, rule, false);
    // SAFETY: `quickest!` has found AVX2.
    let quick = quickest!(unsafe { parse::parse_avx2(text, rule, false) }, plain);
    assert_eq!(plain.is_ok(), quick.is_ok(), "{:?}", String::from_utf8_lossy(text));
    assert!(plain.is_err() || plain == quick, "{:?}", String::from_utf8_lossy(text));
    quick
}

/// Percent-decoding on both kernels: of a text alone, and of one followed by more bytes.
fn decode(text: &[u8], out: &mut Vec<u8>) -> Result<bool, usize> {
    let (start, plain) = (out.len(), percent::decode(text, out));
    for suffix in ["", "41%zz", "%", &"4%41b".repeat(9)] {
        let (onward, mut other) = ([text, suffix.as_bytes()].concat(), b"before".to_vec());
        // SAFETY: as above.
        let quick = quickest!(unsafe { percent::decode_avx2(&onward, text.len(), &mut other) }, {
            other.extend(&out[start..]);
            plain
        });
        assert_eq!(quick, plain, "{}", String::from_utf8_lossy(&onward));
        assert_eq!(&other[6..], &out[start..], "{}", String::from_utf8_lossy(&onward));
    }
    plain
}

/// Appendix B, the same way.
fn split(text: &[u8]) -> Spans {
    let plain = split::split(text);
    // SAFETY: as above.
    assert_eq!(
        plain,
        quickest!(unsafe { split::split_avx2(text) }, plain),
        "{:?}",
        String::from_utf8_lossy(text)
    );
    plain
}

fn spans(text: &str, rule: Rule) -> Spans {
    let spans = parse(text.as_bytes(), rule);
    spans.unwrap_or_else(|at| panic!("{text:?} is valid, and refused at {at}"))
}

fn output_of(write: impl FnOnce(&mut Vec<u8>)) -> String {
    let mut out = Vec::new();
    write(&mut out);
    String::from_utf8(out).expect("UTF-8")
}

#[test]
fn parse_rows() {
    for row in rows("parse", 300) {
        let (input, expected) = (text(&row, "text"), row["is"].as_table().expect("a table"));
        let read = spans(input, Rule::UriReference);
        assert_eq!(split(input.as_bytes()), read, "{input:?}: split and parse");
        assert_eq!(parse(input.as_bytes(), Rule::Uri).is_ok(), read.scheme().is_some(), "{input:?}");
        assert_eq!(first_finding(input.as_bytes(), Rule::UriReference, false), None, "{input:?}");
        let components = [
            ("scheme", read.scheme()),
            ("authority", read.authority()),
            ("userinfo", read.userinfo()),
            ("host", read.host()),
            ("port_text", read.port()),
            ("path", Some(read.path())),
            ("query", read.query()),
            ("fragment", read.fragment(input.len())),
        ];
        for (name, span) in components {
            let component = span.map(|span| span.of_str(input));
            assert_eq!(component, expected.get(name).and_then(Value::as_str), "{input:?}: {name}");
        }
        let kind = read.host().map(|host| match host_kind(host.of(input.as_bytes())) {
            HostKind::RegName => "reg-name",
            HostKind::IPv4address => "IPv4address",
            HostKind::IPv6address => "IPv6address",
            HostKind::IPvFuture => "IPvFuture",
        });
        assert_eq!(kind, expected.get("host_kind").and_then(Value::as_str), "{input:?}");
    }
}

#[test]
fn invalid_rows() {
    for row in rows("invalid", 300) {
        let input = text(&row, "text");
        let rule = if text(&row, "rule") == "URI" { Rule::Uri } else { Rule::UriReference };
        assert!(parse(input.as_bytes(), rule).is_err(), "{input:?} is refused");
        let (kind, at) = first_finding(input.as_bytes(), rule, false).expect("a finding");
        // The rows count characters.
        let start = String::from_utf8_lossy(&input.as_bytes()[..at]).chars().count() as i64;
        let expected = (text(&row, "kind"), row["start"].as_integer().expect("a number"));
        assert_eq!((NAMES[kind as usize], start), expected, "{input:?}");
    }
}

#[test]
fn resolve_rows() {
    for row in rows("resolve", 150) {
        let (base, reference) = (text(&row, "base"), text(&row, "reference"));
        let (base_spans, its_spans) = (spans(base, Rule::Uri), spans(reference, Rule::UriReference));
        let of = |text, spans| Parsed { text: str::as_bytes(text), spans };
        let (base, reference) = (of(base, &base_spans), of(reference, &its_spans));
        let answers = row["is"].as_table().expect("a table");
        let strict = text(answers, "rfc3986");
        let loose = answers.get("nonstrict").map_or(strict, |answer| answer.as_str().expect("a text"));
        for (is_strict, expected) in [(true, strict), (false, loose)] {
            let mut out = b"before ".to_vec();
            let read = resolve(base, reference, is_strict, &mut out);
            assert_eq!(String::from_utf8_lossy(&out), format!("before {expected}"), "{row}");
            assert_eq!(read, split(expected.as_bytes()), "{row}: where the components stand");
        }
        // The inverse: from the base to what was reached.
        let target = spans(strict, Rule::Uri);
        let mut out = b"before ".to_vec();
        let read = relate(base, of(strict, &target), &mut out);
        let back = read.map(|_| String::from_utf8_lossy(&out[7..]).into_owned());
        assert!(out == b"before " || read.is_some(), "{row}: nothing is written without a way back");
        let clean = output_of(|out| remove_dot_segments(of(strict, &target).path(), out));
        assert!(back.is_some() || clean.as_bytes() != of(strict, &target).path(), "{row}: a way back");
        if let Some(back) = back {
            let back_spans = spans(&back, Rule::UriReference);
            assert_eq!(read, Some(back_spans), "{row}: where the components of {back} stand");
            let mut reached = Vec::new();
            resolve(base, of(&back, &back_spans), true, &mut reached);
            assert_eq!(String::from_utf8_lossy(&reached), strict, "{row}: by {back}");
            assert!(back.len() <= strict.len(), "{row}: {back} is no shorter");
        }
    }
}

#[test]
fn dots_rows() {
    for row in rows("dots", 90) {
        let path = text(&row, "path");
        assert_eq!(output_of(|out| remove_dot_segments(path.as_bytes(), out)), text(&row, "is"), "{path:?}");
    }
}

#[test]
fn normalize_rows() {
    for row in rows("normalize", 100) {
        let input = text(&row, "text");
        let read = spans(input, Rule::UriReference);
        let forms = row["is"].as_table().expect("a table");
        for (rung, expected) in
            [(0, input), (1, text(forms, "CASE")), (2, text(forms, "PERCENT")), (3, text(forms, "PATH"))]
        {
            assert_eq!(
                output_of(|out| normalize(input.as_bytes(), &read, rung, out)),
                expected,
                "{input:?}: {rung}"
            );
            assert!(may_change(input.as_bytes(), &read, rung) || expected == input, "{input:?}: {rung}");
        }
    }
}

/// The rules of http (RFC 9110 4.2.3), and those of a scheme without any.
#[test]
fn scheme_rung() {
    let http = SchemeRules { default_port: Some("80".to_owned()), slash_for_empty_path: true };
    let none = SchemeRules::default();
    for (input, of_http, of_none) in [
        ("s://h", "s://h/", "s://h"),
        ("s://h:", "s://h/", "s://h"),
        ("s://h:?q", "s://h/?q", "s://h?q"),
        ("s://h:080/:080", "s://h/:080", "s://h:80/:080"),
        ("s://u:80@[::1]:80#f", "s://u:80@[::1]/#f", "s://u:80@[::1]:80#f"),
        ("s://h:000/", "s://h:0/", "s://h:0/"),
        ("s://h:0", "s://h:0/", "s://h:0"),
        ("s://h:08080/%7e", "s://h:8080/~", "s://h:8080/~"),
        ("S://H:800", "s://h:800/", "s://h:800"),
        ("s://", "s:///", "s://"),
        ("s:", "s:", "s:"),
        ("s:?80", "s:?80", "s:?80"),
        ("s:/..//h:80", "s:/.//h:80", "s:/.//h:80"),
    ] {
        let read = spans(input, Rule::Uri);
        for (rules, expected) in [(&http, of_http), (&none, of_none)] {
            assert_eq!(output_of(|out| rules.normalize(input.as_bytes(), &read, out)), expected, "{input:?}");
            assert!(rules.may_change(input.as_bytes(), &read) || expected == input, "{input:?}");
        }
    }
}

#[test]
fn iri_rows() {
    for row in rows("iri", 70) {
        let (input, expected) = (text(&row, "iri"), text(&row, "uri"));
        let mut uri = Vec::new();
        match iri::escape(input, &mut uri) {
            Some(escaped) => {
                assert_eq!(String::from_utf8_lossy(&uri), expected);
                assert!(escaped.fits(&spans(expected, Rule::UriReference)), "{input:?}");
                assert_eq!(&input[..escaped.at], &expected[..escaped.at]);
            }
            None => assert_eq!(input, expected, "nothing but US-ASCII stays"),
        }
    }
}

/// RFC 3986 2.1, 2.3: every octet, as data of a component, with characters that are kept, and back.
#[test]
fn octets() {
    let all: Vec<u8> = (0..=255).collect();
    let is_safe = |extra: &'static [u8]| {
        move |b: &u8| b.is_ascii_alphanumeric() || b"-._~".contains(b) || extra.contains(b)
    };
    let with_slash = Safe::new(&all.iter().copied().filter(is_safe(b"/")).collect::<Vec<u8>>());
    for (safe, extra) in [(Safe::of("query").expect("a component"), b"".as_slice()), (&with_slash, b"/")] {
        let encoded =
            |b: &u8| if is_safe(extra)(b) { char::from(*b).to_string() } else { format!("%{b:02X}") };
        assert_eq!(output_of(|out| encode(&all, safe, out)), all.iter().map(encoded).collect::<String>());
        // More than a block of it, and as far as nothing needs an escape.
        let long = all.repeat(40);
        let (mut text, mut back) = (Vec::new(), Vec::new());
        encode(&long, safe, &mut text);
        assert_eq!(decode(&text, &mut back), Ok(true));
        assert_eq!(back, long);
        assert_eq!(safe.prefix(b"abc-/d"), if extra.is_empty() { 4 } else { 6 });
        assert_eq!(safe.prefix(b"ab%"), 2);
    }
    assert!(Safe::of("scheme").is_none());
    for (text, at) in [("%", 0), ("a%4", 1), ("%41%zz", 3), ("%4g", 0), ("%g4", 0)] {
        assert_eq!(decode(text.as_bytes(), &mut Vec::new()), Err(at), "{text}");
    }
    assert_eq!(decode("%41\u{e9}%7f".as_bytes(), &mut Vec::new()), Ok(false));
    // Escapes, whole and broken, at every place of every length.
    for piece in ["%41", "%c3%a9", "%", "%4", "%4g", "%%41", "%41%zz", "\u{e9}%FF", "abc"] {
        for before in 0..70 {
            for after in 0..70 {
                let text = format!("{}{piece}{}", "a%42%E3".repeat(10).split_at(before).0, "f".repeat(after));
                let escapes = text.match_indices('%');
                let is_whole = |text: &str| {
                    let digits = text.as_bytes().get(1..3);
                    digits.is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit))
                };
                let broken = escapes.map(|(at, _)| at).find(|&at| !is_whole(&text[at..]));
                assert_eq!(decode(text.as_bytes(), &mut Vec::new()).err(), broken, "{text}");
            }
        }
    }
    let mut text = Vec::new();
    assert_eq!(decode(b"%7e%7E+%c3%BC", &mut text), Ok(true));
    assert_eq!(text, "~~+\u{fc}".as_bytes());
}

/// RFC 6874 2: "%25" and at least one character of a ZoneID, if zones are allowed.
#[test]
fn zones() {
    for (host, good) in [
        ("[fe80::1%25en0]", true),
        ("[fe80::1%25e-._~%41]", true),
        ("[fe80::1%2541]", true),
        ("[fe80::1%25]", false),
        ("[fe80::1%25%4]", false),
        ("[fe80::1%25%4g]", false),
        ("[fe80::1%25a!]", false),
        ("[fe80::1%en0]", false),
        ("[fe80::g%25en0]", false),
        ("[v1.a%25en0]", false),
    ] {
        for text in [format!("x://u@{host}:8/p"), format!("//{host}")] {
            let text = text.as_bytes();
            assert!(parse(text, Rule::UriReference).is_err(), "{host}: not asked for");
            let read = parse::parse(text, Rule::UriReference, true);
            assert_eq!(read.is_ok(), good, "{host}");
            assert_eq!(first_finding(text, Rule::UriReference, true).is_none(), good, "{host}");
            if let Some(span) = read.ok().and_then(|read| read.host()) {
                assert_eq!(span.of(text), host.as_bytes());
            }
        }
    }
    let (kind, at) = first_finding(b"//[fe80::1%25en0]", Rule::UriReference, false).expect("a finding");
    assert_eq!((NAMES[kind as usize], at), ("ip-zone", 10));
}

/// Components that end at, before and behind the borders of what is read at once.
#[test]
fn long_texts() {
    for length in 0..200 {
        let run = "a".repeat(length);
        for behind in ["", "/", "%41", "%4", "?q#f", ":80/", ":p@h", "@h/", "|", "/b%zz"] {
            for before in ["x://", "x:", "/", "?", "#"] {
                let text = format!("{before}{run}{behind}");
                let sound = !matches!(behind, "%4" | "|" | "/b%zz");
                let extra = before == "#" && behind == "?q#f";
                assert_eq!(parse(text.as_bytes(), Rule::UriReference).is_ok(), sound && !extra, "{text}");
                split(text.as_bytes());
            }
        }
    }
}

/// RFC 3986 3.3: each octet at each place of what is read at once.
#[test]
fn every_octet_of_a_path() {
    for octet in 0..=255u8 {
        let is_valid = octet.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=:@/?#".contains(&octet);
        for at in 1..80 {
            let mut text = vec![b'z'; 80];
            text[0] = b'/';
            text[at] = octet;
            assert_eq!(parse(&text, Rule::UriReference).is_ok(), is_valid, "{octet} at {at}");
        }
    }
}

/// As in urllib: an invalid escape stays, and "+" becomes a space only with `plus`.
#[test]
fn decoding_keeps_what_is_no_escape() {
    for (text, plus, found) in [
        ("a%20b+c", false, &b"a b+c"[..]),
        ("a%20b+c%2B", true, b"a b c+"),
        ("%", false, b"%"),
        ("%4%4G%41%", false, b"%4%4GA%"),
        ("%2+%ff", true, b"%2 \xff"),
        ("", true, b""),
    ] {
        let mut out = Vec::new();
        percent::decode_or_keep(text.as_bytes(), plus, &mut out);
        assert_eq!(out, found, "{text}");
    }
}
