"""Checks one reference without reading other documents: its syntax, its place, its target."""

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

__all__ = [
    "PASSED_SCHEMES", "ReferenceState", "bare_address", "by_scheme", "check_reference", "document_identity",
    "mail_reference", "resolve", "unjudged_reason", "uri_key",
]  # fmt: skip

_PREFIX = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*+):")
_ADDRESS = re.compile(r"[A-Za-z0-9.!#$&'*+/=?^_`{|}~-]++@[A-Za-z0-9-]++(?:\.[A-Za-z0-9-]++)++")
_HOSTED = re.compile(r"[^:/?#]*+://(?:[^@/?#]*+@)?+[^:/?#]")
_WINDOWS = re.compile(r"[A-Za-z]:(?:/|%5C)")
"""A drive, with backslashes as they are repaired; no scheme has a name of one letter."""
_DESTINATIONS = ("link", "image", "definition")
"""In Markdown a destination in angle brackets may have blanks, which renderers encode (CommonMark 6.3)."""
_ROOT = URI("file:///")
_FOLDERS_ARE_FINE = ("markdown", "rst", "notebook")
"""Kinds of document whose renderers (of code hosts) show a folder."""


class ReferenceState(NamedTuple):
    """What is known of a reference."""

    target: str | None = None
    fragment: str | None = None
    findings: tuple[tuple[str, str], ...] = ()
    """Kinds of `KINDS`, each with what it is about."""
    passed: str | None = None
    """Why it is not judged (`PASSED`)."""
    is_within: bool = False
    outside: str | None = None
    """The URI outside, without its fragment, that only asking would judge."""
    pairs: tuple[int, ...] = ()
    """Keys of the anchor, one of which must be there."""
    there: tuple[int, ...] = ()
    """Keys of the document, in a container: one of them must be there."""
    document: int = -1
    """In which document the fragment is; -1 for none."""
    place: Place | None = None
    is_remapped: bool = False


def check_reference(one: Reference, scan: Scan, site: Site, checker: Checker) -> ReferenceState:
    """Judge a reference of a document; what stands in other documents is told as `pairs`.

    A mistake of ours is a finding, so that the other references are judged.
    """
    try:
        return _check(one, scan, site, checker)
    except Exception as error:
        note_kind(error)
        return ReferenceState(findings=(("unsure", f"{one.reference}: its check failed, a bug of this library"),))


def _check(one: Reference, scan: Scan, site: Site, checker: Checker) -> ReferenceState:
    if one.passed is not None:
        return ReferenceState(passed=one.passed)
    if one.target is None and (prefix := _PREFIX.match(one.reference)) and prefix[1].lower() in PASSED_SCHEMES:
        return ReferenceState(passed=PASSED_SCHEMES[prefix[1].lower()])
    if one.is_nofollow and checker.skip_nofollow:
        return ReferenceState(passed="nofollow")
    text = one.reference if one.target is None else one.target
    if has_template(text):
        if MARK in text or scan.project.generator or scan.kind != "html":
            return ReferenceState(passed="template")
        return ReferenceState(findings=(("unsure", "it has a template"),))
    reference, problem = to_reference(text)
    if reference is None:
        if scan.project.aliases is not None and scan.project.aliases(text):
            return ReferenceState(findings=(("unsure", f"{text}: the generator may know this name"),))
        found = problem.finding if problem is not None else None
        return ReferenceState(findings=(("invalid", f"{found.message} ({found.source})" if found else ""),))
    findings: tuple[tuple[str, str], ...] = ()
    is_written = (
        scan.kind in ("markdown", "notebook")
        and one.where in _DESTINATIONS
        and problem is not None
        and problem.kind == "space"
    )
    if problem is not None and problem.kind != "non-ascii" and not is_written:
        findings = (("repaired", problem.finding.message),)
    joined = resolve(reference, one.base.uri, site)
    known = ReferenceState(str(joined), joined.fragment, findings)
    absolute = reference.scheme is not None
    if checker.remap and (mapped := remap(str(joined), checker)) != str(joined):
        known, absolute = known._replace(target=mapped, is_remapped=True), True
    return _target(one, scan, known, site, checker, absolute, reference)


def resolve(reference: URIReference, base: URI, site: Site) -> URI:
    """The target (RFC 3986 5.2); where the settings name a root, "/" of a file leads there."""
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
    one: Reference,
    scan: Scan,
    known: ReferenceState,
    site: Site,
    checker: Checker,
    absolute: bool,
    reference: URIReference,
) -> ReferenceState:
    target = known.target or ""
    whole = target.partition("#")[0]
    name = _scheme_of(whole)
    if (told := by_scheme(whole)) is not None:
        before = () if _WINDOWS.match(whole) else known.findings
        return known._replace(findings=(*before, *told), is_within=True)
    if name in PASSED_SCHEMES:
        return known._replace(passed=PASSED_SCHEMES[name])
    document = scan.document
    if document.parts is not None and (part := part_of(target, document.parts)) is not None:
        return _fragment(one, scan, known._replace(is_within=True), document_key(part), whole, checker)
    if name == "cid":
        found = ("no-document", "part of the message with this Content-ID")
        return known._replace(findings=(*known.findings, found), is_within=True)
    if whole == str(document.base.uri):
        # RFC 3986 4.4: a same-document reference.
        return _fragment(one, scan, known._replace(is_within=True), document_identity(scan, site), whole, checker)
    if document_identity(scan, site) >= NUMBERLESS and scan.kind != "uri-list":
        return _check_in_container(one, scan, known, whole, checker)
    place = site.find(target)
    if not absolute and reference.authority is None:
        place = find_by_project(place, one, scan, site, reference.path)
        if place.verdict == "label":
            labels = key(LABELS, place.name), key(LABELS, place.name.lower())
            unknown = "unsure" if scan.project.aliases is not None else "no-document"
            return known._replace(is_within=True, there=labels, place=place._replace(verdict=unknown))
    if place.verdict == "outside":
        return _check_external(one, known, whole, site, absolute)
    known = known._replace(is_within=True, place=place)
    if place.verdict == "listed":
        return known
    if place.verdict == "redirected":
        known = known._replace(findings=(*known.findings, ("redirected", f"{whole.partition('?')[0]}/")))
    elif place.verdict == "is-folder" and scan.kind in _FOLDERS_ARE_FINE and not scan.project.generator:
        return known
    elif place.verdict != "document":
        about = place.instead if place.verdict == "wrong-case" else place.name
        return known._replace(findings=(*known.findings, (place.verdict, about)))
    return _fragment(one, scan, known, place.document, place.name, checker)


def document_identity(scan: Scan, site: Site) -> int:
    """The identity of a document: its number, or the key of its source."""
    number = site.numbers.get(scan.document.source)
    return number if number is not None else document_key(scan.document.source)


def _member(scan: Scan, whole: str) -> str | None:
    """The name that a URI has in the archive of the document; None if it is not of that archive."""
    archive, _, name = scan.document.source.rpartition("!")
    uri = str(scan.document.base.uri)
    if not archive or not name or not unquote(uri).endswith(f"/{name}"):
        return None
    below = uri.split("/")[: -len(name.split("/"))]
    prefix = "/".join(below) + "/"
    return f"{archive}!{unquote(whole.partition('?')[0][len(prefix) :])}" if whole.startswith(prefix) else None


def _check_external(one: Reference, known: ReferenceState, whole: str, site: Site, absolute: bool) -> ReferenceState:
    if absolute or one.reference.startswith("//") or one.base.layer == "content":
        return known._replace(outside=whole)
    if site.by_file and one.reference.startswith("/"):
        return known._replace(passed="root")
    return known._replace(findings=(*known.findings, ("outside-base", whole)), outside=whole)


def _check_in_container(
    one: Reference, scan: Scan, known: ReferenceState, whole: str, checker: Checker
) -> ReferenceState:
    """A target that another document of the same container may have: that is known at the end."""
    name = _member(scan, whole)
    if name is None:
        # An archive of pages holds what somebody gathered: what is not there is outside, and no fault.
        return _fragment(one, scan, known._replace(outside=whole), uri_key(whole), whole, checker)
    there = (uri_key(whole), document_key(name), *(document_key(f"{name}{index}") for index in checker.indexes))
    known = known._replace(is_within=True, there=there, place=Place("no-document", name=name.rpartition("!")[2]))
    return _fragment(one, scan, known, uri_key(whole), whole, checker)


@bounded_cache(1 << 14)
def uri_key(whole: str) -> int:
    """The key of a document's own URI."""
    return document_key(normal_form(whole, Rung.SCHEME))


def _fragment(
    one: Reference, scan: Scan, known: ReferenceState, document: int, path: str, checker: Checker
) -> ReferenceState:
    fragment = known.fragment
    if fragment is None or not checker.fragments or is_top(fragment):
        return known
    if ":~:" in fragment:
        # A fragment directive names text: pass 2 need not look again.
        return known._replace(passed="text-fragment")
    if one.where.endswith(" usemap"):
        return known._replace(document=document, pairs=tuple(key(document, f"\0{name}") for name in names(fragment)))
    if scan.titles and one.reference.startswith("#") and unquote(fragment) in scan.titles:
        return known
    names_labels = scan.names_labels or is_beside_labels(scan, checker)
    if names_labels and one.reference.startswith("#") and "%" not in fragment:
        return known._replace(document=document, pairs=(key(document, fragment), key(LABELS, fragment)))
    return known._replace(document=document, pairs=tuple(key(document, name) for name in names(fragment)))


def unjudged_reason(known: ReferenceState, kind: str) -> str | None:
    """Why a fragment that was not found is not judged; None if it is a fault, or nobody can be sure."""
    return reason(known.fragment or "", (known.target or "").partition("#")[0].partition("?")[0], kind)


def _scheme_of(target: str) -> str:
    """The scheme of a URI, in lower case."""
    return target.partition(":")[0].lower()


def decode_at_sign(uri: str) -> str | None:
    """A mailto URI whose address has "%40" for its "@", as programs write it against harvesters; None for others.

    >>> [decode_at_sign(uri) for uri in ("mailto:joe%40example.org?subject=x%40y", "mailto:a@b.example", "mailto:%40")]
    ['mailto:joe@example.org?subject=x%40y', None, None]
    """
    address, mark, fields = uri.partition("?")
    if "@" in address or "%40" not in address:
        return None
    meant = f"{address.replace('%40', '@')}{mark}{fields}"
    return None if scheme("mailto").check(meant, limit=1) else meant


def mail_reference(reference: str) -> str | None:
    """A valid mailto URI for one with blanks before its address, or with "%40" for its "@"; None for others."""
    start, colon, rest = reference.strip().partition(":")
    if start.lower() != "mailto":
        return None
    mapped = to_reference(f"{start}{colon}{rest.lstrip()}")[0]
    if mapped is None:
        return None
    meant = decode_at_sign(str(mapped)) or str(mapped)
    return None if meant == reference or scheme("mailto").check(meant, limit=1) else meant


def bare_address(reference: str) -> str | None:
    """The mailto URI of a mail address without a scheme; None for other references.

    >>> bare_address("joe@example.org"), bare_address("joe@host/x")
    ('mailto:joe@example.org', None)
    """
    meant = f"mailto:{reference}"
    return meant if _ADDRESS.fullmatch(reference) and not scheme("mailto").check(meant, limit=1) else None


def by_scheme(uri: str) -> tuple[tuple[str, str], ...] | None:
    """What is wrong with a URI that is judged by its scheme's own rules; None for others.

    A mailto URI is judged whole (RFC 6068 2); of others it is a fault to have no host where their scheme wants one.
    """
    if _WINDOWS.match(uri):
        return (("invalid", "a Windows file name; write it as a relative reference or as file:///C:/..."),)
    name = _scheme_of(uri)
    if name == "mailto":
        if (meant := decode_at_sign(uri)) is not None:
            return (("encoded-at", meant),)
        found = scheme(name).check(uri, limit=1)
        told = (f"{one.message.removeprefix('not a valid mailto URI: ')} ({one.source})" for one in found)
        return tuple(("bad-mailto", one) for one in told)
    if (name == "tel" and not _DIGIT.search(uri)) or _LONG_PORT.search(uri):
        found = scheme(name).check(uri, limit=1)
        if found:
            return (("not-of-scheme", f"{found[0].message} ({found[0].source})"),)
    meant, needs_host = _scheme_facts(name)
    if meant:
        return (("not-of-scheme", f'there is no scheme "{name}"; "{meant}" was meant'),)
    return None if not needs_host or _HOSTED.match(uri) else (("no-host", name),)


@bounded_cache(64)
def _scheme_facts(name: str) -> tuple[str, bool]:
    """The frequent scheme that was meant by an unknown one, or ""; whether the scheme needs a host."""
    known = scheme(name)
    return _misspelled(name) if known.title == "not known" else "", known.needs_host


_DIGIT = re.compile("[0-9]")
_LONG_PORT = re.compile(r"\Ahttps?://[^/?#]*+(?<=:\d{5})(?=[/?#]|\Z)|\Ahttps?://[^/?#]*:\d{6,}", re.IGNORECASE)
_FREQUENT = ("http", "https", "mailto", "ftp")


def _misspelled(name: str) -> str:
    """The frequent scheme that a name is one letter away from; "" for others.

    >>> [_misspelled(name) for name in ("htp", "htttps", "htpp", "ttps", "gopher")]
    ['http', 'https', 'http', 'https', '']
    """
    for meant in _FREQUENT:
        for at in range(len(meant) + 1):
            rest = meant[at:]
            if name in (meant[:at] + rest[1:], meant[:at] + rest[1:2] + rest[:1] + rest[2:]):
                return meant
            for after in (rest, rest[1:]):  # another letter is there too, or in its place
                if name.startswith(meant[:at]) and name[at + 1 :] == after and len(name) > at:
                    return meant
    return ""
