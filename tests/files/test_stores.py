"""Objects as files: ranges, conditions, names, and faults of stores and servers."""

from __future__ import annotations

import importlib
import io
import pickle
import random
import re
import threading
from collections import deque
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import BinaryIO

import pytest
from stored import new_bucket, served, use

from overthere.access.policy import Policy
from overthere.files.stores import by_obstore, range_file
from overthere.files.stores.model import SCHEMES, Name, Piece, StoreError, is_object
from overthere.files.stores.opening import head_object, list_objects, open_object, open_range, permit, store_of
from overthere.files.stores.range_file import RangeFile
from overthere.files.tables import store_folder
from overthere.ground.errors import OverthereError
from overthere.links.job.sources import tasks
from overthere.links.model import Options
from servers.s3 import SECRET, Store
from servers.store_faults import (
    Answer,
    Fault,
    FaultProxy,
    RequestSeen,
    before_request,
    broken_body,
    denied,
    expired_token,
    false_content_range,
    listing,
    long_body,
    server_error,
    short_body,
    slow_down,
    whole_object,
    without_header,
)

DATA = random.Random(33).randbytes(5_000_000)


@pytest.fixture(scope="module")
def server() -> Iterator[Store]:
    with served() as store:
        yield store


@pytest.fixture
def store(server: Store) -> Iterator[Store]:
    with use(server) as store:
        yield store


@pytest.fixture
def bucket(store: Store) -> str:
    return new_bucket(store)


# -- a file of ranges


def ranges(data: bytes, requests: list[tuple[int, int]] | None = None) -> range_file.Fetch:
    def fetch(start: int, end: int, version: str) -> Piece:
        if requests is not None:
            requests.append((start, end))
        return Piece(data[start:end], len(data), "1")

    return fetch


@pytest.mark.parametrize("size", [-1, len(DATA)])
def test_a_range_file_behaves_like_a_file(size: int) -> None:
    file = io.BufferedReader(RangeFile(ranges(DATA), size, "" if size < 0 else "1"), 1 << 12)
    plain = io.BytesIO(DATA)
    chance = random.Random(1)
    for _ in range(400):
        match chance.randrange(4):
            case 0:
                place = chance.randrange(len(DATA) + 1000)
                assert file.seek(place) == plain.seek(place)
            case 1:
                back = -chance.randrange(100_000)
                assert file.seek(back, io.SEEK_END) == plain.seek(back, io.SEEK_END)
            case _:
                count = chance.choice((0, 1, 100, 70_000, 900_000))
                assert file.read(count) == plain.read(count)
                assert file.tell() == plain.tell()


def test_ranges_grow_and_stop_at_the_given_end() -> None:
    requests: list[tuple[int, int]] = []
    file = io.BufferedReader(RangeFile(ranges(DATA, requests), len(DATA), "1", ends=(1_000_000,)))
    assert file.read(1_000_000) == DATA[:1_000_000]
    assert max(end for _, end in requests) == 1_000_000, "nothing after the end is requested"
    assert len(requests) < 6
    assert file.read() == DATA[1_000_000:]
    blocks = [place for start, end in sorted(requests) for place in range(start, end, 50_000)]
    assert len(set(requests)) == len(requests)
    assert len(blocks) < 2 * len(DATA) / 50_000, "no byte is requested twice"


def test_the_cache_of_ranges_is_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(range_file, "_MAX_CACHED_BYTES", 1 << 20)
    monkeypatch.setattr(range_file, "MOST", 1 << 18)
    file = RangeFile(ranges(DATA), len(DATA), "1")
    for _ in iter(lambda: file.read(1 << 16), b""):
        assert sum(len(octets) for _, octets in file._cached) <= 1 << 20


def test_an_object_that_changes_is_an_error() -> None:
    pieces = iter(["1", "1", "2"])

    def fetch(start: int, end: int, version: str) -> Piece:
        return Piece(DATA[start:end], len(DATA), next(pieces))

    file = io.BufferedReader(RangeFile(fetch))
    with pytest.raises(StoreError) as raised:
        file.read()
    assert raised.value.note == "changed"
    copy = pickle.loads(pickle.dumps(raised.value))
    assert (copy.note, str(copy)) == ("changed", str(raised.value))


def test_an_object_of_unknown_size_is_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(range_file, "_MAX_CACHED_BYTES", 1 << 17)

    def fetch(start: int, end: int, version: str) -> Piece:
        octets = DATA[start:end]
        return Piece(octets, start + len(octets) if len(octets) < end - start else -1, "1")

    file = io.BufferedReader(RangeFile(fetch))
    assert (file.read(), file.seek(0), file.read()) == (DATA, 0, DATA)


# -- names


def test_object_names_in_uris() -> None:
    assert Name.parse("s3://b/a%20b/%25x%3Fy/%C3%BC") == ("s3://b", "a b/%x?y/ü")
    assert Name("s3://b", "a b/%x?y#z/ü").uri == "s3://b/a%20b/%25x%3Fy%23z/%C3%BC"
    for uri, reason in {
        "s3:///x": "bucket",
        "s3://joe:pw@b/x": "credentials come from the environment",
        "s3://b/x?version=1": "%3F",
        "s3://b%2F..%2Fother/x": "escape",
        "gs://%2e%2e/x": "escape",
        "s3://b/%FF": "UTF-8",
        "s3://b/a/%2e%2e%2Fx": "segment",
        "memory://b/a/..%2F..%2Fx": "segment",
    }.items():
        with pytest.raises(StoreError, match=reason) as raised:
            Name.parse(uri)
        assert "pw" not in str(raised.value)
    with pytest.raises(OverthereError):
        Name.parse("s3://b/a b")
    assert not is_object(Path("s3://b/x"))
    assert not is_object(None)
    assert not is_object("s3:/b")


def test_the_policy_must_allow_the_use_of_local_credentials() -> None:
    for policy in (Policy(), Policy(schemes=frozenset(("https",)), private=True)):
        with pytest.raises(StoreError, match=r"credentials of this machine") as raised:
            permit("s3://b/x", policy)
        assert raised.value.note == "refused"
    permit("s3://b/x", Policy.local())
    permit("S3://b/x", Policy(schemes=frozenset(("s3",))))


# -- a store


def test_objects_are_listed_read_put_and_removed(store: Store, bucket: str) -> None:
    root = f"s3://{bucket}"
    for key in ("a/1", "a/b c", "a/ü%", "b", "a.txt"):
        store.put(bucket, key, key.encode())
    listed = list(list_objects(f"{root}/a/"))
    assert [entry.uri for entry in listed] == [f"{root}/a/1", f"{root}/a/b%20c", f"{root}/a/%C3%BC%25"]
    for entry in listed:
        with open_object(*entry) as file:
            assert file.read() == Name.parse(entry.uri).key.encode()
        assert head_object(entry.uri) == entry
    assert head_object(f"{root}/none") is None
    assert head_object(f"{root}/a") is None
    opened = store_of(root)
    version = opened.put("new", b"1", "")
    with pytest.raises(FileExistsError):
        opened.put("new", b"2", "")
    later = opened.put("new", io.BytesIO(b"3"), version)
    with pytest.raises(FileExistsError):
        opened.put("new", b"4", version)
    assert store.get(bucket, "new") == b"3"
    assert later != version
    opened.remove("new")
    opened.remove("new")
    assert head_object(f"{root}/new") is None


def test_100_000_objects_are_listed_in_pages(store: Store, bucket: str) -> None:
    with FaultProxy(store.endpoint, listing(100_000)) as proxy, use(store.through(proxy.endpoint)):
        listed = list_objects(f"s3://{bucket}/")
        first = next(listed)
        assert len(proxy.seen) <= 3, "the first is there before the last is asked for"
        ((count, last),) = deque(enumerate(listed, 2), maxlen=1)
        assert (first.uri, count, last.uri) == (f"s3://{bucket}/000000000", 100_000, f"s3://{bucket}/000099999")
        assert 100 <= len(proxy.seen) <= 102
        job_tasks = tasks([f"s3://{bucket}/"], None, Options())
        assert len(next(job_tasks).paths) == 200
        assert len(proxy.seen) <= 105, "a job begins before all are listed"
        assert 200 + sum(len(task.paths) for task in job_tasks) == 100_000


def test_other_schemes_are_read_by_fsspec() -> None:
    fsspec = pytest.importorskip("fsspec")
    memory = fsspec.filesystem("memory")
    memory.pipe({"/tests/a/1": b"one", "/tests/b": DATA})
    listed = list(list_objects("memory://tests/"))
    assert [entry.uri for entry in listed] == ["memory://tests/b", "memory://tests/a/1"]
    with open_object("memory://tests/b") as file:
        assert file.read() == DATA
    file = open_object("memory://tests/b")
    file.read(10)
    memory.pipe({"/tests/b": DATA[:-1]})
    with pytest.raises(StoreError) as raised:
        file.read()
    assert raised.value.note == "changed"
    for scheme in ("file", "local", "simplecache", "zip", "git", "dvc", "http", "gopher", "mailto"):
        assert not is_object(f"{scheme}://tests/b")


def test_every_filesystem_of_fsspec_is_classified() -> None:
    """A new one may open local files: it is reviewed before it counts as a store."""
    fsspec = pytest.importorskip("fsspec")
    named = {name for name in fsspec.available_protocols() if is_object(f"{name}://tests/b")}
    assert named <= SCHEMES | {
        "adl", "box", "dbfs", "dropbox", "gcs", "gdrive", "gist", "github", "hdfs", "hf", "lakefs", "memory", "oci",
        "ocilake", "oss", "sftp", "smb", "ssh", "tos", "tosfs", "wandb", "webdav", "webhdfs",
    }  # fmt: skip


# -- what goes wrong


def at(number: int, fault: Fault) -> Callable[[RequestSeen], Fault | None]:
    """The fault at one range request."""
    return lambda seen: fault if seen.number_of_range == number else None


def always(fault: Fault, after: int = 0) -> Callable[[RequestSeen], Fault | None]:
    return lambda seen: fault if seen.number_of_range > after else None


SIZE = len(DATA)
FAULTS: dict[str, tuple[Callable[[RequestSeen], Fault | None], str]] = {
    "another range": (always(false_content_range(7, 99, SIZE), 1), "truncated corrupt"),
    "another size": (always(false_content_range(131072, 393215, SIZE + 5), 1), "changed corrupt truncated"),
    "200 for 206": (always(whole_object(), 1), "truncated not-opened"),
    "too little, always": (always(short_body(9), 1), "truncated"),
    "too much, always": (always(long_body(b"more"), 1), "truncated"),
    "too little, once": (at(2, short_body(9)), ""),
    "too much, once": (at(2, long_body(b"more")), ""),
    "cut, once": (at(3, broken_body(1000)), ""),
    "reset, once": (at(3, broken_body(1000, reset=True)), ""),
    "cut, always": (always(broken_body(1000), 2), "truncated"),
    "503, once": (at(2, server_error(503, "ServiceUnavailable", "later")), ""),
    "slow down, twice": (lambda seen: slow_down("0") if seen.number_of_range in (2, 3) else None, ""),
    "slow down, always": (always(slow_down("0"), 1), "truncated"),
    "expired": (always(expired_token(), 1), "missing"),
    "denied": (always(denied()), "missing"),
    "no entity tag": (always(without_header("ETag")), ""),
}


@pytest.mark.parametrize("by", ["obstore", "http"])
@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_leads_to_a_retry_or_a_note(
    server: Store, by: str, name: str, monkeypatch: pytest.MonkeyPatch, bucket: str
) -> None:
    fault, notes = FAULTS[name]
    server.put(bucket, "x", DATA)
    with FaultProxy(server.endpoint, fault) as proxy:
        behind = server.through(proxy.endpoint)
        with use(behind):
            file = opened(behind, bucket, by)
            got, error = read(file)
            assert ("" if error is None else error.note) in (notes.split() or [""]), str(error)
            assert SECRET not in str(error)
            assert not re.search(r"Signature=(?!\*)", str(error))
            assert got == DATA[: len(got)], "no octet is another one"
            assert error is not None or len(got) == len(DATA)
            assert len(proxy.seen) < 60


def read(file: BinaryIO) -> tuple[bytes, StoreError | None]:
    """Return the bytes before an error, and the error."""
    got = b""
    with file:
        try:
            while piece := file.read(1 << 16):
                got += piece
        except StoreError as error:
            return got, error
    return got, None


def opened(store: Store, bucket: str, by: str) -> BinaryIO:
    if by == "obstore":
        return open_object(f"s3://{bucket}/x", SIZE, store.client.head_object(Bucket=bucket, Key="x")["ETag"])
    uri = store.client.generate_presigned_url("get_object", Params={"Bucket": bucket, "Key": "x"})
    return open_range(uri, Policy.local())


@pytest.mark.parametrize("by", ["obstore", "http"])
def test_a_replaced_object_has_a_note(server: Store, by: str, monkeypatch: pytest.MonkeyPatch, bucket: str) -> None:
    server.put(bucket, "x", DATA)
    replaced = before_request(lambda: server.put(bucket, "x", DATA[::-1]))
    with FaultProxy(server.endpoint, at(3, replaced)) as proxy:
        behind = server.through(proxy.endpoint)
        with use(behind):
            file = opened(behind, bucket, by)
            got, error = read(file)
            assert error is not None
            assert error.note == "changed"
            assert DATA.startswith(got)
        if by == "obstore":
            assert all(seen.if_match for seen in proxy.seen if seen.number_of_range)


def test_a_date_of_change_stands_for_a_missing_entity_tag(server: Store, bucket: str) -> None:
    server.put(bucket, "x", DATA)

    def choose(seen: RequestSeen) -> Fault:
        date, data = ("Thu, 01 Jan 2026 00:00:00 GMT", DATA) if seen.number_of_range < 3 else ("", DATA[::-1])

        def change(answer: Answer) -> Answer:
            start, end = (int(place) for place in (seen.range or "").removeprefix("bytes=").split("-"))
            changed = answer.with_header("ETag", None).with_body(data[start : end + 1])
            return changed.with_header("Last-Modified", date or "Thu, 01 Jan 2026 00:00:01 GMT")

        return Fault(change=change)

    with FaultProxy(server.endpoint, choose) as proxy:
        got, error = read(opened(server.through(proxy.endpoint), bucket, "http"))
    assert error is not None
    assert error.note == "changed"
    assert DATA.startswith(got)


def test_an_answer_longer_than_its_range_is_not_held(server: Store, bucket: str) -> None:
    server.put(bucket, "x", DATA)
    with FaultProxy(server.endpoint, always(long_body(bytes(64 << 20)))) as proxy:
        behind = server.through(proxy.endpoint)
        with use(behind):
            got, error = read(opened(behind, bucket, "obstore"))
        assert (got, error and error.note) == (b"", "truncated")
        assert not any(seen.octets for seen in proxy.seen if seen.number_of_range), "the connection is closed before"


def test_an_object_of_another_size_is_not_compared(server: Store, bucket: str) -> None:
    server.put(bucket, "x", DATA)
    with (
        FaultProxy(server.endpoint, lambda seen: broken_body(9) if seen.method == "GET" else None) as proxy,
        use(server.through(proxy.endpoint)),
        pytest.raises(FileExistsError),
    ):
        store_of(f"s3://{bucket}").put("x", io.BytesIO(b"ours"), "")


def test_a_repeated_put_recognizes_its_own_object(server: Store, bucket: str) -> None:
    """The store has stored the object but answers with an error, so that the client tries again."""
    puts: list[bool] = []

    def choose(seen: RequestSeen) -> Fault | None:
        if seen.method != "PUT" or puts:
            return None
        puts.append(True)
        server.put(bucket, "x", seen.body)
        return server_error(500, "InternalError", "again")

    with FaultProxy(server.endpoint, choose) as proxy, use(server.through(proxy.endpoint)):
        opened = store_of(f"s3://{bucket}")
        assert opened.put("x", io.BytesIO(b"ours"), "")
        with pytest.raises(FileExistsError):
            opened.put("x", io.BytesIO(b"other"), "")
    assert server.get(bucket, "x") == b"ours"


def test_a_range_by_http_obeys_the_policy(server: Store) -> None:
    with pytest.raises(StoreError, match="loopback") as raised:
        open_range(f"{server.endpoint}/x", Policy()).read()
    assert raised.value.note == "refused"
    with pytest.raises(StoreError) as raised:
        open_range("http://[", Policy())
    assert raised.value.note == "not-opened"


def test_a_policy_limits_all_ranges_together(server: Store, bucket: str) -> None:
    server.put(bucket, "x", DATA)
    uri = server.client.generate_presigned_url("get_object", Params={"Bucket": bucket, "Key": "x"})
    got, error = read(open_range(uri, Policy.local().with_(max_bytes=3_000_000)))
    assert len(got) <= 3_000_000
    assert error is not None
    assert "3,000,000" in str(error)


def test_retry_after_is_limited_by_the_total_timeout(server: Store, bucket: str) -> None:
    server.put(bucket, "x", DATA)
    waits: list[float] = []
    with FaultProxy(server.endpoint, always(slow_down("20"))) as proxy, pytest.MonkeyPatch.context() as patched:
        patched.setattr("overthere.files.stores.by_http.time.sleep", waits.append)
        _, error = read(open_range(f"{proxy.endpoint}/{bucket}/x", Policy.local().with_(total_timeout=3)))
    assert error is not None
    assert waits
    assert max(waits) <= 3


@pytest.fixture
def ceph(tmp_path: Path) -> Iterator[Store]:
    from servers.s3 import radosgw_server

    with radosgw_server(tmp_path) as store:
        yield store


def test_ceph_as_a_store(ceph: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ceph checks signatures, conditions and ranges by its own code."""
    ceph.make_bucket("real")
    with use(ceph):
        ceph.put("real", "a b/x", DATA)
        (listed,) = list_objects("s3://real/a%20b/")
        with open_object(*listed) as file:
            assert file.read() == DATA
        file = open_object(*listed)
        file.read(10)
        ceph.put("real", "a b/x", DATA[::-1])
        with pytest.raises(StoreError) as raised:
            file.read()
        assert raised.value.note == "changed"
        assert head_object("s3://real/none") is None
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "wrong")
        store_of.cache_clear()
        with pytest.raises(StoreError) as raised:
            open_object(listed.uri).read()
        assert raised.value.note == "missing"
        assert "wrong" not in str(raised.value)


def test_a_listing_that_repeats_a_page_ends_with_an_error(store: Store, bucket: str) -> None:
    one_page = listing(1_000)

    def repeat_page(seen: RequestSeen) -> Fault | None:
        """The same page forever: truncated, with a token for it."""
        fault = one_page(seen)
        if fault is None or fault.answer is None:
            return fault
        body = fault.answer.body.replace(
            b"<IsTruncated>false</IsTruncated>",
            b"<IsTruncated>true</IsTruncated><NextContinuationToken>0</NextContinuationToken>",
        )
        return Fault(answer=fault.answer.with_body(body))

    with FaultProxy(store.endpoint, repeat_page) as proxy, use(store.through(proxy.endpoint)):
        listed: list[str] = []
        with pytest.raises(StoreError, match="repeats a page: it ended after 2,000 objects"):
            listed += (entry.uri for entry in list_objects(f"s3://{bucket}/"))
        assert len(listed) <= 1_000
        assert len(proxy.seen) <= 4


def test_no_control_of_a_store_is_shown(store: Store, bucket: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The name of an object, or what a server tells, stood in the log, which the command line prints."""
    one_page, message = listing(1), "\u202e\x9b31m\x1b[2J"

    def named(seen: RequestSeen) -> Fault | None:
        fault = one_page(seen)
        if fault is None or fault.answer is None:
            return fault
        return Fault(
            answer=fault.answer.with_body(fault.answer.body.replace(b"000000000<", "a//\u202e\x9b31m<".encode()))
        )

    with (
        FaultProxy(store.endpoint, named) as proxy,
        use(store.through(proxy.endpoint)),
        pytest.raises(StoreError, match="invalid path") as caught,
    ):
        list(list_objects(f"s3://{bucket}/"))
    assert str(caught.value).isprintable()

    def fails(*arguments: object) -> None:
        raise OSError(message)

    memory = pytest.importorskip("fsspec").filesystem("memory")
    monkeypatch.setattr(type(memory), "ls", fails)
    with pytest.raises(StoreError) as caught:
        list(list_objects("memory://tests/"))
    assert f"{caught.value}{caught.value.args}".isprintable()


@pytest.mark.parametrize("sent", [b"", b"a", b"a" * 9])
def test_an_answer_of_another_length_than_the_range(sent: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    """One octet for each request took quadratic time; and what was too long was read as what follows."""
    memory = pytest.importorskip("fsspec").filesystem("memory")
    memory.pipe("/tests/short", b"a" * 8)
    monkeypatch.setattr(type(memory), "cat_file", lambda *arguments: sent)
    with pytest.raises(StoreError, match="is not that range"), open_object("memory://tests/short") as file:
        file.read()


def test_a_server_of_webhdfs_is_asked_for_the_path_and_no_message_shows_the_token(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The path had no slash before it, and an error of requests shows the query."""
    pytest.importorskip("requests")
    paths: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            paths.append(self.path)
            self.send_error(503)

        def log_message(self, *arguments: object) -> None:
            """Print nothing."""

    pytest.importorskip("fsspec")
    monkeypatch.setitem(importlib.import_module("fsspec.config").conf, "webhdfs", {"token": SECRET})
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        for uri in ("a/b", "a/"):
            with pytest.raises(StoreError, match="503") as caught:
                list(list_objects(f"webhdfs://127.0.0.1:{server.server_port}/{uri}"))
            assert SECRET not in str(caught.value)
        server.shutdown()
    assert [path.partition("?")[0] for path in paths] == ["/webhdfs/v1/a/b", "/webhdfs/v1/a"]
    assert all(SECRET in path for path in paths)


def test_the_length_of_a_listing_is_limited(store: Store, bucket: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(by_obstore, "MAX_LISTED", 2_500)
    with FaultProxy(store.endpoint, listing(100_000)) as proxy, use(store.through(proxy.endpoint)):
        with pytest.raises(StoreError, match="more than 2,500 objects: it ended after 3,000"):
            deque(list_objects(f"s3://{bucket}/"), maxlen=0)
        assert len(proxy.seen) <= 5


def test_the_size_of_a_table_folder_is_limited(store: Store, bucket: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its names are kept in memory."""
    monkeypatch.setattr(store_folder, "MAX_OBJECTS", 2_500)
    with FaultProxy(store.endpoint, listing(100_000)) as proxy, use(store.through(proxy.endpoint)):
        with pytest.raises(StoreError, match="has more than 2,500 objects"):
            store_folder.Place(f"s3://{bucket}/").names()
        assert len(proxy.seen) <= 5


@pytest.mark.parametrize(
    "uri", ["webhdfs://127.0.0.1:9870/a", "webhdfs://localhost/a", "sftp://[::1]/a", "smb://10.0.0.1/a"]
)
def test_hosts_of_other_filesystems_need_the_policy(uri: str) -> None:
    scheme = uri.partition(":")[0]
    with pytest.raises(StoreError, match=r"refused|not allowed|private|loopback"):
        permit(uri, Policy(schemes=frozenset({scheme})))
    permit(uri, Policy.local().with_(schemes=frozenset({scheme})))
    with pytest.raises(StoreError, match="is not an allowed host"):
        permit(uri, Policy.local().with_(schemes=frozenset({scheme}), hosts=frozenset({"h.example"})))
    permit("s3://bucket/a", Policy(schemes=frozenset({"s3"}), hosts=frozenset({"h.example"})))
    with pytest.raises(StoreError, match="names no host"):
        permit(f"{scheme}:///a", Policy(schemes=frozenset({scheme})))
