"""Stores of S3, Google Cloud and Azure, by obstore: https://developmentseed.org/obstore/."""

from __future__ import annotations

import errno
import re
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from threading import Lock
from typing import Any, BinaryIO

from overthere.files.stores.model import Name, ObjectInfo, Piece, StoreError
from overthere.ground.display import shorten
from overthere.ground.extras import brought_by
from overthere.ground.redact import mask

with brought_by("stores"):
    import obstore
    from obstore import exceptions
    from obstore.store import from_url

RETRY: dict[str, Any] = {
    "max_retries": 8,
    "retry_timeout": timedelta(seconds=120),
    "backoff": {"init_backoff": timedelta(milliseconds=100), "max_backoff": timedelta(seconds=10), "base": 2},
}
"""How often obstore retries: overloaded servers answer 503 or "SlowDown".

Options of its client are not set here: they would replace those of the environment, such as AWS_ALLOW_HTTP."""
_TRIES = 3
"""The number of times that a range is requested if its content is incomplete."""
_PAGE, _CHUNK_BYTES = 1000, 1 << 20
MAX_LISTED = 100_000_000
"""The most objects of a listing: a broken or hostile server lists forever."""
_STATUS = re.compile(r"status code: (.*?): ", re.DOTALL)


class ObjectStore:
    """A bucket or container; made by `opening.store_of`, once for a process."""

    def __init__(self, root: str) -> None:
        self.root = root
        self._lock = Lock()
        self._cached_store: Any = None

    @property
    def _store(self) -> Any:
        with self._lock:
            if self._cached_store is None:
                with _raising():
                    make: Any = from_url
                    self._cached_store = make(self.root, retry_config=RETRY)
            return self._cached_store

    def read(self, key: str, start: int, end: int, version: str) -> Piece:
        options: dict[str, Any] = {"range": (start, end)}
        if version:
            options["if_match"] = version
        for attempt in range(1, _TRIES + 1):
            try:
                with _raising("truncated" if start else "not-opened"):
                    result = obstore.get(self._store, key, options=options)  # type: ignore[arg-type]
                    content = bytearray()
                    for piece in result.stream(_CHUNK_BYTES):
                        content += piece
                        if len(content) > end - start:
                            break  # a false answer may be of any length
            except StoreError as error:
                if error.note not in ("truncated", "not-opened") or attempt == _TRIES:
                    raise
                continue
            size = result.meta["size"]
            if tuple(result.range) == (start, min(end, size)) and len(content) == min(end, size) - start:
                # An answer without an entity tag fulfilled the condition.
                return Piece(
                    memoryview(content), size, _entity_tag(result.meta) or version or str(result.meta["last_modified"])
                )
        raise StoreError("truncated", f"the answer for octets {start:,} to {end:,} is not that range (RFC 9110 15.3.7)")

    def head(self, key: str) -> ObjectInfo | None:
        try:
            with _raising():
                return self._object_info(obstore.head(self._store, key))
        except StoreError as error:
            if error.note == "missing" and isinstance(error.__cause__, FileNotFoundError):
                return None
            raise

    def _object_info(self, meta: Any) -> ObjectInfo:
        version = _entity_tag(meta) or str(meta["last_modified"])
        return ObjectInfo(Name(self.root, meta["path"]).uri, meta["size"], version)

    def list(self, prefix: str) -> Iterator[ObjectInfo]:
        pages = iter(obstore.list(self._store, prefix.rstrip("/") or None, chunk_size=_PAGE))
        listed, page_ends = 0, ("", "")
        while True:
            with _raising():
                page = next(pages, None)
            if page is None:
                return
            previous_ends, page_ends = page_ends, (page[0]["path"], page[-1]["path"]) if page else ("", "")
            inner = [entry for entry in page if entry["path"].startswith(prefix)]
            # Consoles and Hadoop write an empty object for a folder itself; obstore drops the slash at its end.
            strays = (entry["path"] for entry in page if entry["size"] or f"{entry['path']}/" != prefix)
            if stray_path := next((path for path in strays if not path.startswith(prefix)), None):
                problem = f"has {shorten(stray_path, 80)}, which is not in it"
                raise StoreError("truncated", f"the listing {problem}: it ended after {listed:,} objects")
            listed += len(page)
            if listed > MAX_LISTED or (page and page_ends == previous_ends):
                problem = "repeats a page" if page_ends == previous_ends else f"has more than {MAX_LISTED:,} objects"
                raise StoreError("truncated", f"the listing {problem}: it ended after {listed:,} objects")
            yield from map(self._object_info, inner)

    def put(self, key: str, file: BinaryIO | bytes, version: str | None) -> str:
        mode: Any = "overwrite" if version is None else {"e_tag": version} if version else "create"
        try:
            with _raising():
                # In one request: a condition covers that whole request.
                result = obstore.put(self._store, key, file, mode=mode, use_multipart=False)
        except StoreError as error:
            if error.note in ("changed", "exists"):
                # A request that is repeated because no answer came finds what it has written itself.
                if self._holds(key, file):
                    existing = self.head(key)
                    return existing.version if existing else ""
                raise FileExistsError(errno.EEXIST, "another job has written it", Name(self.root, key).uri) from None
            raise
        return result["e_tag"] or ""

    def _holds(self, key: str, content: BinaryIO | bytes) -> bool:
        """Whether an object has this content."""
        if not isinstance(content, bytes):
            content.seek(0)
            content = content.read()
        with _raising():
            stored = obstore.get(self._store, key)
            return stored.meta["size"] == len(content) and bytes(stored.bytes()) == content

    def remove(self, key: str) -> None:
        try:
            with _raising():
                obstore.delete(self._store, key)
        except StoreError as error:
            if error.note != "missing":
                raise


_NOTES: tuple[tuple[type[Exception], str], ...] = (
    (FileNotFoundError, "missing"),
    (exceptions.NotFoundError, "missing"),
    (exceptions.PermissionDeniedError, "missing"),
    (exceptions.UnauthenticatedError, "missing"),
    (exceptions.PreconditionError, "changed"),
    (exceptions.AlreadyExistsError, "exists"),
)


@contextmanager
def _raising(note: str = "not-opened") -> Iterator[None]:
    """Raise exceptions of obstore as StoreError.  note: the kind of those that `_NOTES` lacks."""
    try:
        yield
    except StoreError:
        raise
    except BaseException as error:
        is_known = isinstance(error, (exceptions.BaseError, OSError, ValueError))
        if not is_known and type(error).__name__ != "PanicException":  # a panic in Rust is not an Exception
            raise
        note = next((note for kind, note in _NOTES if isinstance(error, kind)), note)
        status = _STATUS.search(str(error))
        if status is not None and status[1][:3] in ("404", "412"):  # while listing, and while a body is received
            note = "missing" if status[1].startswith("404") else "changed"
        raise StoreError(note, _short_message(str(error))) from error


def _entity_tag(meta: Any) -> str:
    """Return the entity tag; "" if a field could not send it (RFC 9110 8.8.3): a listing may have any text."""
    tag = meta["e_tag"] or ""
    return tag if tag.isascii() and tag.isprintable() else ""


def _short_message(message: str) -> str:
    """Return the message of an obstore error, without source locations and secrets."""
    first = message.partition("\n\nDebug source:")[0]
    if "169.254.169.254" in first or "metadata.google.internal" in first:  # tried if nothing else is configured
        return "the environment has no credentials; for a public bucket of S3 set AWS_SKIP_SIGNATURE=true"
    code = re.search("<Code>([A-Za-z]+)</Code>", first)
    status = _STATUS.search(first)
    if status is not None:
        return f"the store answered {status[1]}" + (f" ({code[1]})" if code else "")
    return mask(" ".join(first.split()))[:300]
