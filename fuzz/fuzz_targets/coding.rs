//! The safe characters, a newline, data: percent-encoding and -decoding (2.1) against the plain way.

#![no_main]

use libfuzzer_sys::fuzz_target;
use oracle::{same, show, written};
use overthere_core::percent::{decode, encode, octet, Safe};

fuzz_target!(|input: &[u8]| {
    let newline = input.iter().position(|&b| b == b'\n').unwrap_or(0);
    let (safe, data) = (&input[..newline], &input[(newline + 1).min(input.len())..]);
    let case = || format!("safe {} data {}", show(safe), show(data));
    let set = Safe::new(safe);
    let ((), encoded) = written(|out| encode(data, &set, out));
    same(&encoded, &oracle::encode(data, safe), || format!("encode: {}", case()));
    let prefix = data.iter().take_while(|b| safe.contains(b)).count();
    assert_eq!(set.prefix(data), prefix, "prefix: {}", case());
    // An octet beyond US-ASCII is one whose first digit is 8 or more.
    let beyond = |text: &[u8]| text.windows(3).any(|part| part[0] == b'%' && part[1] >= b'8');
    let digits = b"0123456789ABCDEF";
    if !safe.contains(&b'%') {
        let round_trip = (Ok(beyond(&encoded)), data.to_vec());
        assert_eq!(written(|out| decode(&encoded, out)), round_trip, "back: {}", case());
        assert!(encoded.iter().all(|b| safe.contains(b) || *b == b'%' || digits.contains(b)), "{}", case());
    }
    match (written(|out| decode(data, out)), oracle::decode(data)) {
        ((Ok(found_beyond), found), Ok(wanted)) => {
            assert_eq!(found_beyond, beyond(data), "beyond US-ASCII: {}", case());
            same(&found, &wanted, || format!("decode: {}", case()));
        }
        ((Err(found), _), Err(wanted)) => assert_eq!(found, wanted, "broken escape: {}", case()),
        (found, wanted) => panic!("decode {found:?} {wanted:?}: {}", case()),
    }
    for at in 0..data.len() {
        let wanted = oracle::decode(&data[at..data.len().min(at + 3)]);
        let wanted = wanted.ok().filter(|_| data[at] == b'%').map(|octets| octets[0]);
        assert_eq!(octet(data, at), wanted, "octet at {at}: {}", case());
    }
});
