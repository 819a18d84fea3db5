"""Establishes a base URI (RFC 3986 5.1): four layers, the one that applied, and those that were skipped."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path, PurePath
from typing import Any, Literal, NamedTuple, cast

from overthere.editions import known_edition
from overthere.ground.display import name_of
from overthere.ground.errors import CodingError, InvalidURI, NoBase, NotSpecified
from overthere.ground.exact import exact
from overthere.ground.redact import hides_secrets, mask
from overthere.repairs import to_reference
from overthere.values.encoding import IN_SEGMENT
from overthere.values.uri import URI, URIReference

__all__ = [
    "THIS_MESSAGE", "Base", "Layer", "Passed", "Protocol", "enclosed", "establish", "file_uri", "from_content",
    "retrieval_uri", "to_reference",
]  # fmt: skip

Layer = Literal["content", "entity", "retrieval", "default"]
Protocol = Literal["mime", "http"]

THIS_MESSAGE = URI("thismessage:/")
"""The default base in a message (RFC 2557 5 e)."""


@hides_secrets
class Passed(NamedTuple):
    """A candidate that did not become the base."""

    by: str
    text: str
    reason: str


class Base(NamedTuple):
    """A base URI and the layer that gave it: 5.1.1 content, 5.1.2 entity, 5.1.3 retrieval, 5.1.4 default."""

    uri: URI
    layer: Layer
    by: str = ""
    """Its source: "HTML base", "xml:base", "Content-Base", "Content-Location", "entity", "retrieval", ..."""
    passed: tuple[Passed, ...] = ()
    """The candidates that `establish` skipped, the outermost first."""


def file_uri(path: str | os.PathLike[str]) -> URI:
    """Return the `file:` URI of a path on this machine (RFC 8089 2), octet for octet.

    A `PureWindowsPath`, and on Windows a `PurePosixPath`, is a path on another machine, and absolute there.

    Raises: Unwritable for a path of another machine that no file URI names; CodingError for a lone surrogate.

    >>> from pathlib import PureWindowsPath
    >>> str(file_uri("/tmp/a b")), str(file_uri(PureWindowsPath("C:/a b")))
    ('file:///tmp/a%20b', 'file:///C:/a%20b')
    """
    if isinstance(path, PurePath) and not isinstance(path, type(PurePath())):
        from overthere.schemes.known.file.paths import from_path

        return from_path(path).uri()
    absolute = Path(os.path.abspath(path))
    try:
        segments: list[str | bytes] = [os.fsencode(part) for part in absolute.parts[1:]]
    except UnicodeEncodeError as error:
        char_name = name_of(error.object[error.start : error.start + 1])
        raise CodingError(f"{char_name} cannot be in a path of this machine (RFC 8089 4)") from None
    if absolute.drive:
        segments.insert(0, absolute.drive)
    return URI.build(scheme="file", host="", segments=segments or [""], keep=IN_SEGMENT)


def retrieval_uri(path: Path, root: Path, base: URI | None) -> URI:
    """Return the retrieval URI of a document: its path below `root` against `base`, or its own `file:` URI.

    >>> str(retrieval_uri(Path("site/a/b.html"), Path("site"), URI("http://h/docs/")))
    'http://h/docs/a/b.html'
    """
    if base is None:
        return file_uri(path)
    relative_path = path.relative_to(root)
    if not relative_path.parts:
        return base
    return base.join(URIReference.build(segments=[os.fsencode(part) for part in relative_path.parts], keep=IN_SEGMENT))


def from_content(value: str | None, fallback: Base, by: str = "HTML base") -> Base:
    """5.1.1: return the base that content gives, such as the first `base` with an href, resolved against the fallback.

    For an invalid value it is the fallback; also for an HTML base that is a `data:` or `javascript:` URI (HTML Standard
    4.2.3, "set the frozen base URL").  An `xml:base` is mapped as in XML Base 3.1.

    >>> from_content("d/", Base(URI("http://h/a/b"), "retrieval")).uri
    URI('http://h/a/d/')
    """
    if value is None:
        return fallback
    resolved = _resolve_base(_describe_base(value, by), fallback)
    if isinstance(resolved, str) or (by == "HTML base" and resolved.scheme.lower() in ("data", "javascript")):
        return fallback
    return Base(resolved, "content", by)


def enclosed(base: Base) -> Base:
    """Return the base of an entity for the entities in it (5.1.2); a default base stays a default.

    >>> enclosed(Base(URI("http://h/a.zip"), "retrieval", "retrieval")).layer
    'entity'
    """
    return base if base.layer == "default" else Base(base.uri, "entity", base.by or "entity")


# -- the four layers

Content = str | Iterable[str] | None
Fields = Mapping[str, str] | Iterable[tuple[str, str]]
Retrieval = URI | str | Iterable[URI | str] | None

_PARAGRAPH = {
    "rfc3986": "RFC 3986 5.1",
    "uri-2003": "draft-fielding-uri-rfc2396bis-01 5.1",
    "url-1997": "draft-fielding-url-syntax-05 5.1",
}
# The fields that give a base, the one with precedence last, and their layer, in each edition's time: RFC 2557 5 and 12
# for MIME today (Content-Base is read "for compatibility"), RFC 2110 5 and RFC 2616 14.14 in 2003.
_FIELDS: dict[tuple[str, Protocol], tuple[tuple[str, ...], Layer]] = {
    ("rfc3986", "mime"): (("Content-Base", "Content-Location"), "entity"),
    ("rfc3986", "http"): ((), "entity"),
    ("uri-2003", "mime"): (("Content-Location", "Content-Base"), "content"),
    ("uri-2003", "http"): (("Content-Location",), "content"),
}
_NAMES = {"content-base": "Content-Base", "content-location": "Content-Location"}
_NO_EFFECT = {
    ("rfc3986", "Content-Location"): "in HTTP it does not change the base (RFC 9110 8.7; RFC 7231 Appendix B)",
    ("rfc3986", "Content-Base"): "HTTP no longer has it (RFC 2616 19.6.3)",
    ("uri-2003", "Content-Base"): "HTTP no longer has it (RFC 2616 19.6.3)",
}


def establish(
    content: Content = None,
    *,
    by: str = "HTML base",
    headers: Fields = (),
    entity: Base | URI | str | None = None,
    retrieval: Retrieval = None,
    default: URI | str | None = None,
    edition: str = "rfc3986",
    protocol: Protocol = "mime",
    content_location: bool = False,
) -> Base:
    """5.1: the base URI, the innermost one, with its layer and the skipped candidates.

    content: the base that the content gives (5.1.1), the outermost first: HTML's `base`, a chain of `xml:base`.
    by: the name of that kind of base.
    headers: the header fields of the content, in any case, folded or not; the first field of a name counts.
    entity: the base of the encapsulating entity (5.1.2), as `establish` returned it.
    retrieval: the retrieval URI, or the redirect history, of which the last URI counts (5.1.3); a Location in it may be
    relative to the one before.
    default: the application's base (5.1.4), such as `THIS_MESSAGE`.
    edition: the edition that applies.  1997: `Content-Base` precedes `Content-Location`, and both are content (5.1.1).
    protocol: "http" for the fields of an HTTP response, "mime" for those of a message or a part; the rules differ.
    content_location: whether the Content-Location of HTTP counts today too, as in RFC 2616 14.14.

    Raises: NoBase if nothing gives a base; InvalidURI if `entity` or `default` is text but not a valid URI;
    NotSpecified for an edition that leaves relative references to another document (RFC 1738).

    >>> inner = establish(headers={"Content-Location": "img/"}, entity="http://h/a/b", retrieval="http://r/")
    >>> str(inner.uri), inner.layer, inner.by
    ('http://h/a/img/', 'entity', 'Content-Location')
    >>> inner.passed
    (Passed(by='retrieval', text='http://r/', reason='entity takes precedence (RFC 3986 5.1)'),)
    """
    known_edition(edition)
    if protocol not in ("mime", "http"):
        raise ValueError(f"unknown protocol {protocol!r}; known: mime, http")
    if edition not in _PARAGRAPH:
        raise NotSpecified(f"{edition} leaves bases and relative references to another document: RFC 1808")
    trail = _BaseSearch(edition)
    if default is not None:
        trail.take(URI(default), "default", "default")
    trail.retrieve(retrieval)
    if isinstance(entity, Base) and entity.layer == "default":
        if trail.base is None or trail.base.layer == "default":
            trail.take(entity.uri, "default", entity.by or "default")
    elif entity is not None:
        entity_by = entity.by if isinstance(entity, Base) else ""
        trail.take(entity.uri if isinstance(entity, Base) else URI(entity), "entity", entity_by or "entity")
    values = [exact(item, "content") for item in _as_list(content, "content")]
    fields = _fields(headers, protocol)
    if edition == "url-1997":
        _by_1997(trail, values, by, fields)
    else:
        _by_fields(trail, fields, edition, protocol, content_location)
        for value in values:
            trail.take_embedded(value, by)
    if trail.base is None:
        skipped = "; ".join(f"{item.by} {mask(item.text)[:200]!r}: {item.reason}" for item in trail.passed[:8])
        # 1997 5.1.4: "the base URL is the empty string", against which nothing relative can be resolved.
        raise NoBase(f"there is no base URI ({_PARAGRAPH[edition]}){': ' if skipped else ''}{skipped}")
    return trail.base._replace(passed=tuple(trail.passed))


def _as_list(values: Any, parameter: str) -> list[Any]:
    """Return one, several or no values as a list.  Raises: TypeError."""
    if values is None:
        return []
    if isinstance(values, str | URI):
        return [values]
    if isinstance(values, bytes) or not isinstance(values, Iterable):
        raise TypeError(f"{parameter} must be text, a URI, or several of them, not {type(values).__name__}")
    return list(values)


class _BaseSearch:
    """A search for the base, from the outermost layer inwards."""

    def __init__(self, edition: str) -> None:
        self.edition = edition
        self.base: Base | None = None
        self.passed: list[Passed] = []

    def take(self, uri: URI, layer: Layer, by: str, *, relative: bool = False) -> None:
        """Take a base of an inner layer; the previous base is skipped unless the new one was resolved against it."""
        if self.base is not None and not relative:
            document = "5.1" if self.edition == "url-1997" else f"{_TITLES[self.edition]} 5.1"
            self.skip(self.base.by, str(self.base.uri), f"{by} takes precedence ({document})")
        self.base = Base(_absolute(uri), layer, by)

    def skip(self, by: str, text: str, reason: str) -> None:
        self.passed.append(Passed(by, text, reason))

    def retrieve(self, history: Retrieval) -> None:
        """Read the retrieval history (5.1.3): "the last URI used"."""
        if history is None:
            return
        steps = [
            exact(item, "retrieval") if isinstance(item, str) else URI(item) for item in _as_list(history, "retrieval")
        ]
        last: Base | None = None
        for number, step in enumerate(steps):
            by = "redirect" if number else "retrieval"
            step_text = step if isinstance(step, URI) else _describe_base(step, by)
            if not number and (retrieval_base := _retrieval_base(step_text)) is not None:
                last = Base(retrieval_base, "retrieval", by)
                continue
            resolved = _resolve_base(step_text, last, self.edition)
            if isinstance(resolved, str):
                self.skip(by, str(step), resolved)
            else:
                last = Base(resolved, "retrieval", by)
        if last is not None:
            self.take(last.uri, "retrieval", last.by)

    def resolve(self, text: str, by: str, layer: Layer) -> None:
        """Read a value that may be relative: "converted to absolute form" (RFC 3986 5.1)."""
        value = _describe_base(text, by)
        resolved = _resolve_base(value, self.base, self.edition)
        if isinstance(resolved, str):
            self.skip(by, text, resolved)
        elif by == "HTML base" and resolved.scheme.lower() in ("data", "javascript"):
            self.skip(by, text, "an HTML base cannot be a data: or javascript: URI (HTML Standard 4.2.3)")
        else:
            self.take(resolved, layer, by, relative=not _has_scheme(value))

    def take_embedded(self, text: str, by: str) -> None:
        if self.edition == "uri-2003" and by == "HTML base" and not _has_scheme(_describe_base(text, by)):
            self.skip(by, text, "the base of HTML must be absolute (RFC 2396bis-01 Appendix D)")
        else:
            self.resolve(text, by, "content")


_TITLES = {"rfc3986": "RFC 3986", "uri-2003": "RFC 2396bis-01"}


def _by_fields(
    trail: _BaseSearch, fields: Mapping[str, str], edition: str, protocol: Protocol, content_location: bool
) -> None:
    order, layer = _FIELDS[edition, protocol]
    if content_location and "Content-Location" not in order:
        order = ("Content-Location",)
    for name in fields:
        if name not in order:
            trail.skip(name, fields[name], _NO_EFFECT[edition, name])
    for name in order:
        if name not in fields:
            continue
        if name == "Content-Base" and not _has_scheme(fields[name]):
            trail.skip(name, fields[name], "it must be absolute (RFC 2110 4.2)")
        elif protocol == "mime" and fields[name][:4].lower() == "cid:":
            trail.skip(name, fields[name], "a cid: URI in it is ignored (RFC 2557 8.3)")
        else:
            trail.resolve(fields[name], name, layer)


def _by_1997(trail: _BaseSearch, values: list[str], by: str, fields: Mapping[str, str]) -> None:
    """Apply the order of 1997 (`context1997.base_url`), and find the source of its answer."""
    from overthere.editions.context1997 import BaseURL, base_url

    candidates = [(by, _describe_base(value, by)) for value in values] + list(fields.items())
    usable: list[tuple[str, str]] = []
    for name, text in candidates:
        reference, problem = to_reference(text)
        if reference is None:
            trail.skip(name, text, str(problem))
        else:
            usable.append((name, str(reference)))
    # Of the content only the innermost absolute value counts ("must be an absolute URL", Appendix D).
    inner = next((text for name, text in reversed(usable) if name == by and _has_scheme(text)), None)
    headers = [pair for pair in usable if pair[0] in _NAMES.values()]
    outer = None if trail.base is None else str(trail.base.uri)
    answer = base_url(inner, headers, entity=outer)
    if answer.layer != "content":
        for name, text in usable:
            trail.skip(name, text, "it is not absolute, and there is no outer base (5.1.1)")
        return
    answers: list[tuple[str, str, BaseURL]] = [] if inner is None else [(by, inner, base_url(inner))]
    answers += [(name, text, base_url(None, [(name, text)], entity=outer)) for name, text in headers]
    source, text = next((name, text) for name, text, base_of_one in answers if base_of_one == answer)
    for name, other_text in usable:
        if (name, other_text) != (source, text):
            trail.skip(name, other_text, f"{source} takes precedence (5.1.1)")
    try:
        trail.take(URI(answer.url), "content", source, relative=not _has_scheme(text))
    except InvalidURI as error:
        trail.skip(source, text, str(error))


def _fields(headers: Fields, protocol: Protocol) -> dict[str, str]:
    """Return the first values of the two fields; for a message without comments and folding in the URI (RFC 2557 4)."""
    from overthere.mail.fields import uri

    pairs = headers.items() if isinstance(headers, Mapping) else headers
    fields: dict[str, str] = {}
    for name, value in cast("Iterable[tuple[str, str]]", pairs):
        field_name = _NAMES.get(name.strip().lower())
        if field_name is not None and field_name not in fields:
            fields[field_name] = uri(value) if protocol == "mime" else "".join(value.split())
    return fields


_HAS_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*+:")
# Characters that XML Base 3.1 allows in a value (a LEIRI), and a URI does not.
_ONLY_LEIRI = re.compile(r"""[\x00-\x20"<>\\^`{|}\x7f]""")


def _has_scheme(text: str) -> bool:
    return _HAS_SCHEME.match(text) is not None


def _describe_base(value: str, by: str) -> str:
    text = value.strip(" \t\n\f\r")
    return _ONLY_LEIRI.sub(lambda match: f"%{ord(match[0]):02X}", text) if by == "xml:base" else text


def _absolute(uri: URI) -> URI:
    """Return the absolute-URI of a base (5.1), "stripped of any fragment component"."""
    return uri if uri.fragment is None else uri.replace(fragment=None)


def _retrieval_base(text: URI | str) -> URI | None:
    """Return the used URI unchanged (5.1.3); None if it is a reference."""
    reference, _ = to_reference(text)
    return None if reference is None or reference.scheme is None else _absolute(URI(reference))


def _resolve_base(text: URI | str, outer: Base | None, edition: str = "rfc3986") -> URI | str:
    """Return the target against the outer base, without its fragment; or the reason why it has none.

    A value with a scheme is resolved too, which removes dot-segments (RFC 3986 5.2.2); earlier documents keep them.
    """
    reference, problem = to_reference(text)
    if reference is None:
        return str(problem)
    if reference.scheme is None and outer is None:
        return "it is relative, and there is no outer base"
    if edition == "url-1997" and reference.scheme is not None:
        return _absolute(URI(reference))  # "we are done" (draft 1997 5.2, step 2)
    resolution_base = URI(reference) if outer is None or reference.scheme is not None else outer.uri
    if edition == "uri-2003":
        from overthere.editions.uri2003 import resolve

        try:
            return _absolute(URI(resolve(str(resolution_base), str(reference)).uri or resolution_base))
        except InvalidURI as error:
            return str(error)
    return _absolute(resolution_base.join(reference))
