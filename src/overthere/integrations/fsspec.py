"""fsspec: a filesystem that reads gopher, ftp, wais, data and other URIs under a policy.

with fsspec.open("gopher://h.example/0/x.csv", policy=Policy()) as file: ...
OverthereFileSystem(policy).open("ftp://h.example/x.csv")

fsspec finds it for gopher and wais, which fsspec lacks (entry points of the group `fsspec.specs`).  For ftp and data
fsspec uses its own until `register` is called.
"""

from __future__ import annotations

import errno
import logging
import re
from collections.abc import Iterator
from contextlib import contextmanager
from io import SEEK_END
from pathlib import Path
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
    from fsspec.implementations.local import make_path_posix
    from fsspec.utils import other_paths

__all__ = ["OverthereFileSystem", "register"]

if TYPE_CHECKING:

    class _FileSystem:
        """fsspec has no type hints; its class has these methods, and others."""

        def __init__(self, **options: Any) -> None: ...
        def __getattr__(self, name: str) -> Any: ...
        def get(self, rpath: Any, lpath: Any, recursive: bool = False, *given: Any, **options: Any) -> Any: ...
else:
    _FileSystem = AbstractFileSystem
MAX_ENTRIES = 1_000_000
"""The most entries of a listing: all are held in memory."""
_KINDS_WITHOUT_CONTENT = ("info", "error")
"""The kinds of the lines of a menu that are only shown."""
_PROTOCOLS = ("gopher", "wais", "ftp", "data")
_OS_ERRORS: tuple[tuple[type[AccessError], type[OSError]], ...] = (
    (ResourceMissing, FileNotFoundError), (AccessRefused, PermissionError), (AccessTimeout, TimeoutError),
    (AccessError, OSError),
)  # fmt: skip


class OverthereFileSystem(_FileSystem):
    """A filesystem whose paths are whole URIs; it reads files and lists listings.

    policy: the limits; by default safe for untrusted URIs.
    credentials: as for `overthere.open`.

    fsspec keeps a filesystem around this one (`simplecache::`) by the text of its options, in which passwords are
    masked: with several logins give it `simplecache={"skip_instance_cache": True}`.

    A file is read completely when it is opened, into an unnamed temporary file, so that it is seekable.
    Raises: an AccessError that is also a FileNotFoundError, PermissionError, TimeoutError or another OSError;
    InvalidURI, PlanRefused and NotSpecified as `overthere.open`.

    >>> OverthereFileSystem().cat_file("data:,hello", start=1)
    b'ello'
    """

    protocol: ClassVar[tuple[str, ...]] = _PROTOCOLS
    # fsspec caches instances by the text of their options, in which passwords are masked.
    cachable: ClassVar[bool] = False

    def __init__(self, policy: Policy | None = None, credentials: Credentials | None = None, **options: Any) -> None:
        super().__init__(policy=policy, credentials=credentials, **options)
        self.policy = policy
        self.credentials = credentials

    @property
    def _fs_token(self) -> str:
        """Equal filesystems have one token, also for dask; that of fsspec is made of texts with masked passwords."""
        proxies = self.policy and tuple(sorted(self.policy.proxy.items()))
        return f"{hash((self.policy, proxies, self.credentials)) % 2**64:x}"

    @classmethod
    def _strip_protocol(cls, path: Any) -> Any:
        return [cls._strip_protocol(item) for item in path] if isinstance(path, list) else _text(path)

    def unstrip_protocol(self, name: Any) -> str:
        """Return the path, which is a whole URI; fsspec would put `gopher://` before one that begins with `data:`."""
        return _text(name)

    @contextmanager
    def _resource(self, path: Any) -> Iterator[Resource]:
        with _os_errors(), open_uri(_text(path), self.policy, credentials=self.credentials) as resource:
            yield resource

    def info(self, path: str, **options: Any) -> dict[str, Any]:
        """Return name, type ("file" or "directory"), size (None if it is not announced) and mimetype."""
        with self._resource(path) as resource:
            return _info(path, resource)

    def ls(self, path: str, detail: bool = True, below: bool = False, **options: Any) -> list[Any]:
        """Return the entries of a listing by their URIs, which may lead to other servers; for a file, that file.

        Entries without a URI, such as names that FTP cannot send, are left out, and their number is logged.

        below: leave out entries that are not below the listing, and log their number.
        """
        with self._resource(path) as resource:
            if not resource.is_listing:
                entries = [_info(path, resource)]
            else:
                entries, without_uri = [], 0
                for entry in resource.entries():
                    if len(entries) == MAX_ENTRIES:
                        raise LimitExceeded(f"a listing of more than {MAX_ENTRIES:,} entries", uri=_text(path))
                    entries += [] if entry.uri is None else [_entry(entry, entry.uri)]
                    without_uri += entry.uri is None and entry.kind not in _KINDS_WITHOUT_CONTENT
                below_entries = [item for item in entries if _is_below(_text(path), item["name"])] if below else entries
                omitted = {"are not below it": len(entries) - len(below_entries), "have no URI": without_uri}
                for reason, number in omitted.items():
                    if number:
                        logger = logging.getLogger("overthere.access")
                        logger.warning("%s: %d entries %s and are left out", mask(_text(path)), number, reason)
                entries = below_entries
        return entries if detail else [item["name"] for item in entries]

    def walk(
        self, path: Any, maxdepth: int | None = None, topdown: bool = True, on_error: Any = "omit", **options: Any
    ) -> Iterator[tuple[str, Any, Any]]:
        """Yield the entries below a listing; `find`, `glob` and `get` use it, and their paths of files are URIs.

        An entry is named by its last segment, or by its URI if another entry has that name, as in menus of gopher.

        Raises: ValueError without `maxdepth`: menus may be endlessly deep.
        """
        if maxdepth is None:
            raise ValueError("give maxdepth: listings may be endlessly deep")
        listing_uri = _text(path)
        folders: dict[str, Any] = {}
        files: dict[str, Any] = {}
        detail = options.pop("detail", False)
        try:
            listing = self.ls(listing_uri, detail=True, **{**options, "below": True})
        except OSError as error:
            if on_error == "raise":
                raise
            if callable(on_error):
                on_error(error)
            else:
                logging.getLogger("overthere.access").warning("%s: left out: %s", mask(listing_uri), error)
            return
        for info in listing:
            uri = info["name"]
            name = "" if uri == listing_uri else uri.rstrip("/").rpartition("/")[2]
            group = folders if info["type"] == "directory" and uri != listing_uri else files
            group[uri if name in folders or name in files else name] = info
        names: tuple[Any, Any] = (folders, files) if detail else (list(folders), list(files))
        if topdown:
            yield (listing_uri, *names)
        for name in names[0] if maxdepth > 1 else ():
            walk_options = {**options, "topdown": topdown, "on_error": on_error, "detail": detail}
            yield from self.walk(folders[name]["name"], maxdepth - 1, **walk_options)
        if not topdown:
            yield (listing_uri, *names)

    def du(self, path: Any, total: bool = True, maxdepth: int | None = None, **options: Any) -> Any:
        """Return the file sizes below a listing.  Raises: an AccessError, also an OSError, if one is unknown."""
        files = self.find(path, maxdepth, detail=True, **options)
        if without_size := [uri for uri, info in files.items() if info.get("size") is None]:
            message = f"{len(without_size):,} of {len(files):,} files have no announced size"
            raise _os_error(AccessError, OSError)(message, uri=_text(path))
        sizes = {uri: info["size"] for uri, info in files.items()}
        return sum(sizes.values()) if total else sizes

    def get(
        self, rpath: Any, lpath: Any, recursive: bool = False, *given: Any, maxdepth: int | None = None, **options: Any
    ) -> None:
        """Get files as fsspec does, and every file of a listing into the folder.

        fsspec would write a single one in place of the folder, leave out "a/", read "*" as a pattern, and write "a//b"
        over "a/b".

        Raises: an AccessError, also an OSError, before it writes, if two files of a listing have one name here.
        """
        if recursive and isinstance(rpath, str) and isinstance(lpath, str) and {"*", "?", "["}.isdisjoint(rpath):
            files = self.find(rpath, maxdepth)
            if files and files != [rpath]:
                names = [re.sub("/+", "/", uri).rstrip("/") for uri in files]
                if len({*names}) < len(files):
                    raise _os_error(AccessError, OSError)("two files of the listing have one name here", uri=rpath)
                lpath = make_path_posix(lpath)
                is_below = not rpath.endswith("/") and (lpath.endswith("/") or Path(lpath).is_dir())
                rpath, lpath = files, other_paths(names, lpath, exists=is_below, flatten=len(files) == 1)
        super().get(rpath, lpath, recursive, *given, maxdepth=maxdepth, **options)

    def _open(self, path: str, mode: str = "rb", *arguments: Any, **options: Any) -> Any:
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
        sized_file: Any = file
        sized_file.size = file.tell()  # read by fsspec's `read_block`
        file.seek(0)
        return file

    def cat_file(self, path: str, start: int | None = None, end: int | None = None, **options: Any) -> bytes:
        with self._open(path) as file:
            size = file.seek(0, SEEK_END)
            first, last, _ = slice(start, end).indices(size)
            file.seek(first)
            return bytes(file.read(max(0, last - first)))


def register(*protocols: str) -> None:
    """Make fsspec use this filesystem for these schemes, even if fsspec has its own: `register("ftp")`.

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
    """Whether an entry is on the server of its listing and below its path, without dot-segments.

    Nothing may follow the path: fsspec makes the name of a local file of the whole text.

    >>> _is_below("gopher://h/1/a", "gopher://h/0/a/b"), _is_below("ftp://h/a/", "ftp://h/a/../b")
    (True, False)
    """
    folder, entry_uri = URI(listing), URI(entry)
    if (
        not entry.endswith(entry_uri.path)
        or folder.origin != entry_uri.origin
        or (folder.scheme.lower(), folder.userinfo) != (entry_uri.scheme, entry_uri.userinfo)
    ):
        return False
    type_length = 2 if entry_uri.scheme == "gopher" else 0  # "/" and the item type (RFC 4266 2.1)
    root, path = folder.path[type_length:].rstrip("/"), entry_uri.path[type_length:]
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
    """Raise each AccessError as one that is also the OSError that fsspec expects."""
    try:
        yield
    except OSError:
        raise
    except AccessError as error:
        kind = next(os_error for access_error, os_error in _OS_ERRORS if isinstance(error, access_error))
        new_error = _rebuild(type(error), kind, error.__reduce__()[1])  # type: ignore[arg-type]
        raise new_error.with_traceback(error.__traceback__) from error.__cause__


@bounded_cache(64)
def _os_error(access_error: type[AccessError], os_error: type[OSError]) -> type[AccessError]:
    """Return a class that derives from both."""
    number = {FileNotFoundError: errno.ENOENT, PermissionError: errno.EACCES, IsADirectoryError: errno.EISDIR}

    def reduce(error: AccessError) -> tuple[object, ...]:
        return _rebuild, (access_error, os_error, access_error.__reduce__(error)[1])

    body = {"__module__": __name__, "__reduce__": reduce, "errno": number.get(os_error, errno.EIO)}
    return type(access_error.__name__, (access_error, os_error), body)


def _rebuild(access_error: type[AccessError], os_error: type[OSError], arguments: tuple[Any, ...]) -> AccessError:
    return _os_error(access_error, os_error)(*arguments)
