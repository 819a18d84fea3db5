"""Other stores, by fsspec: https://filesystem-spec.readthedocs.io/.

fsspec has no conditional requests: after each range the object's version is read, and if it differs, the object was
changed while it was read.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO

from overthere.files.stores.model import Name, ObjectInfo, Piece, StoreError
from overthere.ground.extras import brought_by
from overthere.ground.redact import mask

with brought_by("fsspec"):
    from fsspec.core import url_to_fs

MAX_LISTED = 100_000_000
MAX_DEPTH = 256
"""Objects and folders in one another of a listing: a server that is broken or hostile lists for ever."""
_VERSIONS = (
    "ETag", "etag", "e_tag", "checksum", "md5", "content_hash", "sha", "LastModified", "last_modified", "mtime",
    "modificationTime",
)  # fmt: skip
"""Keys under which filesystems report what changes with the content; the filesystem "memory" has "created"."""


class FilesystemStore:
    """A filesystem of fsspec, below a root."""

    def __init__(self, root: str) -> None:
        self.root = root
        with _raising():
            self._files, _ = url_to_fs(root)
            self._top: str = self._files._strip_protocol(f"{root}/x").removesuffix("x")  # with "/" or not, as it asks

    def _path(self, key: str) -> str:
        return posixpath.join(self._top, key) if key else self._top

    def read(self, key: str, start: int, end: int, version: str) -> Piece:
        with _raising("truncated" if start else "not-opened"):
            version = version or self._object_info(key, self._details(key)).version
            content = self._files.cat_file(self._path(key), start, end)
            info = self._object_info(key, self._details(key))
        if info.version != version:
            raise StoreError("changed", "the object was replaced while it was read")
        if len(content) > end - start or len(content) < min(end, info.size) - start:
            raise StoreError("truncated", f"the answer for octets {start:,} to {end:,} is not that range")
        size = start + len(content) if info.size < 0 and len(content) < end - start else info.size
        return Piece(content, size, info.version)

    def head(self, key: str) -> ObjectInfo | None:
        try:
            with _raising():
                details = self._details(key)
                return self._object_info(key, details) if details["type"] != "directory" else None
        except StoreError as error:
            if error.note == "missing":
                return None
            raise

    def _details(self, key: str) -> dict[str, Any]:
        self._files.invalidate_cache()  # it may keep old listings, also of the folder around the object
        details: dict[str, Any] = self._files.info(self._path(key))
        return details

    def _object_info(self, key: str, details: dict[str, Any]) -> ObjectInfo:
        version = next((str(details[name]) for name in (*_VERSIONS, "created") if details.get(name) is not None), "")
        valid_size = size if isinstance(size := details.get("size"), int) and 0 <= size < 1 << 63 else -1
        return ObjectInfo(Name(self.root, key).uri, valid_size, f"{version} {size}")

    def list(self, prefix: str) -> Iterator[ObjectInfo]:
        folders, listed = [prefix.rstrip("/")], 0
        while folders:
            folder = folders.pop()
            if listed > MAX_LISTED or folder.count("/") > MAX_DEPTH:
                why = f"more than {MAX_LISTED:,} objects" if listed > MAX_LISTED else f"folders {MAX_DEPTH} deep"
                raise StoreError("truncated", f"the listing has {why}: it ended after {listed:,} objects")
            subfolders: list[str] = []
            objects: list[ObjectInfo] = []
            with _raising():
                self._files.invalidate_cache()
                entries = sorted(self._files.ls(self._path(folder), detail=True), key=lambda entry: str(entry["name"]))
                for details in entries:
                    name = posixpath.basename(str(details["name"]).rstrip("/"))
                    key = f"{folder}/{name}" if folder else name
                    if details["type"] != "directory":
                        objects.append(self._object_info(key, details))
                    elif name not in ("", ".", ".."):  # the folder itself, and the one above
                        subfolders.append(key)
            yield from objects
            listed += len(entries)
            folders += reversed(subfolders)

    def put(self, key: str, file: BinaryIO | bytes, version: str | None) -> str:
        raise StoreError("not-opened", f"{self.root}: tables are written to the stores of obstore only (s3, gs, az)")

    def remove(self, key: str) -> None:
        self.put(key, b"", None)  # which is refused


@contextmanager
def _raising(note: str = "not-opened") -> Iterator[None]:
    """Raise any exception of a filesystem as a StoreError: each filesystem has its own exceptions."""
    try:
        yield
    except StoreError:
        raise
    except Exception as error:
        note = "missing" if isinstance(error, (FileNotFoundError, PermissionError)) else note
        message = mask(" ".join(str(error).split()))[:300]
        raise StoreError(note, message or type(error).__name__) from error
