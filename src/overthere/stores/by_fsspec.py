"""Other stores, by fsspec: https://filesystem-spec.readthedocs.io/.

fsspec has no conditional requests: an object is looked at after each range, and one that differs then was changed while
it was read.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO

from overthere.ground.extras import brought_by
from overthere.ground.redact import mask
from overthere.stores.model import Name, ObjectInfo, Piece, StoreError

with brought_by("fsspec"):
    from fsspec.core import url_to_fs

__all__ = ["MAX_DEPTH", "MAX_LISTED", "FilesystemStore"]

MAX_LISTED = 100_000_000
MAX_DEPTH = 256
"""Objects and folders in one another of a listing: a server that is broken or hostile lists for ever."""
_VERSIONS = ("ETag", "etag", "e_tag", "checksum", "md5", "content_hash", "LastModified", "last_modified", "mtime")
"""Names under which filesystems tell what changes with the content; "created" is that of memory."""


class FilesystemStore:
    """A filesystem of fsspec, below a root."""

    def __init__(self, root: str) -> None:
        self.root = root
        with _raising():
            self._files, top = url_to_fs(root)
            self._top: str = self._files._strip_protocol(root) if top is None else top

    def _path(self, key: str) -> str:
        return posixpath.join(self._top, key) if key else self._top

    def read(self, key: str, start: int, end: int, version: str) -> Piece:
        with _raising("truncated" if start else "not-opened"):
            path = self._path(key)
            octets = self._files.cat_file(path, start, end)
            self._files.invalidate_cache(path)
            found = self._object_info(key, self._files.info(path))
        if version and found.version != version:
            raise StoreError("changed", "the object was replaced while it was read")
        return Piece(octets, found.size if found.size >= 0 else start + len(octets), found.version)

    def head(self, key: str) -> ObjectInfo | None:
        try:
            with _raising():
                about = self._files.info(self._path(key))
                return self._object_info(key, about) if about["type"] != "directory" else None
        except StoreError as error:
            if error.note == "missing":
                return None
            raise

    def _object_info(self, key: str, about: dict[str, Any]) -> ObjectInfo:
        version = next((str(about[name]) for name in (*_VERSIONS, "created") if about.get(name) is not None), "")
        size = about.get("size")
        known = size if isinstance(size, int) and 0 <= size < 1 << 63 else -1
        return ObjectInfo(Name(self.root, key).uri, known, f"{version} {size}")

    def list(self, prefix: str) -> Iterator[ObjectInfo]:
        folders, listed = [prefix.rstrip("/")], 0
        while folders:
            folder = folders.pop()
            if listed > MAX_LISTED or folder.count("/") > MAX_DEPTH:
                why = f"more than {MAX_LISTED:,} objects" if listed > MAX_LISTED else f"folders {MAX_DEPTH} deep"
                raise StoreError("truncated", f"the listing has {why}: it ended after {listed:,} objects")
            below: list[str] = []
            found: list[ObjectInfo] = []
            with _raising():
                there = sorted(self._files.ls(self._path(folder), detail=True), key=lambda one: str(one["name"]))
                for about in there:
                    name = posixpath.basename(str(about["name"]).rstrip("/"))
                    key = f"{folder}/{name}" if folder else name
                    if about["type"] != "directory":
                        found.append(self._object_info(key, about))
                    elif name not in ("", ".", ".."):  # the folder itself, and the one above
                        below.append(key)
            yield from found
            listed += len(there)
            folders += reversed(below)

    def put(self, key: str, file: BinaryIO | bytes, version: str | None) -> str:
        raise self._unwritable()

    def remove(self, key: str) -> None:
        raise self._unwritable()

    def _unwritable(self) -> StoreError:
        return StoreError("not-opened", f"{self.root}: tables are written to the stores of obstore only (s3, gs, az)")


@contextmanager
def _raising(note: str = "not-opened") -> Iterator[None]:
    """Raises whatever a filesystem raises as a StoreError: each has errors of its own."""
    try:
        yield
    except StoreError:
        raise
    except Exception as error:
        note = "missing" if isinstance(error, (FileNotFoundError, PermissionError)) else note
        said = mask(" ".join(str(error).split()))[:300]
        raise StoreError(note, said or type(error).__name__) from error
