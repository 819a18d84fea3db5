//! What each byte may be, as bits: generated from rfc3986.abnf and rfc3987.abnf by `make docs`.
//!
//! "%" is in no class: what follows it is looked at apart.

/// The bit of the first letter of a scheme (3.1).
pub const ALPHA: u8 = 1;
/// The bit of what may follow it.
pub const SCHEME: u8 = 2;
/// The bit of `userinfo` (3.2.1), which is also what an IPvFuture holds.
pub const USERINFO: u8 = 4;
/// The bit of `reg-name` (3.2.2).
pub const REG_NAME: u8 = 8;
/// The bit of `path`: `pchar` and "/" (3.3).
pub const PATH: u8 = 16;
/// The bit of `query` and `fragment` (3.4, 3.5).
pub const QUERY: u8 = 32;
/// The bit of a hexadecimal digit (2.1).
pub const HEXDIG: u8 = 64;
/// The bit of `unreserved` (2.3).
pub const UNRESERVED: u8 = 128;

/// The bits of each byte.
#[rustfmt::skip]
pub static CLASS: [u8; 256] = [
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
    0, 60, 0, 0, 60, 0, 60, 60, 60, 60, 60, 62, 60, 190, 190, 48,
    254, 254, 254, 254, 254, 254, 254, 254, 254, 254, 52, 60, 0, 60, 0, 32,
    48, 255, 255, 255, 255, 255, 255, 191, 191, 191, 191, 191, 191, 191, 191, 191,
    191, 191, 191, 191, 191, 191, 191, 191, 191, 191, 191, 0, 0, 0, 0, 188,
    0, 255, 255, 255, 255, 255, 255, 191, 191, 191, 191, 191, 191, 191, 191, 191,
    191, 191, 191, 191, 191, 191, 191, 191, 191, 191, 191, 0, 0, 0, 188, 0,
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
];

/// `ucschar` (RFC 3987 2.2) without the controls of 4.1, in their order.
#[rustfmt::skip]
pub static UCSCHAR: [(char, char); 19] = [
    ('\u{a0}', '\u{200d}'),
    ('\u{2010}', '\u{2029}'),
    ('\u{202f}', '\u{d7ff}'),
    ('\u{f900}', '\u{fdcf}'),
    ('\u{fdf0}', '\u{ffef}'),
    ('\u{10000}', '\u{1fffd}'),
    ('\u{20000}', '\u{2fffd}'),
    ('\u{30000}', '\u{3fffd}'),
    ('\u{40000}', '\u{4fffd}'),
    ('\u{50000}', '\u{5fffd}'),
    ('\u{60000}', '\u{6fffd}'),
    ('\u{70000}', '\u{7fffd}'),
    ('\u{80000}', '\u{8fffd}'),
    ('\u{90000}', '\u{9fffd}'),
    ('\u{a0000}', '\u{afffd}'),
    ('\u{b0000}', '\u{bfffd}'),
    ('\u{c0000}', '\u{cfffd}'),
    ('\u{d0000}', '\u{dfffd}'),
    ('\u{e1000}', '\u{efffd}'),
];

/// `iprivate` (RFC 3987 2.2), in their order.
#[rustfmt::skip]
pub static IPRIVATE: [(char, char); 3] = [
    ('\u{e000}', '\u{f8ff}'),
    ('\u{f0000}', '\u{ffffd}'),
    ('\u{100000}', '\u{10fffd}'),
];
