"""Opens and lists the objects and folders of stores; there is one store per bucket."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, BinaryIO, cast

from overthere.files.stores.model import SCHEMES, Name, ObjectInfo, Piece, Store, StoreError, is_folder
from overthere.files.stores.range_file import Fetch, RangeFile
from overthere.ground.caches import bounded_cache
from overthere.ground.display import printable
from overthere.ground.errors import OverthereError
from overthere.ground.redact import mask
from overthere.values.uri import URI

if TYPE_CHECKING:
    from overthere.access.policy import Policy

_BUFFER = 1 << 18


@bounded_cache(64)
def store_of(root: str) -> Store:
    """Return the store of a scheme and an authority.

    Raises: ModuleNotFoundError without the extra `stores`, or `fsspec` for schemes that only fsspec opens.
    """
    if root.partition(":")[0] in SCHEMES:
        from overthere.files.stores.by_obstore import ObjectStore

        return ObjectStore(root)
    from overthere.files.stores.by_fsspec import FilesystemStore

    return FilesystemStore(root)


def permit(uri: str | URI, policy: Policy) -> None:
    """Raise StoreError if a policy forbids opening an object, which uses the credentials of this machine.

    In schemes that fsspec opens, the authority is taken to be the host that is contacted: host and addresses are
    checked, unless the policy allows private addresses and all hosts.
    """
    parsed = URI(uri)
    scheme = parsed.scheme.lower()
    if scheme not in (policy.schemes or ()) and (policy.schemes is not None or not policy.private):
        problem = f"{scheme!r} is opened with the credentials of this machine, which is not allowed"
        raise StoreError("refused", f"{problem}: name it in Policy.schemes (RFC 3986 7.4)")
    if scheme in SCHEMES or (policy.private and policy.hosts is None):
        return
    if not parsed.host:
        raise StoreError("refused", "it names no host that could be judged: a policy must allow all (RFC 3986 7.4)")
    from overthere.access.errors import AccessError

    try:
        policy.judge_host(parsed.host, parsed)
        policy.addresses(parsed.host, parsed.effective_port or 0, uri=parsed)
    except AccessError as error:
        raise StoreError("refused", str(error)) from None


def open_object(uri: str, size: int = -1, version: str = "", ends: Sequence[int] = (), bound: int = -1) -> BinaryIO:
    """Open an object as a seekable file.

    size, version: as listed; the object is read only while it has that version.
    ends, bound: as for `RangeFile`.

    Raises: StoreError; InvalidURI; ModuleNotFoundError.
    """
    name = Name.parse(uri)
    store = store_of(name.root)
    if bound < 0 and (size < 0 or not version):  # otherwise the first range has them
        info = store.head(name.key)
        if info is None:
            raise StoreError("missing", "there is no such object")
        if version and info.version != version:
            raise StoreError("changed", "the object was replaced since it was listed")
        size, version = info.size, info.version
    return _open_ranges(uri, partial(store.read, name.key), size, version, ends, bound)


def open_range(uri: str, policy: Policy, ends: Sequence[int] = (), bound: int = -1) -> BinaryIO:
    """Open an HTTP URI as a seekable file.  Raises: StoreError."""
    from overthere.files.stores.by_http import HTTPRanges

    try:
        ranges = HTTPRanges(uri, policy)
    except OverthereError as error:
        raise _log_error(uri, StoreError("not-opened", str(error))) from None
    return _open_ranges(uri, ranges.fetch, -1, "", ends, bound, ranges.close)


def _open_ranges(
    uri: str, fetch: Fetch, size: int, version: str, ends: Sequence[int], bound: int,
    close: Callable[[], None] | None = None,
) -> BinaryIO:  # fmt: skip
    def fetch_logged(start: int, end: int, version: str) -> Piece:
        try:
            return fetch(start, end, version)
        except StoreError as error:
            raise _log_error(uri, error) from None

    file = RangeFile(fetch_logged, size, version, ends, bound, close)
    return cast("BinaryIO", io.BufferedReader(file, _BUFFER))


def _log_error(uri: str, error: StoreError) -> StoreError:
    import logging

    logging.getLogger("overthere.links").warning("%s: %s", printable(mask(uri)), error)
    return error


def head_object(uri: str) -> ObjectInfo | None:
    """Return the description of a URI's object; None if it does not exist.  Raises: StoreError; InvalidURI."""
    name = Name.parse(uri)
    return None if is_folder(uri) else store_of(name.root).head(name.key)


def list_objects(uri: str) -> Iterator[ObjectInfo]:
    """Yield the objects of a folder and its subfolders in the order of their keys, a page of the store at a time.

    Raises: StoreError; InvalidURI.
    """
    name = Name.parse(uri)
    prefix = name.key if name.key.endswith("/") or not name.key else f"{name.key}/"
    yield from store_of(name.root).list(prefix)
