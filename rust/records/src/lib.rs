//! Readers of complete records of WARC files (WARC 1.1 section 4, annex D) and ARC files, and of the HTTP responses in
//! them (RFC 9112); and of the members of ZIP files.
//!
//! Truncated, invalid, folded or unusual records are left to the reader in Python, which also reports them, so that
//! both readers give the same rows.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod arc;
mod fields;
mod gzip;
mod http;
mod warc;
mod zip;

pub use arc::{arc_frame, arc_member};
pub use fields::{is_plain, trim, Fields};
pub use gzip::{inflate, inflate_raw, is_members, Inflated};
pub use http::{media_type, Body, Links, Response};
pub use warc::{frame, member, Exchange, Frame, Member, Record, EMPTY, HEADER_MOST, PASSED};
pub use zip::{zip_content, ZipMember};
