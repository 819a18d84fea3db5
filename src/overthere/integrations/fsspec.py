"""fsspec: a filesystem that reads gopher, ftp, wais, data and other URIs under a policy.

with fsspec.open("gopher://h.example/0/x.csv", policy=Policy()) as file: ...
OverthereFileSystem(policy).open("ftp://h.example/x.csv")

fsspec finds it for gopher and wais, which it does not have itself (entry points of the group `fsspec.specs`).  ftp and
data stay fsspec's own until `register` is called.
"""

from __future__ import annotations

import errno
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from io import SEEK_END
from typing import TYPE_CHECKING, Any, ClassVar

from overthere.access.errors import AccessError, AccessRefused, AccessTimeout, LimitExceeded, ResourceMissing
from overthere.access.opening import open as open_uri
from overthere.access.policy import Policy
from overthere.access.resource import Resource
from overthere.access.steps import Credentials
from overthere.access.wire import Entry
from overthere.ground.atomic import open_unnamed
from overthere.ground.caches import bounded_cache
from overthere.ground.extras import brought_by
from overthere.ground.redact import mask
from overthere.iri import IRIReference
from overthere.values.uri import URI, URIReference

with brought_by("fsspec"):
    from fsspec import AbstractFileSystem, register_implementation

__all__ = ["OverthereFileSystem", "register"]

if TYPE_CHECKING:

    class _FileSystem:
        """fsspec has no types; its class has these, and others."""

        def __init__(self, **options: Any) -> None: ...
        def __getattr__(self, name: str) -> Any: ...
        def get(self, rpath: Any, lpath: Any, recursive: bool = False, *given: Any, **options: Any) -> Any: ...
else:
    _FileSystem = AbstractFileSystem
MAX_ENTRIES = 1_000_000
"""Of a listing, as all are held."""
_PROTOCOLS = ("gopher", "wais", "ftp", "data")
_OS_ERRORS: tuple[tuple[type[AccessError], type[OSError]], ...] = (
    (ResourceMissing, FileNotFoundError), (AccessRefused, PermissionError), (AccessTimeout, TimeoutError),
    (AccessError, OSError),
)  # fmt: skip


class OverthereFileSystem(_FileSystem):
    """A filesystem whose paths are whole URIs; it reads, and lists what is a listing.

    policy: the limits; safe for untrusted URIs unless given.
    credentials: as for `overthere.open`.

    A file is read whole when it is opened, into a temporary file without a name, so that it can seek.
    Raises: an AccessError that is a FileNotFoundError, PermissionError, TimeoutError or another OSError too;
    InvalidURI, PlanRefused and NotSpecified as `overthere.open`.

    >>> OverthereFileSystem().cat_file("data:,hello", start=1)
    b'ello'
    """

    protocol: ClassVar[tuple[str, ...]] = _PROTOCOLS
    # fsspec knows an instance again by the text of its options, in which passwords are masked.
    cachable: ClassVar[bool] = False

    def __init__(self, policy: Policy | None = None, credentials: Credentials | None = None, **options: Any) -> None:
        super().__init__(policy=policy, credentials=credentials, **options)
        self.policy = policy
        self.credentials = credentials

    @classmethod
    def _strip_protocol(cls, path: Any) -> Any:
        return [cls._strip_protocol(one) for one in path] if isinstance(path, list) else _text(path)

    @contextmanager
    def _resource(self, path: Any) -> Iterator[Resource]:
        with _os_errors(), open_uri(_text(path), self.policy, credentials=self.credentials) as resource:
            yield resource

    def info(self, path: str, **options: Any) -> dict[str, Any]:
        """Name, type ("file" or "directory"), size (None if it is not announced) and mimetype."""
        with self._resource(path) as resource:
            return _info(path, resource)

    def ls(self, path: str, detail: bool = True, below: bool = False, **options: Any) -> list[Any]:
        """The entries of a listing, by their URIs, which may lead to other servers; of a file that file.

        below: leave out entries that are not below the listing, and log their number.
        """
        with self._resource(path) as resource:
            if not resource.is_listing:
                found = [_info(path, resource)]
            else:
                found = []
                for entry in resource.entries():
                    if len(found) == MAX_ENTRIES:
                        raise LimitExceeded(f"a listing of more than {MAX_ENTRIES:,} entries", uri=_text(path))
                    found += [] if entry.uri is None else [_entry(entry, entry.uri)]
                kept = [one for one in found if _is_below(_text(path), one["name"])] if below else found
                if left_out := len(found) - len(kept):
                    logger = logging.getLogger("overthere.access")
                    logger.warning("%s: %d entries are not below it and are left out", mask(_text(path)), left_out)
                found = kept
        return found if detail else [one["name"] for one in found]

    def walk(
        self, path: Any, maxdepth: int | None = None, topdown: bool = True, on_error: Any = "omit", **options: Any
    ) -> Iterator[tuple[str, Any, Any]]:
        """The entries below a listing; so do `find`, `glob`, and `get`, for which their URIs are paths of files.

        An entry is named by its last segment, and by its URI if another has that, as in menus of gopher.

        Raises: ValueError without `maxdepth`: menus may be endlessly deep.
        """
        if maxdepth is None:
            raise ValueError("give maxdepth: listings may be endlessly deep")
        listed = _text(path)
        folders: dict[str, Any] = {}
        files: dict[str, Any] = {}
        detail = options.pop("detail", False)
        try:
            listing = self.ls(listed, detail=True, **{**options, "below": True})
        except OSError as error:
            if on_error == "raise":
                raise
            if callable(on_error):
                on_error(error)
            else:
                logging.getLogger("overthere.access").warning("%s: left out: %s", mask(listed), error)
            return
        for info in listing:
            uri = info["name"]
            name = "" if uri == listed else uri.rstrip("/").rpartition("/")[2]
            group = folders if info["type"] == "directory" and uri != listed else files
            group[uri if name in folders or name in files else name] = info
        named: tuple[Any, Any] = (folders, files) if detail else (list(folders), list(files))
        if topdown:
            yield (listed, *named)
        for name in named[0] if maxdepth > 1 else ():
            more = {**options, "topdown": topdown, "on_error": on_error, "detail": detail}
            yield from self.walk(folders[name]["name"], maxdepth - 1, **more)
        if not topdown:
            yield (listed, *named)

    def du(self, path: Any, total: bool = True, maxdepth: int | None = None, **options: Any) -> Any:
        """The sizes of the files below a listing.  Raises: an AccessError, also an OSError, if one is not announced."""
        found = self.find(path, maxdepth, detail=True, **options)
        if unknown := [uri for uri, info in found.items() if info.get("size") is None]:
            said = f"{len(unknown):,} of {len(found):,} files have no announced size"
            raise _os_error(AccessError, OSError)(said, uri=_text(path))
        sizes = {uri: info["size"] for uri, info in found.items()}
        return sum(sizes.values()) if total else sizes

    def get(
        self, rpath: Any, lpath: Any, recursive: bool = False, *given: Any, maxdepth: int | None = None, **options: Any
    ) -> None:
        """As fsspec, which would take a listing with one file for that file, and write it in place of the folder."""
        if recursive and isinstance(rpath, str) and isinstance(lpath, str) and {"*", "?", "["}.isdisjoint(rpath):
            found = self.find(rpath, maxdepth)
            if len(found) == 1 and found != [rpath]:
                rpath, lpath, recursive, maxdepth = found, lpath.rstrip("/") + "/", False, None
        super().get(rpath, lpath, recursive, *given, maxdepth=maxdepth, **options)

    def _open(self, path: str, mode: str = "rb", *given: Any, **options: Any) -> Any:
        if mode != "rb":
            raise _os_error(AccessError, OSError)(f"the mode {mode!r}: this filesystem only reads", uri=path)
        file = open_unnamed()
        try:
            with self._resource(path) as resource:
                if resource.is_listing:
                    raise _os_error(AccessError, IsADirectoryError)("it is a listing: use ls", uri=path)
                for piece in resource:
                    file.write(piece)
        except BaseException:
            file.close()
            raise
        sized: Any = file
        sized.size = file.tell()  # fsspec's `read_block` asks for it
        file.seek(0)
        return file

    def cat_file(self, path: str, start: int | None = None, end: int | None = None, **options: Any) -> bytes:
        with self._open(path) as file:
            size = file.seek(0, SEEK_END)
            first, last, _ = slice(start, end).indices(size)
            file.seek(first)
            return bytes(file.read(max(0, last - first)))


def register(*protocols: str) -> None:
    """Let fsspec use this filesystem for these schemes, also for those that it has its own for: `register("ftp")`.

    Raises: ValueError for another scheme than gopher, wais, ftp and data.
    """
    for name in protocols:
        if name not in _PROTOCOLS:
            raise ValueError(f"{name!r} is not one of {', '.join(_PROTOCOLS)}")
        register_implementation(name, OverthereFileSystem, clobber=True)


def _text(path: Any) -> str:
    if isinstance(path, (str, URIReference, IRIReference)):
        return str(path)
    raise TypeError(f"a path of this filesystem is a URI, not {type(path).__name__}")


def _is_below(listing: str, entry: str) -> bool:
    """Whether an entry is of the server of its listing, and its path leads from there down, without dot-segments.

    Nothing follows the path: fsspec makes the name of a local file of the whole text.

    >>> _is_below("gopher://h/1/a", "gopher://h/0/a/b"), _is_below("ftp://h/a/", "ftp://h/a/../b")
    (True, False)
    """
    folder, there = URI(listing), URI(entry)
    if (
        not entry.endswith(there.path)
        or folder.origin != there.origin
        or (folder.scheme.lower(), folder.userinfo) != (there.scheme, there.userinfo)
    ):
        return False
    of_type = 2 if there.scheme == "gopher" else 0  # "/" and the type of the item (RFC 4266 2.1)
    root, path = folder.path[of_type:].rstrip("/"), there.path[of_type:]
    return path.startswith(f"{root}/" if root else "") and {".", ".."}.isdisjoint(path.split("/"))


def _info(path: str, resource: Resource) -> dict[str, Any]:
    kind = "directory" if resource.is_listing else "file"
    return {"name": _text(path), "type": kind, "size": resource.length, "mimetype": resource.media_type}


def _entry(entry: Entry, uri: str) -> dict[str, Any]:
    size, kind = entry.details.get("size"), "directory" if entry.kind == "directory" else "file"
    size = size if isinstance(size, int) else None
    return {"name": uri, "type": kind, "size": size, "title": entry.name, "kind": entry.kind}


@contextmanager
def _os_errors() -> Iterator[None]:
    """Raise each AccessError as what fsspec expects too."""
    try:
        yield
    except OSError:
        raise
    except AccessError as error:
        kind = next(os_error for own, os_error in _OS_ERRORS if isinstance(error, own))
        made = _rebuild(type(error), kind, error.__reduce__()[1])  # type: ignore[arg-type]
        raise made.with_traceback(error.__traceback__) from error.__cause__


@bounded_cache(64)
def _os_error(own: type[AccessError], os_error: type[OSError]) -> type[AccessError]:
    """A class of both."""
    number = {FileNotFoundError: errno.ENOENT, PermissionError: errno.EACCES, IsADirectoryError: errno.EISDIR}

    def reduce(error: AccessError) -> tuple[object, ...]:
        return _rebuild, (own, os_error, own.__reduce__(error)[1])

    body = {"__module__": __name__, "__reduce__": reduce, "errno": number.get(os_error, errno.EIO)}
    return type(own.__name__, (own, os_error), body)


def _rebuild(own: type[AccessError], os_error: type[OSError], known: tuple[Any, ...]) -> AccessError:
    return _os_error(own, os_error)(*known)
