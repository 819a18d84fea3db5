//! Facts about schemes that values need, from the default registry.

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

/// The facts about a scheme.
pub(super) struct Facts {
    /// The default port.
    pub port: Option<u64>,
    /// The rules of the scheme rung; None if the scheme has other rules.
    pub rules: Option<SchemeRules>,
    /// Whether "+" in a query means a space.
    pub plus: bool,
    /// Whether parameters are lines of text.
    pub text_parameters: bool,
}

/// The facts as Python passes them: default port; rules, None for other rules; `plus`; `text_parameters`.
type FactsTuple = (Option<u64>, Option<(Option<String>, bool)>, bool, bool);

/// The facts about a scheme, by its name in any case; the most common facts for an unknown or undefined scheme.
pub(super) fn facts(py: Python<'_>, scheme: Option<&[u8]>) -> PyResult<Arc<Facts>> {
    /// Maximum number of cached names: more than there are schemes, but few enough if names are hostile.
    const MAX_CACHED: usize = 256;
    static CACHE: RwLock<Option<HashMap<Vec<u8>, Arc<Facts>>>> = RwLock::new(None);
    let name = scheme.unwrap_or_default();
    {
        let cache = CACHE.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(facts) = cache.as_ref().and_then(|cache| cache.get(name)) {
            return Ok(facts.clone());
        }
    }
    let _inside = Inside::enter(py);
    let (port, rules, plus, text_parameters): FactsTuple = py
        .import(intern!(py, "overthere.values.scheme_query"))?
        .call_method1(intern!(py, "native_facts"), (String::from_utf8_lossy(name),))?
        .extract()?;
    let rules =
        rules.map(|(default_port, slash_for_empty_path)| SchemeRules { default_port, slash_for_empty_path });
    let facts = Arc::new(Facts { port, rules, plus, text_parameters });
    let mut cache = CACHE.write().unwrap_or_else(PoisonError::into_inner);
    let cache = cache.get_or_insert_with(HashMap::new);
    if cache.len() < MAX_CACHED {
        cache.insert(name.to_vec(), facts.clone());
    }
    Ok(facts)
}

/// `value.effective_port`
pub(super) fn effective_port<'py>(call: &Call<'_, 'py>) -> Answer<'py> {
    let [value] = call.unnamed() else { return Ok(None) };
    on_value(value, |value, parsed| {
        let py = value.py();
        let port = match parsed.spans.port().filter(|port| !port.is_empty()) {
            Some(port) => digits(port.of(parsed.text)),
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
        let host_text = parsed.spans.host().map(|host| host.of(parsed.text)).unwrap_or_default();
        let Some(scheme) = parsed.scheme() else { return Ok(None) };
        let port_text = parsed.spans.port().map(|port| port.of(parsed.text)).unwrap_or_default();
        let port = digits(port_text);
        with_buffer(|out| {
            match facts(py, Some(scheme))?.port {
                Some(default) if !host_text.is_empty() && (port.is_some() || port_text.is_empty()) => {
                    out.extend(scheme.iter().map(u8::to_ascii_lowercase));
                    out.extend_from_slice(b"://");
                    host(host_text, 2, out);
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
