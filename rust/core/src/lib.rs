//! The fast kernel: RFC 3986 on bytes.
//!
//! One file per operation, named as in Python.  Texts are US-ASCII by the time they are valid; an
//! offset is a byte offset.  Nothing recurses, every loop is linear, nothing is allocated until
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

/// `$fast` where this machine has AVX2, else `$plain`; the test is a load and a branch.
///
/// Only a caller who may write `unsafe` can call a function for AVX2, so the choice is not made in this crate.
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

/// `$plain`: the code for AVX2 is not there.
#[cfg(not(avx2))]
#[macro_export]
macro_rules! quickest {
    ($fast:expr, $plain:expr) => {
        $plain
    };
}
