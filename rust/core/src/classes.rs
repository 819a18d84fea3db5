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

/// The controls of RFC 3987 4.1, in their order.
#[rustfmt::skip]
pub static BIDI_CONTROLS: [(char, char); 2] = [
    ('\u{200e}', '\u{200f}'),
    ('\u{202a}', '\u{202e}'),
];

/// `iprivate` (RFC 3987 2.2), in their order.
#[rustfmt::skip]
pub static IPRIVATE: [(char, char); 3] = [
    ('\u{e000}', '\u{f8ff}'),
    ('\u{f0000}', '\u{ffffd}'),
    ('\u{100000}', '\u{10fffd}'),
];

/// What takes the place of its escapes (RFC 3987 3.2) wherever it stands, in their order.
#[rustfmt::skip]
pub static SHOWN: [(char, char); 67] = [
    ('\u{a1}', '\u{ac}'),
    ('\u{ae}', '\u{2cf}'),
    ('\u{2d1}', '\u{34e}'),
    ('\u{350}', '\u{588}'),
    ('\u{58a}', '\u{5c2}'),
    ('\u{5c4}', '\u{115e}'),
    ('\u{1161}', '\u{167f}'),
    ('\u{1681}', '\u{17b3}'),
    ('\u{17b6}', '\u{180a}'),
    ('\u{1810}', '\u{1fff}'),
    ('\u{2010}', '\u{2027}'),
    ('\u{2030}', '\u{2043}'),
    ('\u{2045}', '\u{205e}'),
    ('\u{2066}', '\u{2069}'),
    ('\u{2070}', '\u{2214}'),
    ('\u{2217}', '\u{2235}'),
    ('\u{2237}', '\u{2570}'),
    ('\u{2573}', '\u{27ca}'),
    ('\u{27cc}', '\u{27cc}'),
    ('\u{27ce}', '\u{29f4}'),
    ('\u{29f7}', '\u{29f7}'),
    ('\u{29fa}', '\u{2fff}'),
    ('\u{3001}', '\u{3032}'),
    ('\u{3034}', '\u{3163}'),
    ('\u{3165}', '\u{a788}'),
    ('\u{a78a}', '\u{d7ff}'),
    ('\u{f900}', '\u{fdcf}'),
    ('\u{fdf0}', '\u{fdff}'),
    ('\u{fe10}', '\u{fe12}'),
    ('\u{fe14}', '\u{fe15}'),
    ('\u{fe17}', '\u{fe2f}'),
    ('\u{fe31}', '\u{fe46}'),
    ('\u{fe49}', '\u{fe51}'),
    ('\u{fe53}', '\u{fe54}'),
    ('\u{fe57}', '\u{fe5a}'),
    ('\u{fe5d}', '\u{fe5e}'),
    ('\u{fe60}', '\u{fe63}'),
    ('\u{fe66}', '\u{fe67}'),
    ('\u{fe69}', '\u{fe69}'),
    ('\u{fe6c}', '\u{fefe}'),
    ('\u{ff00}', '\u{ff01}'),
    ('\u{ff04}', '\u{ff04}'),
    ('\u{ff06}', '\u{ff0d}'),
    ('\u{ff10}', '\u{ff19}'),
    ('\u{ff1b}', '\u{ff1b}'),
    ('\u{ff1d}', '\u{ff1d}'),
    ('\u{ff21}', '\u{ff3a}'),
    ('\u{ff3f}', '\u{ff3f}'),
    ('\u{ff41}', '\u{ff5a}'),
    ('\u{ff5e}', '\u{ff9f}'),
    ('\u{ffa1}', '\u{ffef}'),
    ('\u{10000}', '\u{1bc9f}'),
    ('\u{1bca4}', '\u{1d172}'),
    ('\u{1d17b}', '\u{1fffd}'),
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

/// What does so behind a character that does, in their order.
#[rustfmt::skip]
pub static JOINED: [(char, char); 2] = [
    ('\u{200c}', '\u{200d}'),
    ('\u{fe00}', '\u{fe0f}'),
];
