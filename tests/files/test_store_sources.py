"""Links of objects, of records that an index names, and tables in a store: the same rows as for local files."""

from __future__ import annotations

import functools
import gzip
import http.server
import json
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner, Result
from stored import new_bucket, served, use

from crawls import Crawl, make_crawl, pages, strip
from overthere import URI
from overthere.access.policy import Policy
from overthere.cli.app import app
from overthere.files.stores.model import StoreError
from overthere.files.stores.opening import open_range
from overthere.files.tables import open_writer
from overthere.links import extract
from overthere.links.job.ranged_sources import Index
from overthere.links.model import Link
from overthere.links.report.table import layout
from range_server import RangeHandler
from servers.nginx import nginx, tinyproxy, trusting
from servers.s3 import Store
from servers.store_faults import Fault, FaultProxy, RequestSeen, before_request, slow_down, whole_object

LOCAL_POLICY = Policy.local()


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


@pytest.fixture(scope="module")
def crawl(tmp_path_factory: pytest.TempPathFactory) -> Crawl:
    return make_crawl(tmp_path_factory.mktemp("crawl"))


@pytest.fixture(scope="module")
def local(crawl: Crawl) -> list[Link]:
    rows = list(extract([crawl.folder / name for name in crawl.files]))
    assert len(rows) > 600
    return rows


@pytest.fixture
def stored(store: Store, bucket: str, crawl: Crawl) -> str:
    """The crawl in a bucket, as a URI."""
    for name in (*crawl.files, "index.cdxj", "warc.paths.gz"):
        store.put(bucket, name, crawl.octets(name))
    return f"s3://{bucket}/"


@pytest.fixture(scope="module")
def web(crawl: Crawl) -> Iterator[str]:
    """The crawl on an HTTP/1.1 server with ranges, as a URI."""
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(RangeHandler, crawl.folder)) as server:
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}/"
        server.shutdown()


@pytest.mark.parametrize("workers", [1, 2])
def test_a_crawl_in_a_store_has_the_rows_of_local_files(
    stored: str, local: list[Link], crawl: Crawl, workers: int
) -> None:
    for sources in ([stored + name for name in crawl.files], [stored + "crawl-data"], [stored + "crawl-data/"]):
        rows = list(extract(sources, policy=LOCAL_POLICY, workers=workers))
        assert strip(rows) == strip(local)
        assert rows[0].source.startswith(f"{stored}crawl-data/CC-TEST/warc/00000.warc.gz!")


def test_lists_of_paths_are_sources(stored: str, local: list[Link], crawl: Crawl, web: str) -> None:
    for source in (str(crawl.folder / "warc.paths.gz"), f"{stored}warc.paths.gz", f"{web}warc.paths.gz"):
        assert strip(list(extract(source, policy=LOCAL_POLICY))) == strip(local)


@pytest.mark.parametrize("conditions", [(), ("domain=h3.example",), ("host=h3.example", "status=200")])
def test_only_the_records_of_an_index_are_read(
    stored: str, local: list[Link], crawl: Crawl, web: str, conditions: tuple[str, ...]
) -> None:
    expected = pages(local, "h3.example") if conditions else [row for row in local if row.base != "warcinfo"]
    if "status=200" in conditions:
        moved = {entry["url"] for entry in crawl.entries if entry["status"] != "200"}
        expected = [row for row in expected if row.base not in moved]
    index = crawl.folder / "index.cdxj"
    for source in (
        Index(index, conditions), Index(index, conditions, stored), Index(f"{stored}index.cdxj", conditions),
        Index(f"{web}index.cdxj", conditions), Index(index, conditions, web),
    ):  # fmt: skip
        rows = list(extract(source, policy=LOCAL_POLICY))
        assert strip(rows) == strip(expected), source


def test_an_index_of_files_on_a_tls_server(crawl: Crawl, local: list[Link], tmp_path: Path) -> None:
    """nginx sends the ranges; certificates are checked."""
    (tmp_path / "root").mkdir()
    shutil.copytree(crawl.folder, tmp_path / "root", dirs_exist_ok=True)
    with nginx(tmp_path) as web_server:
        files = web_server.uri("/", "https")
        trusted = LOCAL_POLICY.with_(tls=trusting(tmp_path))
        for workers in (1, 2):
            rows = list(extract(Index(f"{files}index.cdxj", (), files), policy=trusted, workers=workers))
            assert strip(rows) == strip(local)
        rows = list(extract(f"{files}warc.paths.gz", policy=trusted, workers=2, audit=True))
        assert [row[:6] for row in strip(rows)] == [row[:6] for row in strip(local)]
        (row,) = extract(Index(f"{files}index.cdxj", (), files), policy=LOCAL_POLICY)
        assert row.error == "not-opened", "nobody has signed its certificate"
        assert {request[2] for request in web_server.requests()} == {"206"}


def test_ranges_are_fetched_through_a_proxy(crawl: Crawl, local: list[Link], tmp_path: Path) -> None:
    """In absolute-form and by CONNECT (RFC 9112 3.2.2, 3.2.3); several ranges use one connection."""
    (tmp_path / "root").mkdir()
    shutil.copytree(crawl.folder, tmp_path / "root", dirs_exist_ok=True)
    with nginx(tmp_path) as web_server, tinyproxy(tmp_path / "proxy", "me secret") as port:
        by = dict.fromkeys(("http", "https"), f"http://me:secret@127.0.0.1:{port}")
        through = LOCAL_POLICY.with_(tls=trusting(tmp_path), proxy=by)
        for scheme in by:
            files = web_server.uri("/", scheme)
            rows = list(extract(Index(f"{files}index.cdxj", (), files), policy=through))
            assert strip(rows) == strip(local)
        log, tunnels = tmp_path / "proxy/asked", f"CONNECT 127.0.0.1:{web_server.tls_port} "
        assert f"GET {web_server.uri('/index.cdxj')} HTTP/1.1" in log.read_text()
        before = log.read_text().count(tunnels)
        (tmp_path / "root/large").write_bytes(octets := bytes(range(256)) * 10_000)
        with open_range(f"{files}large", through) as file:
            assert file.read() == octets
        assert [request[0] for request in web_server.requests()].count("GET /large HTTP/1.1") > 3
        assert log.read_text().count(tunnels) == before + 1
        assert {request[2] for request in web_server.requests()} == {"206"}
        unknown = through.with_(proxy={"https": f"http://127.0.0.1:{port}"})
        (row,) = extract(Index(f"{files}index.cdxj"), policy=unknown)
        assert row.error == "not-opened", "the proxy wants a password"


def test_a_part_of_a_file_on_the_web_is_read(local: list[Link], crawl: Crawl, web: str) -> None:
    entry = crawl.entries[40]
    part = f"{entry['filename']}#{entry['offset']},{entry['length']}"
    rows = list(extract(web + part, policy=LOCAL_POLICY))
    assert strip(rows) == strip([row for row in local if row.base == entry["url"]])
    assert strip(rows) == strip(list(extract(str(crawl.folder / part))))


def test_adjacent_records_are_fetched_as_one_range(stored: str, crawl: Crawl, store: Store) -> None:
    with FaultProxy(store.endpoint) as proxy:
        with use(store.through(proxy.endpoint)):
            list(extract(Index(crawl.folder / "index.cdxj", (), stored), policy=LOCAL_POLICY))
        octets = sum(seen.octets for seen in proxy.seen)
    assert len(proxy.seen) < 20, "240 records of two files are not 240 requests"
    assert octets < 1.2 * sum(len(crawl.octets(name)) for name in crawl.files)


def test_a_record_that_differs_from_its_index_entry_is_rejected(crawl: Crawl, tmp_path: Path) -> None:
    moved = [dict(entry) for entry in crawl.entries[:30]]
    moved[3]["offset"] = moved[4]["offset"]
    moved[5]["digest"] = "A" * 32
    moved[7]["offset"] = str(int(moved[7]["offset"]) + 11)
    moved[9]["offset"] = str(10**12)
    lines = (f"x)/ 20260101000000 {json.dumps(entry)}\n" for entry in moved)
    (tmp_path / "index.cdxj").write_text("".join(lines))
    rows = list(extract(Index(tmp_path / "index.cdxj", (), str(crawl.folder))))
    notes = [row for row in rows if row.reference is None]
    assert {row.error for row in notes} <= {"other-record", "truncated"}
    assert len(notes) == 4
    read = {row.base for row in rows if row.reference is not None}
    good = {entry["url"] for number, entry in enumerate(moved) if number not in (3, 5, 7, 9)}
    assert read - {moved[3]["url"], moved[4]["url"]} == good - {moved[4]["url"]}


def test_an_index_cannot_name_files_outside_its_folder(crawl: Crawl, tmp_path: Path, stored: str) -> None:
    entry = crawl.entries[0]
    filenames = (
        "../../etc/passwd",
        "/etc/passwd",
        "file:///etc/passwd",
        "s3://other/x",
        "http://127.0.0.1:1/x",
        "a\0b",
        "..%2F..%2Fx",
    )
    lines = "".join(f"x)/ 20260101000000 {json.dumps({**entry, 'filename': name})}\n" for name in filenames)
    (tmp_path / "index.cdxj").write_text(lines)
    for files in (str(crawl.folder), stored):
        rows = list(extract(Index(tmp_path / "index.cdxj", (), files), policy=LOCAL_POLICY))
        assert {row.error for row in rows} <= {"refused", "unreadable", "missing", "truncated", "corrupt"}
        assert any(row.error == "refused" for row in rows)
        assert not any("passwd" in row.source for row in rows if row.reference is not None)


def test_an_invalid_index_becomes_a_note(tmp_path: Path) -> None:
    (tmp_path / "index").write_bytes(b"<html>")
    (tmp_path / "empty.cdxj").touch()
    notes = {"index": "unsupported", "none": "unreadable", "empty.cdxj": "empty"}
    for index, note in ((tmp_path / name, note) for name, note in notes.items()):
        (row,) = extract(Index(index))
        assert row.error == note
    (tmp_path / "a.paths").write_text("b\n")
    with pytest.raises(ValueError, match="status"):
        list(extract(Index(tmp_path / "a.paths", ("status=200",))))
    with pytest.raises(ValueError, match="domain"):
        list(extract(Index(tmp_path / "a.paths", ("dommain=x",))))


def test_documents_of_a_store_have_their_uri_as_base(store: Store, bucket: str) -> None:
    for key, content in {
        "site/a.html": "<a href=b.html>",
        "site/d/c.html": "<a href=../x>",
        "site/none.html": "",
    }.items():
        store.put(bucket, key, content.encode())
    root = f"s3://{bucket}/site/"
    rows = list(extract(root, policy=LOCAL_POLICY))
    assert [(row.source, row.base, row.target) for row in rows if row.reference] == [
        (f"{root}a.html", f"{root}a.html", f"{root}b.html"),
        (f"{root}d/c.html", f"{root}d/c.html", f"{root}x"),
    ]
    assert [(row.source, row.error) for row in rows if not row.reference] == [(f"{root}none.html", "empty")]
    published = list(extract(root, "https://w.example/", policy=LOCAL_POLICY))
    assert [row.target for row in published if row.reference] == ["https://w.example/b.html", "https://w.example/x"]
    (link,) = extract(f"{root}d/c.html", "https://w.example/q/", policy=LOCAL_POLICY)
    assert link.target == "https://w.example/x"


def test_failures_of_a_store_are_rows(store: Store, bucket: str, caplog: pytest.LogCaptureFixture) -> None:
    store.put(bucket, "there.html", b"<a href=b.html>")
    sources = {
        f"s3://{bucket}/none": "missing",
        f"s3://{bucket}/none/": "missing",
        "s3://no-such-bucket/x": "missing",
        f"s3://joe:secret@{bucket}/x": "not-opened",
        f"s3://{bucket}/a?token=secret": "not-opened",
        f"s3://{bucket}/a b": "not-opened",
    }
    rows = list(extract([*sources, f"s3://{bucket}/there.html"], policy=LOCAL_POLICY))
    assert [row.error for row in rows] == [*sources.values(), None]
    assert "secret" not in repr(rows) + caplog.text
    (refused,) = extract(f"s3://{bucket}/there.html")
    assert refused.error == "refused"
    assert "Policy.schemes" in caplog.text


def test_the_signature_of_a_presigned_uri_is_masked(
    store: Store, bucket: str, caplog: pytest.LogCaptureFixture
) -> None:
    page = b"<a href='?next'>"
    store.put(bucket, "a.html", page)
    uri = store.client.generate_presigned_url("get_object", Params={"Bucket": bucket, "Key": "a.html"})
    for source in (uri, f"{uri}#0,{len(page)}"):
        rows = list(extract(source, policy=LOCAL_POLICY))
        assert rows
        for row in rows:
            assert "Signature=***" in row.source or "Signature" not in row.source
        secret = (URI(uri).query or "").rpartition("Signature=")[2][:20]
        assert secret
        assert secret not in repr(rows) + caplog.text


FAULTS: dict[str, tuple[Fault, bool]] = {
    "slow down": (slow_down("0"), False),
    "200 for 206": (whole_object(), True),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_loses_and_adds_no_row(server: Store, stored: str, local: list[Link], crawl: Crawl, name: str) -> None:
    fault, is_lasting = FAULTS[name]

    def choose(seen: RequestSeen) -> Fault | None:
        return fault if seen.number_of_range == 2 or (is_lasting and seen.number_of_range > 2) else None

    with FaultProxy(server.endpoint, choose) as proxy, use(server.through(proxy.endpoint)):
        rows = strip(list(extract([stored + file for file in crawl.files], policy=LOCAL_POLICY)))
    expected = strip(local)
    notes = [row for row in rows if row[3] is None]
    assert all(row in expected for row in rows if row[3] is not None)
    assert (rows == expected) == (not is_lasting)
    assert bool(notes) == is_lasting


def test_an_object_replaced_during_the_read_has_a_note(server: Store, stored: str, bucket: str, crawl: Crawl) -> None:
    name = crawl.files[0]
    big = gzip.compress(b"") + crawl.octets(name) * 300
    server.put(bucket, "big.warc.gz", big)
    replaced = before_request(lambda: server.put(bucket, "big.warc.gz", big[:-100]))

    def choose(seen: RequestSeen) -> Fault | None:
        return replaced if seen.range and int(seen.range[6:].partition("-")[0]) > len(big) // 3 else None

    with FaultProxy(server.endpoint, choose) as proxy, use(server.through(proxy.endpoint)):
        rows = list(extract(f"{stored}big.warc.gz", policy=LOCAL_POLICY))
    assert [row.error for row in rows if row.reference is None].count("changed") == 1
    assert len(rows) > 20


# -- tables in a store


def run(*words: str) -> Result:
    return CliRunner().invoke(app, list(words), catch_exceptions=False)


def table(store: Store, bucket: str, prefix: str) -> list[tuple[object, ...]]:
    """The rows of the parts, in the order of their names."""
    import io

    rows: list[tuple[object, ...]] = []
    for key in store.keys(bucket):
        if key.startswith(prefix) and key.endswith(".parquet"):
            read = pq.read_table(io.BytesIO(store.get(bucket, key)))
            rows += zip(*(column.to_pylist() for column in read.columns), strict=True)
    return rows


def test_a_table_is_written_to_a_store(store: Store, stored: str, bucket: str, local: list[Link]) -> None:
    output = f"{stored}links/"
    result = run("links", f"{stored}crawl-data/", "-o", output)
    assert result.exit_code in (0, 1), result.output
    rows = [Link._make(row) for row in table(store, bucket, "links/")]
    assert strip(rows) == strip(local)
    assert "links/_SUCCESS" in store.keys(bucket)
    resumed = run("links", f"{stored}crawl-data/", "-o", output, "--resume")
    assert "nothing to do" in resumed.output
    other = run("links", f"{stored}crawl-data/", "-o", output, "--resume", "--audit")
    assert other.exit_code == 2
    assert "audit" in other.output
    assert run("links", f"{stored}crawl-data/", "-o", stored).exit_code == 2, "it holds other things"
    assert run("links", f"{stored}crawl-data/", "-o", f"{stored}links.parquet").exit_code == 2


def test_a_killed_job_continues(store: Store, bucket: str) -> None:
    uri = f"s3://{bucket}/table/"
    columns = layout()
    from overthere.links.report.batch import to_batch

    batches = [to_batch([Link(f"{number}-{row}", *[None] * 12) for row in range(100)]) for number in range(6)]
    first = open_writer(uri, columns, job="j")
    for number in range(3):
        first.write(batches[number])
        if number < 2:
            first.commit({"at": number + 1})
    first._finish_part()  # type: ignore[attr-defined]
    del first  # killed: two tasks are committed; the third has a part but is not committed
    with open_writer(uri, columns, job="j", resume=True) as resumed:
        assert resumed.state == {"at": 2}
        for number in range(2, 6):
            resumed.write(batches[number])
        resumed.commit({"at": 6, "done": True})
    rows = [row[0] for row in table(store, bucket, "table/")]
    assert rows == [f"{number}-{row}" for number in range(6) for row in range(100)]


def test_two_jobs_cannot_write_the_same_table(store: Store, bucket: str) -> None:
    uri = f"s3://{bucket}/table/"
    first = open_writer(uri, layout(), job="j")
    second = open_writer(uri, layout(), job="k")
    with pytest.raises(FileExistsError):
        first.commit({"done": True})
    second.commit({"done": True})
    second.close()


# -- the other verbs


def test_other_commands_read_objects(store: Store, bucket: str) -> None:
    root = f"s3://{bucket}/"
    store.put(bucket, "a.txt", b"see http://a.example/x and http://joe:pw@b.example/")
    store.put(bucket, "t.csv", b"n,url\n1,http://A.example/%7e\n2,http://[\n")
    output = run("find", f"{root}a.txt").output
    assert "http://a.example/x" in output
    assert "b.example" in output
    audited = run("audit", "--file", f"{root}a.txt")
    assert (audited.exit_code, "password" in audited.output) == (1, True)
    normal = run("normalize", "--column", "url", f"{root}t.csv")
    assert "http://a.example/~" in normal.output
    for command in (("find",), ("audit", "--file"), ("check", "--column", "url")):
        missing = run(*command, f"{root}none.csv")
        assert missing.exit_code in (1, 2)
        assert "no such object" in missing.output


def test_parquet_in_a_store_is_a_source(store: Store, bucket: str, tmp_path: Path) -> None:
    import pyarrow as pa

    pq.write_table(pa.table({"url": [f"http://a.example/{n}" for n in range(1000)]}), tmp_path / "t.parquet")
    store.put(bucket, "t.parquet", (tmp_path / "t.parquet").read_bytes())
    result = run("check", "--column", "url", f"s3://{bucket}/t.parquet", "-o", str(tmp_path / "o.parquet"))
    assert result.exit_code == 0, result.output
    assert pq.read_metadata(tmp_path / "o.parquet").num_rows == 1000


def test_a_site_in_a_store_is_checked(store: Store, bucket: str) -> None:
    root = f"s3://{bucket}/site/"
    for key, content in {
        "a.html": "<a href=b.html>ok</a><a href=c.html>bad</a>",
        "b.html": "<a href=a.html#x>",
    }.items():
        store.put(bucket, f"site/{key}", content.encode())
    result = run("broken", root)
    assert result.exit_code == 1
    assert f"{root}a.html" in result.output
    assert "c.html" in result.output
    assert "/tmp" not in result.output
    assert run("broken", f"s3://{bucket}/none/").exit_code == 2


def test_the_option_index(stored: str, crawl: Crawl, tmp_path: Path, local: list[Link]) -> None:
    output = tmp_path / "x.parquet"
    result = run(
        "links", "--index", str(crawl.folder / "index.cdxj"), "--where", "domain=h3.example", stored, "-o", str(output)
    )
    assert result.exit_code == 0, result.output
    assert pq.read_metadata(output).num_rows == len(pages(local, "h3.example"))
    assert run("links", "--where", "domain=x", "a.html").exit_code == 2
    assert run("links").exit_code == 2
    assert run("links", "--index", "none.cdxj").exit_code == 2
    wrong = run("links", "--index", str(crawl.folder / "index.cdxj"), "--where", "dommain=x")
    assert (wrong.exit_code, "dommain" in wrong.output) == (2, True)


def test_tables_are_written_by_obstore_only() -> None:
    pytest.importorskip("fsspec")
    from overthere.files.stores.by_fsspec import FilesystemStore

    with pytest.raises(StoreError, match="stores of obstore"):
        FilesystemStore("memory://x").put("a", b"", "")


def test_a_name_that_obstore_cannot_read_ends_the_listing(
    store: Store, bucket: str, caplog: pytest.LogCaptureFixture
) -> None:
    """obstore reads a page of names completely or not at all: a row reports it, and no other row is lost."""
    for key in ("a/1.html", "a//2.html", "b/3.html"):
        store.put(bucket, key, b"<a href=x>")
    (row,) = extract(f"s3://{bucket}/", policy=LOCAL_POLICY)
    assert (row.source, row.error) == (f"s3://{bucket}/", "not-opened")
    (row,) = extract(f"s3://{bucket}/b/", policy=LOCAL_POLICY)
    assert row.target == f"s3://{bucket}/b/x"
    assert "a//2.html" in caplog.text
    assert run("links", f"s3://{bucket}/").exit_code == 1
