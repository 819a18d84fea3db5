//! The parts of a value's host by the Public Suffix List, which Python loads (`overthere.values.hosts.domains`).

use overthere_core::place::Part;
use overthere_core::suffix::{Cut, Suffixes};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyDict;

use super::values::{on_value, with_buffer};
use super::{Answer, Call};
use crate::finalizing::Inside;
use crate::quick;

/// The rules of the installed list.
fn rules(py: Python<'_>) -> PyResult<&Suffixes> {
    static RULES: PyOnceLock<Suffixes> = PyOnceLock::new();
    RULES.get_or_try_init(py, || {
        let _inside = Inside::enter(py);
        let list = py
            .import(intern!(py, "overthere.values.hosts.domains"))?
            .call_method0(intern!(py, "suffix_list"))?;
        let rules = list.getattr(intern!(py, "rules"))?.cast_into::<PyDict>()?;
        let rules: PyResult<Vec<(String, u8)>> =
            rules.iter().map(|(name, flags)| Ok((name.extract()?, flags.extract()?))).collect();
        Ok(Suffixes::new(rules?))
    })
}

/// A part of a value's host: `part` receives the start of the registrable domain, if there is one, the start of the
/// public suffix, and the end of the name, and returns the start and end of the part.
fn part_of_host<'py>(
    call: &Call<'_, 'py>,
    part: impl FnOnce(Option<usize>, usize, usize) -> Option<(usize, usize)>,
) -> Answer<'py> {
    let [value] = call.unnamed() else { return Ok(None) };
    on_value(value, |value, parsed| {
        let py = value.py();
        let host = parsed.spans.host().map(|host| host.of(parsed.text)).unwrap_or_default();
        let rules = rules(py)?;
        let span = match with_buffer(|lower| rules.cut(host, true, lower)) {
            Cut::Open => return Ok(None),
            Cut::Nothing => None,
            Cut::At(registrable, suffix, end) => part(registrable, suffix, end),
        };
        Ok(Some(match span {
            Some((start, end)) => quick::text(py, host.part(start..end))?.into_any(),
            None => py.None().into_bound(py),
        }))
    })
}

/// `value.public_suffix`
pub(super) fn public_suffix<'py>(call: &Call<'_, 'py>) -> Answer<'py> {
    part_of_host(call, |_, suffix, end| Some((suffix, end)))
}

/// `value.registrable_domain`
pub(super) fn registrable_domain<'py>(call: &Call<'_, 'py>) -> Answer<'py> {
    part_of_host(call, |registrable, _, end| Some((registrable?, end)))
}

/// `value.subdomain`
pub(super) fn subdomain<'py>(call: &Call<'_, 'py>) -> Answer<'py> {
    part_of_host(call, |registrable, _, _| Some((0, registrable?.checked_sub(1)?)))
}
