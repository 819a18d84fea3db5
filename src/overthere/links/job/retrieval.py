"""Retrieves a source that is a URI into a file, under a policy; listings become documents.

Only `retrieve` turns a source that is not a file into one.
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

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]+:")
_CONTENT_NOTES = {"AccessTimeout": "truncated", "AccessFailed": "truncated", "LimitExceeded": "too-large"}
"""Errors that cut content short, and their notes; any other error means "corrupt"."""


class Retrieval(NamedTuple):
    """Metadata of retrieved content."""

    base: Base
    """The retrieval URI after redirects (RFC 3986 5.1.3), or the base that the response states (5.1.2)."""
    name: str = ""
    """The path of that URI; its suffix may show the kind."""
    media_type: str = ""
    """As declared by the server or the scheme; "" if neither does."""
    charset: str | None = None
    headers: tuple[tuple[Base, bytes], ...] = ()
    """For each response, redirects included: its URI as base, and its header fields with references, as lines."""
    notes: tuple[str, ...] = ()
    digest: str = ""
    """SHA-256 of the content."""


def is_uri(source: object) -> TypeGuard[str | URI]:
    """Whether a source is a URI: it has a scheme of two letters or more, and no file has that very name.

    >>> is_uri("http://h/"), is_uri("C:\\\\x"), is_uri("site/a:b"), is_uri(URI("a:b"))
    (True, False, False, True)
    """
    if isinstance(source, str):
        return _SCHEME.match(source) is not None and not os.path.lexists(source)
    return isinstance(source, URI)


def retrieve(source: str | URI, policy: Policy, file: BinaryIO, edition: str) -> Retrieval:
    """Write the content of a URI to the file.

    A listing (a directory, a menu) is written as a document of its own kind, for `read`.  Failures to open the URI
    become a note, and are logged to "overthere.links".

    Raises: OSError if the file cannot be written.
    """
    from overthere.access.errors import DOCUMENTED, AccessRefused, ResourceMissing
    from overthere.access.opening import Opening, open_resource

    base = Base(URI(f"{file_uri('.')}/"), "default", "default")
    opening = None
    try:
        uri = URI(source)
        base = _base(uri)
        opening = Opening(uri, policy, None, None, None)
        resource = open_resource(opening)
    except DOCUMENTED as error:
        kinds = {AccessRefused: "refused", ResourceMissing: "missing"}
        answer = _failed_retrieval(base, source, error, kinds.get(type(error), "not-opened"))
    except Exception as error:
        answer = _failed_retrieval(base, source, error, note_kind(error))
    else:
        with resource:
            if resource.session is None:
                answer = _write_content(resource, file, edition)
            else:
                answer = _failed_retrieval(base, source, NotSpecified("it is a session without content"), "not-opened")
    # Each redirect refers to the next URI, also the last one, where that could not be opened.
    redirects = () if opening is None else opening.redirects
    # The target of a redirect may be a signed URI, so its secrets are masked, as in the base.
    redirect_fields = (
        _reference_fields(
            uri, [(name, mask(value)) for name, value in _fields(head) or [("Location", head.location or "")]]
        )
        for uri, head in redirects
    )
    return answer._replace(headers=(*chain.from_iterable(redirect_fields), *answer.headers))


def _base(uri: URI, origin: str = "retrieval") -> Base:
    return Base(_public_uri(uri), "retrieval", origin)


def _public_uri(uri: URI) -> URI:
    """Return a URI as base: no fragment, and secrets as `***`, since every row would repeat them (7.5)."""
    return URI(mask(str(uri.replace(fragment=None))))


def _fields(head: Head) -> list[tuple[str, str]]:
    """Return the header fields of HTTP, decoded as ISO Latin 1; none for other protocols."""
    pairs: list[tuple[str, str]] = head.details.get("headers", [])
    return pairs


def _reference_fields(uri: URI, fields: list[tuple[str, str]]) -> Iterator[tuple[Base, bytes]]:
    lines = [(name.encode("latin-1", "replace"), value.encode("latin-1", "replace")) for name, value in fields]
    if references := reference_fields((name.lower(), value) for name, value in lines):
        yield _base(uri), references


def _failed_retrieval(base: Base, source: object, error: Exception, note: str) -> Retrieval:
    _log_error(source, error)
    return Retrieval(base, notes=(note,))


def _log_error(source: object, error: Exception) -> None:
    import logging

    logging.getLogger("overthere.links").warning("%s: %s", printable(mask(str(source))), error)


def _write_content(resource: Resource, file: BinaryIO, edition: str) -> Retrieval:
    from hashlib import sha256

    digest = sha256()
    notes: tuple[str, ...] = ()
    pieces = _write_listing(resource) if resource.is_listing else iter(resource)
    try:
        for piece in pieces:
            digest.update(piece)
            file.write(piece)
    except OverthereError as error:
        _log_error(resource.uri, error)
        notes = (_CONTENT_NOTES.get(type(error).__name__, "corrupt"),)
    headers = _fields(resource.head)
    base = _establish_base(resource, headers, edition)
    name = resource.uri.path
    if resource.is_listing:
        return Retrieval(base, name, LISTING, "utf-8", notes=notes, digest=digest.hexdigest())
    # A coding of the file itself is not decoded, and the media type is that of the packed content (RFC 9110 8.4).
    is_declared = resource.how in ("server", "scheme") and "coding" not in resource.details
    media_type, charset = media_type_of(resource.media_type or "") if is_declared else ("", None)
    return Retrieval(
        base, name, media_type, charset, tuple(_reference_fields(resource.uri, headers)), notes, digest.hexdigest()
    )  # fmt: skip


def _establish_base(resource: Resource, headers: list[tuple[str, str]], edition: str) -> Base:
    base = _base(resource.uri, "redirect" if resource.history else "retrieval")
    if resource.head.base is not None:
        return Base(_public_uri(resource.base), "entity", "entity")
    try:
        return establish(headers=headers, retrieval=base.uri, edition=edition, protocol="http") if headers else base
    except NotSpecified:
        return base  # an edition without bases


def _write_listing(resource: Resource) -> Iterator[bytes]:
    for entry in resource.entries():
        if entry.uri is not None:
            yield json.dumps([entry.kind or "entry", entry.uri]).encode() + b"\n"


def read(document: Document, options: Options) -> Iterator[Found | Note]:
    """Yield the entries of a listing that have a URI, each under its kind: "directory", "file", "search", ..."""
    for line in document.content.splitlines():
        try:
            kind, uri = read_json(line)
        except ValueError:
            yield Note("corrupt")
        else:
            yield Found(str(kind), str(uri))
