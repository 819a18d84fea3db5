//! Editing a value, and building one: component text is checked, data is encoded (RFC 3986 5.3, 2.4).

use overthere_core::edit::{split_path, suffix_start, Pieces};
use overthere_core::percent::{self, Safe};
use overthere_core::place::Part;
use overthere_core::resolve::Parsed;
use pyo3::ffi::PyObject;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyInt, PyList, PyString, PyTuple, PyType};

use super::pairs;
use super::values::{ascii, new_value, on_value, with_buffer};
use super::{Answer, Call};
use crate::fast::parse;
use crate::quick;

/// A value of a class with these components; None if its text would be read as other components.
pub(super) fn put_together<'py>(class: &Bound<'py, PyType>, pieces: &Pieces<'_>) -> Answer<'py> {
    let Some((rule, _)) = quick::rule_of_class(class) else { return Ok(None) };
    if pieces.host.is_none() && (pieces.userinfo.is_some() || pieces.port.is_some()) {
        return Ok(None);
    }
    with_buffer(|out| {
        let spans = pieces.write(out);
        if parse(out, rule, false) != Ok(spans) {
            return Ok(None);
        }
        new_value(class, quick::text(class.py(), out)?, out, Some(spans)).map(Some)
    })
}

/// A port and a query as data, which the pieces of a new text borrow.
#[derive(Default)]
struct Data<'a, 'py> {
    port: Option<String>,
    pairs: Option<&'a Bound<'py, PyAny>>,
    query: Vec<u8>,
}

impl<'a, 'py> Data<'a, 'py> {
    /// Store an argument of `replace` or `build` in the pieces, or here; false if Python must handle it.
    fn take(
        &mut self,
        name: *mut PyObject,
        argument: &'a Bound<'py, PyAny>,
        pieces: &mut Pieces<'a>,
    ) -> PyResult<bool> {
        let py = argument.py();
        let is = |known: &Bound<'py, PyString>| known.as_ptr() == name;
        if is(intern!(py, "port")) && argument.is_exact_instance_of::<PyInt>() {
            self.port = Some(argument.extract::<u64>()?.to_string());
            return Ok(true);
        }
        let Some(text) = ascii(argument) else {
            self.pairs = Some(argument);
            return Ok(is(intern!(py, "query")));
        };
        if is(intern!(py, "path")) {
            let Some(path) = text else { return Ok(false) };
            pieces.path = path;
            return Ok(true);
        }
        *match () {
            () if is(intern!(py, "scheme")) => &mut pieces.scheme,
            () if is(intern!(py, "userinfo")) => &mut pieces.userinfo,
            () if is(intern!(py, "host")) => &mut pieces.host,
            () if is(intern!(py, "port")) => &mut pieces.port,
            () if is(intern!(py, "query")) => &mut pieces.query,
            () if is(intern!(py, "fragment")) => &mut pieces.fragment,
            () => return Ok(false),
        } = text;
        Ok(true)
    }

    /// Build the value from the pieces and the data.
    fn finish(mut self, class: &Bound<'py, PyType>, pieces: Pieces<'_>) -> Answer<'py> {
        let mut pieces = pieces;
        if let Some(port) = &self.port {
            pieces.port = Some(port.as_bytes());
        }
        if let Some(argument) = self.pairs {
            if !pairs::query(argument, pieces.scheme, &mut self.query)? {
                return Ok(None);
            }
            pieces.query = Some(&self.query);
        }
        put_together(class, &pieces)
    }
}

/// `value.replace(host="h", ...)`
pub(super) fn replace<'py>(call: &Call<'_, 'py>) -> Answer<'py> {
    let [value] = call.plain else { return Ok(None) };
    on_value(value, |value, parsed| {
        let (mut pieces, mut data) = (Pieces::of(parsed), Data::default());
        for (name, argument) in call.named() {
            if !data.take(name, argument, &mut pieces)? {
                return Ok(None);
            }
        }
        data.finish(&value.get_type(), pieces)
    })
}

/// `URI.build(scheme="https", host="h", segments=["a", "b"], ...)`
pub(super) fn build<'py>(call: &Call<'_, 'py>) -> Answer<'py> {
    let [class] = call.plain else { return Ok(None) };
    let Ok(class) = class.cast::<PyType>() else { return Ok(None) };
    let (mut pieces, mut data, mut segments) = (Pieces::default(), Data::default(), None);
    for (name, argument) in call.named() {
        if name == intern!(class.py(), "segments").as_ptr() {
            segments = Some(argument);
        } else if !data.take(name, argument, &mut pieces)? {
            return Ok(None);
        }
    }
    let Some(segments) = segments else { return data.finish(&class, pieces) };
    with_buffer(|path| {
        path.push(b'/');
        if pieces.host.is_none() || !pieces.path.is_empty() || !write_segments(segments, path)? {
            return Ok(None);
        }
        data.finish(&class, Pieces { path, ..pieces })
    })
}

/// The value with a new path, and without query and fragment.
fn with_path<'py>(class: &Bound<'py, PyType>, parsed: Parsed<'_>, path: &[u8]) -> Answer<'py> {
    put_together(class, &Pieces { path, query: None, fragment: None, ..Pieces::of(parsed) })
}

/// Encode a segment of data; false if it is not a text, or would be a dot-segment.
fn write_segment(segment: &Bound<'_, PyAny>, out: &mut Vec<u8>) -> PyResult<bool> {
    let Ok(text) = segment.cast_exact::<PyString>() else { return Ok(false) };
    let (data, Some(safe)) = (text.to_str()?.as_bytes(), Safe::of("segment")) else { return Ok(false) };
    percent::encode(data, safe, out);
    Ok(data != b"." && data != b"..")
}

/// Encode segments of data with "/" between them; false if they are not a list or tuple of one or more texts.
fn write_segments(segments: &Bound<'_, PyAny>, out: &mut Vec<u8>) -> PyResult<bool> {
    let is_sequence = segments.is_exact_instance_of::<PyList>() || segments.is_exact_instance_of::<PyTuple>();
    if !is_sequence || segments.len()? == 0 {
        return Ok(false);
    }
    for (i, segment) in segments.try_iter()?.enumerate() {
        if i > 0 {
            out.push(b'/');
        }
        if !write_segment(&segment?, out)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// `value / "a"`
pub(super) fn divide<'py>(call: &Call<'_, 'py>) -> Answer<'py> {
    let [_, _] = call.unnamed() else { return Ok(None) };
    append(call)
}

/// `value.append("a", "b")`
pub(super) fn append<'py>(call: &Call<'_, 'py>) -> Answer<'py> {
    let [value, segments @ ..] = call.unnamed() else { return Ok(None) };
    on_value(value, |value, parsed| {
        with_buffer(|path| {
            path.extend_from_slice(parsed.path());
            if path.last() != Some(&b'/') && (!path.is_empty() || parsed.authority().is_some()) {
                path.push(b'/');
            }
            // The first segment of a path has special rules, which Python checks.
            if path.is_empty() || segments.is_empty() {
                return Ok(None);
            }
            for (i, segment) in segments.iter().enumerate() {
                if i > 0 {
                    path.push(b'/');
                }
                if !write_segment(segment, path)? {
                    return Ok(None);
                }
            }
            with_path(&value.get_type(), parsed, path)
        })
    })
}

/// `value.with_name("a")`
pub(super) fn with_name<'py>(call: &Call<'_, 'py>) -> Answer<'py> {
    let [value, name] = call.unnamed() else { return Ok(None) };
    on_value(value, |value, parsed| {
        with_buffer(|path| {
            path.extend_from_slice(split_path(parsed.path()).0);
            if path.is_empty() && parsed.authority().is_some() {
                path.push(b'/');
            }
            if path.is_empty() || !write_segment(name, path)? {
                return Ok(None);
            }
            with_path(&value.get_type(), parsed, path)
        })
    })
}

/// `value.with_suffix(".pdf")`
pub(super) fn with_suffix<'py>(call: &Call<'_, 'py>) -> Answer<'py> {
    let [value, suffix] = call.unnamed() else { return Ok(None) };
    on_value(value, |value, parsed| {
        let Some(Some(suffix)) = ascii(suffix) else { return Ok(None) };
        let (folder, name) = split_path(parsed.path());
        // A name that begins with a dot may become a dot-segment.
        if matches!(name.first(), None | Some(b'.' | b'%'))
            || !(suffix.is_empty() || suffix.starts_with(b"."))
            || suffix.len() == 1
        {
            return Ok(None);
        }
        with_buffer(|path| {
            path.extend_from_slice(folder);
            path.extend_from_slice(name.part(..suffix_start(name)));
            let Some(safe) = Safe::of("segment") else { return Ok(None) };
            percent::encode(suffix, safe, path);
            with_path(&value.get_type(), parsed, path)
        })
    })
}

/// `value.with_segments(["a", "b"])`
pub(super) fn with_segments<'py>(call: &Call<'_, 'py>) -> Answer<'py> {
    let [value, segments] = call.unnamed() else { return Ok(None) };
    on_value(value, |value, parsed| {
        with_buffer(|path| {
            path.push(b'/');
            let is_rooted = parsed.authority().is_some() || parsed.path().starts_with(b"/");
            if !is_rooted || !write_segments(segments, path)? {
                return Ok(None);
            }
            with_path(&value.get_type(), parsed, path)
        })
    })
}

/// `value.parent`
pub(super) fn parent<'py>(call: &Call<'_, 'py>) -> Answer<'py> {
    let [value] = call.unnamed() else { return Ok(None) };
    on_value(value, |value, parsed| {
        let (folder, _) = split_path(parsed.path());
        let path = if folder.len() > 1 { folder.part(..folder.len() - 1) } else { folder };
        with_path(&value.get_type(), parsed, path)
    })
}
