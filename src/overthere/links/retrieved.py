"""A source that is a URI: opened under a policy and laid into a file, with what was said of it; listings as documents.

`retrieve` is the one place where a source that is no file becomes one.
"""

from __future__ import annotations

import json
import logging
import os
import re
from collections.abc import Iterator
from hashlib import sha256
from typing import TYPE_CHECKING, BinaryIO, NamedTuple

from overthere.base import Base, establish, file_uri
from overthere.errors import NotSpecified, OverthereError
from overthere.links.faults import noted
from overthere.links.kinds import LISTING, media_type_of
from overthere.links.model import Document, Found, Note, Options
from overthere.redact import mask
from overthere.showing import printable
from overthere.uri import URI

if TYPE_CHECKING:
    from overthere.access.policy import Policy
    from overthere.access.resource import Resource

__all__ = ["Retrieved", "is_uri", "read", "retrieve"]

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]+:")
_POINTING = ("location", "link", "refresh")
"""Fields of HTTP that refer to something, as those of a response in a WARC."""
_CUT = {"AccessTimeout": "truncated", "AccessFailed": "truncated", "LimitExceeded": "too-large"}
"""What ends content before its end, and its note; of anything else the content is "corrupt"."""


class Retrieved(NamedTuple):
    """What is known of content that was retrieved, beside its octets."""

    base: Base
    """By the URI of retrieval, after redirects (RFC 3986 5.1.3), or what the answer says of it (5.1.2)."""
    name: str = ""
    """The path of that URI: by its suffix a kind may be known."""
    media_type: str = ""
    """As told by the server or the scheme; "" if nobody told."""
    charset: str | None = None
    fields: bytes = b""
    """Those of HTTP that refer to something, as lines."""
    notes: tuple[str, ...] = ()
    digest: str = ""
    """Of the content: the same only if it is."""


def is_uri(source: object) -> bool:
    """Whether a source is a URI: it has a scheme of two letters or more, and no file has that very name.

    >>> is_uri("http://h/"), is_uri("C:\\\\x"), is_uri("site/a:b"), is_uri(URI("a:b"))
    (True, False, False, True)
    """
    if isinstance(source, str):
        return _SCHEME.match(source) is not None and not os.path.lexists(source)
    return isinstance(source, URI)


def retrieve(source: str | URI, policy: Policy, file: BinaryIO, edition: str) -> Retrieved:
    """Write to the file what a URI names.

    A listing (a directory, a menu) is written as a document of its own kind, for `read`.  Nothing is raised but for
    the file: what cannot be opened has a note, and why is said to the log "overthere.links".

    Raises: OSError if the file cannot be written.
    """
    from overthere.access.errors import DOCUMENTED, AccessRefused, ResourceMissing
    from overthere.access.opening import open

    here = Base(URI(f"{file_uri('.')}/"), "default", "default")
    try:
        uri = URI(source)
        here = Base(uri.replace(fragment=None), "retrieval", "retrieval")
        opened = open(uri, policy)
    except DOCUMENTED as error:
        kinds = {AccessRefused: "refused", ResourceMissing: "missing"}
        return _failed(here, source, error, kinds.get(type(error), "not-opened"))
    except Exception as error:
        return _failed(here, source, error, noted(error))
    with opened:
        if opened.session is not None:
            return _failed(here, source, NotSpecified("it is a session, and no content"), "not-opened")
        return _written(opened, file, edition)


def _failed(here: Base, source: object, error: Exception, note: str) -> Retrieved:
    _say(source, error)
    return Retrieved(here, notes=(note,))


def _say(source: object, error: Exception) -> None:
    logging.getLogger("overthere.links").warning("%s: %s", printable(mask(str(source))), error)


def _written(opened: Resource, file: BinaryIO, edition: str) -> Retrieved:
    told = sha256()
    notes: tuple[str, ...] = ()
    pieces = _listed(opened) if opened.is_listing else iter(opened)
    try:
        for piece in pieces:
            told.update(piece)
            file.write(piece)
    except OverthereError as error:
        _say(opened.uri, error)
        notes = (_CUT.get(type(error).__name__, "corrupt"),)
    headers: list[tuple[str, str]] = opened.details.get("headers", [])
    base = _base(opened, headers, edition)
    name = opened.uri.path
    if opened.is_listing:
        return Retrieved(base, name, LISTING, "utf-8", notes=notes, digest=told.hexdigest())
    # A coding that belongs to the file itself stays, and the media type is that of what is packed (RFC 9110 8.4).
    said = opened.how in ("server", "scheme") and "coding" not in opened.details
    media_type, charset = media_type_of(opened.media_type or "") if said else ("", None)
    lines = "".join(f"{field}: {value}\r\n" for field, value in headers if field.lower() in _POINTING)
    return Retrieved(
        base, name, media_type, charset, lines.encode("utf-8", "replace"), notes, told.hexdigest()
    )  # fmt: skip


def _base(opened: Resource, headers: list[tuple[str, str]], edition: str) -> Base:
    own = Base(opened.uri.replace(fragment=None), "retrieval", "redirect" if opened.history else "retrieval")
    if opened.head.base is not None:
        return Base(opened.base.replace(fragment=None), "entity", "entity")
    try:
        return establish(headers=headers, retrieval=own.uri, edition=edition, protocol="http") if headers else own
    except NotSpecified:
        return own  # an edition without bases


def _listed(opened: Resource) -> Iterator[bytes]:
    for entry in opened.entries():
        if entry.uri is not None:
            yield json.dumps([entry.kind or "entry", entry.uri]).encode() + b"\n"


def read(document: Document, options: Options) -> Iterator[Found | Note]:
    """The entries of a listing that have a URI, each under its kind: "directory", "file", "search", ..."""
    for line in document.content.splitlines():
        try:
            kind, uri = json.loads(line)
        except ValueError:
            yield Note("corrupt")
        else:
            yield Found(str(kind), str(uri))
