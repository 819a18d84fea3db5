"""Names of objects, their properties in a store, and errors of stores."""

from __future__ import annotations

import errno
import re
from collections.abc import Iterator
from importlib.util import find_spec
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeGuard

from overthere.ground.caches import bounded_cache
from overthere.ground.display import printable
from overthere.ground.errors import CodingError
from overthere.values.encoding import IN_SEGMENT, decode, encode
from overthere.values.uri import URI

if TYPE_CHECKING:
    from typing import BinaryIO

SCHEMES = frozenset(("s3", "s3a", "gs", "az", "abfs", "abfss"))
"""The schemes that obstore opens."""
_LOCAL = frozenset((
    "asyncwrapper", "asynclocal", "blockcache", "cached", "dask", "dir", "dvc", "filecache", "generic", "git",
    "jlab", "jupyter", "libarchive", "local", "pyscript", "reference", "root", "simplecache", "tar", "zip",
))  # fmt: skip
"""Filesystems of fsspec that are not stores, or lead to files of this machine."""
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.\-]+):(?=//)")


class StoreError(OSError):
    """An object that cannot be read, the kind of the note for it (`links.model.NOTES`), and a printable message."""

    def __init__(self, note: str, message: str) -> None:
        message = printable(message)
        super().__init__(errno.EIO, message)
        self.note: str = note
        self.message: str = message

    def __str__(self) -> str:
        return self.message

    def __reduce__(self) -> tuple[object, ...]:
        return StoreError, (self.note, self.message)


class ObjectInfo(NamedTuple):
    """An object as a store lists it."""

    uri: str
    size: int
    """In octets; -1 if it is not yet known."""
    version: str = ""
    """The entity tag, which is equal only if the octets are equal (RFC 9110 8.8.3); "" if the store has none."""


class Piece(NamedTuple):
    """A range of an object."""

    octets: bytes | memoryview
    size: int
    """The size of the whole object in octets; -1 if it is not yet known."""
    version: str


class Name(NamedTuple):
    """The name of an object: its store, and its key there."""

    root: str
    """Scheme and authority."""
    key: str
    """In plain characters, without escapes."""

    @classmethod
    def parse(cls, uri: str | URI) -> Name:
        """Parse a URI.  Raises: InvalidURI; StoreError if it names no object, as with a login or a query."""
        parsed = URI(uri)
        problem = ""
        if not parsed.authority:
            problem = "the bucket is missing"
        elif "%" in parsed.authority:
            problem = "its bucket has an escape, which a server may decode to another bucket"
        elif parsed.userinfo is not None and parsed.scheme.lower() not in ("abfs", "abfss"):
            problem = "it has a login; credentials come from the environment alone"
        elif parsed.query is not None:
            problem = 'it has a query; "?" in a key is written %3F'
        if problem:
            raise StoreError("not-opened", f"this URI names nothing in a store: {problem}")
        try:
            key = decode(parsed.path.removeprefix("/"))
        except CodingError:
            raise StoreError("not-opened", "this URI names nothing in a store: its key must be UTF-8") from None
        if not {".", ".."}.isdisjoint(key.split("/")):  # escaped, they may lead out of a folder (RFC 3986 7.3)
            raise StoreError("not-opened", "this URI names nothing in a store: a segment of its key is . or ..")
        return cls(f"{parsed.scheme.lower()}://{parsed.authority}", key)

    @property
    def uri(self) -> str:
        return f"{self.root}/{'/'.join(encode(part, keep=IN_SEGMENT) for part in self.key.split('/'))}"


class Store(Protocol):
    """A bucket or container."""

    def read(self, key: str, start: int, end: int, version: str) -> Piece:
        """Return the octets [start, end) of an object if it has that version ("": any).  Raises: StoreError."""
        ...

    def head(self, key: str) -> ObjectInfo | None:
        """Return the description of an object; None if it does not exist.  Raises: StoreError."""
        ...

    def list(self, prefix: str) -> Iterator[ObjectInfo]:
        """Yield the objects whose keys have that prefix, in key order, a page at a time.  Raises: StoreError."""
        ...

    def put(self, key: str, file: BinaryIO | bytes, version: str | None) -> str:
        """Write an object in one piece.  Returns: its version.

        version: the version to replace; "" if no such object may exist yet; None to write in any case.

        Raises: FileExistsError if the object exists, or was changed; StoreError.
        """
        ...

    def remove(self, key: str) -> None:
        """Remove an object, if it exists.  Raises: StoreError."""


def _scheme(source: object) -> str:
    if isinstance(source, URI):
        return source.scheme.lower()
    match = _SCHEME.match(source) if isinstance(source, str) else None
    return match[1].lower() if match else ""


def is_object(source: object) -> TypeGuard[str]:
    """Whether a source is the URI of an object, or of a folder of them.

    >>> is_object("s3://bucket/a.warc.gz"), is_object("https://h/a.warc.gz"), is_object("s3:x")
    (True, False, False)
    """
    scheme = _scheme(source)
    return scheme in SCHEMES or (scheme != "" and _is_other_store(scheme))


@bounded_cache(64)
def _is_other_store(scheme: str) -> bool:
    """Whether fsspec opens a scheme that this package does not open."""
    if scheme in _LOCAL or find_spec("fsspec") is None:
        return False
    from fsspec import available_protocols

    from overthere.schemes.registry import Registry

    scheme_info = Registry.default().scheme(scheme)
    return scheme in available_protocols() and scheme_info.access is None and not scheme_info.locates_nothing


def is_web(source: object) -> TypeGuard[str]:
    """Whether a source is a URI of HTTP."""
    if not (scheme := _scheme(source)):
        return False
    from overthere.schemes.known.http import HTTPS, SCHEME

    return scheme in (SCHEME.name, HTTPS.name)


def is_folder(uri: str) -> bool:
    """Whether the text of a store's URI names a folder: a bucket, or a text that ends with a slash."""
    return uri.endswith("/") or uri.count("/") == 2
