//! Steps: compiled from the names that Python passes, and applied to a URI.

use std::collections::HashMap;

use super::components::{is_scheme, rewrite, without_zeros, Components};
use super::{hosts, paths, queries, sessions, Argument, Facts, Named, NeedsPython, Scheme, StepResult};
use crate::normalize::{host, SYNTAX};
use crate::parameters::{Change, Scratch};

/// The ports to drop.
#[derive(Clone, Copy)]
pub(super) enum Port {
    Default,
    Empty,
    Any,
    Web,
}

/// A step with its parameters.
pub(super) enum Step {
    Ladder(u8),
    RemoveDots,
    LowerHost,
    DropFragment,
    DropUserinfo { empty: bool },
    DropPort(Port),
    DropWww,
    Https,
    HostDots,
    Ipv4,
    Ipv6 { dotted: bool },
    HostIdna,
    Unescape,
    Nfc,
    CollapseSlashes,
    RootSlash,
    DropTrailingSlash,
    DropIndex(Vec<Vec<u8>>),
    LowerPath,
    LowerQuery,
    RewritePath { keep: Vec<u8> },
    RewriteQuery,
    RewriteFragment,
    ChangePairs(Change),
    SortByPair,
    RewriteParameters,
    KeepParameters(Vec<Vec<Vec<u8>>>),
    DropEmptyParameters { valueless: bool },
    DropEmptyValues,
    DropEmptyQuery,
    DropSessions,
}

/// The parameters of a step.
struct Arguments<'a>(&'a HashMap<String, Argument>);

impl Arguments<'_> {
    fn flag(&self, name: &str) -> Option<bool> {
        match self.0.get(name) {
            None => Some(false),
            Some(Argument::Flag(flag)) => Some(*flag),
            Some(_) => None,
        }
    }

    fn text<'a>(&'a self, name: &str, default: &'a str) -> Option<&'a str> {
        match self.0.get(name) {
            None => Some(default),
            Some(Argument::Text(text)) => Some(text),
            Some(_) => None,
        }
    }

    fn names(&self) -> Option<&[String]> {
        match self.0.get("names") {
            Some(Argument::Names(names)) => Some(names),
            _ => None,
        }
    }
}

impl Step {
    /// The step of this name; None if it, or a value of a parameter, is unknown here.
    pub fn new((name, arguments): &Named) -> Option<Self> {
        let arguments = Arguments(arguments);
        Some(match name.as_str() {
            "ladder" => Step::Ladder(match arguments.text("rung", "")? {
                "STRING" => 0,
                "CASE" => 1,
                "PERCENT" => 2,
                "PATH" => SYNTAX,
                "SCHEME" => SYNTAX + 1,
                _ => return None,
            }),
            "remove-dots" => Step::RemoveDots,
            "lower-host" => Step::LowerHost,
            "drop-fragment" => Step::DropFragment,
            "drop-userinfo" => Step::DropUserinfo { empty: arguments.flag("empty")? },
            "drop-port" => Step::DropPort(match arguments.text("only", "default")? {
                "default" => Port::Default,
                "empty" => Port::Empty,
                "any" => Port::Any,
                "web" => Port::Web,
                _ => return None,
            }),
            "drop-www" => Step::DropWww,
            "https" => Step::Https,
            "host-dots" => Step::HostDots,
            "ipv4" => Step::Ipv4,
            "ipv6" => Step::Ipv6 { dotted: arguments.flag("dotted")? },
            "host-idna" => Step::HostIdna,
            "unescape" => Step::Unescape,
            "nfc" => Step::Nfc,
            "collapse-slashes" => Step::CollapseSlashes,
            "root-slash" => Step::RootSlash,
            "drop-trailing-slash" => Step::DropTrailingSlash,
            "drop-index" => {
                Step::DropIndex(arguments.names()?.iter().map(|name| name.as_bytes().to_vec()).collect())
            }
            "lower-path" => Step::LowerPath,
            "lower-query" => Step::LowerQuery,
            "rewrite-path" => {
                // Characters above U+00FF have no octet: their numbers have more digits than an escape.
                let octets = arguments.text("keep", "/?")?.chars().filter_map(|c| u8::try_from(c).ok());
                Step::RewritePath { keep: octets.collect() }
            }
            "rewrite-query" => Step::RewriteQuery,
            "rewrite-fragment" => Step::RewriteFragment,
            "sort-parameters" => match arguments.text("by", "name")? {
                "name" => Step::ChangePairs(Change::Sort),
                "pair" => Step::SortByPair,
                _ => return None,
            },
            "rewrite-parameters" => Step::RewriteParameters,
            "drop-parameters" => Step::ChangePairs(Change::Without(queries::patterns(arguments.names()?))),
            "keep-parameters" => Step::KeepParameters(queries::patterns(arguments.names()?)),
            "drop-empty-parameters" => Step::DropEmptyParameters { valueless: arguments.flag("valueless")? },
            "drop-empty-values" => Step::DropEmptyValues,
            "drop-empty-query" => Step::DropEmptyQuery,
            "drop-sessions" => Step::DropSessions,
            _ => return None,
        })
    }

    /// Apply the step to the components; the caller then guards the path.
    pub fn apply(&self, uri: &mut Components, facts: &Facts, scratch: &mut Scratch) -> StepResult {
        match self {
            Step::Ladder(rung) => return ladder(uri, *rung, facts),
            Step::RemoveDots => paths::normalize(uri),
            Step::LowerHost => hosts::lower(uri),
            Step::DropFragment => uri.fragment.clear(),
            Step::DropUserinfo { empty } => {
                if !empty || matches!(uri.userinfo.get(), Some(b"" | b":")) {
                    uri.userinfo.clear();
                }
            }
            Step::DropPort(which) => return drop_port(uri, *which, facts),
            Step::DropWww => hosts::drop_www(uri),
            Step::Https => {
                if is_scheme(uri, b"http") {
                    drop_port(uri, Port::Default, facts)?;
                    uri.scheme.clear();
                    uri.scheme.extend_from_slice(b"https");
                }
            }
            Step::HostDots => hosts::remove_extra_dots(uri),
            Step::Ipv4 => return hosts::ipv4(uri),
            Step::Ipv6 { dotted } => return hosts::ipv6(uri, *dotted),
            Step::HostIdna => return hosts::idna(uri),
            Step::Unescape => {
                hosts::unescape(uri);
                paths::unescape(&mut uri.path, &mut uri.spare, &paths::PATH);
                if let Some(query) = uri.query.get_mut() {
                    paths::unescape(query, &mut uri.spare, &paths::QUERY);
                }
            }
            Step::Nfc => {
                let texts = [Some(uri.path.as_slice()), uri.query.get(), uri.fragment.get()];
                return texts.into_iter().flatten().try_for_each(paths::nfc);
            }
            Step::CollapseSlashes => paths::collapse(uri),
            Step::RootSlash => {
                if uri.has_authority && uri.path.is_empty() {
                    uri.path.push(b'/');
                }
            }
            Step::DropTrailingSlash => paths::drop_trailing_slash(&mut uri.path),
            Step::DropIndex(names) => paths::drop_index(&mut uri.path, names),
            Step::LowerPath => paths::lower(&mut uri.path),
            Step::LowerQuery => {
                if let Some(query) = uri.query.get_mut() {
                    paths::lower(query);
                }
            }
            Step::RewritePath { keep } => {
                if memchr::memchr(b'%', &uri.path).is_some() {
                    rewrite(&mut uri.path, &mut uri.spare, |path, out| {
                        paths::rewrite_escapes(path, keep, &paths::PATH, out);
                    });
                }
            }
            Step::RewriteQuery => queries::rewrite_pairs(&mut uri.query, &mut uri.spare),
            Step::RewriteFragment => queries::rewrite_fragment(&mut uri.fragment, &mut uri.spare),
            Step::ChangePairs(change) => queries::change(&mut uri.query, &mut uri.spare, change, scratch),
            Step::SortByPair => queries::sort_by_pair(&mut uri.query, &mut uri.spare),
            Step::RewriteParameters => queries::rewrite_parameters(&mut uri.query, &mut uri.spare),
            Step::KeepParameters(names) => queries::keep(&mut uri.query, &mut uri.spare, names, scratch),
            Step::DropEmptyParameters { valueless } => {
                queries::drop_empty(&mut uri.query, &mut uri.spare, *valueless);
            }
            Step::DropEmptyValues => queries::drop_empty_values(&mut uri.query, &mut uri.spare),
            Step::DropEmptyQuery => queries::drop_if_empty(&mut uri.query),
            Step::DropSessions => return sessions::drop(uri, &facts.sessions),
        }
        Ok(())
    }
}

/// The facts about a URI's scheme; `NeedsPython` if it is not among them.
fn scheme_of<'a>(uri: &Components, facts: &'a Facts) -> Result<&'a Scheme, NeedsPython> {
    let scheme = if uri.scheme.iter().any(u8::is_ascii_uppercase) {
        facts.schemes.get(&uri.scheme.to_ascii_lowercase())
    } else {
        facts.schemes.get(&uri.scheme)
    };
    scheme.ok_or(NeedsPython)
}

/// Normalize a URI at a rung.
fn ladder(uri: &mut Components, rung: u8, facts: &Facts) -> StepResult {
    if rung == 0 {
        return Ok(());
    }
    let generic = rung.min(SYNTAX);
    uri.scheme.make_ascii_lowercase();
    let Components { userinfo, host: name, path, query, fragment, spare, .. } = uri;
    for text in [userinfo, query, fragment].into_iter().filter_map(|text| text.get_mut()) {
        paths::normalize_escapes(text, spare, generic);
    }
    paths::normalize_escapes(path, spare, generic);
    if memchr::memchr(b'%', name).is_some() {
        rewrite(name, spare, |name, out| host(name, generic, out));
    } else {
        name.make_ascii_lowercase();
    }
    if generic == SYNTAX {
        paths::remove_dots(path);
        uri.guard();
    }
    if rung > SYNTAX {
        let rules = scheme_of(uri, facts)?.rules.as_ref().ok_or(NeedsPython)?;
        match uri.port.get().map(|port| rules.start_of_port(port)) {
            Some(None) => uri.port.clear(),
            Some(Some(zeros)) if zeros > 0 => {
                if let Some(port) = uri.port.get_mut() {
                    port.drain(..zeros);
                }
            }
            _ => {}
        }
        if rules.slash_for_empty_path && uri.has_authority && uri.path.is_empty() {
            uri.path.push(b'/');
        }
    }
    Ok(())
}

fn drop_port(uri: &mut Components, which: Port, facts: &Facts) -> StepResult {
    let Some(port) = uri.port.get() else { return Ok(()) };
    let is_dropped = match which {
        Port::Any => true,
        Port::Empty => port.is_empty(),
        Port::Web => match without_zeros(port) {
            b"80" => is_scheme(uri, b"http"),
            b"443" => is_scheme(uri, b"https"),
            _ => false,
        },
        Port::Default if port.is_empty() => true,
        Port::Default => scheme_of(uri, facts)?.port.as_deref() == Some(without_zeros(port)),
    };
    if is_dropped {
        uri.port.clear();
    }
    Ok(())
}
