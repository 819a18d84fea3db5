//! `cargo bench -p overthere-core`: nanoseconds a text beside fluent-uri and iri-string, single-threaded.
//!
//! Every operation runs in rounds of rotated order, and the median counts.  Each of the three gives an owned text for
//! a normal form and a target, and parses the reference it resolves, not the base.  `OVERTHERE_TEXTS` and
//! `OVERTHERE_REFERENCES` name files with one text a line, `OVERTHERE_CASES` one with the answers of the standard
//! (`bench/kernel.py` writes all three); without them the texts are made here, and nothing is compared.

#![expect(
    clippy::string_slice,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a measurement stops where it is wrong"
)]

use std::hint::black_box;
use std::time::Instant;

use fluent_uri::{Uri, UriRef};
use iri_string::format::ToDedicatedString;
use iri_string::types::{UriAbsoluteStr, UriReferenceStr, UriStr};
use overthere_core::check::first_finding;
use overthere_core::normalize::{may_change, normalize};
use overthere_core::parse::{parse, Rule};
use overthere_core::resolve::{resolve, Parsed};
use overthere_core::split::{host, split};

const ROUNDS: usize = 9;
const BASE: &str = "http://a/b/c/d;p?q";

type Answer = Option<String>;
/// One pass over the texts.
type Pass = Box<dyn Fn(&[String])>;

/// One way to do an operation: what is timed, and the answer to a single text against a base (None: refused).
struct Peer {
    operation: &'static str,
    name: &'static str,
    run: Pass,
    answer: Option<fn(&str, &str) -> Answer>,
}

fn peer<T>(
    operation: &'static str,
    name: &'static str,
    work: impl Fn(&str) -> T + 'static,
    answer: Option<fn(&str, &str) -> Answer>,
) -> Peer {
    let run = move |texts: &[String]| {
        for text in texts {
            black_box(work(black_box(text)));
        }
    };
    Peer { operation, name, run: Box::new(run), answer }
}

fn own_normal(text: &str) -> Option<Vec<u8>> {
    let spans = parse(text.as_bytes(), Rule::Uri, false).ok()?;
    if !may_change(text.as_bytes(), &spans, 3) {
        return Some(text.as_bytes().to_vec());
    }
    let mut out = Vec::with_capacity(text.len());
    normalize(text.as_bytes(), &spans, 3, &mut out);
    Some(out)
}

fn own_target(base: Parsed<'_>, text: &str) -> Option<Vec<u8>> {
    let spans = parse(text.as_bytes(), Rule::UriReference, false).ok()?;
    let mut out = Vec::with_capacity(base.text.len() + text.len());
    resolve(base, Parsed { text: text.as_bytes(), spans: &spans }, true, &mut out);
    Some(out)
}

fn text_of(octets: Option<Vec<u8>>) -> Answer {
    octets.and_then(|o| String::from_utf8(o).ok())
}

fn peers() -> Vec<Peer> {
    let base_spans = parse(BASE.as_bytes(), Rule::Uri, false).unwrap();
    let fluent = Uri::parse(BASE).unwrap();
    let iri: &UriAbsoluteStr = UriAbsoluteStr::new(BASE).unwrap();
    vec![
        peer(
            "parse",
            "overthere",
            |t| parse(t.as_bytes(), Rule::Uri, false),
            Some(|t, _| parse(t.as_bytes(), Rule::Uri, false).ok().map(|_| String::new())),
        ),
        peer(
            "parse",
            "fluent-uri",
            |t| Uri::parse(t).is_ok(),
            Some(|t, _| Uri::parse(t).ok().map(|_| String::new())),
        ),
        peer(
            "parse",
            "iri-string",
            |t| UriStr::new(t).is_ok(),
            Some(|t, _| UriStr::new(t).ok().map(|_| String::new())),
        ),
        peer("normalize", "overthere", own_normal, Some(|t, _| text_of(own_normal(t)))),
        peer(
            "normalize",
            "fluent-uri",
            |t| Uri::parse(t).map(|u| u.normalize()).ok(),
            Some(|t, _| Uri::parse(t).map(|u| u.normalize().into_string()).ok()),
        ),
        peer(
            "normalize",
            "iri-string",
            |t| UriStr::new(t).map(|u| u.normalize().to_dedicated_string()).ok(),
            Some(|t, _| UriStr::new(t).map(|u| u.normalize().to_dedicated_string().into()).ok()),
        ),
        peer(
            "resolve",
            "overthere",
            move |t| own_target(Parsed { text: BASE.as_bytes(), spans: &base_spans }, t),
            Some(|t, b| {
                let spans = parse(b.as_bytes(), Rule::Uri, false).ok()?;
                text_of(own_target(Parsed { text: b.as_bytes(), spans: &spans }, t))
            }),
        ),
        peer(
            "resolve",
            "fluent-uri",
            move |t| UriRef::parse(t).ok().and_then(|r| r.resolve_against(&fluent).ok()),
            Some(|t, b| {
                let base = Uri::parse(b).ok()?;
                UriRef::parse(t).ok()?.resolve_against(&base.strip_fragment()).ok().map(|u| u.into_string())
            }),
        ),
        peer(
            "resolve",
            "iri-string",
            move |t| UriReferenceStr::new(t).map(|r| r.resolve_against(iri).to_dedicated_string()).ok(),
            Some(|t, b| {
                let base: &UriAbsoluteStr = UriStr::new(b).ok()?.to_absolute_and_fragment().0;
                UriReferenceStr::new(t).ok().map(|r| r.resolve_against(base).to_dedicated_string().into())
            }),
        ),
        peer("split", "overthere", |t| split(t.as_bytes()), None),
        peer("host", "overthere", |t| host(t.as_bytes()), None),
        peer("first finding", "overthere", |t| first_finding(t.as_bytes(), Rule::Uri, false), None),
    ]
}

fn generated_texts() -> Vec<String> {
    let words = ["about", "archive", "content", "docs", "history", "images", "library", "wiki", "users", "x"];
    let mut seed = 3986u64;
    let mut next = move |n: usize| {
        seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (seed >> 33) as usize % n
    };
    (0..100_000)
        .map(|i| {
            let mut text = format!("https://www.{}-{}.example.com", words[next(10)], words[next(10)]);
            for _ in 0..next(4) {
                text.push('/');
                text.push_str(words[next(10)]);
            }
            text.push_str(&format!("/{i}.html"));
            if next(100) < 8 {
                text.push_str(&format!("?{}={}", words[next(10)], next(1000)));
            }
            text
        })
        .collect()
}

fn lines(variable: &str) -> Option<Vec<String>> {
    let file = std::env::var(variable).ok()?;
    let text = std::fs::read_to_string(&file).unwrap_or_else(|e| panic!("{file}: {e}"));
    Some(text.lines().map(str::to_owned).collect())
}

fn unhex(text: &str) -> String {
    let octets = (0..text.len() / 2).map(|i| u8::from_str_radix(&text[2 * i..2 * i + 2], 16).unwrap());
    String::from_utf8(octets.collect()).unwrap()
}

/// The number of rows with the standard's answer, and of all rows: a row is `operation text base answer`, in
/// hexadecimal, "-" for rejected.
fn agreement(peer: &Peer, cases: &[String]) -> Option<(usize, usize)> {
    let answer = peer.answer?;
    let rows =
        cases.iter().map(|line| line.split('\t').collect::<Vec<_>>()).filter(|row| row[0] == peer.operation);
    let right = rows.map(|row| {
        let expected = (row[3] != "-").then(|| unhex(row[3]));
        (answer(&unhex(row[1]), &unhex(row[2])) == expected) as usize
    });
    Some(right.fold((0, 0), |(sum, count), is_right| (sum + is_right, count + 1)))
}

fn main() {
    let texts = lines("OVERTHERE_TEXTS").unwrap_or_else(generated_texts);
    let references = lines("OVERTHERE_REFERENCES").unwrap_or_else(|| texts.clone());
    let cases = lines("OVERTHERE_CASES").unwrap_or_default();
    let bytes: usize = texts.iter().map(String::len).sum();
    println!("{} texts, {:.1} bytes each", texts.len(), bytes as f64 / texts.len() as f64);
    let peers = peers();
    let mut operations: Vec<&str> = peers.iter().map(|p| p.operation).collect();
    operations.dedup();
    for operation in operations {
        let of: Vec<&Peer> = peers.iter().filter(|p| p.operation == operation).collect();
        let input = if operation == "resolve" { &references } else { &texts };
        let mut times = vec![Vec::new(); of.len()];
        for round in 0..ROUNDS {
            for at in 0..of.len() {
                let peer_index = (round + at) % of.len();
                let start = Instant::now();
                (of[peer_index].run)(input);
                times[peer_index].push(start.elapsed().as_nanos() as f64 / input.len() as f64);
            }
        }
        for (peer, mut durations) in of.iter().zip(times) {
            durations.sort_by(f64::total_cmp);
            let (right, rows) = agreement(peer, &cases).unwrap_or_default();
            println!(
                "{}\t{}\t{:.2}\t{:.2}\t{:.2}\t{}\t{}",
                peer.operation,
                peer.name,
                durations[ROUNDS / 2],
                durations[0],
                durations[ROUNDS - 1],
                right,
                rows
            );
        }
    }
}
