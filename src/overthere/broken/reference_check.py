"""Checks a reference without reading other documents: its syntax, its place, its target."""

from __future__ import annotations

import re
from typing import NamedTuple
from urllib.parse import unquote

from overthere.broken.anchors import is_top, names, reason
from overthere.broken.filters import remap
from overthere.broken.generators.templates import MARK, has_template
from overthere.broken.keys import LABELS, NUMBERLESS, document_key, key
from overthere.broken.model import Checker
from overthere.broken.scan import Reference, Scan
from overthere.broken.site import Place, Site
from overthere.broken.source_check import find_by_project, is_beside_labels
from overthere.ground.caches import bounded_cache
from overthere.links.containers.message_labels import part_of
from overthere.links.faults import note_kind
from overthere.repairs import to_reference
from overthere.schemes import scheme
from overthere.values.normalize import Rung, normal_form
from overthere.values.uri import URI, URIReference

_PREFIX = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*+):")
_ADDRESS = re.compile(r"[A-Za-z0-9.!#$&'*+/=?^_`{|}~-]++@[A-Za-z0-9-]++(?:\.[A-Za-z0-9-]++)++")
_HAS_HOST = re.compile(r"[^:/?#]*+://(?:[^@/?#]*+@)?+[^:/?#]")
_WINDOWS_DRIVE = re.compile(r"[A-Za-z]:(?:/|%5C)")
"""A Windows drive, with "/" or an encoded backslash after repair; no scheme has a name of one letter."""
_DESTINATIONS = ("link", "image", "definition")
"""Places in Markdown where a destination in angle brackets may have blanks, which renderers encode (CommonMark 6.3)."""
_ROOT = URI("file:///")
_FOLDERS_ARE_FINE = ("markdown", "rst", "notebook")
"""Kinds of documents whose renderers on code hosts can show a folder."""


class ReferenceState(NamedTuple):
    """The result of checking a reference."""

    target: str | None = None
    fragment: str | None = None
    findings: tuple[tuple[str, str], ...] = ()
    """Kinds of `KINDS`, each with its subject."""
    passed: str | None = None
    """Why it is not checked (`PASSED`)."""
    is_within: bool = False
    outside: str | None = None
    """The external URI, without its fragment, which only a request can check."""
    pairs: tuple[int, ...] = ()
    """Keys of the anchor, one of which must exist."""
    there: tuple[int, ...] = ()
    """Keys of the document in a container, one of which must exist."""
    document: int = -1
    """The document of the fragment; -1 for none."""
    place: Place | None = None
    is_remapped: bool = False


def check_reference(reference: Reference, scan: Scan, site: Site, checker: Checker) -> ReferenceState:
    """Check a reference of a document; conditions on other documents are returned as `pairs`.

    A bug in this library becomes a finding, so that the other references are checked.
    """
    try:
        return _check(reference, scan, site, checker)
    except Exception as error:
        note_kind(error)
        return ReferenceState(findings=(("unsure", f"{reference.reference}: its check failed, a bug of this library"),))


def _check(item: Reference, scan: Scan, site: Site, checker: Checker) -> ReferenceState:
    if item.passed is not None:
        return ReferenceState(passed=item.passed)
    if item.target is None and (prefix := _PREFIX.match(item.reference)) and prefix[1].lower() in PASSED_SCHEMES:
        return ReferenceState(passed=PASSED_SCHEMES[prefix[1].lower()])
    if item.is_nofollow and checker.skip_nofollow:
        return ReferenceState(passed="nofollow")
    text = item.reference if item.target is None else item.target
    if has_template(text):
        if MARK in text or scan.project.generator or scan.kind != "html":
            return ReferenceState(passed="template")
        return ReferenceState(findings=(("unsure", "it has a template"),))
    reference, problem = to_reference(text)
    if reference is None:
        if scan.project.aliases is not None and scan.project.aliases(text):
            return ReferenceState(findings=(("unsure", f"{text}: the generator may know this name"),))
        finding = problem.finding if problem is not None else None
        return ReferenceState(findings=(("invalid", f"{finding.message} ({finding.source})" if finding else ""),))
    findings: tuple[tuple[str, str], ...] = ()
    is_written = (
        scan.kind in ("markdown", "notebook")
        and item.where in _DESTINATIONS
        and problem is not None
        and problem.kind == "space"
    )
    if problem is not None and problem.kind != "non-ascii" and not is_written:
        findings = (("repaired", problem.finding.message),)
    joined = resolve(reference, item.base.uri, site)
    state = ReferenceState(str(joined), joined.fragment, findings)
    absolute = reference.scheme is not None
    if checker.remap and (mapped := remap(str(joined), checker)) != str(joined):
        state, absolute = state._replace(target=mapped, is_remapped=True), True
    return _target(item, scan, state, site, checker, absolute, reference)


def resolve(reference: URIReference, base: URI, site: Site) -> URI:
    """The target (RFC 3986 5.2); if the settings name a root, "/" in a file leads to it."""
    is_rooted = reference.path.startswith("/") and reference.scheme is None and reference.authority is None
    if site.root is None or not is_rooted or site.path_below(str(base)) is None:
        return base.join(reference)
    return URI(f"{site.root}{str(_ROOT.join(reference)).removeprefix(str(_ROOT))}")


PASSED_SCHEMES = {
    "inv": "sphinx-role",
    "project": "sphinx-role",
    "path": "sphinx-role",
    "javascript": "javascript",
    "data": "data",
    "about": "about",
    "blob": "data",
    "attachment": "data",
}


def _target(
    item: Reference, scan: Scan, state: ReferenceState, site: Site, checker: Checker, absolute: bool,
    reference: URIReference,
) -> ReferenceState:  # fmt: skip
    target = state.target or ""
    uri = target.partition("#")[0]
    name = _scheme_of(uri)
    if (scheme_findings := by_scheme(uri)) is not None:
        before = () if _WINDOWS_DRIVE.match(uri) else state.findings
        return state._replace(findings=(*before, *scheme_findings), is_within=True)
    if name in PASSED_SCHEMES:
        return state._replace(passed=PASSED_SCHEMES[name])
    document = scan.document
    if document.parts is not None and (part := part_of(target, document.parts)) is not None:
        return _fragment(item, scan, state._replace(is_within=True), document_key(part), uri, checker)
    if name == "cid":
        finding = ("no-document", "part of the message with this Content-ID")
        return state._replace(findings=(*state.findings, finding), is_within=True)
    if uri == str(document.base.uri):
        # RFC 3986 4.4: a same-document reference.
        return _fragment(item, scan, state._replace(is_within=True), document_identity(scan, site), uri, checker)
    if document_identity(scan, site) >= NUMBERLESS and scan.kind != "uri-list":
        return _check_in_container(item, scan, state, uri, checker)
    place = site.find(target)
    if not absolute and reference.authority is None:
        place = find_by_project(place, item, scan, site, reference.path)
        if place.verdict == "label":
            labels = key(LABELS, place.name), key(LABELS, place.name.lower())
            unknown = "unsure" if scan.project.aliases is not None else "no-document"
            return state._replace(is_within=True, there=labels, place=place._replace(verdict=unknown))
    if place.verdict == "outside":
        return _check_external(item, state, uri, site, absolute)
    state = state._replace(is_within=True, place=place)
    if place.verdict == "listed":
        return state
    if place.verdict == "redirected":
        state = state._replace(findings=(*state.findings, ("redirected", f"{uri.partition('?')[0]}/")))
    elif place.verdict == "is-folder" and scan.kind in _FOLDERS_ARE_FINE and not scan.project.generator:
        return state
    elif place.verdict != "document":
        about = place.instead if place.verdict == "wrong-case" else place.name
        return state._replace(findings=(*state.findings, (place.verdict, about)))
    return _fragment(item, scan, state, place.document, place.name, checker)


def document_identity(scan: Scan, site: Site) -> int:
    """The identity of a document: its number, or the key of its source."""
    number = site.numbers.get(scan.document.source)
    return number if number is not None else document_key(scan.document.source)


def _member(scan: Scan, target: str) -> str | None:
    """The name of a URI in the archive of the document; None if it is not in that archive."""
    archive, _, name = scan.document.source.rpartition("!")
    uri = str(scan.document.base.uri)
    if not archive or not name or not unquote(uri).endswith(f"/{name}"):
        return None
    below = uri.split("/")[: -len(name.split("/"))]
    prefix = "/".join(below) + "/"
    return f"{archive}!{unquote(target.partition('?')[0][len(prefix) :])}" if target.startswith(prefix) else None


def _check_external(item: Reference, state: ReferenceState, uri: str, site: Site, absolute: bool) -> ReferenceState:
    if absolute or item.reference.startswith("//") or item.base.layer == "content":
        return state._replace(outside=uri)
    if site.by_file and item.reference.startswith("/"):
        return state._replace(passed="root")
    return state._replace(findings=(*state.findings, ("outside-base", uri)), outside=uri)


def _check_in_container(
    item: Reference, scan: Scan, state: ReferenceState, uri: str, checker: Checker
) -> ReferenceState:
    """The state of a reference to a target that another document of the container may have, which pass 2 decides."""
    name = _member(scan, uri)
    if name is None:
        # An archive of pages is a selection: a page that is not in it is external, and not a fault.
        return _fragment(item, scan, state._replace(outside=uri), uri_key(uri), uri, checker)
    own_keys = (uri_key(uri), document_key(name), *(document_key(f"{name}{index}") for index in checker.indexes))
    state = state._replace(is_within=True, there=own_keys, place=Place("no-document", name=name.rpartition("!")[2]))
    return _fragment(item, scan, state, uri_key(uri), uri, checker)


@bounded_cache(1 << 14)
def uri_key(uri: str) -> int:
    """The key of a document by its URI."""
    return document_key(normal_form(uri, Rung.SCHEME))


def _fragment(
    item: Reference, scan: Scan, state: ReferenceState, document: int, path: str, checker: Checker
) -> ReferenceState:
    fragment = state.fragment
    if fragment is None or not checker.fragments or is_top(fragment):
        return state
    if ":~:" in fragment:
        # A fragment directive names text, so pass 2 has nothing to look up.
        return state._replace(passed="text-fragment")
    if item.where.endswith(" usemap"):
        return state._replace(document=document, pairs=tuple(key(document, f"\0{name}") for name in names(fragment)))
    if scan.titles and item.reference.startswith("#") and unquote(fragment) in scan.titles:
        return state
    names_labels = scan.names_labels or is_beside_labels(scan, checker)
    if names_labels and item.reference.startswith("#") and "%" not in fragment:
        return state._replace(document=document, pairs=(key(document, fragment), key(LABELS, fragment)))
    return state._replace(document=document, pairs=tuple(key(document, name) for name in names(fragment)))


def unjudged_reason(known: ReferenceState, kind: str) -> str | None:
    """Why a fragment that was not found is not reported; None if it is a fault, or may be one."""
    return reason(known.fragment or "", (known.target or "").partition("#")[0].partition("?")[0], kind)


def _scheme_of(target: str) -> str:
    """The scheme of a URI, in lower case."""
    return target.partition(":")[0].lower()


def decode_at_sign(uri: str) -> str | None:
    """The corrected mailto URI if its address has "%40" for "@", which programs write against harvesters; else None.

    >>> [decode_at_sign(uri) for uri in ("mailto:joe%40example.org?subject=x%40y", "mailto:a@b.example", "mailto:%40")]
    ['mailto:joe@example.org?subject=x%40y', None, None]
    """
    address, mark, fields = uri.partition("?")
    if "@" in address or "%40" not in address:
        return None
    intended = f"{address.replace('%40', '@')}{mark}{fields}"
    return None if scheme("mailto").check(intended, limit=1) else intended


def mail_reference(reference: str) -> str | None:
    """The corrected mailto URI if it has blanks before its address, or "%40" for "@"; None for other references."""
    start, colon, address = reference.strip().partition(":")
    if start.lower() != "mailto":
        return None
    mapped = to_reference(f"{start}{colon}{address.lstrip()}")[0]
    if mapped is None:
        return None
    intended = decode_at_sign(str(mapped)) or str(mapped)
    return None if intended == reference or scheme("mailto").check(intended, limit=1) else intended


def bare_address(reference: str) -> str | None:
    """The mailto URI of a mail address without a scheme; None for other references.

    >>> bare_address("joe@example.org"), bare_address("joe@host/x")
    ('mailto:joe@example.org', None)
    """
    intended = f"mailto:{reference}"
    return intended if _ADDRESS.fullmatch(reference) and not scheme("mailto").check(intended, limit=1) else None


def by_scheme(uri: str) -> tuple[tuple[str, str], ...] | None:
    """The findings of a URI that is checked by its scheme's rules; None for other URIs.

    A mailto URI is checked completely (RFC 6068 2); other URIs must have a host if their scheme requires one.
    """
    if _WINDOWS_DRIVE.match(uri):
        return (("invalid", "a Windows file name; write it as a relative reference or as file:///C:/..."),)
    name = _scheme_of(uri)
    if name == "mailto":
        if (corrected := decode_at_sign(uri)) is not None:
            return (("encoded-at", corrected),)
        errors = scheme(name).check(uri, limit=1)
        texts = (f"{error.message.removeprefix('not a valid mailto URI: ')} ({error.source})" for error in errors[:1])
        return tuple(("bad-mailto", text) for text in texts)
    if (name == "tel" and not _DIGIT.search(uri)) or _LONG_PORT.search(uri):
        errors = scheme(name).check(uri, limit=1)
        if errors:
            return (("not-of-scheme", f"{errors[0].message} ({errors[0].source})"),)
    intended, needs_host = _scheme_facts(name)
    if intended:
        return (("not-of-scheme", f'there is no scheme "{name}"; "{intended}" was meant'),)
    return None if not needs_host or _HAS_HOST.match(uri) else (("no-host", name),)


@bounded_cache(64)
def _scheme_facts(name: str) -> tuple[str, bool]:
    """The frequent scheme for which an unknown one is a typo, or ""; and whether the scheme needs a host."""
    facts = scheme(name)
    return _misspelled(name) if facts.title == "not known" else "", facts.needs_host


_DIGIT = re.compile("[0-9]")
_LONG_PORT = re.compile(r"\Ahttps?://[^/?#]*+(?<=:\d{5})(?=[/?#]|\Z)|\Ahttps?://[^/?#]*:\d{6,}", re.IGNORECASE)
_FREQUENT = ("http", "https", "mailto", "ftp")


def _misspelled(name: str) -> str:
    """The frequent scheme that differs from a name by one letter, or "".

    >>> [_misspelled(name) for name in ("htp", "htttps", "htpp", "ttps", "gopher")]
    ['http', 'https', 'http', 'https', '']
    """
    for candidate in _FREQUENT:
        for at in range(len(candidate) + 1):
            tail = candidate[at:]
            if name in (candidate[:at] + tail[1:], candidate[:at] + tail[1:2] + tail[:1] + tail[2:]):
                return candidate
            for after in (tail, tail[1:]):  # an extra letter, or a wrong one
                if name.startswith(candidate[:at]) and name[at + 1 :] == after and len(name) > at:
                    return candidate
    return ""
