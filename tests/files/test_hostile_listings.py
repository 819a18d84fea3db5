"""Hostile listings of stores: sizes, names and entity tags that no store sends."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from contextlib import suppress
from typing import Any, ClassVar

import fsspec
import pytest
from stored import new_bucket, served, use

from overthere.files.stores import opening
from overthere.files.stores.by_fsspec import FilesystemStore
from overthere.files.stores.model import StoreError
from overthere.files.stores.opening import list_objects, open_object
from overthere.files.stores.range_file import FIRST
from servers.s3 import Store
from servers.store_faults import Fault, FaultProxy, RequestSeen, listing


@pytest.fixture(scope="module")
def server() -> Iterator[Store]:
    with served() as store:
        yield store


class HostileFilesystem(fsspec.AbstractFileSystem):  # type: ignore[misc]
    """A filesystem whose entries do not have the form that fsspec documents."""

    protocol = "odd"
    entries: ClassVar[list[dict[str, Any]]] = []

    def ls(self, path: str, detail: bool = True, **options: Any) -> list[Any]:
        return self.entries

    def info(self, path: str, **options: Any) -> Any:
        return {"name": path, "type": "directory", "size": 0}


@pytest.mark.parametrize("entry", [{"size": "5"}, {"size": [1]}, {"size": {}}, {"size": -7}, {"size": 1 << 70}])
def test_an_invalid_size_is_unknown(entry: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(HostileFilesystem, "entries", [{"name": "x/a.html", "type": "file", **entry}])
    store = FilesystemStore("memory://x/")
    monkeypatch.setattr(store, "_files", HostileFilesystem())
    assert [entry.size for entry in store.list("")] == [-1]


@pytest.mark.parametrize("entries", [[{"name": "a"}], [{"type": "file"}], [None], None])
def test_an_invalid_entry_is_an_error(entries: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(HostileFilesystem, "entries", entries)
    store = FilesystemStore("memory://x/")
    monkeypatch.setattr(store, "_files", HostileFilesystem())
    with pytest.raises(StoreError):
        list(store.list(""))


def test_a_listing_cannot_leave_its_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    names = ("x/..", "x/.", "..", "/")
    monkeypatch.setattr(
        HostileFilesystem, "entries", [{"name": name, "type": "directory", "size": 0} for name in names]
    )
    store = FilesystemStore("memory://x/")
    monkeypatch.setattr(store, "_files", HostileFilesystem())
    assert [entry.uri for entry in store.list("")] == []


class CachingFilesystem(fsspec.AbstractFileSystem):  # type: ignore[misc]
    """A filesystem that keeps listings, as fsspec offers it, and may not know sizes."""

    protocol = "caching"
    version_key = "ETag"
    objects: ClassVar[dict[str, tuple[bytes, int | None]]] = {}
    replacing: ClassVar[dict[str, tuple[bytes, int | None]]] = {}
    """Objects that are replaced after the next request for content."""

    def ls(self, path: str, detail: bool = True, **options: Any) -> list[Any]:
        if (path := path.rstrip("/")) not in self.dircache:
            self.dircache[path] = [
                {"name": name, "type": "file", "size": size, self.version_key: f"{hash(data)}"}
                for name, (data, size) in self.objects.items()
            ]
        return self.dircache[path]  # type: ignore[no-any-return]

    def invalidate_cache(self, path: str | None = None) -> None:
        """With a path, do as the filesystems "dbfs" and "ftp" do."""
        if path is None:
            self.dircache.clear()
        else:
            self.dircache.pop(path, None)

    def cat_file(self, path: str, start: int | None = None, end: int | None = None, **options: Any) -> bytes:
        data = self.objects[path][0][start:end]
        self.objects.update(self.replacing)
        return data


@pytest.fixture
def caching(monkeypatch: pytest.MonkeyPatch) -> type[CachingFilesystem]:
    store = FilesystemStore("memory://x")
    monkeypatch.setattr(store, "_files", CachingFilesystem(skip_instance_cache=True))
    monkeypatch.setattr(opening, "store_of", lambda root: store)
    monkeypatch.setattr(CachingFilesystem, "objects", {})
    monkeypatch.setattr(CachingFilesystem, "replacing", {})
    return CachingFilesystem


def test_a_listing_is_not_an_old_one(caching: type[CachingFilesystem]) -> None:
    caching.objects["/x/a"] = b"1", 1
    assert len(list(list_objects("memory://x/"))) == 1
    caching.objects.update({"/x/a": (b"12", 2), "/x/b": (b"3", 1)})
    assert [entry.size for entry in list_objects("memory://x/")] == [2, 1]
    caching.objects["/x/a"] = b"456", 3
    assert open_object("memory://x/a").read() == b"456"


@pytest.mark.parametrize("length", [0, 1, FIRST, FIRST + 1, 5_000_000])
def test_an_object_of_unknown_size_is_read_to_its_end(caching: type[CachingFilesystem], length: int) -> None:
    data = (bytes(range(256)) * (length // 256 + 1))[:length]
    caching.objects["/x/a"] = data, None
    assert open_object("memory://x/a").read() == data
    file = open_object("memory://x/a")
    if length < FIRST:
        assert file.seek(0, io.SEEK_END) == length
    else:
        with pytest.raises(StoreError, match="does not know its size"):
            file.seek(0, io.SEEK_END)
    file.seek(length // 2)
    assert file.read() == data[length // 2 :]


@pytest.mark.parametrize("key", ["ETag", "sha", "modificationTime"])
def test_an_object_replaced_after_its_first_range_is_changed(
    caching: type[CachingFilesystem], key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """GitHub names the sum of a file "sha", WebHDFS its time of change "modificationTime"."""
    monkeypatch.setattr(CachingFilesystem, "version_key", key)
    caching.objects["/x/a"] = bytes(9), 9
    caching.replacing["/x/a"] = bytes(range(9)), 9
    with pytest.raises(StoreError) as raised:
        open_object("memory://x/a", ends=(5,), bound=9).read()
    assert raised.value.note == "changed"


@pytest.mark.parametrize("tag", ["&#10;", "&#13;", "&#127;", "&#228;"])
def test_an_invalid_entity_tag_does_not_end_the_job(server: Store, tag: str) -> None:
    """The client would panic if the tag were sent back."""
    one_page = listing(1)
    with use(server) as store:
        bucket = new_bucket(store)

    def tagged(seen: RequestSeen) -> Fault | None:
        fault = one_page(seen)
        if fault is None or fault.answer is None:
            return None
        body = re.sub(b"<ETag>.*?</ETag>", f"<ETag>{tag}</ETag>".encode(), fault.answer.body)
        return Fault(answer=fault.answer.with_body(body.replace(b"<Size>0<", b"<Size>10<")))

    store.put(bucket, "000000000", b"0123456789")
    with FaultProxy(store.endpoint, tagged) as proxy, use(store.through(proxy.endpoint)):
        (entry,) = list_objects(f"s3://{bucket}/")
        assert entry.version.isascii()
        assert entry.version.isprintable()
        with suppress(StoreError):
            open_object(entry.uri, entry.size, entry.version).read()


def test_a_key_outside_of_the_prefix_ends_the_listing(server: Store) -> None:
    """Otherwise the listing could make the credentials read keys outside the folder."""
    with use(server) as store:
        bucket = new_bucket(store)
    with FaultProxy(store.endpoint, listing(3)) as proxy, use(store.through(proxy.endpoint)):
        assert len(list(list_objects(f"s3://{bucket}/"))) == 3
        with pytest.raises(StoreError, match="000000000, which is not in it: it ended after 0 objects"):
            list(list_objects(f"s3://{bucket}/mine/"))


def test_the_object_of_a_folder_itself_is_skipped(server: Store) -> None:
    with use(server) as store:
        bucket = new_bucket(store)
        for key in ("dir/", "dir/a", "dir/inner/", "dir/inner/b"):
            store.put(bucket, key, b"" if key.endswith("/") else b"text")
        keys = [
            entry.uri.removeprefix(f"s3://{bucket}/") for entry in list_objects(f"s3://{bucket}/dir/") if entry.size
        ]
        assert keys == ["dir/a", "dir/inner/b"]
        store.put(bucket, "dir/", b"text")
        with pytest.raises(StoreError, match="has dir, which is not in it"):
            list(list_objects(f"s3://{bucket}/dir/"))
