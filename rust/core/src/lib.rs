//! The fast kernel: RFC 3986 on bytes.
//!
//! One file per operation, named as in Python.  Texts are US-ASCII by the time they are valid; an
//! offset is a byte offset.  Nothing recurses, every loop is linear, nothing is allocated until
//! something changes.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod automaton;
pub mod check;
pub mod classes;
pub mod host;
pub mod normalize;
pub mod parse;
pub mod percent;
pub mod resolve;
pub mod split;
pub mod tables;
pub mod wide;
