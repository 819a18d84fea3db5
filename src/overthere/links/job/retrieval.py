"""Retrieves a source that is a URI into a file, under a policy; listings become documents.

`retrieve` is the one place where a source that is no file becomes one.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from itertools import chain
from typing import TYPE_CHECKING, BinaryIO, NamedTuple, TypeGuard

from overthere.base import Base, establish, file_uri
from overthere.ground.display import printable
from overthere.ground.errors import NotSpecified, OverthereError
from overthere.ground.option_files import read_json
from overthere.ground.redact import mask
from overthere.links.documents.header import reference_fields
from overthere.links.documents.kinds import LISTING, media_type_of
from overthere.links.faults import note_kind
from overthere.links.model import Document, Found, Note, Options
from overthere.values.uri import URI

if TYPE_CHECKING:
    from overthere.access.policy import Policy
    from overthere.access.resource import Resource
    from overthere.access.wire import Head

__all__ = ["Retrieval", "is_uri", "read", "retrieve"]

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]+:")
_CUT = {"AccessTimeout": "truncated", "AccessFailed": "truncated", "LimitExceeded": "too-large"}
"""What ends content before its end, and its note; of anything else the content is "corrupt"."""


class Retrieval(NamedTuple):
    """What is known of content that was retrieved, beside its octets."""

    base: Base
    """By the URI of retrieval, after redirects (RFC 3986 5.1.3), or what the answer says of it (5.1.2)."""
    name: str = ""
    """The path of that URI: by its suffix a kind may be known."""
    media_type: str = ""
    """As told by the server or the scheme; "" if neither does."""
    charset: str | None = None
    headers: tuple[tuple[Base, bytes], ...] = ()
    """Of each answer on the way the fields that refer to something, as lines, and what their base is: its URI."""
    notes: tuple[str, ...] = ()
    digest: str = ""
    """Of the content: the same only if it is."""


def is_uri(source: object) -> TypeGuard[str | URI]:
    """Whether a source is a URI: it has a scheme of two letters or more, and no file has that very name.

    >>> is_uri("http://h/"), is_uri("C:\\\\x"), is_uri("site/a:b"), is_uri(URI("a:b"))
    (True, False, False, True)
    """
    if isinstance(source, str):
        return _SCHEME.match(source) is not None and not os.path.lexists(source)
    return isinstance(source, URI)


def retrieve(source: str | URI, policy: Policy, file: BinaryIO, edition: str) -> Retrieval:
    """Write to the file what a URI names.

    A listing (a directory, a menu) is written as a document of its own kind, for `read`.  Nothing is raised but for
    the file: what cannot be opened has a note, and why is said to the log "overthere.links".

    Raises: OSError if the file cannot be written.
    """
    from overthere.access.errors import DOCUMENTED, AccessRefused, ResourceMissing
    from overthere.access.opening import Opening, open_resource

    here = Base(URI(f"{file_uri('.')}/"), "default", "default")
    way = None
    try:
        uri = URI(source)
        here = _base(uri)
        way = Opening(uri, policy, None, None, None)
        resource = open_resource(way)
    except DOCUMENTED as error:
        kinds = {AccessRefused: "refused", ResourceMissing: "missing"}
        answer = _failed_retrieval(here, source, error, kinds.get(type(error), "not-opened"))
    except Exception as error:
        answer = _failed_retrieval(here, source, error, note_kind(error))
    else:
        with resource:
            if resource.session is None:
                answer = _write_content(resource, file, edition)
            else:
                answer = _failed_retrieval(here, source, NotSpecified("it is a session without content"), "not-opened")
    # Each redirect refers to the next URI, also the last one, where that could not be opened.
    redirects = () if way is None else way.redirects
    # Where it leads may be signed for whoever asked, as the base is that comes of it.
    led = (
        _reference_fields(
            uri, [(name, mask(value)) for name, value in _fields(head) or [("Location", head.location or "")]]
        )
        for uri, head in redirects
    )
    return answer._replace(headers=(*chain.from_iterable(led), *answer.headers))


def _base(uri: URI, by: str = "retrieval") -> Base:
    return Base(_public(uri), "retrieval", by)


def _public(uri: URI) -> URI:
    """A base: without fragment, and with `***` for its secrets, which would be in each row, and in targets (7.5)."""
    return URI(mask(str(uri.replace(fragment=None))))


def _fields(head: Head) -> list[tuple[str, str]]:
    """Those of HTTP, as octets of ISO Latin 1; of other protocols none."""
    pairs: list[tuple[str, str]] = head.details.get("headers", [])
    return pairs


def _reference_fields(uri: URI, fields: list[tuple[str, str]]) -> Iterator[tuple[Base, bytes]]:
    lines = [(name.encode("latin-1", "replace"), value.encode("latin-1", "replace")) for name, value in fields]
    if references := reference_fields((name.lower(), value) for name, value in lines):
        yield _base(uri), references


def _failed_retrieval(here: Base, source: object, error: Exception, note: str) -> Retrieval:
    _log_error(source, error)
    return Retrieval(here, notes=(note,))


def _log_error(source: object, error: Exception) -> None:
    import logging

    logging.getLogger("overthere.links").warning("%s: %s", printable(mask(str(source))), error)


def _write_content(opened: Resource, file: BinaryIO, edition: str) -> Retrieval:
    from hashlib import sha256

    told = sha256()
    notes: tuple[str, ...] = ()
    pieces = _write_listing(opened) if opened.is_listing else iter(opened)
    try:
        for piece in pieces:
            told.update(piece)
            file.write(piece)
    except OverthereError as error:
        _log_error(opened.uri, error)
        notes = (_CUT.get(type(error).__name__, "corrupt"),)
    headers = _fields(opened.head)
    base = _establish_base(opened, headers, edition)
    name = opened.uri.path
    if opened.is_listing:
        return Retrieval(base, name, LISTING, "utf-8", notes=notes, digest=told.hexdigest())
    # A coding that belongs to the file itself stays, and the media type is that of what is packed (RFC 9110 8.4).
    said = opened.how in ("server", "scheme") and "coding" not in opened.details
    media_type, charset = media_type_of(opened.media_type or "") if said else ("", None)
    return Retrieval(
        base, name, media_type, charset, tuple(_reference_fields(opened.uri, headers)), notes, told.hexdigest()
    )  # fmt: skip


def _establish_base(opened: Resource, headers: list[tuple[str, str]], edition: str) -> Base:
    own = _base(opened.uri, "redirect" if opened.history else "retrieval")
    if opened.head.base is not None:
        return Base(_public(opened.base), "entity", "entity")
    try:
        return establish(headers=headers, retrieval=own.uri, edition=edition, protocol="http") if headers else own
    except NotSpecified:
        return own  # an edition without bases


def _write_listing(opened: Resource) -> Iterator[bytes]:
    for entry in opened.entries():
        if entry.uri is not None:
            yield json.dumps([entry.kind or "entry", entry.uri]).encode() + b"\n"


def read(document: Document, options: Options) -> Iterator[Found | Note]:
    """The entries of a listing that have a URI, each under its kind: "directory", "file", "search", ..."""
    for line in document.content.splitlines():
        try:
            kind, uri = read_json(line)
        except ValueError:
            yield Note("corrupt")
        else:
            yield Found(str(kind), str(uri))
