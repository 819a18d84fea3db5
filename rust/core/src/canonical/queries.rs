//! Steps that rewrite the query, and the fragment.

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

/// What a name or a value may hold: all of a query but "&" and "=".
static IN_PAIRS: Safe = Safe::members(classes::QUERY).without(b'&').without(b'=');

/// A query that is what `write` writes, and undefined where it writes nothing and answers false.
fn rewrite_or_clear(query: &mut Text, spare: &mut Vec<u8>, write: impl FnOnce(&[u8], &mut Vec<u8>) -> bool) {
    let Some(text) = query.get_mut() else { return };
    let mut is_defined = true;
    rewrite(text, spare, |text, out| is_defined = write(text, out));
    if !is_defined {
        query.clear();
    }
}

/// The pairs changed as `forms.Parameters` changes them.
pub(super) fn change(query: &mut Text, spare: &mut Vec<u8>, change: &Change, scratch: &mut Scratch) {
    rewrite_or_clear(query, spare, |text, out| FORM.change(Some(text), change, scratch, out));
}

/// Pairs that `keep` keeps; none at all, and an empty text, are an undefined query.
fn filter(query: &mut Text, spare: &mut Vec<u8>, mut keep: impl FnMut(&[u8]) -> bool) {
    rewrite_or_clear(query, spare, |text, out| {
        let mut any = false;
        for piece in pieces(text).filter(|piece| keep(piece)) {
            separate(&mut any, out);
            out.extend_from_slice(piece);
        }
        !out.is_empty()
    });
}

fn separate(any: &mut bool, out: &mut Vec<u8>) {
    if std::mem::replace(any, true) {
        out.push(b'&');
    }
}

/// Pairs of these names alone.
pub(super) fn keep(query: &mut Text, spare: &mut Vec<u8>, names: &[Vec<Vec<u8>>], scratch: &mut Scratch) {
    let is_named = |piece: &[u8], scratch: &mut Scratch| FORM.has_name(piece, names, scratch);
    // One empty pair alone is an empty query, of which nothing is left out.
    let is_one_empty = query.get().is_some_and(|text| {
        let mut others = pieces(text).filter(|piece| !is_named(piece, scratch));
        others.next().is_some_and(<[u8]>::is_empty) && others.next().is_none()
    });
    filter(query, spare, |piece| is_named(piece, scratch) || (is_one_empty && piece.is_empty()));
}

/// No empty pairs, or if `valueless` none without a value.
pub(super) fn drop_empty(query: &mut Text, spare: &mut Vec<u8>, valueless: bool) {
    filter(query, spare, |piece| {
        if valueless {
            name_and_value(piece).1.is_some_and(|value| !value.is_empty())
        } else {
            piece.iter().any(|&b| b != b'=')
        }
    });
}

/// No "=" behind a name without a value.
pub(super) fn drop_empty_values(query: &mut Text, spare: &mut Vec<u8>) {
    let Some(text) = query.get_mut() else { return };
    rewrite(text, spare, |text, out| {
        let mut any = false;
        for piece in pieces(text) {
            separate(&mut any, out);
            match piece {
                [name @ .., b'='] if memchr::memchr(b'=', name).is_none() => out.extend_from_slice(name),
                _ => out.extend_from_slice(piece),
            }
        }
    });
}

/// Pairs by their names as they are written, then by their values; without a value before an empty one.
pub(super) fn sort_pairs(query: &[u8], out: &mut Vec<u8>) {
    if memchr::memchr(b'&', query).is_none() {
        out.extend_from_slice(query);
        return;
    }
    let mut pairs: Vec<_> = pieces(query).map(name_and_value).collect();
    pairs.sort();
    let mut any = false;
    for (name, value) in pairs {
        separate(&mut any, out);
        out.extend_from_slice(name);
        if let Some(value) = value {
            out.push(b'=');
            out.extend_from_slice(value);
        }
    }
}

/// The step of that name.
pub(super) fn sort_by_pair(query: &mut Text, spare: &mut Vec<u8>) {
    if let Some(text) = query.get_mut() {
        rewrite(text, spare, sort_pairs);
    }
}

/// Pairs decoded, sorted by name and value, and written anew as a form.
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
        let mut any = false;
        for place in &places {
            let (name, value) = pair(place);
            separate(&mut any, out);
            quote_plus(name, out);
            out.push(b'=');
            quote_plus(value, out);
        }
        any
    });
}

fn quote_plus(octets: &[u8], out: &mut Vec<u8>) {
    for (number, piece) in octets.split(|&b| b == b' ').enumerate() {
        if number > 0 {
            out.push(b'+');
        }
        encode(piece, &UNRESERVED, out);
    }
}

/// Escapes in names and values only where they must be, for "+", and for "=" in values; no empty pairs.
pub(super) fn rewrite_pairs(query: &mut Text, spare: &mut Vec<u8>) {
    rewrite_or_clear(query, spare, |text, out| {
        let mut any = false;
        for piece in pieces(text).filter(|piece| !piece.is_empty()) {
            separate(&mut any, out);
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
        any
    });
}

/// All escaped but unreserved characters and "="; no empty fragment.
pub(super) fn rewrite_fragment(fragment: &mut Text, spare: &mut Vec<u8>) {
    rewrite_or_clear(fragment, spare, |text, out| {
        let mut octets = Vec::with_capacity(text.len());
        // The escapes of a valid text are whole.
        if crate::percent::decode(text, &mut octets).is_err() {
            octets.extend_from_slice(text);
        }
        encode(&octets, &IN_FRAGMENT, out);
        !out.is_empty()
    });
}

/// No query for an empty one.
pub(super) fn drop_if_empty(query: &mut Text) {
    if query.get().is_some_and(<[u8]>::is_empty) {
        query.clear();
    }
}

/// What stands between the "*" of names.
pub(super) fn patterns(names: &[String]) -> Vec<Vec<Vec<u8>>> {
    names.iter().map(|name| name.split('*').map(|piece| piece.as_bytes().to_vec()).collect()).collect()
}
