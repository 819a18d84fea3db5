//! The core's fastest functions for reading a text on this machine.

use overthere_core::parse::{self, Rule};
use overthere_core::place::{Part, Span, Spans};
use overthere_core::{percent, quickest, split};
use pyo3::prelude::*;

use crate::bug::guarded;

/// `overthere_core::parse::parse`
#[inline]
pub fn parse(text: &[u8], rule: Rule, zone: bool) -> Result<Spans, usize> {
    quickest!(
        // SAFETY: it is called only on machines with AVX2, which is its only requirement.
        unsafe { parse::parse_avx2(text, rule, zone) },
        parse::parse(text, rule, zone)
    )
}

/// `overthere_core::split::split`
#[inline]
pub fn split(text: &[u8]) -> Spans {
    quickest!(
        // SAFETY: it is called only on machines with AVX2, which is its only requirement.
        unsafe { split::split_avx2(text) },
        split::split(text)
    )
}

/// `overthere_core::split::host`
#[inline]
pub fn host(text: &[u8]) -> Option<Span> {
    quickest!(
        // SAFETY: it is called only on machines with AVX2, which is its only requirement.
        unsafe { split::host_avx2(text) },
        split::host(text)
    )
}

/// `overthere_core::percent::decode` of the first `length` bytes of `onward`.
#[inline]
pub fn decode(onward: &[u8], length: usize, out: &mut Vec<u8>) -> Result<bool, usize> {
    quickest!(
        // SAFETY: it is called only on machines with AVX2, which is its only requirement.
        unsafe { percent::decode_avx2(onward, length, out) },
        percent::decode(onward.part(..length), out)
    )
}

/// The results of one implementation: the places by the rule, if it derives the text; those by Appendix B; the host.
type Reading = (Option<Vec<u32>>, Vec<u32>, Option<(usize, usize)>);

/// What each way of this machine reads in a text: for the tests, which want all the same.
#[pyfunction]
#[pyo3(name = "_ways")]
pub fn read_each_way(py: Python<'_>, text: &str, reference: bool, zone: bool) -> PyResult<Vec<Reading>> {
    guarded(py, || {
        let rule = if reference { Rule::UriReference } else { Rule::Uri };
        let octets = text.as_bytes();
        let list = |s: Spans| s.places().to_vec();
        let bounds = |s: Option<Span>| s.map(|s| (s.start, s.end));
        Ok(vec![
            (parse(octets, rule, zone).ok().map(list), list(split(octets)), bounds(host(octets))),
            (
                parse::parse(octets, rule, zone).ok().map(list),
                list(split::split(octets)),
                bounds(split::host(octets)),
            ),
        ])
    })
}
