//! `Components`: a text and the places of its components.
//!
//! The text is the caller's `str` object, or a copy of a subclass.  Offsets count code points, which for URIs are
//! bytes.

use overthere_core::host::{host_kind, HostKind};
use overthere_core::iri;
use overthere_core::parse::Rule;
use overthere_core::place::{Characters, Component, Octets, Span, Spans, OMITTED};
use pyo3::basic::CompareOp;
use pyo3::exceptions::{PyKeyError, PyOverflowError, PyTypeError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyString, PyTuple, PyType};
use pyo3::IntoPyObjectExt;

use crate::bug::{bug, guarded};
use crate::fast::parse;
use crate::finalizing::Inside;
use crate::quick::{self, truth};

/// The places of the components, in the unit in which the text was read.
pub(crate) enum Places {
    /// For US-ASCII.
    Octets(Spans<Octets>),
    /// For other texts.
    Characters(Spans<Characters>),
}

/// The components of a text that its class's rule derives; None is undefined, "" is empty.
#[pyclass(frozen, subclass, module = "overthere._native")]
pub struct Components {
    pub(crate) text: Py<PyString>,
    pub(crate) places: Places,
    /// The length of the text, in the unit of its places.
    pub(crate) length: usize,
}

/// A rule of RFC 3986, and whether its extension by RFC 3987 applies.
pub(crate) type SyntaxRule = (Rule, bool);

/// The fast kernel's result for a text.
pub(crate) enum Reading {
    Derived(Components),
    NotDerived,
    /// The reference kernel must read it.
    Unread,
}

impl Components {
    /// Parse a text by a rule.
    #[inline(always)]
    pub(crate) fn read(text: &Bound<'_, PyString>, (rule, iri): SyntaxRule, zone: bool) -> Reading {
        if let Some(octets) = quick::ascii(text) {
            return match parse(octets, rule, zone) {
                Ok(spans) => {
                    let (places, length) = (Places::Octets(spans), octets.len());
                    Reading::Derived(Components { text: text.clone().unbind(), places, length })
                }
                Err(_) if octets.len() < OMITTED as usize => Reading::NotDerived,
                Err(_) => Reading::Unread,
            };
        }
        // Either a lone surrogate has no UTF-8 form, or memory is exhausted: the code in Python finds out which.
        let Ok(characters) = text.to_str() else { return Reading::Unread };
        let (places, length) = if iri && !characters.is_ascii() {
            if memchr::memchr(b'[', characters.as_bytes()).is_some() {
                return Reading::Unread;
            }
            let mut stand_ins = Vec::with_capacity(characters.len());
            let spans = iri::parse(characters, rule, &mut stand_ins);
            (spans.map(Places::Characters), stand_ins.len())
        } else {
            let spans = parse(characters.as_bytes(), rule, zone).ok();
            (spans.map(Places::Octets), characters.len())
        };
        match places {
            Some(places) => Reading::Derived(Components { text: text.clone().unbind(), places, length }),
            None if characters.len() < OMITTED as usize => Reading::NotDerived,
            None => Reading::Unread,
        }
    }

    /// The text of a component; None if it is undefined.
    #[inline]
    pub(crate) fn slice<'py>(
        &self,
        py: Python<'py>,
        component: Component,
    ) -> PyResult<Option<Bound<'py, PyString>>> {
        let text = self.text.bind(py);
        match &self.places {
            Places::Octets(spans) => {
                let Some(span) = spans.get(component, self.length) else { return Ok(None) };
                quick::text(py, span.of(text.to_str()?.as_bytes())).map(Some)
            }
            Places::Characters(spans) => {
                let Some(Span { start, end, .. }) = spans.get(component, self.length) else {
                    return Ok(None);
                };
                let part = text.get_item(pyo3::types::PySlice::new(py, start as isize, end as isize, 1))?;
                Ok(Some(part.cast_into()?))
            }
        }
    }

    /// The places in a US-ASCII text, which are the same in octets and in characters; None for another text.
    #[inline(always)]
    pub(crate) fn octet_spans(&self) -> Option<&Spans<Octets>> {
        match &self.places {
            Places::Octets(spans) => Some(spans),
            Places::Characters(_) => None,
        }
    }

    /// The start and end of a component, in characters.
    #[inline]
    pub(crate) fn bounds(&self, component: Component) -> Option<(usize, usize)> {
        match &self.places {
            Places::Octets(spans) => spans.get(component, self.length).map(|span| (span.start, span.end)),
            Places::Characters(spans) => spans.get(component, self.length).map(|span| (span.start, span.end)),
        }
    }

    /// The components from a match of the reference kernel.
    fn of_match(text: &Bound<'_, PyString>, result: &Bound<'_, PyAny>) -> PyResult<Self> {
        let py = text.py();
        let places = places_of(&result.getattr(intern!(py, "regs"))?)?;
        let is_ascii: bool = text.call_method0(intern!(py, "isascii"))?.extract()?;
        let places = if is_ascii {
            Places::Octets(Spans::of_places(places))
        } else {
            Places::Characters(Spans::of_places(places))
        };
        Ok(Components { length: text.len()?, text: text.clone().unbind(), places })
    }

    /// The text in UTF-8.
    pub(crate) fn octets<'py>(&'py self, py: Python<'py>) -> PyResult<&'py [u8]> {
        let text = self.text.bind(py);
        Ok(match quick::ascii(text) {
            Some(octets) => octets,
            None => text.to_str()?.as_bytes(),
        })
    }
}

/// The places of a match of the reference kernel, in characters, from its groups.
fn places_of(regs: &Bound<'_, PyAny>) -> PyResult<[u32; 8]> {
    let groups: Vec<(i64, i64)> = regs.extract()?;
    let [_, scheme, authority, userinfo, host, _, path, query, fragment, ..] = groups.as_slice() else {
        return Err(bug(regs.py(), "a match of the reference kernel without its groups"));
    };
    let places = [scheme.1, authority.0, userinfo.1, host.1, path.0, path.1, query.1, fragment.0];
    Ok(places.map(|place| u32::try_from(place).unwrap_or(OMITTED)))
}

/// The exact text of the argument of a class, and whether it may have a zone.
fn text_argument<'py>(
    cls: &Bound<'py, PyType>,
    text: &Bound<'py, PyAny>,
    zone: bool,
) -> PyResult<(Bound<'py, PyString>, bool)> {
    if let Ok(text) = text.cast_exact::<PyString>() {
        return Ok((text.clone(), zone));
    }
    if let Ok(other) = text.cast::<Components>() {
        let zone = zone || !text.getattr(intern!(cls.py(), "zone"))?.is_none();
        return Ok((other.get().text.bind(cls.py()).clone(), zone));
    }
    if let Ok(text) = text.cast::<PyString>() {
        return Ok((quick::exact(text)?, zone));
    }
    Err(PyTypeError::new_err(format!(
        "{}() takes text (RFC 3986 2: characters, not octets), not {}",
        cls.name()?,
        text.get_type().name()?
    )))
}

/// The components of a text, by the fast kernel if it knows the rule and can read the text, otherwise by the reference
/// kernel.
fn components(
    text: &Bound<'_, PyString>,
    syntax: Option<SyntaxRule>,
    rule: impl FnOnce() -> PyResult<Py<PyAny>>,
    zone: bool,
) -> PyResult<Option<Components>> {
    match syntax.map_or(Reading::Unread, |syntax| Components::read(text, syntax, zone)) {
        Reading::Derived(value) => return Ok(Some(value)),
        Reading::NotDerived => return Ok(None),
        Reading::Unread if text.len()? >= OMITTED as usize => {
            return Err(PyOverflowError::new_err("a text may have at most 4,294,967,294 characters"));
        }
        Reading::Unread => {}
    }
    let py = text.py();
    let reference = py.import(intern!(py, "overthere.kernel.reference"))?;
    let result = reference.call_method1(intern!(py, "parse"), (text, rule()?, zone))?;
    if result.is_none() {
        return Ok(None);
    }
    Components::of_match(text, &result).map(Some)
}

/// The components of a text by the rule of a class, which is looked up unless the caller knows it.
fn by_class(
    cls: &Bound<'_, PyType>,
    known: Option<SyntaxRule>,
    text: &Bound<'_, PyString>,
    zone: bool,
) -> PyResult<Option<Components>> {
    let rule = || Ok(cls.getattr(intern!(cls.py(), "rule"))?.unbind());
    let syntax = match known {
        Some(syntax) => Some(syntax),
        None => rule_named(rule()?.extract(cls.py())?),
    };
    components(text, syntax, rule, zone)
}

/// The exception for a text that a rule does not derive, from `overthere.values.findings.refusal`.
#[cold]
pub(crate) fn refusal(text: &Bound<'_, PyString>, rule: &Bound<'_, PyAny>, zone: bool) -> PyErr {
    static REFUSAL: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let _inside = Inside::enter(text.py());
    let error = REFUSAL
        .import(text.py(), "overthere.values.findings", "refusal")
        .and_then(|refusal| refusal.call1((text, rule, zone)));
    error.map_or_else(|error| error, |error| quick::raised(&error))
}

/// The components of a text, or None if `rule` (URI, URI-reference, IRI, IRI-reference) does not derive it.
#[pyfunction]
#[pyo3(name = "parse", signature = (text, rule = "URI-reference", zone = false))]
pub fn parse_text(
    text: &Bound<'_, PyString>,
    rule: &str,
    #[pyo3(from_py_with = truth)] zone: bool,
) -> PyResult<Option<Components>> {
    guarded(text.py(), || {
        let name = || rule.into_py_any(text.py());
        components(&quick::exact(text)?, rule_named(rule), name, zone)
    })
}

/// The rule with a name; None if it is unknown.
pub(crate) fn rule_named(rule: &str) -> Option<SyntaxRule> {
    match rule {
        "URI" => Some((Rule::Uri, false)),
        "URI-reference" => Some((Rule::UriReference, false)),
        "IRI" => Some((Rule::Uri, true)),
        "IRI-reference" => Some((Rule::UriReference, true)),
        _ => None,
    }
}

/// The text between "%25" and "]" of an IP-literal.
fn zone_of(host: &str) -> Option<&str> {
    let inside = host.strip_prefix('[')?.strip_suffix(']')?;
    inside.split_once("%25").map(|(_, zone)| zone)
}

#[pymethods]
impl Components {
    #[classattr]
    #[expect(non_upper_case_globals, reason = "as the attribute is called in Python")]
    const rule: &'static str = "URI-reference";

    #[new]
    #[classmethod]
    #[pyo3(signature = (text, *, zone = false))]
    fn new(
        cls: &Bound<'_, PyType>,
        text: &Bound<'_, PyAny>,
        #[pyo3(from_py_with = truth)] zone: bool,
    ) -> PyResult<Self> {
        guarded(cls.py(), || {
            let (text, zone) = text_argument(cls, text, zone)?;
            match by_class(cls, None, &text, zone)? {
                Some(value) => Ok(value),
                None => Err(refusal(&text, &cls.getattr(intern!(cls.py(), "rule"))?, zone)),
            }
        })
    }

    /// Calls of every class of URIs and IRIs take the short way.
    #[classmethod]
    fn __init_subclass__(cls: &Bound<'_, PyType>) -> PyResult<()> {
        guarded(cls.py(), || {
            if let Some(syntax) = rule_named(cls.getattr(intern!(cls.py(), "rule"))?.extract()?) {
                quick::quicken(cls, syntax);
            }
            if cls.module()?.to_str()?.starts_with("overthere.") {
                crate::getters::install(cls)?;
            }
            Ok(())
        })
    }

    /// Parse a text; return None if it is invalid, without computing why (the class would raise InvalidURI).
    ///
    /// Raises: TypeError if it is not text.
    ///
    /// >>> from overthere import URI
    /// >>> URI.parse("http://a/b"), URI.parse("http://a b/")
    /// (URI('http://a/b'), None)
    #[classmethod]
    #[pyo3(signature = (text, *, zone = false))]
    fn parse<'py>(
        cls: &Bound<'py, PyType>,
        text: &Bound<'py, PyAny>,
        #[pyo3(from_py_with = truth)] zone: bool,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        guarded(cls.py(), || {
            let (text, zone) = text_argument(cls, text, zone)?;
            let rule = quick::rule_of_class(cls);
            match by_class(cls, rule, &text, zone)? {
                Some(value) if rule.is_some() => quick::instance(cls, value).map(Some),
                Some(_) => {
                    let keywords = PyDict::new(cls.py());
                    keywords.set_item(intern!(cls.py(), "zone"), zone)?;
                    cls.call((text,), Some(&keywords)).map(Some)
                }
                None => Ok(None),
            }
        })
    }

    /// Whether a text is valid for this class.
    ///
    /// Raises: TypeError if it is not text.
    ///
    /// >>> from overthere import URI, URIReference
    /// >>> URI.can_parse("//a/b"), URIReference.can_parse("//a/b")
    /// (False, True)
    #[classmethod]
    #[pyo3(signature = (text, *, zone = false))]
    fn can_parse(
        cls: &Bound<'_, PyType>,
        text: &Bound<'_, PyAny>,
        #[pyo3(from_py_with = truth)] zone: bool,
    ) -> PyResult<bool> {
        guarded(cls.py(), || {
            let (text, zone) = text_argument(cls, text, zone)?;
            Ok(by_class(cls, quick::rule_of_class(cls), &text, zone)?.is_some())
        })
    }

    /// The alternative of 3.2.2 that the host is, the first that matches; None without an authority.
    #[getter]
    fn host_kind(&self, py: Python<'_>) -> PyResult<Option<&'static str>> {
        guarded(py, || {
            let Some(host) = self.slice(py, Component::Host)? else { return Ok(None) };
            Ok(Some(match host_kind(host.to_str()?.as_bytes()) {
                HostKind::RegName => "reg-name",
                HostKind::IPv4address => "IPv4address",
                HostKind::IPv6address => "IPv6address",
                HostKind::IPvFuture => "IPvFuture",
            }))
        })
    }

    /// The zone identifier of an IPv6 address as written (RFC 6874), or None.
    #[getter]
    fn zone<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyString>>> {
        guarded(py, || {
            let Some(host) = self.slice(py, Component::Host)? else { return Ok(None) };
            Ok(zone_of(host.to_str()?).map(|zone| PyString::new(py, zone)))
        })
    }

    /// The kind of reference by its syntax (4.1, 4.2, 4.4).
    #[getter]
    fn form(&self, py: Python<'_>) -> PyResult<&'static str> {
        guarded(py, || {
            let has = |component| self.bounds(component).is_some();
            if has(Component::Scheme) {
                return Ok("uri");
            }
            if has(Component::Authority) {
                return Ok("network-path");
            }
            let path = self.slice(py, Component::Path)?;
            Ok(match path.as_ref().map_or(Ok(""), |path| path.to_str())? {
                "" if !has(Component::Query) => "same-document",
                path if path.starts_with('/') => "absolute-path",
                _ => "relative-path",
            })
        })
    }

    /// The place of a component in the text, (start, end) in code points; None if it is undefined.
    ///
    /// Raises: KeyError for an unknown component; TypeError if it is not text.
    fn span(&self, py: Python<'_>, component: &Bound<'_, PyAny>) -> PyResult<Option<(usize, usize)>> {
        guarded(py, || {
            let Ok(name) = component.cast::<PyString>() else {
                let kind = component.get_type().name()?;
                return Err(PyTypeError::new_err(format!("span() takes text, not {kind}")));
            };
            let name = quick::exact(name)?;
            if let Some(component) = name.to_str().ok().and_then(Component::named) {
                return Ok(self.bounds(component));
            }
            let known = "scheme, authority, userinfo, host, port, path, query, fragment";
            let shown = name.repr()?;
            let shown = shown.to_string_lossy();
            Err(PyKeyError::new_err(format!("{shown:.100} is not a component; the components are {known}")))
        })
    }

    /// The five components as a tuple.
    fn _parts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        guarded(py, || {
            let parts = [
                self.slice(py, Component::Scheme)?,
                self.slice(py, Component::Authority)?,
                self.slice(py, Component::Path)?,
                self.slice(py, Component::Query)?,
                self.slice(py, Component::Fragment)?,
            ];
            PyTuple::new(py, parts)
        })
    }

    fn __str__(&self, py: Python<'_>) -> PyResult<Py<PyString>> {
        guarded(py, || Ok(self.text.clone_ref(py)))
    }

    fn __hash__(&self, py: Python<'_>) -> PyResult<isize> {
        guarded(py, || self.text.bind(py).hash())
    }

    fn __richcmp__<'py>(&self, other: &Bound<'py, PyAny>, op: CompareOp) -> PyResult<Bound<'py, PyAny>> {
        let py = other.py();
        guarded(py, || match other.cast::<Components>() {
            Ok(other) => self.text.bind(py).rich_compare(other.get().text.bind(py), op),
            Err(_) => Ok(py.NotImplemented().into_bound(py)),
        })
    }
}
