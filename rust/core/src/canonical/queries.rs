//! Steps that rewrite the query or the fragment.

use super::components::{rewrite, Text};
use super::paths::rewrite_escapes;
use super::{name_and_value, pieces};
use crate::classes;
use crate::parameters::{Change, Form, Scratch};
use crate::percent::{encode, Safe};
use crate::place::Part;

pub(super) const FORM: Form = Form { separator: b'&', plus: true };

static UNRESERVED: Safe = Safe::members(classes::UNRESERVED);

/// The unreserved characters and "=".
static IN_FRAGMENT: Safe = Safe::members(classes::UNRESERVED).with(b'=');

/// The bytes that a name or a value allows: those of a query except "&" and "=".
static IN_PAIRS: Safe = Safe::members(classes::QUERY).without(b'&').without(b'=');

/// Replace a query by what `write` writes; make it undefined if `write` returns false.
fn rewrite_or_clear(query: &mut Text, spare: &mut Vec<u8>, write: impl FnOnce(&[u8], &mut Vec<u8>) -> bool) {
    let Some(text) = query.get_mut() else { return };
    let mut is_defined = true;
    rewrite(text, spare, |text, out| is_defined = write(text, out));
    if !is_defined {
        query.clear();
    }
}

/// Change the pairs as `forms.Parameters` does.
pub(super) fn change(query: &mut Text, spare: &mut Vec<u8>, change: &Change, scratch: &mut Scratch) {
    rewrite_or_clear(query, spare, |text, out| FORM.change(Some(text), change, scratch, out));
}

/// Keep the pairs for which `keep` returns true; a query that is empty then becomes undefined.
fn filter(query: &mut Text, spare: &mut Vec<u8>, mut keep: impl FnMut(&[u8]) -> bool) {
    rewrite_or_clear(query, spare, |text, out| {
        let mut has_pairs = false;
        for piece in pieces(text).filter(|piece| keep(piece)) {
            separate(&mut has_pairs, out);
            out.extend_from_slice(piece);
        }
        !out.is_empty()
    });
}

/// Write "&" before every pair but the first.
fn separate(has_pairs: &mut bool, out: &mut Vec<u8>) {
    if std::mem::replace(has_pairs, true) {
        out.push(b'&');
    }
}

/// Keep only the pairs of these names.
pub(super) fn keep(query: &mut Text, spare: &mut Vec<u8>, names: &[Vec<Vec<u8>>], scratch: &mut Scratch) {
    let is_named = |piece: &[u8], scratch: &mut Scratch| FORM.has_name(piece, names, scratch);
    // An empty pair stays if it is the only one to remove.
    let is_one_empty = query.get().is_some_and(|text| {
        let mut unnamed = pieces(text).filter(|piece| !is_named(piece, scratch));
        unnamed.next().is_some_and(<[u8]>::is_empty) && unnamed.next().is_none()
    });
    filter(query, spare, |piece| is_named(piece, scratch) || (is_one_empty && piece.is_empty()));
}

/// Drop empty pairs, or if `valueless` all pairs without a value.
pub(super) fn drop_empty(query: &mut Text, spare: &mut Vec<u8>, valueless: bool) {
    filter(query, spare, |piece| {
        if valueless {
            name_and_value(piece).1.is_some_and(|value| !value.is_empty())
        } else {
            piece.iter().any(|&b| b != b'=')
        }
    });
}

/// Drop the "=" after a name if the value is empty.
pub(super) fn drop_empty_values(query: &mut Text, spare: &mut Vec<u8>) {
    let Some(text) = query.get_mut() else { return };
    rewrite(text, spare, |text, out| {
        let mut has_pairs = false;
        for piece in pieces(text) {
            separate(&mut has_pairs, out);
            match piece {
                [name @ .., b'='] if memchr::memchr(b'=', name).is_none() => out.extend_from_slice(name),
                _ => out.extend_from_slice(piece),
            }
        }
    });
}

/// Sort pairs by their undecoded names, then by their values; a missing value sorts before an empty one.
pub(super) fn sort_pairs(query: &[u8], out: &mut Vec<u8>) {
    if memchr::memchr(b'&', query).is_none() {
        out.extend_from_slice(query);
        return;
    }
    let mut pairs: Vec<_> = pieces(query).map(name_and_value).collect();
    pairs.sort();
    let mut has_pairs = false;
    for (name, value) in pairs {
        separate(&mut has_pairs, out);
        out.extend_from_slice(name);
        if let Some(value) = value {
            out.push(b'=');
            out.extend_from_slice(value);
        }
    }
}

/// The step `sort-parameters` by pair.
pub(super) fn sort_by_pair(query: &mut Text, spare: &mut Vec<u8>) {
    if let Some(text) = query.get_mut() {
        rewrite(text, spare, sort_pairs);
    }
}

/// Decode the pairs, sort them by name and value, and encode them as a form.
pub(super) fn rewrite_parameters(query: &mut Text, spare: &mut Vec<u8>) {
    rewrite_or_clear(query, spare, |text, out| {
        let mut octets = Vec::with_capacity(text.len());
        let mut places = Vec::new();
        for piece in pieces(text).filter(|piece| !piece.is_empty()) {
            let (name, value) = name_and_value(piece);
            let start = octets.len();
            FORM.decode(name, &mut octets);
            let middle = octets.len();
            FORM.decode(value.unwrap_or_default(), &mut octets);
            places.push((start, middle, octets.len()));
        }
        let pair = |&(start, middle, end): &(usize, usize, usize)| {
            (octets.part(start..middle), octets.part(middle..end))
        };
        places.sort_by(|a, b| pair(a).cmp(&pair(b)));
        let mut has_pairs = false;
        for place in &places {
            let (name, value) = pair(place);
            separate(&mut has_pairs, out);
            quote_plus(name, out);
            out.push(b'=');
            quote_plus(value, out);
        }
        has_pairs
    });
}

/// Encode a name or value of a form, with "+" for a space.
fn quote_plus(octets: &[u8], out: &mut Vec<u8>) {
    for (number, piece) in octets.split(|&b| b == b' ').enumerate() {
        if number > 0 {
            out.push(b'+');
        }
        encode(piece, &UNRESERVED, out);
    }
}

/// Keep escapes in names and values only where they are necessary, for "+", and for "=" in values; drop empty pairs.
pub(super) fn rewrite_pairs(query: &mut Text, spare: &mut Vec<u8>) {
    rewrite_or_clear(query, spare, |text, out| {
        let mut has_pairs = false;
        for piece in pieces(text).filter(|piece| !piece.is_empty()) {
            separate(&mut has_pairs, out);
            let (name, value) = name_and_value(piece);
            rewrite_escapes(name, b"+", &IN_PAIRS, out);
            let Some(value) = value else { continue };
            out.push(b'=');
            for (number, between) in value.split(|&b| b == b'=').enumerate() {
                if number > 0 {
                    out.extend_from_slice(b"%3D");
                }
                rewrite_escapes(between, b"+", &IN_PAIRS, out);
            }
        }
        has_pairs
    });
}

/// Escape all but unreserved characters and "="; make an empty fragment undefined.
pub(super) fn rewrite_fragment(fragment: &mut Text, spare: &mut Vec<u8>) {
    rewrite_or_clear(fragment, spare, |text, out| {
        let mut octets = Vec::with_capacity(text.len());
        // The escapes of a valid text are valid, so this never happens.
        if crate::percent::decode(text, &mut octets).is_err() {
            octets.extend_from_slice(text);
        }
        encode(&octets, &IN_FRAGMENT, out);
        !out.is_empty()
    });
}

/// Make an empty query undefined.
pub(super) fn drop_if_empty(query: &mut Text) {
    if query.get().is_some_and(<[u8]>::is_empty) {
        query.clear();
    }
}

/// The texts between the "*" of each name.
pub(super) fn patterns(names: &[String]) -> Vec<Vec<Vec<u8>>> {
    names.iter().map(|name| name.split('*').map(|piece| piece.as_bytes().to_vec()).collect()).collect()
}
