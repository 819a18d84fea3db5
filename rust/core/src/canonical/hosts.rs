//! Steps that rewrite the host.

use std::net::{Ipv4Addr, Ipv6Addr};

use super::components::{rewrite, Components};
use super::{NeedsPython, StepResult};
use crate::percent::octet;
use crate::place::{At, Part};

/// Remove dots before and after the host, and all but one between labels.
pub(super) fn remove_extra_dots(uri: &mut Components) {
    if !uri.has_name() {
        return;
    }
    uri.host.dedup_by(|next, before| *next == b'.' && *before == b'.');
    if uri.host.last() == Some(&b'.') {
        uri.host.pop();
    }
    if uri.host.first() == Some(&b'.') {
        uri.host.remove(0);
    }
}

/// Remove all leading labels such as "www." and "www2."; keep at least two labels.
pub(super) fn drop_www(uri: &mut Components) {
    if !uri.has_authority {
        return;
    }
    let host = &uri.host;
    let mut end = 0;
    while let Some(length) = www_length(host.part(end..)) {
        end += length;
    }
    if end == 0 {
        return;
    }
    if memchr::memchr(b'.', host.part(end..)).is_none() {
        end = memchr::memrchr(b'.', host.part(..end - 1)).map_or(0, |dot| dot + 1);
    }
    uri.host.drain(..end);
}

/// The length of a leading "www", digits and a dot.
fn www_length(host: &[u8]) -> Option<usize> {
    let after_www = host.get(3..).filter(|_| host.part(..3).eq_ignore_ascii_case(b"www"))?;
    let digits = after_www.iter().take_while(|b| b.is_ascii_digit()).count();
    (after_www.get(digits) == Some(&b'.')).then_some(3 + digits + 1)
}

/// Write a name with escapes as A-labels: a name beyond US-ASCII needs Python, all others stay.
pub(super) fn idna(uri: &mut Components) -> StepResult {
    if !uri.has_name() || memchr::memchr(b'%', &uri.host).is_none() {
        return Ok(());
    }
    let mut name = Vec::new();
    decode(&uri.host, &mut name);
    if name.is_ascii() || std::str::from_utf8(&name).is_err() {
        return Ok(());
    }
    Err(NeedsPython)
}

fn decode(host: &[u8], out: &mut Vec<u8>) {
    let mut i = 0;
    while i < host.len() {
        match octet(host, i) {
            Some(octet) => {
                out.push(octet);
                i += 3;
            }
            None => {
                out.push(host.at(i));
                i += 1;
            }
        }
    }
}

/// Write an IPv4 address, in any notation that `inet_aton` reads, in dotted decimal.
pub(super) fn ipv4(uri: &mut Components) -> StepResult {
    if !uri.has_name() {
        return Ok(());
    }
    let address = if memchr::memchr(b'%', &uri.host).is_some() {
        let mut name = Vec::new();
        decode(&uri.host, &mut name);
        // Digits of other scripts, and addresses with brackets or colons in escapes, need Python.
        if !name.is_ascii() || name.iter().any(|b| b"[:".contains(b)) {
            return Err(NeedsPython);
        }
        aton(&name)
    } else {
        aton(&uri.host)
    };
    if let Some(address) = address {
        uri.host.clear();
        uri.host.extend_from_slice(Ipv4Addr::from(address).to_string().as_bytes());
    }
    Ok(())
}

/// The address in a text (7.4): "a.b.c.d", "a.b.c", "a.b" or "a", each number in decimal, octal or hexadecimal, with or
/// without a final dot.
fn aton(text: &[u8]) -> Option<u32> {
    let text = text.strip_suffix(b".").unwrap_or(text);
    if !text.first()?.is_ascii_digit() {
        return None;
    }
    let mut parts = [0; 4];
    let mut count = 0;
    for part in text.split(|&b| b == b'.') {
        *parts.get_mut(count)? = number(part)?;
        count += 1;
    }
    let (first, last) = (parts.part(..count - 1), parts.at(count - 1));
    if first.iter().any(|&number| number > 255) || last >= 1 << (8 * (5 - count)) {
        return None;
    }
    let value = first.iter().zip([24, 16, 8]).fold(last, |value, (&number, shift)| value + (number << shift));
    u32::try_from(value).ok()
}

/// The value of a number in the notation that its prefix indicates; a value too large for an address may be inexact.
fn number(part: &[u8]) -> Option<u64> {
    let (digits, base) = match part {
        [b'0', b'x' | b'X', digits @ ..] => (digits, 16),
        [b'0', ..] => (part, 8),
        [] => return None,
        _ => (part, 10),
    };
    if part.len() >= 40 {
        return None;
    }
    digits.iter().try_fold(0u64, |value, &digit| {
        let digit = char::from(digit).to_digit(base)?;
        Some(value.saturating_mul(u64::from(base)).saturating_add(u64::from(digit)))
    })
}

/// Write an IPv6 address in the form of RFC 5952; `dotted`: write a mapped or NAT64 address as the IPv4 address.
pub(super) fn ipv6(uri: &mut Components, dotted: bool) -> StepResult {
    let inside = uri.host.strip_prefix(b"[").and_then(|host| host.strip_suffix(b"]"));
    let Some(inside) = inside.filter(|_| uri.has_authority) else { return Ok(()) };
    if matches!(inside.first(), Some(b'v' | b'V')) {
        return Ok(());
    }
    let text = std::str::from_utf8(inside).map_err(|_| NeedsPython)?;
    let address: Ipv6Addr = text.parse().map_err(|_| NeedsPython)?;
    let mapped = address.to_ipv4_mapped();
    let octets = address.octets();
    let translated = octets.starts_with(&[0, 0x64, 0xFF, 0x9B, 0, 0, 0, 0, 0, 0, 0, 0]);
    let new_host = if dotted && (mapped.is_some() || translated) {
        let [.., a, b, c, d] = octets;
        Ipv4Addr::new(a, b, c, d).to_string()
    } else if let Some(mapped) = mapped {
        format!("[::ffff:{mapped}]")
    } else {
        format!("[{address}]")
    };
    uri.host.clear();
    uri.host.extend_from_slice(new_host.as_bytes());
    Ok(())
}

/// Write the host in lower case, with the digits of escapes in upper case.
pub(super) fn lower(uri: &mut Components) {
    if uri.has_authority {
        super::paths::lower(&mut uri.host);
    }
}

/// Decode all escapes in a host, and escape once the octets that a host does not allow.
pub(super) fn unescape(uri: &mut Components) {
    if uri.has_name() {
        let Components { host, spare, .. } = uri;
        if memchr::memchr(b'%', host).is_none() {
            host.make_ascii_lowercase();
            return;
        }
        rewrite(host, spare, |host, out| {
            let mut octets = Vec::with_capacity(host.len());
            super::paths::unescape_fully(host, &mut octets);
            octets.make_ascii_lowercase();
            crate::percent::encode(&octets, &super::paths::HOST, out);
        });
    }
}
