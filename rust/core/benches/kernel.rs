//! `cargo bench -p overthere-core`: nanoseconds a text for each operation, over one corpus, single-threaded.

use std::hint::black_box;
use std::time::Instant;

use overthere_core::check::first_finding;
use overthere_core::normalize::{may_change, normalize};
use overthere_core::parse::{parse, Rule};
use overthere_core::resolve::{resolve, Parsed};
use overthere_core::split::{host, split};

fn corpus() -> Vec<String> {
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

fn time<T>(name: &str, texts: &[String], mut work: impl FnMut(&[u8]) -> T) {
    let best = (0..7)
        .map(|_| {
            let start = Instant::now();
            for text in texts {
                black_box(work(black_box(text.as_bytes())));
            }
            start.elapsed().as_nanos() as f64 / texts.len() as f64
        })
        .fold(f64::MAX, f64::min);
    println!("{name:<12}{best:>8.1} ns a text");
}

fn main() {
    let texts = corpus();
    let bytes: usize = texts.iter().map(String::len).sum();
    println!("{} texts, {:.1} bytes each", texts.len(), bytes as f64 / texts.len() as f64);
    time("parse", &texts, |t| parse(t, Rule::Uri, false));
    time("split", &texts, split);
    time("host", &texts, host);
    time("finding", &texts, |t| first_finding(t, Rule::Uri, false));
    let mut out = Vec::new();
    time("normalize", &texts, |t| {
        out.clear();
        let spans = parse(t, Rule::Uri, false).unwrap();
        if may_change(t, &spans, 3) {
            normalize(t, &spans, 3, &mut out);
        }
    });
    let base = b"http://a/b/c/d;p?q";
    let own = parse(base, Rule::Uri, false).unwrap();
    let mut out = Vec::new();
    time("resolve", &texts, |t| {
        out.clear();
        let spans = parse(t, Rule::UriReference, false).unwrap();
        resolve(Parsed { text: base, spans: &own }, Parsed { text: t, spans: &spans }, true, &mut out);
        out.len()
    });
}
