//! Hosts (RFC 3986 3.2.2): IP-literal, IPv4address, and the alternatives of `host`.

use crate::classes::{self, CLASS};
use crate::place::{At, Part};

/// The alternatives of `host`; the first that matches wins.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum HostKind {
    /// A registered name, which may be empty.
    RegName,
    /// Four decimal octets with dots.
    IPv4address,
    /// An IPv6 address in brackets.
    IPv6address,
    /// An address of a later version in brackets.
    IPvFuture,
}

/// The alternative that a valid host matches.
pub fn host_kind(host: &[u8]) -> HostKind {
    match host.first() {
        Some(b'[') => match host.get(1) {
            Some(b'v' | b'V') => HostKind::IPvFuture,
            _ => HostKind::IPv6address,
        },
        Some(b'0'..=b'9') if ipv4_address(host) == Some(host.len()) => HostKind::IPv4address,
        _ => HostKind::RegName,
    }
}

fn has(byte: u8, bits: u8) -> bool {
    CLASS.at(byte as usize) & bits != 0
}

/// The end of an IP-literal whose "[" is at `start`; `Err` with the offset at which reading stopped.
pub fn ip_literal(text: &[u8], start: usize, zone: bool) -> Result<usize, usize> {
    let inside = start + 1;
    let length = memchr::memchr(b']', text.part(inside..)).ok_or(text.len())?;
    let body = text.part(inside..inside + length);
    let is_valid = match body.first() {
        Some(b'v' | b'V') => ip_future(body),
        _ => match memchr::memchr(b'%', body) {
            Some(percent) if zone => ipv6_address(body.part(..percent)) && zone_id(body.part(percent..)),
            _ => ipv6_address(body),
        },
    };
    if is_valid {
        Ok(inside + length + 1)
    } else {
        Err(start)
    }
}

/// Whether a text is an IPvFuture without its brackets.
fn ip_future(body: &[u8]) -> bool {
    let Some(dot) = memchr::memchr(b'.', body) else { return false };
    let (version, address) = (body.part(1..dot), body.part(dot + 1..));
    !version.is_empty()
        && version.iter().all(|&b| has(b, classes::HEXDIG))
        && !address.is_empty()
        && address.iter().all(|&b| has(b, classes::USERINFO))
}

/// Whether a text is "%25" and a ZoneID (RFC 6874 2).
fn zone_id(text: &[u8]) -> bool {
    let Some(zone) = text.strip_prefix(b"%25") else { return false };
    let mut i = 0;
    while i < zone.len() {
        match zone.at(i) {
            b'%' => match zone.get(i + 1..i + 3) {
                Some(pair) if pair.iter().all(|&b| has(b, classes::HEXDIG)) => i += 3,
                _ => return false,
            },
            b if has(b, classes::UNRESERVED) => i += 1,
            _ => return false,
        }
    }
    !zone.is_empty()
}

/// Whether a text is an IPv6address: eight groups, or one "::" and at most seven; the last two may be an IPv4address.
pub fn ipv6_address(text: &[u8]) -> bool {
    // The longest form has 45 bytes.
    if text.len() > 45 {
        return false;
    }
    let (mut groups, mut gap, mut i) = (0, false, 0);
    if text.starts_with(b"::") {
        (gap, i) = (true, 2);
        if i == text.len() {
            return true;
        }
    }
    loop {
        let digits = text.part(i..).iter().take_while(|&&b| has(b, classes::HEXDIG)).count();
        match text.get(i + digits) {
            Some(b'.') => {
                // ls32 as an IPv4address ends the address.
                groups += 2;
                return ipv4_address(text.part(i..)) == Some(text.len() - i)
                    && if gap { groups <= 7 } else { groups == 8 };
            }
            _ if digits == 0 || digits > 4 => return false,
            next => {
                groups += 1;
                i += digits;
                match next {
                    None => return if gap { groups <= 7 } else { groups == 8 },
                    Some(b':') => i += 1,
                    Some(_) => return false,
                }
            }
        }
        if text.get(i) == Some(&b':') {
            if gap {
                return false;
            }
            (gap, i) = (true, i + 1);
            if i == text.len() {
                return groups <= 7;
            }
        }
    }
}

/// The end of an IPv4address at the start of the text: four decimal octets without leading zeros.
fn ipv4_address(text: &[u8]) -> Option<usize> {
    let mut i = 0;
    for octet in 0..4 {
        if octet > 0 {
            if text.get(i) != Some(&b'.') {
                return None;
            }
            i += 1;
        }
        let digits = text.part(i..).iter().take(4).take_while(|b| b.is_ascii_digit()).count();
        let value = text.part(i..i + digits).iter().fold(0u32, |v, b| v * 10 + u32::from(b - b'0'));
        if digits == 0 || digits > 3 || value > 255 || (digits > 1 && text.at(i) == b'0') {
            return None;
        }
        i += digits;
    }
    Some(i)
}
