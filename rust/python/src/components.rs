//! `Components`: a text and where its components are.
//!
//! The text is the caller's own `str`, of a subclass a true copy.  Offsets are code points; for US-ASCII, which every URI is, they
//! are bytes too.

use overthere_core::host::{host_kind, HostKind};
use overthere_core::iri;
use overthere_core::parse::{Rule, Spans, OMITTED};
use pyo3::basic::CompareOp;
use pyo3::exceptions::{PyKeyError, PyTypeError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyString, PyTuple, PyType};

use crate::fast::parse;
use crate::quick;

type Place = Option<(usize, usize)>;

/// The components of a text that its class's rule derives; None is undefined, "" is empty.
#[pyclass(frozen, subclass, module = "overthere._native")]
pub struct Components {
    pub(crate) text: Py<PyString>,
    pub(crate) spans: Spans,
    length: usize,
    pub(crate) ascii: bool,
}

impl Components {
    /// A text that a rule of RFC 3986 derives.
    #[inline]
    pub(crate) fn of(text: &Bound<'_, PyString>, rule: Rule, zone: bool) -> Option<Self> {
        // A lone surrogate has no UTF-8 form, and no place in a URI.
        let characters = text.to_str().ok()?;
        let spans = parse(characters.as_bytes(), rule, zone).ok()?;
        Some(Components { text: text.clone().unbind(), spans, length: characters.len(), ascii: true })
    }

    /// A text that a rule of RFC 3987 derives, but for some that the reference kernel reads.
    pub(crate) fn of_iri(text: &Bound<'_, PyString>, rule: Rule, zone: bool) -> Option<Self> {
        let characters = text.to_str().ok()?;
        if characters.is_ascii() {
            return Components::of(text, rule, zone);
        }
        let mut stand_ins = Vec::with_capacity(characters.len());
        let spans = iri::parse(characters, rule, &mut stand_ins)?;
        Some(Components { text: text.clone().unbind(), spans, length: stand_ins.len(), ascii: false })
    }

    #[inline]
    fn slice<'py>(&self, py: Python<'py>, place: Place) -> PyResult<Option<Bound<'py, PyString>>> {
        let Some((start, end)) = place else { return Ok(None) };
        let text = self.text.bind(py);
        if self.ascii {
            return quick::text(py, &text.to_str()?.as_bytes()[start..end]).map(Some);
        }
        let part = text.get_item(pyo3::types::PySlice::new(py, start as isize, end as isize, 1))?;
        Ok(Some(part.cast_into()?))
    }

    /// From what the reference kernel found.
    fn of_match(text: &Bound<'_, PyString>, found: &Bound<'_, PyAny>) -> PyResult<Self> {
        let py = text.py();
        let spans = spans_of(&found.getattr(intern!(py, "regs"))?)?;
        let ascii = text.call_method0(intern!(py, "isascii"))?.extract()?;
        Ok(Components { length: text.len()?, text: text.clone().unbind(), spans, ascii })
    }

    fn place(&self, component: &str) -> Option<Place> {
        Some(match component {
            "scheme" => self.spans.scheme(),
            "authority" => self.spans.authority(),
            "userinfo" => self.spans.userinfo(),
            "host" => self.spans.host(),
            "port" => self.spans.port(),
            "path" => Some(self.spans.path()),
            "query" => self.spans.query(),
            "fragment" => self.spans.fragment(self.length),
            _ => return None,
        })
    }

    /// Whether the host is an IP-literal with a zone identifier.
    pub(crate) fn has_zone(&self, py: Python<'_>) -> PyResult<bool> {
        Ok(zone_of(self.part(py, self.spans.host())?).is_some())
    }

    /// The text in UTF-8.
    pub(crate) fn octets<'py>(&'py self, py: Python<'py>) -> PyResult<&'py [u8]> {
        Ok(self.text.bind(py).to_str()?.as_bytes())
    }

    fn part<'py>(&'py self, py: Python<'py>, place: Place) -> PyResult<&'py str> {
        let text = self.text.bind(py).to_str()?;
        Ok(place.map_or("", |(start, end)| &text[start..end]))
    }
}

/// The spans of a match of the reference kernel: its groups, one by one.
fn spans_of(regs: &Bound<'_, PyAny>) -> PyResult<Spans> {
    let regs: Vec<(i64, i64)> = regs.extract()?;
    let at = |value: i64| if value < 0 { OMITTED } else { value as u32 };
    Ok(Spans {
        scheme_end: at(regs[1].1),
        authority: at(regs[2].0),
        userinfo_end: at(regs[3].1),
        host_end: at(regs[4].1),
        path: at(regs[6].0),
        path_end: at(regs[6].1),
        query_end: at(regs[7].1),
        fragment: at(regs[8].0),
    })
}

/// A text that the fast path does not take: another type, an IRI, or something to refuse.
#[cold]
fn slow(cls: &Bound<'_, PyType>, text: &Bound<'_, PyAny>, zone: bool) -> PyResult<Components> {
    let py = cls.py();
    let mut zone = zone;
    let text: Bound<'_, PyString> = if let Ok(other) = text.cast::<Components>() {
        zone = zone || !text.getattr(intern!(py, "zone"))?.is_none();
        other.get().text.bind(py).clone()
    } else if let Ok(text) = text.cast::<PyString>() {
        quick::exact(text)?
    } else {
        return Err(PyTypeError::new_err(format!(
            "{}() takes text (RFC 3986 2: characters, not octets), not {}",
            cls.name()?,
            text.get_type().name()?
        )));
    };
    let rule = cls.getattr(intern!(py, "rule"))?;
    let reference = py.import(intern!(py, "overthere.kernel.reference"))?;
    let found = reference.call_method1(intern!(py, "parse"), (&text, &rule, zone))?;
    if found.is_none() {
        let findings = py.import(intern!(py, "overthere.findings"))?;
        let refusal = findings.call_method1(intern!(py, "refusal"), (&text, &rule, zone))?;
        return Err(PyErr::from_value(refusal));
    }
    Components::of_match(&text, &found)
}

/// The components of a text, or None if `rule` (URI, URI-reference, IRI, IRI-reference) does not derive it.
#[pyfunction]
#[pyo3(name = "parse", signature = (text, rule = "URI-reference", zone = false))]
pub fn parse_text(text: &Bound<'_, PyString>, rule: &str, zone: bool) -> PyResult<Option<Components>> {
    let (py, text) = (text.py(), &quick::exact(text)?);
    if let Some((own, iri)) = named(rule) {
        let found = read(text, (own, iri), zone);
        if found.is_some() || !iri {
            return Ok(found);
        }
    }
    let reference = py.import(intern!(py, "overthere.kernel.reference"))?;
    let found = reference.call_method1(intern!(py, "parse"), (text, rule, zone))?;
    if found.is_none() {
        return Ok(None);
    }
    Ok(Some(Components::of_match(text, &found)?))
}

/// The rule of RFC 3986, and whether it is the one of RFC 3987 that extends it.
type Asked = (Rule, bool);

fn named(rule: &str) -> Option<Asked> {
    match rule {
        "URI" => Some((Rule::Uri, false)),
        "URI-reference" => Some((Rule::UriReference, false)),
        "IRI" => Some((Rule::Uri, true)),
        "IRI-reference" => Some((Rule::UriReference, true)),
        _ => None,
    }
}

/// Which rule a class asks for.
fn rule_of(cls: &Bound<'_, PyType>) -> PyResult<Option<Asked>> {
    Ok(named(cls.getattr(intern!(cls.py(), "rule"))?.extract()?))
}

fn read(text: &Bound<'_, PyString>, (rule, iri): Asked, zone: bool) -> Option<Components> {
    if iri {
        Components::of_iri(text, rule, zone)
    } else {
        Components::of(text, rule, zone)
    }
}

/// A value of the same class with another text, which a URI is; its spans if they are known.
pub(crate) fn alike<'py>(
    value: &Bound<'py, Components>,
    octets: &[u8],
    spans: Option<Spans>,
) -> PyResult<Bound<'py, PyAny>> {
    let class = value.get_type();
    let text = quick::text(value.py(), octets)?;
    if let Some(rule) = quick::rule_of(&class) {
        let known = spans.filter(|_| octets.len() < OMITTED as usize);
        let found = known.map_or_else(|| parse(octets, rule, false).ok(), Some);
        if let Some(spans) = found {
            let length = octets.len();
            return quick::instance(&class, Components { text: text.unbind(), spans, length, ascii: true });
        }
    }
    class.call1((text,))
}

/// What stands between "%25" and "]" of an IP-literal.
fn zone_of(host: &str) -> Option<&str> {
    let inside = host.strip_prefix('[')?.strip_suffix(']')?;
    inside.split_once("%25").map(|(_, zone)| zone)
}

#[pymethods]
impl Components {
    #[classattr]
    #[allow(non_upper_case_globals)]
    const rule: &'static str = "URI-reference";

    #[new]
    #[classmethod]
    #[pyo3(signature = (text, *, zone = false))]
    fn new(cls: &Bound<'_, PyType>, text: &Bound<'_, PyAny>, zone: bool) -> PyResult<Self> {
        if let Ok(exact) = text.cast_exact::<PyString>() {
            if let Some(value) = rule_of(cls)?.and_then(|rule| read(exact, rule, zone)) {
                return Ok(value);
            }
        }
        slow(cls, text, zone)
    }

    /// Calls of every class of URIs and IRIs take the short way.
    #[classmethod]
    fn __init_subclass__(cls: &Bound<'_, PyType>) -> PyResult<()> {
        if let Some((rule, iri)) = rule_of(cls)? {
            quick::quicken(cls, rule, iri);
        }
        Ok(())
    }

    /// The scheme as written (RFC 3986 3.1), or None.
    #[getter]
    fn scheme<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyString>>> {
        // Most are one of two, and need no new text.
        match self.text.bind(py).to_str()?.as_bytes() {
            [b'h', b't', b't', b'p', b's', b':', ..] => Ok(Some(intern!(py, "https").clone())),
            [b'h', b't', b't', b'p', b':', ..] => Ok(Some(intern!(py, "http").clone())),
            _ => self.slice(py, self.spans.scheme()),
        }
    }

    /// The authority (3.2) without its "//", or None.
    #[getter]
    fn authority<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyString>>> {
        self.slice(py, self.spans.authority())
    }

    /// The userinfo (3.2.1) without its "@", or None.
    #[getter]
    fn userinfo<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyString>>> {
        self.slice(py, self.spans.userinfo())
    }

    /// The host (3.2.2), brackets included; None without an authority, "" if it is empty.
    #[getter]
    fn host<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyString>>> {
        self.slice(py, self.spans.host())
    }

    /// The port's digits as written (3.2.3), "" after a bare colon, or None.
    #[getter]
    fn port_text<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyString>>> {
        self.slice(py, self.spans.port())
    }

    /// The path (3.3); it is always defined, and may be empty.
    #[getter]
    fn path<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyString>>> {
        self.slice(py, Some(self.spans.path()))
    }

    /// The query (3.4) without its "?", or None.
    #[getter]
    fn query<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyString>>> {
        self.slice(py, self.spans.query())
    }

    /// The fragment (3.5) without its "#", or None.
    #[getter]
    fn fragment<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyString>>> {
        self.slice(py, self.spans.fragment(self.length))
    }

    /// The port as a number; None if undefined, empty or of more than 18 digits.
    #[getter]
    fn port(&self, py: Python<'_>) -> PyResult<Option<u64>> {
        if self.spans.port().is_none() {
            return Ok(None);
        }
        let port = self.slice(py, self.spans.port())?;
        let digits = port.as_ref().map_or(Ok(""), |p| p.to_str())?;
        if digits.is_empty() {
            return Ok(None);
        }
        let digits = digits.trim_start_matches('0');
        Ok(match digits.len() {
            0 => Some(0),
            1..=18 => digits.parse().ok(),
            _ => None,
        })
    }

    /// Which alternative of 3.2.2 the host is: the first that matches; None without an authority.
    #[getter]
    fn host_kind(&self, py: Python<'_>) -> PyResult<Option<&'static str>> {
        let Some(host) = self.slice(py, self.spans.host())? else { return Ok(None) };
        Ok(Some(match host_kind(host.to_str()?.as_bytes()) {
            HostKind::RegName => "reg-name",
            HostKind::IPv4address => "IPv4address",
            HostKind::IPv6address => "IPv6address",
            HostKind::IPvFuture => "IPvFuture",
        }))
    }

    /// The zone identifier of an IPv6 address as written (RFC 6874), or None.
    #[getter]
    fn zone<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyString>>> {
        let Some((start, end)) = self.spans.host() else { return Ok(None) };
        if !self.ascii {
            let host = self.slice(py, Some((start, end)))?;
            let found = host.as_ref().map(|h| h.to_str()).transpose()?.and_then(zone_of);
            return Ok(found.map(|zone| PyString::new(py, zone)));
        }
        let host = self.part(py, Some((start, end)))?;
        Ok(zone_of(host).map(|zone| PyString::new(py, zone)))
    }

    /// Which kind of reference it is by its syntax (4.1, 4.2, 4.4).
    #[getter]
    fn form(&self, py: Python<'_>) -> PyResult<&'static str> {
        let spans = &self.spans;
        let (start, end) = spans.path();
        Ok(if spans.scheme().is_some() {
            "uri"
        } else if spans.authority().is_some() {
            "network-path"
        } else if start < end && self.slice(py, Some((start, start + 1)))?.is_some_and(|first| first == "/") {
            "absolute-path"
        } else if start == end && spans.query().is_none() {
            "same-document"
        } else {
            "relative-path"
        })
    }

    /// Where a component stands in the text, (start, end) in code points; None if it is undefined.
    ///
    /// Raises: KeyError for a name that is no component.
    fn span(&self, component: &str) -> PyResult<Place> {
        self.place(component).ok_or_else(|| {
            let known = "scheme, authority, userinfo, host, port, path, query, fragment";
            PyKeyError::new_err(format!("'{component}' is no component; there is {known}"))
        })
    }

    /// The five components as a tuple.
    fn _parts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let parts = [
            self.slice(py, self.spans.scheme())?,
            self.slice(py, self.spans.authority())?,
            self.slice(py, Some(self.spans.path()))?,
            self.slice(py, self.spans.query())?,
            self.slice(py, self.spans.fragment(self.length))?,
        ];
        PyTuple::new(py, parts)
    }

    fn __str__(&self, py: Python<'_>) -> Py<PyString> {
        self.text.clone_ref(py)
    }

    fn __hash__(&self, py: Python<'_>) -> PyResult<isize> {
        self.text.bind(py).hash()
    }

    fn __richcmp__<'py>(&self, other: &Bound<'py, PyAny>, op: CompareOp) -> PyResult<Bound<'py, PyAny>> {
        let py = other.py();
        match other.cast::<Components>() {
            Ok(other) => self.text.bind(py).rich_compare(other.get().text.bind(py), op),
            Err(_) => Ok(py.NotImplemented().into_bound(py)),
        }
    }
}
