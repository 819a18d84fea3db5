//! Second opinions on RFC 3986: written from the document in the plain, slow way, sharing nothing with the kernel.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

use std::fmt::Write;
use std::sync::LazyLock;

use overthere_core::parse::Rule;
use overthere_core::place::{self, Spans};
use regex::bytes::{Captures, Regex};

// -- Appendix A, transcribed as expressions; the names are the document's

const UNRESERVED: &str = r"A-Za-z0-9\-._~";
const SUB_DELIMS: &str = r"!$&'()*+,;=";
const PCT_ENCODED: &str = "%[0-9A-Fa-f][0-9A-Fa-f]";
const DEC_OCTET: &str = "(?:25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9][0-9]|[0-9])";
const H16: &str = "[0-9A-Fa-f]{1,4}";

fn ipv4_address() -> String {
    format!(r"(?:{DEC_OCTET}\.{DEC_OCTET}\.{DEC_OCTET}\.{DEC_OCTET})")
}

fn ipv6_address() -> String {
    let h = H16;
    let ls32 = format!("(?:{h}:{h}|{})", ipv4_address());
    let alternatives = [
        format!("(?:{h}:){{6}}{ls32}"),
        format!("::(?:{h}:){{5}}{ls32}"),
        format!("(?:{h})?::(?:{h}:){{4}}{ls32}"),
        format!("(?:(?:{h}:){{0,1}}{h})?::(?:{h}:){{3}}{ls32}"),
        format!("(?:(?:{h}:){{0,2}}{h})?::(?:{h}:){{2}}{ls32}"),
        format!("(?:(?:{h}:){{0,3}}{h})?::{h}:{ls32}"),
        format!("(?:(?:{h}:){{0,4}}{h})?::{ls32}"),
        format!("(?:(?:{h}:){{0,5}}{h})?::{h}"),
        format!("(?:(?:{h}:){{0,6}}{h})?::"),
    ];
    format!("(?:{})", alternatives.join("|"))
}

/// 3.2.2 IP-literal; with `zone`, IPv6addrz of RFC 6874 2 beside it.
fn ip_literal(zone: bool) -> String {
    let v6 = ipv6_address();
    let future = format!("[vV][0-9A-Fa-f]+\\.[{UNRESERVED}{SUB_DELIMS}:]+");
    let zone_id = if zone { format!("(?:%25(?:[{UNRESERVED}]|{PCT_ENCODED})+)?") } else { String::new() };
    format!(r"\[(?:{v6}{zone_id}|{future})\]")
}

fn whole(expression: &str) -> Regex {
    Regex::new(&format!(r"\A(?s-u:{expression})\z")).expect("an expression of the oracle")
}

fn grammar(rule: Rule, zone: bool) -> Regex {
    let of = |more: &str| format!("(?:[{UNRESERVED}{SUB_DELIMS}{more}]|{PCT_ENCODED})");
    let pchar = of(":@");
    let segment_nz_nc = format!("{}+", of("@"));
    let abempty = format!("(?:/{pchar}*)*");
    let absolute = format!("/(?:{pchar}+{abempty})?");
    let rootless = format!("{pchar}+{abempty}");
    let noscheme = format!("{segment_nz_nc}{abempty}");
    let authority = format!(
        "(?<authority>(?:(?<userinfo>{userinfo}*)@)?(?<host>{literal}|{reg_name}*)(?::(?<port>[0-9]*))?)",
        userinfo = of(":"),
        literal = ip_literal(zone),
        reg_name = of(""),
    );
    let tail = format!(r"(?:\?(?<query>{q}*))?(?:\#(?<fragment>{q}*))?", q = of(":@/?"));
    let scheme = r"(?<scheme>[A-Za-z][A-Za-z0-9+\-.]*)";
    let hier = format!("//{authority}(?<p1>{abempty})|(?<p2>{absolute}|{rootless}|)");
    let relative = format!("//{authority}(?<p1>{abempty})|(?<p2>{absolute}|{noscheme}|)");
    // The two alternatives of URI-reference are two expressions: a name stands once in each.
    match rule {
        Rule::Uri => whole(&format!("{scheme}:(?:{hier}){tail}")),
        Rule::UriReference => whole(&format!("(?:{relative}){tail}")),
    }
}

static URI: LazyLock<[Regex; 2]> = LazyLock::new(|| [grammar(Rule::Uri, false), grammar(Rule::Uri, true)]);
static RELATIVE: LazyLock<[Regex; 2]> =
    LazyLock::new(|| [grammar(Rule::UriReference, false), grammar(Rule::UriReference, true)]);
static LITERAL: LazyLock<[Regex; 2]> =
    LazyLock::new(|| [whole(&ip_literal(false)), whole(&ip_literal(true))]);
static IPV4: LazyLock<Regex> = LazyLock::new(|| whole(&ipv4_address()));
static APPENDIX_B: LazyLock<Regex> =
    LazyLock::new(|| whole(r"(([^:/?\#]+):)?(//([^/?\#]*))?([^?\#]*)(\?([^\#]*))?(\#(.*))?"));

/// Where a component stands; None is undefined.
pub type Span = Option<(usize, usize)>;

/// Scheme, authority, userinfo, host, port, path, query, fragment.
pub type Eight = [Span; 8];

fn at(found: &Captures<'_>, name: &str) -> Span {
    found.name(name).map(|m| (m.start(), m.end()))
}

/// The components of a text that Appendix A derives from `rule`.
pub fn derived(text: &[u8], rule: Rule, zone: bool) -> Option<Eight> {
    let mut found = URI[usize::from(zone)].captures(text);
    if found.is_none() && rule == Rule::UriReference {
        found = RELATIVE[usize::from(zone)].captures(text);
    }
    let found = found?;
    // A relative reference's expression has no group for the scheme.
    let scheme = at(&found, "scheme");
    let path = at(&found, "p1").or(at(&found, "p2"));
    let [authority, userinfo, host, port] = ["authority", "userinfo", "host", "port"].map(|n| at(&found, n));
    Some([scheme, authority, userinfo, host, port, path, at(&found, "query"), at(&found, "fragment")])
}

/// Whether a text is an IP-literal.
pub fn is_ip_literal(text: &[u8], zone: bool) -> bool {
    LITERAL[usize::from(zone)].is_match(text)
}

/// Whether a text is an IPv4address.
pub fn is_ipv4_address(text: &[u8]) -> bool {
    IPV4.is_match(text)
}

/// The kernel's spans as the same eight.
pub fn eight(spans: &Spans, length: usize) -> Eight {
    [
        spans.scheme(),
        spans.authority(),
        spans.userinfo(),
        spans.host(),
        spans.port(),
        Some(spans.path()),
        spans.query(),
        spans.fragment(length),
    ]
    .map(bounds)
}

/// Where a span begins and ends.
pub fn bounds(span: Option<place::Span>) -> Span {
    span.map(|span| (span.start, span.end))
}

/// Appendix B on any text, and 3.2 on what it calls an authority (decision 3986-10: the last "@" counts).
pub fn cut(text: &[u8]) -> Eight {
    let found = APPENDIX_B.captures(text).expect("Appendix B matches everything");
    let [scheme, authority, path, query, fragment] =
        [2, 4, 5, 7, 9].map(|n| found.get(n).map(|m| (m.start(), m.end())));
    let (mut userinfo, mut host, mut port) = (None, None, None);
    if let Some((start, end)) = authority {
        let find = |from: usize, wanted: u8| (from..end).find(|&i| text[i] == wanted);
        let rfind = |from: usize, wanted: u8| (from..end).rev().find(|&i| text[i] == wanted);
        let mut from = start;
        if let Some(last) = rfind(start, b'@') {
            userinfo = Some((start, last));
            from = last + 1;
        }
        let past = rfind(from, b']').map_or(from, |i| i + 1);
        let colon = find(past, b':');
        host = Some((from, colon.unwrap_or(end)));
        port = colon.map(|i| (i + 1, end));
    }
    [scheme, authority, userinfo, host, port, path, query, fragment]
}

// -- 5.2, 5.3: the printed algorithms

/// 5.2.4, step by step, with an input and an output buffer.
pub fn remove_dot_segments(path: &[u8]) -> Vec<u8> {
    fn drop_last(output: &mut Vec<u8>) {
        while let Some(byte) = output.pop() {
            if byte == b'/' {
                return;
            }
        }
    }
    let (mut input, mut output) = (path.to_vec(), Vec::new());
    while !input.is_empty() {
        if input.starts_with(b"../") {
            input.drain(..3); // 2A
        } else if input.starts_with(b"./") {
            input.drain(..2); // 2A
        } else if input.starts_with(b"/./") {
            input.drain(..2); // 2B
        } else if input == b"/." {
            input = b"/".to_vec(); // 2B
        } else if input.starts_with(b"/../") {
            input.drain(..3); // 2C
            drop_last(&mut output);
        } else if input == b"/.." {
            input = b"/".to_vec(); // 2C
            drop_last(&mut output);
        } else if input == b"." || input == b".." {
            input.clear(); // 2D
        } else {
            let end = (1..input.len()).find(|&i| input[i] == b'/').unwrap_or(input.len());
            output.extend(input.drain(..end)); // 2E
        }
    }
    output
}

/// 5.2.2, 5.2.3 and 5.3 line by line, then decision 3986-1 where the result would read back as something else.
pub fn resolve(base: &[u8], reference: &[u8], strict: bool) -> Vec<u8> {
    fn five(text: &[u8]) -> [Option<Vec<u8>>; 5] {
        let found = cut(text);
        [0, 1, 5, 6, 7].map(|n| found[n].map(|(start, end)| text[start..end].to_vec()))
    }
    let [base_scheme, base_authority, base_path, base_query, _] = five(base);
    let [mut r_scheme, r_authority, r_path, r_query, r_fragment] = five(reference);
    let (base_path, r_path) = (base_path.unwrap_or_default(), r_path.unwrap_or_default());
    let lower = |text: &Option<Vec<u8>>| text.as_ref().map(|t| t.to_ascii_lowercase());
    if !strict && lower(&r_scheme) == lower(&base_scheme) {
        r_scheme = None;
    }
    let (t_scheme, t_authority, mut t_path, t_query);
    if r_scheme.is_some() {
        t_scheme = r_scheme;
        t_authority = r_authority;
        t_path = remove_dot_segments(&r_path);
        t_query = r_query;
    } else {
        if r_authority.is_some() {
            t_authority = r_authority;
            t_path = remove_dot_segments(&r_path);
            t_query = r_query;
        } else {
            if r_path.is_empty() {
                t_path = base_path;
                t_query = if r_query.is_some() { r_query } else { base_query };
            } else {
                if r_path.starts_with(b"/") {
                    t_path = remove_dot_segments(&r_path);
                } else {
                    // 5.2.3
                    let mut merged = Vec::new();
                    if base_authority.is_some() && base_path.is_empty() {
                        merged.push(b'/');
                    } else {
                        merged = base_path;
                        while merged.last().is_some_and(|&b| b != b'/') {
                            merged.pop();
                        }
                    }
                    merged.extend(r_path);
                    t_path = remove_dot_segments(&merged);
                }
                t_query = r_query;
            }
            t_authority = base_authority;
        }
        t_scheme = base_scheme;
    }
    if t_authority.is_none() && t_path.starts_with(b"//") {
        t_path.splice(..0, *b"/.");
    }
    // 5.3
    let mut result = Vec::new();
    if let Some(scheme) = t_scheme {
        result.extend(scheme);
        result.push(b':');
    }
    if let Some(authority) = t_authority {
        result.extend(b"//");
        result.extend(authority);
    }
    result.extend(t_path);
    if let Some(query) = t_query {
        result.push(b'?');
        result.extend(query);
    }
    if let Some(fragment) = r_fragment {
        result.push(b'#');
        result.extend(fragment);
    }
    result
}

// -- 2.1

/// The octet that "%" and these two characters stand for.
fn escaped(text: &[u8], at: usize) -> Option<u8> {
    let digits = std::str::from_utf8(text.get(at + 1..at + 3)?).ok()?;
    // from_str_radix would take a sign.
    digits.bytes().all(|b| b.is_ascii_hexdigit()).then(|| u8::from_str_radix(digits, 16).unwrap())
}

/// Every octet that is not safe as an escape.
pub fn encode(data: &[u8], safe: &[u8]) -> Vec<u8> {
    let mut out = String::new();
    let mut result = Vec::new();
    for &b in data {
        if safe.contains(&b) {
            result.push(b);
        } else {
            out.clear();
            write!(out, "%{b:02X}").unwrap();
            result.extend(out.bytes());
        }
    }
    result
}

/// The octets of a text, or where its first broken escape stands.
pub fn decode(text: &[u8]) -> Result<Vec<u8>, usize> {
    let (mut i, mut out) = (0, Vec::new());
    while i < text.len() {
        if text[i] == b'%' {
            out.push(escaped(text, i).ok_or(i)?);
            i += 3;
        } else {
            out.push(text[i]);
            i += 1;
        }
    }
    Ok(out)
}

// -- what the targets share

/// Whether a path has a segment "." or "..".
pub fn has_dot_segment(path: &[u8]) -> bool {
    path.split(|&b| b == b'/').any(|segment| segment == b"." || segment == b"..")
}

/// Whether a segment becomes a dot-segment when unreserved characters are decoded (6.2.2.2).
pub fn has_hidden_dot_segment(path: &[u8]) -> bool {
    let text = String::from_utf8_lossy(path).to_lowercase().replace("%2e", ".");
    has_dot_segment(text.as_bytes())
}

/// Bytes as a reader likes to see them.
pub fn show(text: &[u8]) -> String {
    format!("b\"{}\"", text.escape_ascii())
}

/// Panics where a text is not what it should be.
#[track_caller]
pub fn same(found: &[u8], wanted: &[u8], what: impl FnOnce() -> String) {
    if found != wanted {
        panic!("{}: {} and not {}", what(), show(found), show(wanted));
    }
}

/// What stands in a buffer before a kernel function writes to its end: it must still stand there afterwards.
pub const BEFORE: &[u8] = b"/before/../it:";

/// What a function wrote to the end of a buffer.
pub fn written<T>(work: impl FnOnce(&mut Vec<u8>) -> T) -> (T, Vec<u8>) {
    let mut out = BEFORE.to_vec();
    let answer = work(&mut out);
    assert!(out.starts_with(BEFORE), "what stood in the buffer was changed: {}", show(&out));
    (answer, out.split_off(BEFORE.len()))
}
