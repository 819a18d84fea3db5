"""The link graph equals the counts of a dictionary, however much is on disk in between."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import tracemalloc
from collections import Counter
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from overthere import URI, Rung, kernel
from overthere.links.model import Link
from overthere.links.report import graph
from overthere.links.report.batch import Batch, to_batch
from overthere.links.report.graph import Graph, schema
from overthere.links.report.table import open_writer

Key = tuple[str | None, str | None, str | None]

BASES = ("http://a/", "http://A/x", "https://b:8080/", "file:///d/e", "urn:x:y", "http://%41/", "http://[::1]/")
TARGETS = (
    "http://a/", "HTTP://B.example/", "http://b%2Eexample/", "mailto:a@b", "MAILTO:c@d", "urn:x:y", "file:///", "x:",
    "http://", "//", "http://[2001:DB8::1]:80/", "http://u@c:1/", "data:,x", "http://%C3%BC/", "http://%c3%bc/",
)  # fmt: skip


def link(base: str | None, target: str | None) -> Link:
    return Link("s", base, None, "r", None, target, *[None] * 7)


def host(text: str) -> str | None:
    return URI(text).normalize(Rung.SYNTAX).host


def counted(links: list[Link]) -> Counter[Key]:
    """Row by row, with the package's values."""
    counts: Counter[Key] = Counter()
    for row in links:
        if row.target is not None:
            assert row.base is not None
            to = host(row.target)
            counts[host(row.base), to, URI(row.target).scheme.lower() if to is None else None] += 1
    return counts


def listed(graph: Graph) -> list[tuple[Key, int]]:
    return [((a, b, c), links) for a, b, c, links in graph.pairs()]


def order(key: Key) -> list[tuple[bool, str]]:
    return [(part is None, part or "") for part in key]


def test_pairs_agree_with_the_values() -> None:
    targets = [t for t in TARGETS if t != "//"]
    links = [link(b, t) for b in BASES for t in (*targets, None)] * 2
    pairs = to_batch(links).pairs()
    assert {(a, b, c): n for a, b, c, n in pairs} == counted(links)
    assert [(a, b, c) for a, b, c, _ in pairs] == sorted(counted(links), key=order)
    assert to_batch(links).slice(3).pairs() == to_batch(links[3:]).pairs()
    assert Batch(links).pairs() == pairs


def test_an_empty_graph() -> None:
    assert to_batch([]).pairs() == []
    assert to_batch([link("http://a/", None)]).pairs() == []
    with Graph() as graph:
        graph.add([])
        assert listed(graph) == []


@pytest.mark.parametrize("limit", [1, 3, 50, 100_000])
def test_pairs_on_disk_add_up(limit: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(graph, "_BATCH_ROWS", 4)
    draw = random.Random(limit)
    names: list[str | None] = [None, "", "a", "é", "\U0001f600", *map(str, range(12))]
    expected: Counter[Key] = Counter()
    with Graph(limit, tmp_path) as made:
        for _ in range(60 if limit < 50 else 200):
            rows = [
                (draw.choice(names), draw.choice(names), draw.choice(names[:3]), draw.randrange(9)) for _ in range(9)
            ]
            for *key, number in rows:
                expected[tuple(key)] += number  # type: ignore[index]
            made.add(rows)
        assert bool(os.listdir(tmp_path)) == (limit < 100_000)
        pairs = listed(made)
        assert pairs == sorted(((k, n) for k, n in expected.items()), key=lambda item: order(item[0]))
        assert made.links == sum(expected.values())
    assert not os.listdir(tmp_path)


def test_memory_does_not_grow_with_the_graph() -> None:
    """While 300,000 pairs come and go."""
    with Graph(5_000) as graph:
        tracemalloc.start()
        for start in range(0, 300_000, 3_000):
            graph.add([("a", f"host{at * 7919 % 300_007}", None, 1) for at in range(start, start + 3_000)])
        rows_given = sum(batch.num_rows for batch in graph.batches())
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert rows_given == 300_000
    assert most < 16 << 20


def test_a_host_may_be_of_any_size() -> None:
    with Graph(2) as graph:
        for at in range(8):
            graph.add(to_batch([link("http://a/", f"http://{'x' * 100_000}{at % 3}/")]).pairs())
        assert [(len(b or ""), n) for (_, b, _), n in listed(graph)] == [(100_001, 3), (100_001, 3), (100_001, 2)]


def test_repeated_pairs_take_no_more_space(tmp_path: Path) -> None:
    with Graph(100, tmp_path) as graph:
        for _ in range(40):
            graph.add([("a", "b" * (1 << 20), None, 1)])
        assert not os.listdir(tmp_path)


def test_a_full_disk_is_an_os_error(tmp_path: Path) -> None:
    with Graph(1, tmp_path) as graph:
        graph.add([("a", "b", None, 1), ("a", "c", None, 1)])
        assert graph._database is not None
        graph._database.execute("PRAGMA max_page_count = 2")
        with pytest.raises(OSError, match="full"):
            graph.add([("a", f"{number}{'x' * 9_000}", None, 1) for number in range(9)])
    assert not os.listdir(tmp_path)


@pytest.mark.parametrize("name", ["g.csv", "g.jsonl", "g.parquet", "g.arrow"])
@pytest.mark.parametrize("error", [OSError("the disk is full"), KeyboardInterrupt()])
@pytest.mark.parametrize("rows_before", [0, 1])
def test_an_unfinished_graph_replaces_no_table(
    name: str, error: BaseException, rows_before: int, tmp_path: Path
) -> None:
    """SQLite sorts the pairs during writing: the disk may be full then, or Ctrl-C may come."""

    def write() -> None:
        with open_writer(tmp_path / name, schema()) as writer, Graph() as graph:
            graph.add([("a", "b", None, 1)])
            for batch in [*graph.batches()][:rows_before]:
                writer.write(batch)
            raise error

    (tmp_path / name).write_bytes(b"old")
    with pytest.raises(type(error)):
        write()
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == {name: b"old"}


def test_the_graph_as_a_table(tmp_path: Path) -> None:
    with Graph() as graph, open_writer(tmp_path / "g.parquet", schema()) as writer:
        graph.add(to_batch([link("http://a/", "http://b/"), link("http://a/", "mailto:x@y")]).pairs())
        for batch in graph.batches():
            writer.write(batch)
    assert [tuple(row.values()) for row in pq.read_table(tmp_path / "g.parquet").to_pylist()] == [
        ("a", "b", None, 1),
        ("a", None, "mailto", 1),
    ]


LOADED = """
import sys
from overthere.cli import main
try:
    main()
finally:
    print(*sorted({"acero", "dataset", "pandas"} & {name.rpartition(".")[2] for name in sys.modules}))
"""


@pytest.mark.skipif(kernel.name != "native", reason="the native kernel is absent or not asked for")
def test_the_job_imports_neither_acero_nor_pandas(tmp_path: Path) -> None:
    """Together they take as long to import as overthere: pyarrow imports pandas to convert lists."""
    page = tmp_path / "a.html"
    page.write_text('<a href="x"><a href="mailto:a@b"><a href="http://[">')
    (tmp_path / "b.warc").write_bytes(b"no WARC")
    out = str(tmp_path / "l.parquet")
    words = ["-c", LOADED, "links", str(page), str(tmp_path / "b.warc"), "-o", out, "--workers", "1"]
    result = subprocess.run([sys.executable, *words], capture_output=True, text=True, check=False)
    assert result.stdout == "\n", result.stderr
    assert pq.read_metadata(out).num_rows == 4
