"""The column law: a column function gives for each row what the value's function gives, for every type and layout."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pytest

from overthere import (
    URI,
    CodingError,
    InvalidURI,
    Rung,
    Unreachable,
    URIReference,
    columns,
    decode,
    editions,
    encode,
    kernel,
)
from overthere import check as check_value
from overthere.kernel.reference import split, split_authority
from support import cases

ALL = ("scheme", "authority", "userinfo", "host", "port", "path", "query", "fragment")

TEXTS: list[str | None] = [
    *[row["text"] for row in cases("parse")],
    *[row["text"] for row in cases("invalid")],
    *[row["text"] for row in cases("normalize")],
    *[row["reference"] for row in cases("resolve")],
    *[row["iri"] for row in cases("iri")],
    None, "", "a", "é", "x" * 12, "x" * 13, "http://h/" + "é" * 20 + "|", "%zz", "%C3%A9%FF", "a%20b+%", "日本%ff%41",
]  # fmt: skip


def to_rows(column: Any) -> list[Any]:
    """A column's rows in Python; a struct's as dicts."""
    if not isinstance(column, pa.Array | pa.ChunkedArray):
        column = pa.array(column) if hasattr(column, "__arrow_c_array__") else pa.chunked_array(column)
    column.validate(full=True)
    rows: list[Any] = column.to_pylist()
    return rows


def layouts(rows: list[str | None]) -> dict[str, Any]:
    """The same rows, in every type and layout."""
    half = len(rows) // 2
    padded = ["pad", None, *rows, "pad"]
    return {
        "string": pa.array(rows, pa.string()),
        "large_string": pa.array(rows, pa.large_string()),
        "string_view": pa.array(rows, pa.string_view()),
        "sliced": pa.array(padded, pa.string()).slice(2, len(rows)),
        "sliced view": pa.array(padded, pa.string_view()).slice(2, len(rows)),
        "dictionary": pa.array(rows, pa.string()).dictionary_encode(),
        "dictionary of large_string": pa.array(rows, pa.large_string()).dictionary_encode(),
        "chunked": pa.chunked_array([pa.array(rows[:half]), pa.array([], pa.string()), pa.array(rows[half:])]),
    }


LAYOUTS = layouts(TEXTS)


def reason(text: str, rule: str) -> tuple[str | None, int | None]:
    findings = check_value(text, rule=rule, limit=1)
    return (findings[0].kind, findings[0].start) if findings else (None, None)


def attempt(work: Callable[[str], Any], text: str | None) -> Any:
    try:
        return None if text is None else work(text)
    except (InvalidURI, CodingError):
        return None


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("rule", ["URI", "URI-reference"])
def test_check(layout: str, rule: str) -> None:
    expected = [None if t is None else check_value(t, rule=rule) == [] for t in TEXTS]
    assert to_rows(columns.check(LAYOUTS[layout], rule)) == expected


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("rule", ["IPv6address", "pct-encoded", "path-rootless", "relative-ref"])
def test_check_by_any_rule(layout: str, rule: str) -> None:
    """The automaton of every rule, on columns."""
    dfa = editions.edition().grammar.automaton(rule)
    expected = [None if t is None else dfa.accepts(t) for t in TEXTS]
    assert to_rows(columns.check(LAYOUTS[layout], rule)) == expected


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", editions.NAMES)
def test_check_by_every_edition(layout: str, name: str) -> None:
    by = editions.edition(name)
    expected = [None if t is None else by.is_valid(t) for t in TEXTS]
    assert to_rows(columns.check(LAYOUTS[layout], edition=name)) == expected


@pytest.mark.parametrize("layout", LAYOUTS)
def test_split(layout: str) -> None:
    def fields_of(text: str) -> dict[str, str | None]:
        parts = split(text)
        userinfo, host, port = (None,) * 3 if parts.authority is None else split_authority(parts.authority)
        fields = {**parts._asdict(), "userinfo": userinfo, "host": host, "port": port}
        return {name: fields[name] for name in ALL}

    assert to_rows(columns.split(LAYOUTS[layout], ALL)) == [None if t is None else fields_of(t) for t in TEXTS]
    six = [None if t is None else {name: fields_of(t)[name] for name in columns.SIX} for t in TEXTS]
    assert to_rows(columns.split(LAYOUTS[layout])) == six


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("rule", ["URI", "URI-reference"])
def test_parse(layout: str, rule: str) -> None:
    def read(text: str) -> dict[str, Any]:
        kind, at = reason(text, rule)
        uri = URIReference(text) if kind is None else None
        names = [("port_text" if n == "port" else n) for n in ALL]
        return {**{n: uri and getattr(uri, m) for n, m in zip(ALL, names, strict=True)}, "error": kind, "error_at": at}

    assert to_rows(columns.parse(LAYOUTS[layout], ALL, rule)) == [None if t is None else read(t) for t in TEXTS]


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("rung", [Rung.STRING, Rung.CASE, Rung.PERCENT, Rung.PATH, Rung.SCHEME])
def test_normalize(layout: str, rung: Rung) -> None:
    expected = [attempt(lambda t: str(URIReference(t).normalize(rung)), t) for t in TEXTS]
    assert to_rows(columns.normalize(LAYOUTS[layout], rung)) == expected


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("base", sorted({row["base"] for row in cases("resolve")})[::7])
@pytest.mark.parametrize("strict", [True, False])
def test_resolve(layout: str, base: str, strict: bool) -> None:
    expected = [attempt(lambda t: str(URI(base).join(t, strict)), t) for t in TEXTS]
    assert to_rows(columns.resolve(LAYOUTS[layout], base, strict=strict)) == expected


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("base", sorted({row["base"] for row in cases("resolve")})[::7])
def test_relate(layout: str, base: str) -> None:
    def answer(text: str) -> str | None:
        try:
            return str(URI(base).relate(text))
        except Unreachable:
            return None

    expected = [attempt(answer, t) for t in TEXTS]
    assert to_rows(columns.relate(LAYOUTS[layout], base)) == expected
    forms = [t if relation is not None else None for t, relation in zip(TEXTS, expected, strict=True)]
    assert to_rows(columns.resolve(pa.array(expected, pa.string()), base)) == forms


def test_unreachable_targets_are_errors() -> None:
    rows = pa.array(["http://é/../b", "http://a/b/g", "a", None, "http://a/"])
    bases = pa.array(["http://é/", "http://a/b/c", "http://a/", "http://a/", "a b"])
    iris, uris = (to_rows(columns.relate(rows, bases, iri=iri, errors="detail")) for iri in (True, False))
    assert [row and tuple(row.values()) for row in iris] == [
        (None, "unreachable", 8), ("g", None, None), (None, "scheme-missing", 0), None, (None, "base", 0),
    ]  # fmt: skip
    assert (uris[0]["error"], uris[0]["error_at"]) == ("base", 7)
    with pytest.raises(columns.ColumnError, match="row 0: unreachable at 8"):
        columns.relate(pa.array(["http://a/./b"]), "http://a/", errors="raise")


BASES: list[str | None] = ["http://a/b/c/d;p?q", "mailto:x", None, "no base", "", "http://h", "http://h/ü", "s://a|b/"]


@pytest.mark.parametrize("layout", LAYOUTS)
def test_resolve_against_a_column(layout: str) -> None:
    bases = [base for base in BASES for _ in range(3)] * (len(TEXTS) // 24 + 1)
    bases = bases[: len(TEXTS)]
    expected: list[tuple[Any, ...] | None] = []
    for text, base in zip(TEXTS, bases, strict=True):
        if text is None:
            expected.append(None)
        elif base is None:
            expected.append((None, None, None))
        elif bad := check_value(base, limit=1):
            expected.append((None, "base", bad[0].start))
        else:
            target = attempt(lambda t, b=base: str(URI(b).join(t)), text)  # type: ignore[misc]
            expected.append((target, *reason(text, "URI-reference")))
    for kind, column in layouts(bases).items():
        results = to_rows(columns.resolve(LAYOUTS[layout], column, errors="detail"))
        assert [row and (row["value"], row["error"], row["error_at"]) for row in results] == expected, kind


class Stream:
    """Chunks of unknown length that can be read once."""

    def __init__(self, chunks: list[Any]) -> None:
        self.chunks = pa.chunked_array(chunks)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.chunks.__arrow_c_stream__(requested_schema)


def test_bases_must_match_rows() -> None:
    rows, bases = pa.array(["a", "b"]), pa.array(["a:", "b:", "c:"])
    with pytest.raises(ValueError, match="3 bases for 2 rows"):
        columns.resolve(rows, bases)
    with pytest.raises((TypeError, ValueError), match="bases"):
        pa.chunked_array(columns.resolve(Stream([rows, rows]), bases))
    streamed = columns.resolve(Stream([rows, rows.slice(1)]), Stream([bases.slice(1), bases.slice(2)]))
    assert to_rows(streamed) == ["b:a", "c:b", "c:b"]


@pytest.mark.parametrize("compare", [columns.equivalent, columns.lowest_rung])
def test_comparing_columns_of_unequal_length_is_an_error(compare: Callable[..., Any]) -> None:
    """The error is ours, not pyarrow's."""
    for a, b in ((["x", "y"], ["x"]), ([], ["x"])):
        with pytest.raises(ValueError, match="rows to compare with") as raised:
            compare(pa.array(a, pa.string()), pa.array(b, pa.string()))
        assert raised.type is ValueError


def test_a_stream_gives_the_rows_of_the_column() -> None:
    """A stream of unknown length gives a stream."""
    half = len(TEXTS) // 2
    for work in (columns.check, columns.normalize, columns.split, columns.parse, columns.host, columns.encode):
        results = work(Stream([pa.array(TEXTS[:half]), pa.array(TEXTS[half:])]))
        assert to_rows(results) == to_rows(work(pa.array(TEXTS)))
    with pytest.raises(columns.ColumnError, match="row 1: space at 1"):
        columns.normalize(Stream([pa.array(["a"]), pa.array(["a b"])]), errors="raise")
    with pytest.raises((TypeError, ValueError), match="text"):
        columns.check(Stream([pa.array([1])]))


MEMORY = """
import sys
import pyarrow as pa
from overthere import columns
from support import most_memory
from test_columns import Stream
chunk = pa.array(["é" * 40] * 50_000)
before = most_memory()
found = pa.chunked_array(columns.check(columns.encode(Stream([chunk] * 60)), "URI-reference"))
assert len(found) == 3_000_000 and found[0].as_py()
print((most_memory() - before) // 1024)
"""


@pytest.mark.skipif(kernel.name != "native", reason="the reference kernel holds a stream whole")
def test_streams_use_limited_memory() -> None:
    """The encoded text, 720 MB in total, is never in memory at once."""
    run = subprocess.run(
        [sys.executable, "-c", MEMORY],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert int(run.stdout) < 150


@pytest.mark.parametrize("layout", LAYOUTS)
def test_encode_decode_host(layout: str) -> None:
    column = LAYOUTS[layout]
    assert to_rows(columns.encode(column, "query", keep="")) == [
        attempt(lambda t: encode(t, "query", keep=""), t) for t in TEXTS
    ]
    assert to_rows(columns.decode(column)) == [attempt(decode, t) for t in TEXTS]
    hosts = [row and row["host"] for row in to_rows(columns.split(column))]
    assert to_rows(columns.host(column)) == hosts


@pytest.mark.parametrize(
    "work", [columns.normalize, lambda c, **k: columns.resolve(c, "http://a/b", **k), columns.decode]
)
def test_errors(work: Callable[..., Any]) -> None:
    rows = [t for t in TEXTS if t is not None]
    plain, detailed = to_rows(work(pa.array(rows))), to_rows(work(pa.array(rows), errors="detail"))
    assert [row["value"] for row in detailed] == plain
    assert all((row["error"] is None) == (row["value"] is not None) == (row["error_at"] is None) for row in detailed)
    if work is not columns.decode:
        errors = [(row["error"], row["error_at"]) for row in detailed]
        assert errors == [reason(t, "URI-reference") for t in rows]
    first = next(i for i, row in enumerate(detailed) if row["error"])
    with pytest.raises(columns.ColumnError) as caught:
        work(pa.array(rows), errors="raise")
    assert (caught.value.row, caught.value.kind) == (first, detailed[first]["error"])
    good = [t for t, row in zip(rows, detailed, strict=True) if row["error"] is None]
    assert None not in to_rows(work(pa.array(good), errors="raise"))


@pytest.mark.parametrize("layout", LAYOUTS)
def test_views_can_be_turned_off(layout: str) -> None:
    column = LAYOUTS[layout]
    for work in (columns.normalize, columns.decode, columns.encode, columns.host, columns.split, columns.parse):
        results = to_rows(work(column, views=False))
        assert results == to_rows(work(column))
    hosts = columns.host(column, views=False)
    assert (pa.array(hosts) if hasattr(hosts, "__arrow_c_array__") else pa.chunked_array(hosts)).type == pa.string()
    two = columns.split(column, ["path"], views=False)
    kind = (pa.array(two) if hasattr(two, "__arrow_c_array__") else pa.chunked_array(two)).type
    assert kind.field("path").type == pa.string()


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_null_row_has_no_detail(layout: str) -> None:
    for work in (columns.normalize, columns.decode, lambda c, **k: columns.resolve(c, "http://a/b", **k)):
        results = to_rows(work(LAYOUTS[layout], errors="detail"))
        assert [row is None for row in results] == [text is None for text in TEXTS]


def test_invalid_utf_8_has_its_offset() -> None:
    rows = ["%41%FF", "é%41x%C3", "%zz", "ok"]
    results = to_rows(columns.decode(pa.array(rows), errors="detail"))
    assert [(r["error"], r["error_at"]) for r in results] == [
        ("non-ascii", 3),
        ("non-ascii", 5),
        ("pct-encoded", 0),
        (None, None),
    ]


def test_parse_raises_the_error_of_a_row() -> None:
    with pytest.raises(columns.ColumnError, match="row 2: space at 1"):
        columns.parse(pa.array(["a:b", None, "a b"]), rule="URI-reference", errors="raise")


def test_pairs() -> None:
    rows = cases("compare")
    a, b = pa.array([r["a"] for r in rows] + [None, "x:%"]), pa.array([r["b"] for r in rows] + ["x:", "x:%"])
    expected = [None if r["lowest"] == "none" else int(Rung[r["lowest"]]) for r in rows]
    assert to_rows(columns.lowest_rung(a, b)) == [*expected, None, None]
    names = pa.array(["urn:example:a?+x", "urn:example:a?=x"]), pa.array(["URN:EXAMPLE:a?+y#f", "urn:example:b?=x"])
    assert to_rows(columns.equivalent(*names, Rung.SCHEME)) == [True, False]  # RFC 8141 3.1: the name alone is compared
    assert to_rows(columns.equivalent(a, b)) == [*[w is not None and w <= 3 for w in expected], None, None]


def test_pairs_in_chunks() -> None:
    first = pa.chunked_array([["urn:example:a?+x", "http://h"], [None], [], ["x:"]])
    two = pa.chunked_array([["URN:EXAMPLE:a?+y#f"], ["HTTP://h/", "x:", "X:"]])
    assert to_rows(columns.lowest_rung(first, two)) == [4, 4, None, 1]
    assert to_rows(columns.equivalent(first, two, Rung.SCHEME)) == [True, True, None, True]
    none = pa.chunked_array([], pa.string())
    assert to_rows(columns.lowest_rung(none, none)) == to_rows(columns.equivalent(none, none)) == []


@pytest.mark.parametrize("threads", [1, 2, 3, 7])
def test_many_rows_with_threads(threads: int) -> None:
    chance = random.Random(threads)
    rows = [chance.choice(TEXTS) for _ in range(70_001)]
    once = {t: attempt(lambda t: str(URIReference(t).normalize()), t) for t in TEXTS}
    assert to_rows(columns.normalize(pa.array(rows), threads=threads)) == [once[t] for t in rows]
    valid = {t: None if t is None else check_value(t) == [] for t in TEXTS}
    assert to_rows(columns.check(pa.array(rows), threads=threads)) == [valid[t] for t in rows]
    paths = {t: None if t is None else split(t).path for t in TEXTS}
    assert [r and r["path"] for r in to_rows(columns.split(pa.array(rows), ["path"], threads=threads))] == [
        paths[t] for t in rows
    ]


def test_empty_columns() -> None:
    for empty in (pa.array([], pa.string()), pa.chunked_array([], pa.string()), pa.array([None], pa.string())):
        for work in (columns.check, columns.split, columns.parse, columns.normalize, columns.host, columns.decode):
            assert to_rows(work(empty)) == [None] * len(empty)


def test_native_views_refer_to_the_input() -> None:
    """Components and unchanged rows are not copied."""
    column = pa.array(["http://a-long-host.example/a/long/path/that/is/no/inline/view"] * 1000)
    addresses = {b.address for b in column.buffers() if b}
    for result in (columns.normalize(column), pa.array(columns.split(column)).field("path")):
        buffers = pa.array(result).buffers()
        shared = any(b is not None and b.address in addresses for b in buffers)
        assert shared is (kernel.name == "native")


@pytest.mark.parametrize("wrong", [pa.array([1]), pa.array([b"x"]), pa.array([1]).dictionary_encode(), 5, "a:b", None])
def test_invalid_columns_are_rejected(wrong: Any) -> None:
    for work in (columns.check, columns.split, columns.normalize):
        with pytest.raises((TypeError, ValueError)):
            work(wrong)


def test_invalid_arguments_are_rejected() -> None:
    column = pa.array(["a:b"])
    calls: list[Callable[[], object]] = [
        lambda: columns.check(column, "no-rule"),
        lambda: columns.split(column, ["nothing"]),
        lambda: columns.split(column, ["path", "path"]),
        lambda: columns.normalize(column, 9),  # type: ignore[arg-type]
        lambda: columns.normalize(column, errors="ignore"),  # type: ignore[arg-type]
        lambda: columns.parse(column, errors="null"),  # type: ignore[arg-type]
        lambda: columns.resolve(column, "no base"),
        lambda: columns.encode(column, "nothing"),
        lambda: columns.check(column, threads=0),
        lambda: columns.engine().text(column, "nothing", details=False, threads=1, views=False, safe=""),
    ]
    for call in calls:
        with pytest.raises(ValueError, match=r"."):
            call()


def test_a_column_is_split_into_one_component_at_least() -> None:
    with pytest.raises(ValueError, match="must have a name at least"):
        columns.split(pa.array(["http://h/"]), ())
