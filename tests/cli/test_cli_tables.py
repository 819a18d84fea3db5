"""`--column`: tables in and out; rejected input, and its messages."""

from __future__ import annotations

import csv
import gzip
import io
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv as arrow_csv
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner, Result
from pyarrow import ipc

from growth import outgrows
from overthere import URI, CodingError, InvalidURI, Rung, URIReference, check, decode, encode
from overthere.cli.app import app
from overthere.files import tables
from overthere.files.tables import reading
from overthere.kernel.reference import split, split_authority
from servers import NET, is_idle, wait_until
from support import ROOT, cases
from test_cli import process as command

FORMATS = (".parquet", ".csv", ".csv.gz", ".arrow", ".feather", ".arrows")
TEXTS: list[str | None] = [
    "HTTP://h:80/%7e?q#", None, "a b", "", "//joe@h", "é", "x:%zz", 'say "a,b"', "two\nlines", "a:\tb", "*", "%C3%A9",
    "%FF",
    *[row["text"] for row in cases("invalid")],
]  # fmt: skip


def run(*arguments: str | Path, stdin: bytes = b"") -> Result:
    return CliRunner().invoke(app, [str(a) for a in arguments], stdin, prog_name="overthere")


def save(table: Any, path: Path, batch: int = 7) -> Path:
    """Write a table to a file, in several batches."""
    form = tables.suffix(path)
    if form == ".parquet":
        pq.write_table(table, path, row_group_size=batch)
    elif form in (".csv", ".csv.gz"):
        with io.BytesIO() as sink:
            arrow_csv.write_csv(table, sink)
            data = sink.getvalue()
        path.write_bytes(gzip.compress(data) if form == ".csv.gz" else data)
    else:
        with (ipc.new_stream if form == ".arrows" else ipc.new_file)(str(path), table.schema) as pen:
            pen.write_table(table, max_chunksize=batch)
    return path


def load(path: Path) -> Any:
    """Read a file with pyarrow."""
    form = tables.suffix(path)
    if form == ".parquet":
        return pq.read_table(path)
    if form in (".csv", ".csv.gz"):
        data = gzip.decompress(path.read_bytes()) if form == ".csv.gz" else path.read_bytes()
        return read_csv(data)
    with pa.OSFile(str(path)) as file:
        return (ipc.open_stream if form == ".arrows" else ipc.open_file)(file).read_all()


def read_csv(data: bytes) -> Any:
    # One thread and no Python file: with several, pyarrow 26 once returned 14 of 16 blocks, and once crashed.
    read = arrow_csv.ReadOptions(use_threads=False)
    parse = arrow_csv.ParseOptions(newlines_in_values=True)
    convert = arrow_csv.ConvertOptions(
        strings_can_be_null=True, quoted_strings_can_be_null=False, null_values=[""], true_values=["true"]
    )
    return arrow_csv.read_csv(pa.BufferReader(data), read, parse, convert)


@pytest.fixture(scope="module")
def table() -> Any:
    return pa.table({"id": [f"n{i}" for i in range(len(TEXTS))], "url": pa.array(TEXTS, pa.string())})


@pytest.fixture
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "_MAX_BATCH_ROWS", 5)
    monkeypatch.setattr(reading, "_BLOCK_BYTES", 300)


# -- The column law: contents of the new columns


def reason(text: str, rule: str) -> tuple[str | None, int | None]:
    findings = check(text, rule=rule, limit=1)
    return (findings[0].kind, findings[0].start) if findings else (None, None)


def row(text: str | None, work: Callable[[str], str], rule: str = "URI-reference") -> tuple[Any, Any, Any]:
    if text is None:
        return None, None, None
    kind, at = reason(text, rule)
    return (work(text), None, None) if kind is None else (None, kind, at)


def decoded(text: str | None) -> tuple[Any, Any, Any]:
    places = {"x:%zz": ("pct-encoded", 2), "%FF": ("non-ascii", 0)}
    try:
        return None if text is None else decode(text), None, None
    except CodingError:
        return None, *places.get(str(text), (..., ...))


def parts(text: str | None, strict: bool) -> dict[str, str | None]:
    if text is None or (strict and reason(text, "URI")[0]):
        return dict.fromkeys(("scheme", "host", "port", "path", "query", "fragment"))
    components = split(text)
    _, host, port = (None,) * 3 if components.authority is None else split_authority(components.authority)
    return {"scheme": components.scheme, "host": host, "port": port, "path": components.path} | {
        "query": components.query,
        "fragment": components.fragment,
    }


def normal(rung: Rung) -> Callable[[str], str]:
    return lambda text: str(URIReference(text).normalize(rung))


def target(base: str, strict: bool = True) -> Callable[[str], str]:
    return lambda text: str(URIReference(text).resolve(base, strict))


def shortest(text: str) -> str:
    return str(URI("http://a/b/c").relate(text))


LAW: list[tuple[list[str], str, Callable[[str | None], tuple[Any, ...]]]] = [
    (["normalize"], "normal error error_at", lambda t: row(t, normal(Rung.SYNTAX))),
    (["normalize", "--rung", "scheme"], "normal error error_at", lambda t: row(t, normal(Rung.SCHEME))),
    (["resolve", "--base", "http://a/b/c"], "target error error_at", lambda t: row(t, target("http://a/b/c"))),
    (["resolve", "--base", "x:/", "--loose"], "target error error_at", lambda t: row(t, target("x:/", False))),
    (["relate", "--base", "http://a/b/c"], "reference error error_at", lambda t: row(t, shortest, "URI")),
    (["encode"], "encoded", lambda t: (t and encode(t),)),
    (["encode", "--component", "query", "--keep", "="], "encoded", lambda t: (t and encode(t, "query", keep="="),)),
    (["decode"], "decoded error error_at", decoded),
    (["check"], "valid error error_at", lambda t: valid(t, "URI")),
    (["check", "--reference"], "valid error error_at", lambda t: valid(t, "URI-reference")),
    (["check", "--rule", "URI"], "valid error error_at", lambda t: valid(t, "URI")),
    (["split"], "scheme host port path query fragment", lambda t: tuple(parts(t, False).values())),
    (["split", "--component", "path", "--component", "host"], "path host",
     lambda t: (parts(t, False)["path"], parts(t, False)["host"])),
    (["split", "--strict"], "scheme host port path query fragment error error_at",
     lambda t: (*parts(t, True).values(), *(reason(t, "URI") if t is not None else (None, None)))),
]  # fmt: skip


def valid(text: str | None, rule: str) -> tuple[bool | None, str | None, int | None]:
    if text is None:
        return None, None, None
    kind, at = reason(text, rule)
    return kind is None, kind, at


KINDS: dict[str, Callable[[Any], Any]] = {
    "string": lambda c: c,
    "large_string": lambda c: c.cast(pa.large_string()),
    "string_view": lambda c: c.cast(pa.string_view()),
    "dictionary": lambda c: c.dictionary_encode(),
    "dictionary of large_string": lambda c: c.cast(pa.large_string()).dictionary_encode(),
}


@pytest.mark.usefixtures("small_batches")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("arguments", "new", "law"), LAW, ids=[" ".join(a) for a, _, _ in LAW])
def test_new_columns_have_the_results_of_values(
    arguments: list[str], new: str, law: Callable[[str | None], tuple[Any, ...]], kind: str, table: Any, tmp_path: Path
) -> None:
    typed = table.set_column(1, "url", KINDS[kind](table["url"]))
    result = run(*arguments, "--column", "url", save(typed, tmp_path / "in.arrows"), "-o", tmp_path / "out.arrows")
    assert result.exit_code == ("error" in new), result.stderr
    result_table = load(tmp_path / "out.arrows")
    assert result_table.column_names == ["id", "url", *[f"url_{name}" for name in new.split()]]
    assert result_table.select([0, 1]).to_pydict() == table.to_pydict()
    columns = list(zip(*[result_table[f"url_{name}"].to_pylist() for name in new.split()], strict=True))
    for text, actual, expected in zip(TEXTS, columns, map(law, TEXTS), strict=True):
        if ... in expected:  # the offset is tested elsewhere
            assert actual[0] is None
            assert None not in actual[1:]
        else:
            assert actual == expected, text
    if "error" in new:
        assert pa.types.is_dictionary(result_table["url_error"].type)


def test_bases_of_each_row(tmp_path: Path) -> None:
    rows = [
        ("g", "http://a/b/c", "http://a/b/g", None),
        ("a b", "http://a", None, "space"),
        ("g", "no base", None, "base"),
    ]
    rows += [("g", None, None, None), (None, "http://a/", None, None)]  # type: ignore[list-item]
    links = pa.table({"page": [r[1] for r in rows], "href": [r[0] for r in rows]})
    arguments = ("resolve", "--column", "href", "--base-column", "page", "-o", tmp_path / "out.arrow")
    for form in (".parquet", ".csv"):
        result = run(*arguments, save(links, tmp_path / f"in{form}"))
        assert result.exit_code == 1
        assert "1 valid, 2 null, 2 invalid" in result.stderr
        result_table = load(tmp_path / "out.arrow")
        assert result_table["href_target"].to_pylist() == [r[2] for r in rows]
        assert result_table["href_error"].to_pylist() == [r[3] for r in rows]


# -- Files


@pytest.mark.usefixtures("small_batches")
@pytest.mark.parametrize("into", FORMATS)
@pytest.mark.parametrize("start", FORMATS)
def test_file_formats(start: str, into: str, table: Any, tmp_path: Path) -> None:
    source, output = save(table, tmp_path / f"in{start}"), tmp_path / f"out{into.upper()}"
    result = run("normalize", "--column", "url", source, "-o", output)
    assert result.exit_code == 1, result.stderr
    assert result.stdout == ""
    result_table = load(output)
    assert result_table.select([0, 1]).to_pydict() == table.to_pydict()
    expected = [row(t, normal(Rung.SYNTAX)) for t in TEXTS]
    assert list(zip(*[result_table[i].to_pylist() for i in (2, 3, 4)], strict=True)) == expected
    bad = sum(w[1] is not None for w in expected)
    first, second, *kinds = result.stderr.splitlines()
    assert first.startswith(f"{len(TEXTS)} rows, ")
    assert second == f"{len(TEXTS) - 1 - bad} valid, 1 null, {bad} invalid"
    counts = [int(line.split()[1].rstrip(",")) for line in kinds]
    assert counts == sorted(counts, reverse=True)
    assert sum(counts) == bad
    firsts = {line.split()[0]: int(line.split()[-1]) for line in kinds}
    assert firsts == {kind: [w[1] for w in expected].index(kind) + 1 for kind in {w[1] for w in expected} - {None}}


@pytest.mark.parametrize("form", FORMATS)
def test_tables_without_rows(form: str, tmp_path: Path) -> None:
    empty = pa.table({"url": pa.array([], pa.string())})
    for source in (save(empty, tmp_path / f"in{form}"), *no_groups(empty.schema, tmp_path / "groups.parquet")):
        result = run("check", "--column", "url", source, "-o", tmp_path / f"out{form}")
        assert result.exit_code == 0, result.stderr
        assert "0 rows" in result.stderr
        found = load(tmp_path / f"out{form}")
        assert (found.num_rows, found.column_names) == (0, ["url", "url_valid", "url_error", "url_error_at"])


def no_groups(schema: Any, path: Path) -> Iterator[Path]:
    with pq.ParquetWriter(path, schema):
        pass
    yield path


def test_other_columns_are_unchanged(tmp_path: Path) -> None:
    """Columns of every type and name, with the metadata of the schema."""
    nested = pa.array([[{"a": 1}], None, []])
    words = pa.array(["x", "y", "x"]).dictionary_encode()
    twice = [pa.array([1, 2, 3]), pa.array([b"\0", None, b"\xff"])]
    names = ["n", "w", "[red] x", "[red] x", "url "]
    schema = pa.schema([], {"k": "v"})
    for name, kind in zip(names, [nested, words, *twice, pa.array(["a:b"] * 3)], strict=True):
        schema = schema.append(pa.field(name, kind.type, metadata={"f": name}))
    original = pa.Table.from_arrays([nested, words, *twice, pa.array(["a:b"] * 3)], schema=schema)
    for form in (".parquet", ".arrow", ".arrows"):
        output = tmp_path / f"out{form}"
        assert run("check", "--column", "url ", save(original, tmp_path / f"in{form}", 2), "-o", output).exit_code == 0
        if form == ".parquet":
            parquet = pq.ParquetFile(output)
            result_table = pa.Table.from_batches(parquet.iter_batches(), parquet.schema_arrow)
        else:
            result_table = load(output)
        assert result_table.column_names == [*names, "url _valid", "url _error", "url _error_at"]
        assert [c.to_pylist() for c in result_table.columns[:5]] == [c.to_pylist() for c in original.columns]
        assert result_table.schema.metadata[b"k"] == b"v"
        assert result_table.schema.field(0).type == nested.type
        # An Arrow file has one dictionary per column, which is only known after all rows.
        assert result_table.schema.field(1).type == (pa.string() if form == ".arrow" else words.type)
        assert result_table.schema.field("url _error").type.value_type == pa.string()


def with_shared_dictionary(file: Path, count: int, last_key: int = 0, last_text: bytes = b"http:") -> None:
    """Write batches of one row that share a dictionary; the last row and the last value may be invalid."""
    values = pa.array([b"http:"] * (30 * count - 1) + [last_text], pa.binary()).view(pa.string())
    keys = [0] * (count - 1) + [last_key]
    columns = [pa.DictionaryArray.from_arrays(pa.array([key]), values, safe=False) for key in keys]
    with ipc.new_file(str(file), pa.schema([("url", columns[0].type)])) as writer:
        for column in columns:
            writer.write_batch(pa.record_batch([column], ["url"]))


def test_batches_that_share_a_dictionary_are_linear(tmp_path: Path) -> None:
    def make(count: int) -> str:
        with_shared_dictionary(tmp_path / f"{count}.arrow", count)
        return str(tmp_path / f"{count}.arrow")

    def read(name: str) -> None:
        with reading.open_source(name) as source:
            assert sum(batch.num_rows for batch, _ in source.batches) > 0

    assert outgrows(read, make, (250, 1000, 4000), floor=0.05, ratio=12) is None


@pytest.mark.parametrize("wrong", [{"last_key": 90}, {"last_key": -1}, {"last_text": b"\xff"}])
def test_an_invalid_dictionary_is_rejected(tmp_path: Path, wrong: dict[str, Any]) -> None:
    with_shared_dictionary(tmp_path / "in.arrow", 3, **wrong)
    result = run("check", "--column", "url", tmp_path / "in.arrow")
    assert result.exit_code == 2
    assert "in.arrow: " in result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize("form", [".parquet", ".arrow", ".arrows"])
def test_changing_dictionaries(form: str, tmp_path: Path) -> None:
    """Each batch has its own dictionary, and may have its own kinds of errors."""
    batches = [
        pa.record_batch({"url": pa.array(texts).dictionary_encode()})
        for texts in (["a:b", "a:%"], [None, "a b", "c:d"])
    ]
    with ipc.new_stream(tmp_path / "in.arrows", batches[0].schema) as pen:
        for batch in batches:
            pen.write_batch(batch)
    assert run("check", "--column", "url", tmp_path / "in.arrows", "-o", tmp_path / f"out{form}").exit_code == 1
    result_table = load(tmp_path / f"out{form}")
    assert result_table["url"].to_pylist() == ["a:b", "a:%", None, "a b", "c:d"]
    assert result_table["url_valid"].to_pylist() == [True, False, None, False, True]
    assert result_table["url_error"].to_pylist() == [None, "pct-encoded", None, "scheme-missing", None]


def test_several_files(table: Any, tmp_path: Path) -> None:
    names = [save(table, tmp_path / f"in{form}") for form in FORMATS]
    result = run("split", "--column", "url", *names, "-o", tmp_path / "out.parquet")
    assert result.exit_code == 0, result.stderr
    assert load(tmp_path / "out.parquet")["id"].to_pylist() == table["id"].to_pylist() * len(FORMATS)
    save(pa.table({"url": ["a b"], "id": ["x"]}), tmp_path / "other.csv")
    result = run("split", "--column", "url", names[0], tmp_path / "other.csv")
    assert result.exit_code == 2
    assert 'other.csv: column "url" (string) instead of' in result.stderr
    save(table.select([0]), tmp_path / "fewer.csv")
    assert "1 columns, where" in run("split", "--column", "id", names[0], tmp_path / "fewer.csv").stderr


def test_sliced_views_are_compacted(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A slice of a view column refers to the text of all rows, which would be written again and again."""
    monkeypatch.setattr(reading, "_MAX_BATCH_ROWS", 100)
    views = pa.table({"url": pa.array([f"http://a.example/{i:020}" for i in range(10_000)], pa.string_view())})
    save(views, tmp_path / "in.arrows", 10_000)
    run("encode", "--column", "url", tmp_path / "in.arrows", "-o", tmp_path / "out.arrows")
    assert load(tmp_path / "out.arrows")["url"].to_pylist() == views["url"].to_pylist()
    assert (tmp_path / "out.arrows").stat().st_size < 5 * (tmp_path / "in.arrows").stat().st_size


# -- CSV in detail

CSV: list[tuple[bytes, list[str | None]]] = [
    (b"url\n", []),
    (b"url", []),
    (b"\xef\xbb\xbfurl\na", ["a"]),
    (b'url\r\na\r\n\r\n""\r\nNULL\r\n', ["a", None, "", "NULL"]),
    (b'url\n"a\n""b"",\r\nc"\n', ['a\n"b",\r\nc']),
    (b'url\na"b"\n"a"b\n', ['a"b"', "ab"]),
    (b"url\n 007 \ntrue\n1e5\n2020-01-01\n", [" 007 ", "true", "1e5", "2020-01-01"]),
    (b"url\na\0b\n\0\n", ["a\0b", "\0"]),
    (b"url\na\rb\n", ["a", "b"]),
]


@pytest.mark.parametrize(("data", "expected"), CSV, ids=[repr(d) for d, _ in CSV])
def test_csv(data: bytes, expected: list[str | None], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_bytes(data)
    for block in (16, 1 << 20):
        monkeypatch.setattr(reading, "_BLOCK_BYTES", block)
        for source, stdin in ((tmp_path / "in.csv", b""), ("-", data)):
            result = run("encode", "--column", "url", source, "-o", tmp_path / "out.parquet", stdin=stdin)
            assert result.exit_code == 0, result.stderr
            assert load(tmp_path / "out.parquet")["url"].to_pylist() == expected


def test_csv_of_several_columns() -> None:
    result = run("check", "--column", "b", stdin=b'a,"b","c,\n"\n\n,a:b,\n"","",x\n\n')
    assert (
        result.stdout
        == '"a","b","c,\n","b_valid","b_error","b_error_at"\n,"a:b",,true,,\n"","","x",false,"scheme-missing",0\n'
    )
    assert result.stderr.endswith("1 valid, 0 null, 1 invalid\n  scheme-missing  1, first in row 2\n")


def test_blocks_of_csv_end_at_rows() -> None:
    for block, end in [
        (b"", 0),
        (b"a,b", 0),
        (b"a\nb", 2),
        (b'"a\nb', 0),
        (b'a,"\n"\n,"\n', 6),
        (b'a"\n"b\n"', 3),
        (b'"a""\n"\nb', 7),
    ]:
        assert reading._find_last_row_end(block) == end, block


def test_standard_input(table: Any, tmp_path: Path) -> None:
    for form in (".csv", ".arrows"):
        data = save(table, tmp_path / f"in{form}").read_bytes()
        result = run("split", "--column", "url", "-", "-o", tmp_path / "out.parquet", stdin=data)
        assert result.exit_code == 0, result.stderr
        assert load(tmp_path / "out.parquet").select([0, 1]).to_pydict() == table.to_pydict()
    for form in (".parquet", ".arrow"):
        result = run("split", "--column", "url", stdin=save(table, tmp_path / f"in{form}").read_bytes())
        assert (result.exit_code, result.stderr) == (2, f"Error: standard input: {PIPE}\n")
    true = command("split", "--column", "url", "-", stdin=(tmp_path / "in.csv").read_bytes())
    assert true.returncode == 0
    assert read_csv(true.stdout.encode())["id"].to_pylist() == table["id"].to_pylist()


PIPE = "Parquet and Arrow files cannot be read from a pipe: name the file"


# -- Rejections: arguments after `check --column url`, and messages


def make(folder: Path) -> None:
    save(pa.table({"id": [1], "url": ["a:b"], "l": [[1]], "n": pa.array([5])}), folder / "in.parquet")
    save(pa.table({"url": ["a:b"], "url_error": ["x"]}), folder / "taken.parquet")
    pq.write_table(pa.Table.from_arrays([pa.array(["a:b"])] * 2, ["url", "url"]), folder / "twice.parquet")
    content = (folder / "in.parquet").read_bytes()
    (folder / "cut.parquet").write_bytes(content[:-20])
    (folder / "text.parquet").write_text("url\na:b\n" * 9)
    (folder / "text.arrow").write_text("url\na:b\n" * 9)
    (folder / "text.arrows").write_text("url\na:b\n" * 9)
    (folder / "text.csv.gz").write_text("url\na:b\n" * 9)
    (folder / "cut.csv.gz").write_bytes(gzip.compress(b"url\na:b\n" * 9)[:-12])
    (folder / "empty.csv").touch()
    (folder / "ragged.csv").write_text("url,b\na:b,1\na:b\n")
    (folder / "octets.csv").write_bytes(b"b,url\nx,y\nx,\xff\n")
    (folder / "header.csv").write_bytes(b"url,\xff\nx,y\n")
    (folder / "long.csv").write_bytes(b"url\n" + b"a" * (17 << 20))
    (folder / "title.csv").write_bytes(b"a" * (2 << 20))
    (folder / "quote.csv").write_bytes(b'u"rl\n"a"b\nx')
    (folder / "markup.csv").write_text("[red]\x1b,url_valid\nx,y\n")
    (folder / "folder.csv").mkdir()
    (folder / "plain.txt").touch()
    (folder / "link.parquet").symlink_to("in.parquet")
    for form in FORMATS:
        (folder / f"full{form}").symlink_to("/dev/full")
    bad = pa.Array.from_buffers(pa.string(), 1, [None, pa.py_buffer(b"\0\0\0\0\1\0\0\0"), pa.py_buffer(b"\xff")])
    save(pa.table({"url": bad}), folder / "octets.parquet")
    with ipc.new_file(str(folder / "offsets.arrow"), pa.schema([("url", pa.string())])) as pen:
        pen.write_batch(pa.record_batch([pa.array(["z" * 8])], ["url"]))
    data = (folder / "offsets.arrow").read_bytes()
    place = data.rindex(b"\0\0\0\0\x08\0\0\0", 0, data.index(b"z" * 8))
    (folder / "offsets.arrow").write_bytes(data[: place + 4] + b"\xff\xff\xff\x00" + data[place + 8 :])


ENDS = "the name of a table must end in .parquet, .csv, .csv.gz, .arrow, .feather, .arrows"
REFUSED: list[tuple[str, str]] = [
    ("none.parquet", "none.parquet: No such file or directory"),
    ("none.csv", "none.csv: No such file or directory"),
    ("folder.csv", "folder.csv: "),
    ("plain.txt", f"plain.txt: {ENDS}"),
    ("in.parquet none.parquet", "none.parquet: No such file or directory"),
    ("cut.parquet", "cut.parquet: Parquet magic bytes not found in footer"),
    ("text.parquet", "text.parquet: Parquet magic bytes not found"),
    ("text.arrow", "text.arrow: Not an Arrow file"),
    ("text.arrows", "text.arrows: not an Arrow stream"),
    ("text.csv.gz", "text.csv.gz: "),
    ("cut.csv.gz", "cut.csv.gz: "),
    ("empty.csv", "empty.csv: the file is empty, so the header is missing"),
    ("ragged.csv", "ragged.csv: row 2 has 1 fields, the header 2"),
    ("octets.csv", 'octets.csv: row 2, column "url": not UTF-8'),
    ("header.csv", "header.csv: the header is not UTF-8"),
    ("long.csv", "long.csv: a row is longer than 8 MiB, or a quote is not closed"),
    ("title.csv", "title.csv: the header is longer than 1 MiB"),
    ("quote.csv", 'quote.csv: no column "url"; the columns are: u"rl'),
    ("markup.csv", 'markup.csv: no column "url"; the columns are: [red]\ufffd, url_valid'),
    ("octets.parquet -o x.csv", "octets.parquet: "),
    ("offsets.arrow", "offsets.arrow: "),
    ("taken.parquet -o x.csv", 'taken.parquet: the column "url_error" exists already'),
    ("twice.parquet", 'twice.parquet: 2 columns are called "url"'),
    ("--column nothing in.parquet", 'in.parquet: no column "nothing"; the columns are: id, url, l, n'),
    ("--column id in.parquet", 'in.parquet: column "id" holds int64, not text'),
    ("in.parquet -o x.xls", f"x.xls: {ENDS}"),
    ("in.parquet -o x", f"x: {ENDS}"),
    ("in.parquet -o none/x.csv", "none/x.csv: No such file or directory"),
    ("in.parquet -o in.parquet", "in.parquet would be overwritten while being read: name another file with -o"),
    ("in.parquet -o link.parquet", "in.parquet would be overwritten while being read"),
    ("in.parquet -o x.csv", 'x.csv: column "l" holds list<element: int64>, which a .csv file cannot'),
    ("in.parquet", 'standard output: column "l" holds list<element: int64>, which a .csv file cannot'),
    ("in.parquet -o full.parquet", "full.parquet: No space left on device"),
    ("in.parquet -o full.arrow", "full.arrow: No space left on device"),
    ("in.parquet -o full.feather", "full.feather: No space left on device"),
    ("in.parquet -o full.arrows", "full.arrows: No space left on device"),
    ("good.csv -o full.csv", "full.csv: No space left on device"),
    ("good.csv -o full.csv.gz", "full.csv.gz: No space left on device"),
]


@pytest.mark.parametrize(("arguments", "message"), REFUSED, ids=[a for a, _ in REFUSED])
def test_rejected_tables(arguments: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    if "full." in arguments and not Path("/dev/full").exists():
        pytest.skip("there is no /dev/full")
    make(tmp_path)
    (tmp_path / "good.csv").write_text("url\na:b\n")
    before = (tmp_path / "in.parquet").read_bytes()
    result = run("check", "--column", "url", *arguments.split())
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith(f"Error: {message}"), result.stderr
    assert result.stderr.count("\n") == 1
    assert isinstance(result.exception, SystemExit)
    # Errors before the first row leave files unchanged.
    assert (tmp_path / "in.parquet").read_bytes() == before
    assert not [p for p in ("x.csv", "x", "x.xls") if Path(p).exists()]


USAGE: list[tuple[list[str], str]] = [
    (["check", "-o", "x.csv", "a:b"], "-o needs --column"),
    (["check", "--column", "url", "--format", "jsonl", "x.csv"], "--format applies to texts"),
    (["check", "--column", "url", "--rule", "IRI", "x.csv"], "the rule must be URI or URI-reference"),
    (["normalize", "--column", "url", "--changes", "x.csv"], "--changes applies to texts"),
    (["decode", "--column", "url", "--charset", "latin-1", "x.csv"], "--charset applies to texts"),
    (["resolve", "--column", "url", "x.csv"], "--base is missing"),
    (["resolve", "--column", "url", "--base", "x", "x.csv"], "--base is not a valid URI"),
    (
        ["resolve", "--column", "url", "--base", "x:", "--base-column", "b", "x.csv"],
        "give either --base or --base-column",
    ),
    (["resolve", "--base-column", "b", "x"], "--base-column needs --column"),
    (["split", "--reference", "x"], "--reference needs --strict"),
    (["split", "--component", "word", "x"], "'word' is not one of"),
    (["encode", "--column", "url", "--component", "nothing", "x.csv"], "cannot hold data"),
    (["check", "--column", "url", "-", "x.csv"], "cannot be combined with others"),
]


@pytest.mark.parametrize(("arguments", "message"), USAGE, ids=[" ".join(a) for a, _ in USAGE])
def test_wrong_usage(arguments: list[str], message: str) -> None:
    result = run(*arguments)
    assert result.exit_code == 2
    assert message in result.stderr


def test_names_that_look_like_options(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    save(pa.table({"-x": ["a:b"]}), Path("-[bold].csv"))
    assert run("check", "--column", "-x", "-o", "-o.csv", "--", "-[bold].csv").exit_code == 0
    assert load(Path("-o.csv"))["-x_valid"].to_pylist() == [True]


def test_without_pyarrow(tmp_path: Path) -> None:
    code = "import sys; sys.modules['pyarrow'] = None; from overthere.cli import main; main()"
    (tmp_path / "in.csv").write_text("url\na:b\n")
    done = subprocess.run(
        [sys.executable, "-c", code, "check", "--column", "url", str(tmp_path / "in.csv")],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        check=False,
    )
    assert (done.returncode, done.stderr) == (2, "Error: pyarrow is not installed: pip install 'overthere[columns]'\n")


# -- Long runs


def test_rows_before_an_error_are_kept(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(reading, "_BLOCK_BYTES", 100)
    (tmp_path / "in.csv").write_text("url\n" + "a:b\n" * 50 + "a b\n" + "a:b\n" * 49 + "a,b\n")
    for form in FORMATS:
        output = tmp_path / f"out{form}"
        result = run("check", "--column", "url", tmp_path / "in.csv", "-o", output)
        count = load(output).num_rows
        assert result.exit_code == 2
        error, first, *_ = result.stderr.splitlines()
        assert (
            error
            == f"Error: {tmp_path}/in.csv: row 101 has 2 fields, the header 1; {output} holds the {count} rows before"
        )
        assert first.startswith(f"{count} rows, ")
        assert 50 < count <= 100
        piped = run("check", "--column", "url", "-o", output, stdin=(tmp_path / "in.csv").read_bytes())
        assert "standard input: row 101 has 2 fields, the header 1; " in piped.stderr


@pytest.mark.parametrize("form", FORMATS)
def test_an_interrupt_leaves_a_complete_table(form: str, tmp_path: Path) -> None:
    """With as many rows as the message says."""
    end, into = os.pipe()
    arguments = ["check", "--column", "url", "-o", str(tmp_path / f"out{form}")]
    with subprocess.Popen(
        [sys.executable, "-m", "overthere", *arguments],
        stdin=end,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
    ) as work, open(into, "wb", buffering=0) as pipe:  # fmt: skip
        os.close(end)
        # Two blocks are read; the command waits for the rest.
        pipe.write(b"url\n" + b"".join(b"a:%0500d\n" % i for i in range(34_000)))
        output = tmp_path / f"out{form}"
        wait_until(lambda: any(tmp_path.iterdir()) and is_idle(work.pid), "it does not come to wait for more rows")
        work.send_signal(signal.SIGINT)
        error = work.communicate(timeout=NET)[1]
    assert work.returncode == 130, error
    count = load(output).num_rows
    assert count > 10_000
    assert error.startswith(f"Stopped; {output} holds the {count:,} rows before\n{count:,} rows, ")


PEAK = """
import resource, sys
from overthere.cli import app
from overthere.files.tables import reading, writers
reading._BATCH_BYTES = reading._BLOCK_BYTES = writers.BYTES = 1 << 20
app.app(sys.argv[1:], standalone_mode=False)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)
"""


def peak_memory(*arguments: object) -> int:
    """Run a command in its own process, with small batches; return its peak memory in MiB."""
    # With a shell in between: a process inherits the peak of its parent.
    result = subprocess.run(
        ["sh", "-c", '"$@"; exit $?', "sh", sys.executable, "-c", PEAK, *map(str, arguments)],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        check=False,
    )
    assert result.returncode == 0, result.stderr
    return int(result.stdout)


@pytest.mark.parametrize("form", [".parquet", ".csv", ".csv.gz", ".arrows"])
def test_memory_is_limited(form: str, tmp_path: Path) -> None:
    """A table of 200 MB takes little more memory than one of 1 MB, even as one row group."""
    peaks = []
    for rows in (100, 20_000):
        texts = pa.table({"url": [f"http://h/{i}/" + "x" * 10_000 for i in range(rows)]})
        path = tmp_path / f"in{rows}{form}"
        if form == ".parquet":
            pq.write_table(texts, path, use_dictionary=False)
        else:
            save(texts, path, 100)
        del texts
        peaks.append(peak_memory("normalize", "--column", "url", path, "-o", tmp_path / "out.parquet"))
    assert peaks[1] - peaks[0] < 150, peaks  # MiB, of 200


def shared_text(kind: str, keys: list[int | None]) -> Any:
    """Return an array of "" (key 1), of one long text (key 2) and of missing values, which stores each text once."""
    texts = pa.array(["not used", "", "http://h/" + "x" * 2_000_000])
    if kind == "views":
        views = texts.cast(pa.string_view())
        _, places, *data = views.buffers()
        chosen = pa.Array.from_buffers(pa.binary(16), 3, [None, places]).take(pa.array(keys[:-1]))
        return pa.Array.from_buffers(pa.string_view(), len(chosen), [None, chosen.buffers()[1], *data])
    stored = texts[1:].cast(pa.large_string() if kind == "large dictionary" else pa.string())
    return pa.DictionaryArray.from_arrays(pa.array([key and key - 1 for key in keys]), stored)


@pytest.mark.parametrize(("column", "target"), [("url", "out.parquet"), ("id", "out.csv"), ("id", "out.jsonl")])
@pytest.mark.parametrize("kind", ["dictionary", "large dictionary", "views"])
def test_shared_text_is_written_out_in_pieces(kind: str, column: str, target: str, tmp_path: Path) -> None:
    """The plain text of 99 rows that share a value of 2 MB takes 200 MB; before them many rows are empty."""
    # The memory for a single row is measured too, because it differs with the allocator and the machine.
    peaks = []
    for count in (1, 99):
        shared = shared_text(kind, [1] * 2000 + [2] * count + [None])
        save(pa.table({"url": shared, "id": ["a"] * len(shared)}), tmp_path / "in.arrow", len(shared))
        assert (tmp_path / "in.arrow").stat().st_size < 3_000_000
        peaks.append(peak_memory("encode", "--column", column, tmp_path / "in.arrow", "-o", tmp_path / target))
    assert peaks[1] - peaks[0] < 200, peaks  # MiB; with the text and what is made of it at once, 390
    if target == "out.parquet":
        lengths = [len(text or "") for text in pq.read_table(tmp_path / target)["url"].to_pylist()]
        assert lengths[:2099] == [0] * 2000 + [2_000_009] * 99
    else:
        assert (tmp_path / target).stat().st_size > 99 * 2_000_009


@pytest.mark.parametrize("width", [60, 120])
def test_progress_is_shown_on_a_terminal(width: int, table: Any, tmp_path: Path) -> None:
    """And removed at the end."""
    import fcntl
    import pty
    import struct
    import termios

    save(pa.concat_tables([table] * 50), tmp_path / "in.parquet", 100)
    controller, other = pty.openpty()
    fcntl.ioctl(other, termios.TIOCSWINSZ, struct.pack("HHHH", 24, width, 0, 0))
    environment = {k: v for k, v in os.environ.items() if k not in ("COLUMNS", "LINES", "NO_COLOR", "TERM")}
    process = subprocess.Popen(
        [sys.executable, "-m", "overthere", "check", "--column", "url", str(tmp_path / "in.parquet")],
        stdout=subprocess.DEVNULL,
        stderr=other,
        env={**environment, "TERM": "xterm", "PYTHONPATH": str(ROOT / "src"), "PYTHONIOENCODING": "utf-8"},
    )
    os.close(other)
    data = b""
    try:
        while piece := os.read(controller, 1 << 16):
            data += piece
    except OSError:  # end of a terminal on Linux
        pass
    os.close(controller)
    assert process.wait(NET) == 1
    text = data.decode()
    rows = f"{50 * len(TEXTS):,}"
    assert f"{rows} rows 100%" in text.replace("\x1b[0m", "").replace("\x1b[35m", "")
    last = text[text.rindex("\x1b[2K") :]
    assert f"{rows} rows, " in last
    assert "100%" not in last
    assert max(map(len, last.splitlines()[-3:])) <= 60


def test_progress_is_shown_on_terminals_only(table: Any, tmp_path: Path) -> None:
    result = command("check", "--column", "url", str(save(table, tmp_path / "in.parquet")))
    assert "\x1b" not in result.stderr
    assert "━" not in result.stderr


# -- split, for texts


def test_split_prints_components() -> None:
    result = run("split", "http://joe:secret@h:80?#f", "a b")
    assert result.exit_code == 0
    texts = ["http://joe:***@h:80?#f", "  scheme     http", "  host       h", "  port       80", '  path       ""']
    texts += ['  query      ""', "  fragment   f", "a b", "  path       a b"]
    assert result.stdout.splitlines() == texts
    assert run("split", "--component", "authority", "x://a@b:1/c").stdout == "a@b:1\n"
    assert run("split", "--format", "jsonl", "--component", "host", "--component", "userinfo", "//u@h").stdout == (
        '{"text": "//u@h", "host": "h", "userinfo": "u"}\n'
    )
    strict = run("split", "--strict", "//h", "x:y", stdin=b"")
    assert (strict.exit_code, strict.stdout) == (1, "x:y\n  scheme     x\n  path       y\n")
    assert "there is no scheme" in strict.stderr
    assert run("split", "--strict", "--reference", "//h").exit_code == 0
    with pytest.raises(InvalidURI):
        URI("//h")


@pytest.mark.parametrize("strict", [(), ("--strict",)])
def test_parts_of_host_names_need_no_component(strict: tuple[str, ...]) -> None:
    pytest.importorskip("publicsuffixlist")
    result = run("split", *strict, "--component", "public_suffix", "--column", "url", stdin=b"url\nhttp://a.co.uk/\n")
    assert (result.exit_code, result.stdout.splitlines()[1].split(",")[:2]) == (0, ['"http://a.co.uk/"', '"co.uk"'])


@pytest.mark.parametrize("form", FORMATS)
def test_a_table_does_not_follow_a_symlink(tmp_path: Path, form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    save(pa.table({"url": ["a:b"]}), tmp_path / "in.parquet")
    for previous in (None, b"precious"):
        if previous is not None:
            (tmp_path / "victim").write_bytes(previous)
        (tmp_path / f"x{form}").unlink(missing_ok=True)
        (tmp_path / f"x{form}").symlink_to("victim")
        result = run("check", "--column", "url", "in.parquet", "-o", f"x{form}")
        assert result.exit_code == 2
        assert "it is a symlink" in result.output
        assert (tmp_path / "victim").exists() == (previous is not None)
    assert (tmp_path / "victim").read_bytes() == b"precious"


def test_an_unfinished_table_does_not_replace_the_old_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bad.csv").write_text("url,b\n" + "a:b,1\n" * 5 + "a:b\n")
    (tmp_path / "x.csv").write_text("before")
    assert run("check", "--column", "url", "bad.csv", "-o", "x.csv").exit_code == 2
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bad.csv", "x.csv"]
    assert (tmp_path / "x.csv").read_text() == "before"


def test_a_table_for_a_spreadsheet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in.csv").write_text('url,=cell\n=1+1,a:b\na:b,"\t=x"\n\'@,-1\n')
    arguments = ("check", "--column", "url", "in.csv", "--csv-safe")
    output = run(*arguments).stdout
    assert run(*arguments, "-o", "x.csv").exit_code == 1
    assert (tmp_path / "x.csv").read_text() == output
    rows = list(csv.reader(io.StringIO(output)))
    assert [row[:2] for row in rows] == [["url", "'=cell"], ["'=1+1", "a:b"], ["a:b", "'\t=x"], ["''@", "'-1"]]
    assert run(*arguments, "-o", "x.parquet").exit_code == 2
    assert run("check", "--csv-safe", "a:b").exit_code == 2


@pytest.mark.parametrize("form", [".jsonl", ".jsonl.gz"])
def test_json_lines_are_written(form: str, table: Any, tmp_path: Path) -> None:
    """One object per row; text of any Arrow type is a string; types without a JSON form are rejected."""
    typed = table.append_column("n", pa.array(range(len(TEXTS)))).append_column(
        "l", table["url"].cast(pa.large_string())
    )
    save(typed.append_column("d", table["id"].dictionary_encode()), tmp_path / "in.parquet")
    output = tmp_path / f"out{form}"
    assert run("check", "--column", "url", tmp_path / "in.parquet", "-o", output).exit_code == 1
    assert run("check", "--column", "url", tmp_path / "in.parquet", "-o", tmp_path / "out.parquet").exit_code == 1
    data = output.read_bytes()
    lines = (gzip.decompress(data) if form.endswith(".gz") else data).decode().split("\n")[:-1]
    assert [json.loads(line) for line in lines] == pq.read_table(tmp_path / "out.parquet").to_pylist()
    save(pa.table({"url": ["a:b"], "x": [1.5]}), tmp_path / "odd.parquet")
    result = run("check", "--column", "url", tmp_path / "odd.parquet", "-o", output)
    assert (result.exit_code, result.stderr) == (
        2,
        f'Error: {output}: column "x" holds double, which a {form} file cannot\n',
    )
    assert output.read_bytes() == data


@pytest.mark.parametrize("suffix", [".csv", ".csv.gz"])
@pytest.mark.parametrize("text", ["a\r\nb", "\ufeff"])
def test_no_character_is_lost_between_blocks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, suffix: str
) -> None:
    monkeypatch.setattr(reading, "_BLOCK_BYTES", 64)
    for length in range(64):
        rows = ["x" * length, *[text] * 30]
        lines = ['"u"', '"' + rows[0] + '"', *(text if text == "\ufeff" else f'"{text}"' for text in rows[1:])]
        data = "\n".join(lines).encode()
        path = tmp_path / f"t{suffix}"
        path.write_bytes(gzip.compress(data) if suffix.endswith(".gz") else data)
        with reading.open_source(str(path)) as source:
            assert [value for batch, _ in source.batches for value in batch.column(0).to_pylist()] == rows


def test_a_byte_order_mark_begins_the_first_row(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("u,v\n\ufeffa,b\n")
    with reading.open_source(str(tmp_path / "t.csv")) as source:
        assert [batch.to_pylist() for batch, _ in source.batches] == [[{"u": "\ufeffa", "v": "b"}]]


def test_a_short_row_that_is_not_utf_8_has_no_traceback(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "t.csv").write_bytes(b"u,v\na,b\n\xff\n")
    with reading.open_source(str(tmp_path / "t.csv")) as source, pytest.raises(ValueError, match="row 2 has 1 fields"):
        list(source.batches)
    assert capfd.readouterr().err == ""
