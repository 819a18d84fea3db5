//! The inside of brackets, and a host without them: 3.2.2 against its expression, its automaton, and std's addresses.

#![no_main]

use std::net::{Ipv4Addr, Ipv6Addr};

use libfuzzer_sys::fuzz_target;
use oracle::{is_ip_literal, is_ipv4_address, show};
use overthere_core::host::{host_kind, ip_literal, ipv6_address, HostKind};
use overthere_core::parse::{parse, Rule};
use overthere_core::tables::IP_LITERAL;

fuzz_target!(|body: &[u8]| {
    let literal = [b"[", body, b"]"].concat();
    let closes = body.contains(&b']');
    for zone in [false, true] {
        let wanted = is_ip_literal(&literal, zone);
        let found = ip_literal(&literal, 0, zone);
        let good = found == Ok(literal.len());
        assert_eq!(good, wanted, "ip_literal zone={zone} {found:?}: {}", show(&literal));
        let uri = [b"x://u@", &literal[..], b":1/p"].concat();
        let parsed = parse(&uri, Rule::Uri, zone);
        // A "/", "?", "#" or "]" inside may leave a text that is right for another reason; none does: all need the "]".
        assert_eq!(parsed.is_ok(), wanted, "parse zone={zone}: {}", show(&uri));
    }
    // The automaton reads to the end of each literal, and to the "]" of nothing else.
    let read = IP_LITERAL.viable(&literal);
    let accepted = read == literal.len() && !closes;
    assert_eq!(accepted, is_ip_literal(&literal, false), "automaton {read}: {}", show(&literal));
    if let Ok(text) = std::str::from_utf8(body) {
        assert_eq!(
            ipv6_address(body),
            text.parse::<Ipv6Addr>().is_ok(),
            "std on IPv6address: {}",
            show(body)
        );
        assert_eq!(
            is_ipv4_address(body),
            text.parse::<Ipv4Addr>().is_ok(),
            "std on IPv4address: {}",
            show(body)
        );
    }
    let kind = match body.first() {
        Some(b'[') => return,
        _ if is_ipv4_address(body) => HostKind::IPv4address,
        _ => HostKind::RegName,
    };
    assert_eq!(host_kind(body), kind, "host_kind: {}", show(body));
});
