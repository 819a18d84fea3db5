"""Indexes of web archives: CDXJ, CDX, the columnar index and path lists; valid, filtered, damaged."""

from __future__ import annotations

import gzip
import io
import json
import logging
import random
from collections.abc import Iterable, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from overthere.links.indexes import Entry, Where, index_kind, read_index
from overthere.links.model import Note
from support import linear, processor


def gz(data: bytes) -> bytes:
    return gzip.compress(data, 6, mtime=0)


def read(data: bytes, *conditions: str, name: str = "index") -> list[Entry | Note]:
    return list(read_index(name, io.BytesIO(data), Where.parse(conditions)))


def urls(data: bytes, *conditions: str, name: str = "index") -> list[str]:
    content = read(data, *conditions, name=name)
    assert not [item for item in content if isinstance(item, Note)]
    return [item.url for item in content if isinstance(item, Entry)]


def surt(url: str) -> str:
    host, slash, path = url.partition("://")[2].partition("/")
    name, _, port = host.removeprefix("www.").partition(":")
    return ",".join(reversed(name.split("."))) + f":{port}" * bool(port) + ")" + slash + path


def cdxj(url: str, number: int = 0, /, **fields: Any) -> bytes:
    message = {
        "url": url, "mime": "text/html", "mime-detected": "text/html", "status": "200", "digest": "sha1:AAAA",
        "length": "10", "offset": str(number), "languages": "eng", "filename": "crawl/a.warc.gz",
    }  # fmt: skip
    message = {name: value for name, value in {**message, **fields}.items() if value is not None}
    return f"{surt(url)} 20240102030405 {json.dumps(message)}\n".encode()


URLS = (
    "http://example.com/",
    "http://example.org/",
    "https://www.example.org/a",
    "http://example.org:8080/b",
    "http://sub.example.org/c",
    "http://example.org.example.net/d",
    "http://anexample.org/e",
)
ORG = [URLS[1], URLS[2], URLS[3], URLS[4]]
CDXJ = b"".join(cdxj(url, number) for number, url in enumerate(URLS))


# -- CDXJ


def test_cdxj() -> None:
    line = cdxj("http://example.org/", 7, **{"mime": "text/plain", "mime-detected": "application/pdf"})
    entry = Entry("crawl/a.warc.gz", 7, 10, "http://example.org/", "AAAA", "application/pdf", "200")
    for data in (line, gz(line), line.rstrip(b"\n"), line.replace(b"\n", b"\r\n"), b"\n \n" + line + b"\n\n"):
        assert read(data, name="cdx-00000.gz") == [entry]
    assert read(b'!OpenWayback-CDXJ 1.0\n!meta {"a": 1}\n' + line) == [entry]


def test_cdxj_as_servers_answer() -> None:
    """A JSON object alone, with its key among the fields."""
    line = json.dumps({"urlkey": "org,example)/", "url": "not a URI", "offset": 1, "filename": "a"}).encode()
    assert read(line, "domain=example.org") == [Entry("a", 1, None, "not a URI")]
    assert read(line.replace(b'": ', b'":'), "domain=example.net") == []


def test_numbers_may_be_texts() -> None:
    for number in (5, "5"):
        entry = read(cdxj("http://h/", offset=number, length=number, status=number))[0]
        assert isinstance(entry, Entry)
        assert (entry.offset, entry.length, entry.status) == (5, 5, "5")


@pytest.mark.parametrize("length", [None, "-", "", 0, "0"])
def test_entries_without_a_length(length: object) -> None:
    assert read(cdxj("http://h/", length=length))[0] == Entry(
        "crawl/a.warc.gz", 0, None, "http://h/", "AAAA", "text/html", "200"
    )


def test_many_members() -> None:
    """ZipNum: gzip members with some lines each."""
    lines = [cdxj(f"http://h{number % 50}.example.org/{number}", number) for number in range(3000)]
    data = b"".join(gz(b"".join(lines[at : at + 100])) for at in range(0, len(lines), 100))
    assert len(urls(data)) == 3000
    assert len(urls(data, "host=h7.example.org")) == 60
    uneven = zlib_pieces(b"".join(lines), 997)
    assert urls(uneven) == urls(data)


def zlib_pieces(data: bytes, step: int) -> bytes:
    """Members that begin at any position of a line."""
    return b"".join(gz(data[at : at + step]) for at in range(0, len(data), step))


@pytest.mark.parametrize(
    "fields",
    [
        {"filename": None}, {"filename": ""}, {"filename": "-"}, {"filename": ["a"]}, {"filename": "a\nb"},
        {"offset": None}, {"offset": "-"}, {"offset": -1}, {"offset": "-1"}, {"offset": "1.5"},
        {"offset": 1.5}, {"offset": True}, {"offset": 1 << 63}, {"offset": str(1 << 63)}, {"offset": "9" * 5000},
        {"offset": {}}, {"length": -1}, {"length": 1 << 63}, {"length": "x"}, {"offset": "\u0665"},
        {"offset": (1 << 63) - 1, "length": 1},
    ],
)  # fmt: skip
def test_invalid_entries(fields: dict[str, Any]) -> None:
    good = cdxj("http://h/")
    content = read(good + cdxj("http://h/", **fields) + good)
    assert [type(item) for item in content] == [Entry, Note, Entry]
    assert content[1] == Note("corrupt")


@pytest.mark.parametrize(
    "line",
    [
        b"garbage", b"org,example)/ 20240101000000", b"org,example)/ 20240101000000 {", b"\xff\xfe {}", b"1", b"{}",
        b"k 1 " + b"[" * 100_000, b"k 1 {" + b'"a":{' * 50_000, b'k 1 {"offset":' + b"9" * 10_000 + b"}", b"[]",
        b" {1}", b'k 1 {"filename": "\xff", "offset": 1}',
    ],
    ids=range(12),
)  # fmt: skip
def test_invalid_lines(line: bytes) -> None:
    good = cdxj("http://h/")
    assert [type(item) for item in read(good + line + b"\n" + good)] == [Entry, Note, Entry]


def test_lone_surrogates_are_invalid() -> None:
    entry = read(cdxj("http://h/", url="http://h/\ud800", digest="\udc00"))[0]
    assert isinstance(entry, Entry)
    assert (entry.url, entry.digest) == ("http://h/?", "?")


# -- CDX

ELEVEN = b"org,example)/a 20240102030405 http://example.org/a text/html 200 AAAA - - 10 7 a.warc.gz\n"
NINE = b"org,example)/a 20240102030405 http://example.org/a text/html 200 AAAA - 7 a.warc.gz\n"
ENTRY = Entry("a.warc.gz", 7, 10, "http://example.org/a", "AAAA", "text/html", "200")


@pytest.mark.parametrize("pack", [bytes, gz])
def test_cdx(pack: Any) -> None:
    for head, line, length in (
        (b" CDX N b a m s k r M S V g\n", ELEVEN, 10),
        (b" CDX N b a m s k r V g\n", NINE, None),
    ):
        entry = ENTRY._replace(length=length)
        for data in (head + line, line, line.rstrip(b"\n"), (head + line).replace(b"\n", b"\r\n")):
            assert read(pack(data)) == [entry]
            assert read(pack(data), "domain=example.org", "mime=text/*", "status=2xx", "url=http://example") == [entry]
            assert read(pack(data), "domain=example.com") == []


def test_the_header_line_gives_the_order() -> None:
    data = b" CDX g V a N S s m k\na.warc.gz 7 http://example.org/a org,example)/a 10 200 text/html AAAA\n"
    assert read(data) == [ENTRY]
    assert read(data.replace(b" ", b"\t")) == [ENTRY]
    # A later header line applies from there on.
    assert read(data + b" CDX N b a m s k r M S V g\n" + ELEVEN) == [ENTRY, ENTRY]


def test_undefined_fields() -> None:
    assert read(b"org,example)/a 20240102030405 - - - - - - - 7 a.warc.gz\n", "domain=example.org") == [
        Entry("a.warc.gz", 7, None)
    ]


def test_keys_that_are_not_surt() -> None:
    data = b" CDX A b a m s k r V g\nexample.org/a 20240102030405 - - - - - 7 a.arc.gz\n"
    assert read(data, "domain=example.org") == [Entry("a.arc.gz", 7, None)]
    assert read(data, "domain=example.net") == []
    full = data.replace(b"example.org/a", b"http://(org,example,)/a")
    assert read(full, "host=example.org") == [Entry("a.arc.gz", 7, None)]


def test_a_header_line_without_a_place() -> None:
    assert read(b" CDX N b a m s k r\n" + NINE) == [Note("unsupported")]


def test_fields_that_a_header_line_does_not_name() -> None:
    data = b" CDX N b V g\norg,example)/a 20240102030405 7 a.warc.gz\n"
    assert read(data, "host=example.org") == [Entry("a.warc.gz", 7, None)]
    with pytest.raises(ValueError, match="cannot answer the condition mime"):
        read(data, "mime=text/html")


def test_lines_of_another_length() -> None:
    data = b" CDX N b a m s k r M S V g\n" + NINE + ELEVEN
    assert read(data) == [Note("corrupt"), ENTRY]


# -- lists of paths


def test_paths() -> None:
    data = b"crawl-data/a.warc.gz\n\n  \r\ns3://bucket/b.warc.gz\r\n\xff\n\x01\nhttps://h/c.warc.gz"
    for packed, name in ((data, "warc.paths"), (gz(data), "x/warc.paths.gz"), (data, "WARC.PATHS.GZ")):
        assert read(packed, name=name) == [
            Entry("crawl-data/a.warc.gz", None, None),
            Entry("s3://bucket/b.warc.gz", None, None),
            Note("corrupt"),
            Note("corrupt"),
            Entry("https://h/c.warc.gz", None, None),
        ]
    with pytest.raises(ValueError, match="a list of paths cannot answer the condition domain, mime"):
        read(data, "mime=text/html", "domain=example.org", name="warc.paths")


# -- kinds


@pytest.mark.parametrize(
    ("name", "head", "kind"),
    [
        ("x", CDXJ, "cdxj"), ("x", gz(CDXJ), "cdxj"), ("x", gz(CDXJ)[:200], "cdxj"), ("x.cdx", CDXJ, "cdxj"),
        ("x", ELEVEN, "cdx"), ("x", NINE, "cdx"), ("x", gz(NINE), "cdx"), ("x", b" CDX N b a m s k r V g\n", "cdx"),
        ("x", b"PAR1", "parquet"), ("warc.paths.gz", gz(b"a\n"), "paths"), ("wat.paths", b"a\n", "paths"),
        ("x.cdx", b"", "cdx"), ("x.cdxj.gz", b"", "cdxj"), ("i/cdx-00299.gz", b"", "cdxj"),
        ("x", b"", ""), ("x", b"a\nb\n", ""), ("x.json", b'{"url": "http://h/"}', ""), ("x.cdx", b"\0\1\2", ""),
        ("a.html", b"<p>\n" + CDXJ, ""), ("x", gz(b"\0"), ""),
        ("cluster.idx", b"org,a)/ 2024\tcdx-00000.gz\t0\t1\t1", ""),
    ],
)  # fmt: skip
def test_index_kind(name: str, head: bytes, kind: str) -> None:
    assert index_kind(name, head[:4096]) == kind


def test_files_that_are_not_indexes() -> None:
    assert read(b"") == [Note("unsupported")]
    assert read(b"", name="x.cdx") == []
    assert read(b"text") == [Note("unsupported")]


# -- conditions


@pytest.mark.parametrize(
    ("conditions", "expected"),
    [
        ([], list(URLS)),
        (["domain=example.org"], ORG),
        (["domain=.Example.ORG."], ORG),
        (["domain=org"], [*ORG, URLS[6]]),
        (["domain=example.org", "domain=example.com"], [URLS[0], *ORG]),
        (["domain=www.example.org"], [URLS[2]]),
        (["host=example.org"], [URLS[1], URLS[3]]),
        (["host=www.example.org"], [URLS[2]]),
        (["domain=example.org", "host=sub.example.org"], [URLS[4]]),
        (["domain=example.org", "host=example.com"], []),
        (["url=https:"], [URLS[2]]),
        (["domain=example.org", "url=http:"], [URLS[1], URLS[3], URLS[4]]),
        (["domain=[::1]"], []),
    ],
)
def test_hosts_and_urls(conditions: list[str], expected: list[str]) -> None:
    assert urls(CDXJ, *conditions) == expected
    assert urls(gz(CDXJ), *conditions) == expected
    assert urls(columnar([{"url": url} for url in URLS]), *conditions) == expected


VALUES: Sequence[dict[str, Any]] = (
    {"mime-detected": "application/pdf", "status": 200, "languages": "eng"},
    {"mime-detected": None, "mime": "Text/HTML; charset=utf-8", "status": "301", "languages": None},
    {"mime-detected": "text/plain", "status": 404, "languages": "deu,eng"},
    {"mime-detected": None, "mime": None, "status": None, "languages": "fra,spa"},
)


@pytest.mark.parametrize(
    ("conditions", "expected"),
    [
        (["mime=application/pdf"], "0"), (["mime=text/*"], "12"), (["mime=TEXT/html"], "1"),
        (["mime=text/html", "mime=application/*"], "01"), (["status=200"], "0"), (["status=3XX", "status=404"], "12"),
        (["language=eng"], "02"), (["language=DEU", "language=spa"], "23"), (["language=eng", "mime=text/*"], "2"),
        (["status=500"], ""),
    ],
)  # fmt: skip
def test_conditions_on_values(conditions: list[str], expected: str) -> None:
    data = b"".join(cdxj(f"http://h/{number}", number, **fields) for number, fields in enumerate(VALUES))
    texts = [f"http://h/{number}" for number in expected]
    assert urls(data, *conditions) == texts
    rows = [
        {"url": f"http://h/{number}", **fields, "status": fields["status"] and int(fields["status"])}
        for number, fields in enumerate(VALUES)
    ]
    assert urls(columnar(rows), *conditions) == texts


def test_hosts_of_invalid_uris() -> None:
    """For the only possible meaning of the text; otherwise for the key."""
    for url in ("http://www.example.org/a|b c", "http://www.example.org/%", "no URI"):
        line = cdxj("http://www.example.org/", url=url)
        assert urls(line, "domain=example.org") == [url]
        assert urls(line, "domain=example.net") == []
    assert urls(cdxj("http://www.example.org/", url="http://www.example.org/a|b"), "host=www.example.org") != []


def test_addresses() -> None:
    for key in (b"192.0.2.1)/", b"1,2,0,192)/"):
        line = key + cdxj("http://192.0.2.1/").partition(b")/")[2]
        assert urls(line, "host=192.0.2.1") == ["http://192.0.2.1/"]


@pytest.mark.parametrize(
    ("condition", "message"),
    [
        ("planet=earth", "'planet' is not a condition: .*domain, host, mime, status, url, language"),
        ("", "'' is not a condition"), ("domain", "domain=.*a host name"), ("domain=", "a host name"),
        ("domain=a/b", "a host name"), ("domain=a:80", "a host name"), ("host=u@h", "a host name"),
        ("domain=b\xfccher.example", "xn--"), ("mime=text", "a media type"), ("mime=*/*", "a media type"),
        ("mime=text/h*", "a media type"), ("mime=text/html;a=b", "a media type"), ("status=20", "a status code"),
        ("status=20x", "a status code"), ("status=xxx", "a status code"), ("url=", "begins with"),
        ("language=english", "ISO 639-3"),
    ],
)  # fmt: skip
def test_invalid_conditions(condition: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Where.parse([condition])


def test_conditions_that_cdx_does_not_support() -> None:
    with pytest.raises(ValueError, match="a CDX index cannot answer the condition language: leave it out"):
        read(ELEVEN, "language=eng")


# -- the columnar index


class Counting(io.BytesIO):
    """A file that records which bytes were read."""

    def __init__(self, data: bytes) -> None:
        super().__init__(data)
        self.spans: list[tuple[int, int]] = []

    def read(self, size: int | None = -1, /) -> bytes:
        at = self.tell()
        piece = super().read(size)
        self.spans.append((at, at + len(piece)))
        return piece


def columnar(rows: Iterable[dict[str, Any]], group: int = 100, **change: Any) -> bytes:
    """A file in Common Crawl's format, from rows with the names of CDXJ."""
    rows = list(rows)
    hosts = [row["url"].partition("://")[2].partition("/")[0].partition(":")[0] for row in rows]
    table = {
        "url_surtkey": [surt(row["url"]) for row in rows],
        "url": [row["url"] for row in rows],
        "url_host_name": hosts,
        "url_host_registered_domain": [".".join(host.split(".")[-2:]) for host in hosts],
        "fetch_status": pa.array([row.get("status", 200) for row in rows], pa.int16()),
        "content_digest": ["AAAA" for _ in rows],
        "content_mime_type": pa.array([row.get("mime", "text/html") for row in rows], pa.string()),
        "content_mime_detected": pa.array([row.get("mime-detected", "text/html") for row in rows], pa.string()),
        "content_languages": pa.array([row.get("languages", "eng") for row in rows], pa.string()),
        "warc_filename": ["crawl/a.warc.gz" for _ in rows],
        "warc_record_offset": pa.array(range(len(rows)), pa.int32()),
        "warc_record_length": pa.array([10] * len(rows), pa.int32()),
        "unread": [random.Random(number).randbytes(500) for number, _ in enumerate(rows)],
    }
    table = {name: column for name, column in {**table, **change}.items() if column is not None}
    file = io.BytesIO()
    pq.write_table(pa.table(table), file, row_group_size=group)
    return file.getvalue()


def test_columnar() -> None:
    data = columnar([{"url": URLS[1]}, {"url": URLS[2], "status": None}])
    assert read(data) == [
        Entry("crawl/a.warc.gz", 0, 10, URLS[1], "AAAA", "text/html", "200"),
        Entry("crawl/a.warc.gz", 1, 10, URLS[2], "AAAA", "text/html", ""),
    ]


SORTED = sorted(
    (f"http://{letter}{number % 10}.example.org/{number}" for letter in "abcdefgh" for number in range(250)), key=surt
)


@pytest.mark.parametrize(
    "conditions",
    [["domain=c3.example.org"], ["host=c3.example.org"], ["url=http://c3.example.org/"], ["status=404"]],
)
def test_excluded_row_groups_are_not_read(conditions: list[str]) -> None:
    rows = [{"url": url, "status": 404 if "//c3." in url else 200} for url in SORTED]
    data = columnar(rows, 100)
    file = Counting(data)
    results = list(read_index("x", file, Where.parse(conditions)))
    assert [row.url for row in results if isinstance(row, Entry)] == [url for url in SORTED if "//c3." in url]
    metadata = pq.read_metadata(io.BytesIO(data))
    assert metadata.num_row_groups == 20
    # Without header and footer.
    spans = [(first, last) for first, last in file.spans if first > 0 and last < len(data)]
    read_groups = set()
    for number in range(metadata.num_row_groups):
        for place in range(metadata.num_columns):
            column = metadata.row_group(number).column(place)
            start = column.dictionary_page_offset or column.data_page_offset
            end = start + column.total_compressed_size
            if any(first < end and last > start for first, last in spans):
                read_groups.add(number)
                assert column.path_in_schema not in ("unread", "url_surtkey", "url_host_registered_domain")
    assert len(read_groups) in (1, 2)
    assert sum(last - first for first, last in file.spans) < len(data) / 4


@pytest.mark.parametrize("host", ["example.org", "EXAMPLE.org", "example.org.", "Example.Org."])
def test_statistics_exclude_no_row_that_meets_a_condition(host: str) -> None:
    rows = [{"url": f"http://{host}/"}, {"url": "http://other.example/"}]
    for condition in ("host=example.org", "domain=example.org", "domain=org"):
        index = columnar(rows, 1, url_host_name=[host, "other.example"], url_surtkey=None)
        assert urls(index, condition) == [f"http://{host}/"]


def test_a_condition_without_statistics() -> None:
    table = pq.read_table(io.BytesIO(columnar([{"url": url} for url in URLS])))
    file = io.BytesIO()
    pq.write_table(table, file, write_statistics=False)
    assert urls(file.getvalue(), "domain=example.org") == ORG


def test_missing_columns() -> None:
    rows = [{"url": URLS[0]}]
    with pytest.raises(ValueError, match="the columns warc_filename, url_host_name are missing"):
        read(columnar(rows, warc_filename=None, url_host_name=None), "domain=h")
    bare = columnar(rows, url=None, content_digest=None, content_mime_detected=None, warc_record_length=None)
    assert read(bare) == [Entry("crawl/a.warc.gz", 0, None, "", "", "text/html", "200")]


def test_columns_of_other_types() -> None:
    rows = [{"url": URLS[1]}, {"url": URLS[0]}]
    hosts = [b"example.org", b"\xff"]
    for kind in (pa.binary(), pa.large_binary(), pa.dictionary(pa.int8(), pa.binary())):
        data = columnar(
            rows, url_host_name=pa.array(hosts, kind), warc_record_offset=["5", "6"], fetch_status=["200", "x"]
        )
        assert [one.offset for one in read(data, "domain=example.org", "status=2xx") if isinstance(one, Entry)] == [5]
    assert read(columnar(rows, url=[["a"], ["b"]])) == [Note("corrupt")]


def test_rows_without_a_place() -> None:
    rows = [{"url": f"http://h/{number}"} for number in range(4)]
    offsets = pa.array([0, None, -1, 1 << 63], pa.decimal128(20)).cast(pa.float64())
    bad = columnar(rows, warc_record_offset=pa.array([0, None, 2, (1 << 64) - 1], pa.uint64()))
    assert [type(item) for item in read(bad)] == [Entry, Note, Entry, Note]
    bad = columnar(rows, warc_filename=["a", None, "", "b"], warc_record_length=pa.array([None, 1, 1, -1], pa.int64()))
    assert read(bad)[0] == Entry("a", 0, None, "http://h/0", "AAAA", "text/html", "200")
    assert read(bad)[1:] == [Note("corrupt")] * 3
    assert read(columnar(rows, warc_record_offset=offsets)) == [Note("corrupt")]


def test_damaged_metadata_of_columns() -> None:
    """pyarrow 26 aborts the process when it reads them."""
    rows = [{"url": url} for url in SORTED[:20]]
    data = columnar(rows, 10, unread=None, url_surtkey=None, content_languages=None)
    footer = len(data) - 8 - int.from_bytes(data[-8:-4], "little")
    with processor(120):
        for at in range(footer, len(data) - 8):
            for octet in {data[at] ^ 1, data[at] ^ 0x80, 0, 255}:
                broken = bytearray(data)
                broken[at] = octet
                try:
                    content = read(bytes(broken), "host=c3.example.org")
                except ValueError as error:
                    assert "are missing" in str(error)  # noqa: PT017 - the name of a column
                else:
                    assert all(isinstance(item, Entry | Note) for item in content)


def test_a_damaged_columnar_index() -> None:
    data = columnar([{"url": url} for url in SORTED[:200]], 50)
    assert read(data[:-100]) == [Note("truncated")]
    assert read(b"PAR1") == [Note("corrupt")]
    assert read(b"PAR1" + bytes(100) + b"PARE") == [Note("unsupported")]
    draw = random.Random(5)
    for _ in range(200):
        broken = bytearray(data)
        for _ in range(draw.choice((1, 5, 50))):
            broken[draw.randrange(4, len(data))] = draw.randrange(256)
        try:
            content = read(bytes(broken), "domain=example.org")
        except ValueError as error:
            assert "are missing" in str(error)  # noqa: PT017 - the footer is damaged too
        else:
            assert all(isinstance(item, Entry | Note) for item in content)


# -- damage


def test_a_truncated_gzip_file() -> None:
    lines = [cdxj(f"http://h/{number}", number, digest=str(random.Random(number).random())) for number in range(2000)]
    data = gz(b"".join(lines[:1000])) + gz(b"".join(lines[1000:]))
    content = read(data[:-5000])
    assert content[-1] == Note("truncated")
    assert [item.offset for item in content if isinstance(item, Entry)] == [*range(len(content) - 1)]
    assert len(content) > 1000


def test_a_damaged_member() -> None:
    """The lines of other members are read."""
    parts = [gz(b"".join(cdxj(f"http://h/{part}-{number}", number) for number in range(300))) for part in range(5)]
    parts[2] = parts[2][:200] + bytes(60) + parts[2][260:]
    content = read(b"".join(parts))
    read_urls = {item.url for item in content if isinstance(item, Entry)}
    assert {f"http://h/{part}-{number}" for part in (0, 1, 3, 4) for number in range(300)} <= read_urls
    assert Note("corrupt") in content
    behind = read(b"".join(parts[:2]) + b"behind" + parts[3])
    assert [item for item in behind if isinstance(item, Note)] == [Note("corrupt")]
    assert len(behind) == 901


def test_long_lines() -> None:
    good, long = cdxj("http://h/"), b'k 1 {"a": "' + b"x" * (1 << 20) + b'"}\n'
    for data in (good + long + good, good + long[:-1], long * 3 + good, good + b"x" * (1 << 22), good * 20_000 + long):
        for packed in (data, gz(data)):
            content = read(packed, name="x.cdxj")
            assert content.count(Note("corrupt")) == data.count(b'k 1 {"a') + (b"xxx" in data and b'"a"' not in data)
            assert len(content) - content.count(Note("corrupt")) == data.count(b"crawl/a.warc.gz")
    just = cdxj("http://h/" + "x" * ((1 << 19) - 400))
    assert len(urls(just, name="x.cdxj")) == 1


def test_damaged_lines_are_counted(caplog: pytest.LogCaptureFixture) -> None:
    data = cdxj("http://h/") + b"garbage\n" * 250 + cdxj("http://h/")
    with caplog.at_level(logging.WARNING, "overthere.links"):
        content = read(data, name="http://user:secret@h/cdx-00000.gz")
    assert [type(item) for item in content] == [Entry, *[Note] * 100, Entry]
    assert caplog.messages == ["http://user:***@h/cdx-00000.gz: 250 damaged lines; the first 100 have notes"]
    caplog.clear()
    read(cdxj("http://h/") + b"garbage\n" * 100)
    assert caplog.messages == []


def test_a_file_that_fails() -> None:
    class Failing(io.BytesIO):
        def read(self, size: int | None = -1, /) -> bytes:
            if self.tell() > 5000:
                raise OSError("the disk")
            return super().read(size)

    for data in (CDXJ * 100, zlib_pieces(CDXJ * 100, 100), columnar([{"url": url} for url in SORTED], 50)):
        with pytest.raises(OSError, match="the disk"):
            list(read_index("x", Failing(data), Where()))


def test_the_file_stays_open() -> None:
    for data in (CDXJ, gz(CDXJ), columnar([{"url": URLS[0]}])):
        file = io.BytesIO(data)
        list(read_index("x", file, Where()))
        assert not file.closed


NAMES = st.sampled_from(["x.cdx", "x.cdxj", "cdx-00000.gz", "warc.paths", "x"])
STARTS = st.sampled_from([b"", CDXJ, gz(CDXJ), ELEVEN, b" CDX N b a V g\n", b"PAR1", b"\x1f\x8b\x08", b'k 1 {"'])


@given(NAMES, STARTS, st.binary(max_size=500), st.booleans())
def test_any_bytes(name: str, start: bytes, end: bytes, packed: bool) -> None:
    data = start + end
    place = Where() if name == "warc.paths" else Where(domain=("example.org",))
    for item in read_index(name, io.BytesIO(gz(data) if packed else data), place):
        assert isinstance(item, Entry | Note)


def test_random_bytes() -> None:
    draw = random.Random(3986)
    for data in (CDXJ * 20, zlib_pieces(CDXJ * 20, 500), ELEVEN * 50, columnar([{"url": URLS[0]}])):
        for _ in range(60):
            broken = bytearray(data)
            at = draw.randrange(len(data))
            broken[at : at + draw.choice((1, 30))] = draw.randbytes(draw.choice((0, 1, 40)))
            try:
                content = read(bytes(broken), name=draw.choice(["a.cdx", "a.cdxj", "a.paths"]))
            except ValueError as error:
                assert "are missing" in str(error)  # noqa: PT017 - the names of a columnar index
            else:
                assert all(isinstance(item, Entry | Note) for item in content)


# -- size


@pytest.mark.parametrize(
    ("piece", "packed"),
    [
        (b"x", 0), (b"\n", 0), (b"x\n", 0), (b"{", 0), (b"k 1 {", 0), (b"org,example)/ 1 {}\n", 0), (b" ", 0),
        (b"x", 1), (b"\x1f\x8b\x08\0", 0), (gz(b""), 0), (gz(b"x"), 0), (gz(b"x")[:-9], 0), (gz(b"\n"), 0),
        (b"a, 1 {\n", 1),
    ],
)  # fmt: skip
def test_reading_an_index_is_linear(piece: bytes, packed: int) -> None:
    def use(size: int) -> None:
        data = piece * (size // len(piece))
        results = read_index("x.cdxj", io.BytesIO(gz(data) if packed else data), Where(domain=("example.org",)))
        assert sum(isinstance(row, Note) for row in results) <= 101

    linear(use, 2_000_000)


def test_a_bomb_takes_little_memory() -> None:
    """It is inflated in pieces; a line without an end is not stored."""
    bomb = gz(CDXJ) + gz(b"x" * (1 << 28)) + gz(b"\n" + CDXJ)
    with processor(30):
        content = read(bomb, name="x.cdxj")
    assert len(content) == 2 * len(URLS) + 1
