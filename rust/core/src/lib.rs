//! The fast kernel: RFC 3986 on bytes.
//!
//! One file per operation, named as in Python.  Every valid text is US-ASCII; an
//! offset is a byte offset.  No function recurses, every loop is linear, and no memory is allocated until
//! something changes.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod automaton;
// `build.rs` sets `cfg(avx2)` only where the compiler is new enough.
#[cfg(avx2)]
#[expect(clippy::incompatible_msrv, reason = "`build.rs` asks for the compiler that it needs")]
mod avx2;
pub mod canonical;
pub mod check;
pub mod classes;
pub mod edit;
pub mod host;
pub mod iri;
mod non_ascii;
pub mod normalize;
pub mod parameters;
pub mod parse;
pub mod percent;
pub mod place;
pub mod relate;
pub mod resolve;
pub mod split;
pub mod suffix;
pub mod tables;
pub mod trigger;
pub mod wide;

/// `$fast` if this machine has AVX2, otherwise `$plain`; the test is a load and a branch.
///
/// Calling a function for AVX2 needs `unsafe`, which this crate forbids, so the caller makes the choice.
#[cfg(avx2)]
#[macro_export]
macro_rules! quickest {
    ($fast:expr, $plain:expr) => {
        if std::arch::is_x86_feature_detected!("avx2")
            && std::arch::is_x86_feature_detected!("bmi1")
            && std::arch::is_x86_feature_detected!("bmi2")
            && std::arch::is_x86_feature_detected!("lzcnt")
        {
            $fast
        } else {
            $plain
        }
    };
}

/// Always `$plain`: the code for AVX2 was not compiled.
#[cfg(not(avx2))]
#[macro_export]
macro_rules! quickest {
    ($fast:expr, $plain:expr) => {
        $plain
    };
}
