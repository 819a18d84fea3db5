"""Stores of S3, Google Cloud and Azure, by obstore: https://developmentseed.org/obstore/."""

from __future__ import annotations

import errno
import re
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from threading import Lock
from typing import Any, BinaryIO

from overthere.ground.display import printable, shorten
from overthere.ground.extras import brought_by
from overthere.ground.redact import mask
from overthere.stores.model import Name, ObjectInfo, Piece, StoreError

with brought_by("stores"):
    import obstore
    from obstore import exceptions
    from obstore.store import from_url

__all__ = ["MAX_LISTED", "ObjectStore"]

RETRY: dict[str, Any] = {
    "max_retries": 8,
    "retry_timeout": timedelta(seconds=120),
    "backoff": {"init_backoff": timedelta(milliseconds=100), "max_backoff": timedelta(seconds=10), "base": 2},
}
"""How often obstore asks again: servers say 503, or "SlowDown", where too much is asked of them.

Options of its client are not given here: they would take the place of those in the environment, AWS_ALLOW_HTTP and so
on."""
_TRIES = 3
"""How often a range is asked for whose content did not come whole."""
_PAGE = 1000
MAX_LISTED = 100_000_000
"""Objects of a listing: a server that is broken or hostile lists for ever."""
_STATUS = re.compile(r"status code: (.*?): ", re.DOTALL)


class ObjectStore:
    """A bucket or container; made by `opening.store_of`, once for a process."""

    def __init__(self, root: str) -> None:
        self.root = root
        self._lock = Lock()
        self._made: Any = None

    @property
    def _store(self) -> Any:
        with self._lock:
            if self._made is None:
                with _raising():
                    make: Any = from_url
                    self._made = make(self.root, retry_config=RETRY)
            return self._made

    def read(self, key: str, start: int, end: int, version: str) -> Piece:
        options: dict[str, Any] = {"range": (start, end)}
        if version:
            options["if_match"] = version
        for tried in range(1, _TRIES + 1):
            try:
                with _raising("truncated" if start else "not-opened"):
                    got = obstore.get(self._store, key, options=options)  # type: ignore[arg-type]
                    octets = memoryview(got.bytes())
            except StoreError as error:
                if error.note not in ("truncated", "not-opened") or tried == _TRIES:
                    raise
                continue
            size = got.meta["size"]
            if tuple(got.range) == (start, min(end, size)) and len(octets) == min(end, size) - start:
                # What answers without one has been told the condition.
                return Piece(octets, size, _entity_tag(got.meta) or version or str(got.meta["last_modified"]))
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
        listed, ends = 0, ("", "")
        while True:
            with _raising():
                page = next(pages, None)
            if page is None:
                return
            before, ends = ends, (page[0]["path"], page[-1]["path"]) if page else ("", "")
            if other := next((one["path"] for one in page if not one["path"].startswith(prefix)), None):
                why = f"has {printable(shorten(other, 80))}, which is not in it"
                raise StoreError("truncated", f"the listing {why}: it ended after {listed:,} objects")
            listed += len(page)
            if listed > MAX_LISTED or (page and ends == before):
                why = "repeats a page" if ends == before else f"has more than {MAX_LISTED:,} objects"
                raise StoreError("truncated", f"the listing {why}: it ended after {listed:,} objects")
            yield from map(self._object_info, page)

    def put(self, key: str, file: BinaryIO | bytes, version: str | None) -> str:
        mode: Any = "overwrite" if version is None else {"e_tag": version} if version else "create"
        try:
            with _raising():
                # In one request: a condition holds for the whole of it.
                made = obstore.put(self._store, key, file, mode=mode, use_multipart=False)
        except StoreError as error:
            if error.note in ("changed", "exists"):
                # A request that is repeated, because no answer came, meets what it has put itself.
                if self._holds(key, file):
                    found = self.head(key)
                    return found.version if found else ""
                raise FileExistsError(errno.EEXIST, "another job has written it", Name(self.root, key).uri) from None
            raise
        return made["e_tag"] or ""

    def _holds(self, key: str, content: BinaryIO | bytes) -> bool:
        """Whether an object has this content."""
        with _raising():
            there = obstore.get(self._store, key).bytes()
        if not isinstance(content, bytes):
            content.seek(0)
            content = content.read()
        return bytes(there) == content

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
    """Raises what obstore raises as a StoreError.  note: of what has none of its own."""
    try:
        yield
    except StoreError:
        raise
    except BaseException as error:
        is_known = isinstance(error, (exceptions.BaseError, OSError, ValueError))
        if not is_known and type(error).__name__ != "PanicException":  # a panic of its Rust is no Exception
            raise
        note = next((note for kind, note in _NOTES if isinstance(error, kind)), note)
        status = _STATUS.search(str(error))
        if status is not None and status[1][:3] in ("404", "412"):  # of a listing, and while a body comes
            note = "missing" if status[1].startswith("404") else "changed"
        raise StoreError(note, _short(str(error))) from error


def _entity_tag(meta: Any) -> str:
    """The entity tag; "" for one that no field could send back (RFC 9110 8.8.3): a listing has any characters."""
    tag = meta["e_tag"] or ""
    return tag if tag.isascii() and tag.isprintable() else ""


def _short(message: str) -> str:
    """What an error of obstore says, without its sources and without secrets."""
    first = message.partition("\n\nDebug source:")[0]
    if "169.254.169.254" in first or "metadata.google.internal" in first:  # asked where nothing else is given
        return "the environment has no credentials; for a public bucket of S3 set AWS_SKIP_SIGNATURE=true"
    code = re.search("<Code>([A-Za-z]+)</Code>", first)
    status = _STATUS.search(first)
    if status is not None:
        return f"the store answered {status[1]}" + (f" ({code[1]})" if code else "")
    return mask(" ".join(first.split()))[:300]
