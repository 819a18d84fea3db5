//! Facts of schemes that values need, as the default registry has them.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

use overthere_core::normalize::{host, SchemeRules};
use overthere_core::place::Part;
use pyo3::intern;
use pyo3::prelude::*;

use super::values::{on_value, with_buffer};
use super::{Answer, Call};
use crate::finalizing::Inside;
use crate::getters::digits;
use crate::quick;

/// What is known of a scheme.
pub(super) struct Facts {
    /// The default port.
    pub port: Option<u64>,
    /// The rules of the scheme rung; None if it has others.
    pub rules: Option<SchemeRules>,
    /// Whether "+" in a query is a space.
    pub plus: bool,
    /// Whether parameters are lines of text.
    pub text_parameters: bool,
}

/// As Python hands them over: default port; rules, of which None are others; "+"; text.
type Handed = (Option<u64>, Option<(Option<String>, bool)>, bool, bool);

/// The facts of a scheme by its name in any case; of an unknown scheme, and of none, what holds for most.
pub(super) fn facts(py: Python<'_>, scheme: Option<&[u8]>) -> PyResult<Arc<Facts>> {
    /// Names that are kept: far more than there are schemes, and few enough for a text of hostile ones.
    const MOST: usize = 256;
    static KNOWN: RwLock<Option<HashMap<Vec<u8>, Arc<Facts>>>> = RwLock::new(None);
    let name = scheme.unwrap_or_default();
    {
        let known = KNOWN.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = known.as_ref().and_then(|known| known.get(name)) {
            return Ok(found.clone());
        }
    }
    let _inside = Inside::enter(py);
    let (port, rules, plus, text_parameters): Handed = py
        .import(intern!(py, "overthere.values.scheme_query"))?
        .call_method1(intern!(py, "native_facts"), (String::from_utf8_lossy(name),))?
        .extract()?;
    let rules =
        rules.map(|(default_port, slash_for_empty_path)| SchemeRules { default_port, slash_for_empty_path });
    let found = Arc::new(Facts { port, rules, plus, text_parameters });
    let mut known = KNOWN.write().unwrap_or_else(PoisonError::into_inner);
    let known = known.get_or_insert_with(HashMap::new);
    if known.len() < MOST {
        known.insert(name.to_vec(), found.clone());
    }
    Ok(found)
}

/// `value.effective_port`
pub(super) fn effective_port<'py>(call: &Call<'_, 'py>) -> Answer<'py> {
    let [value] = call.unnamed() else { return Ok(None) };
    on_value(value, |value, parsed| {
        let py = value.py();
        let port = match parsed.spans.port().filter(|port| !port.is_empty()) {
            Some(own) => digits(own.of(parsed.text)),
            None if parsed.scheme().is_some() && parsed.authority().is_some() => {
                facts(py, parsed.scheme())?.port
            }
            None => None,
        };
        Ok(Some(match port {
            None => py.None().into_bound(py),
            Some(port) => port.into_pyobject(py)?.into_any(),
        }))
    })
}

/// `uri.origin`
pub(super) fn origin<'py>(call: &Call<'_, 'py>) -> Answer<'py> {
    let [value] = call.unnamed() else { return Ok(None) };
    on_value(value, |value, parsed| {
        let py = value.py();
        let own = parsed.spans.host().map(|host| host.of(parsed.text)).unwrap_or_default();
        let Some(scheme) = parsed.scheme() else { return Ok(None) };
        let written = parsed.spans.port().map(|port| port.of(parsed.text)).unwrap_or_default();
        let port = digits(written);
        with_buffer(|out| {
            match facts(py, Some(scheme))?.port {
                Some(default) if !own.is_empty() && (port.is_some() || written.is_empty()) => {
                    out.extend(scheme.iter().map(u8::to_ascii_lowercase));
                    out.extend_from_slice(b"://");
                    host(own, 2, out);
                    if let Some(port) = port.filter(|&port| port != default) {
                        out.push(b':');
                        out.extend_from_slice(port.to_string().as_bytes());
                    }
                }
                _ => out.extend_from_slice(b"null"),
            }
            quick::text(py, out.part(..)).map(|text| Some(text.into_any()))
        })
    })
}
