"""The column engines: a call without arguments for each of their operations, from Arrow to Arrow.

An engine's input is put before it in the form that suits it, before any time is taken.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

import expressions

Calls = dict[str, Callable[[], Any]]
_SIX = ("scheme", "host", "port", "path", "query", "fragment")


@dataclass(frozen=True)
class Inputs:
    """The columns: URLs, references, component texts to decode; and the base of all references."""

    texts: pa.Array
    references: pa.Array
    encoded: pa.Array
    base: str = "http://a/b/c/d;p?q"


def _overthere(data: Inputs, threads: int) -> Calls:
    from overthere import Rung, columns

    def call(operation: str, column: pa.Array, *args: Any, **kwargs: Any) -> Callable[[], Any]:
        work = getattr(columns, operation)
        return lambda: pa.array(work(column, *args, **kwargs, threads=threads))

    return {
        **{o: call(o, data.texts) for o in ("split", "host", "check", "parse", "normalize")},
        "normalize by scheme": call("normalize", data.texts, Rung.SCHEME),
        "resolve": call("resolve", data.references, data.base),
        "encode": call("encode", data.texts, keep=""),  # nothing reserved stays, as with the others
        "decode": call("decode", data.encoded),
    }


_SESSION: Any = None
_NUMBER = itertools.count()


def _chdb(data: Inputs, threads: int, result: str = "ArrowTable") -> Calls:
    global _SESSION
    _SESSION = _SESSION or import_module("chdb.session").Session()  # one process has one
    number = next(_NUMBER)
    table = pa.table({"u": data.texts, "e": data.encoded})  # noqa: F841 - named in the query
    _SESSION.query("CREATE DATABASE IF NOT EXISTS bench")
    _SESSION.query(f"CREATE TABLE bench.t{number} (u String, e String) ENGINE = Memory")
    _SESSION.query(f"INSERT INTO bench.t{number} SELECT u, e FROM Python(table)")

    def ask(expression: str) -> Callable[[], Any]:
        query = f"SELECT {expression} FROM bench.t{number} SETTINGS max_threads = {threads}"
        return lambda: _SESSION.query(query, result)

    six = "protocol(u), domain(u), port(u), path(u), queryString(u), fragment(u)"
    grammar = expressions.URI.replace("\\", "\\\\").replace("'", "\\'")
    return {
        "split": ask(six),
        "host": ask("domain(u)"),
        "check": ask(f"match(u, '{grammar}')"),
        "encode": ask("encodeURLComponent(u)"),
        "decode": ask("decodeURLComponent(e)"),
    }


def _duckdb(data: Inputs, threads: int) -> Calls:
    import duckdb

    connection = duckdb.connect(config={"threads": threads})
    source = pa.table({"u": data.texts, "e": data.encoded})
    connection.register("arrow", pa.Table.from_batches(source.to_batches(max_chunksize=100_000)))
    connection.execute("CREATE TABLE t AS SELECT * FROM arrow")

    def ask(expression: str, *args: Any) -> Callable[[], Any]:
        return lambda: connection.sql(f"SELECT {expression} FROM t", params=list(args)).to_arrow_table()

    six = "regexp_extract(u, $1, ['scheme', 'host', 'port', 'path', 'query', 'fragment'])"
    seven = "regexp_extract(u, $1, ['scheme', 'host', 'port', 'path', 'alone', 'query', 'fragment'])"
    return {
        "split": ask(six, expressions.APPENDIX_B),
        "host": ask("regexp_extract(u, $1, 2)", expressions.APPENDIX_B),
        "check": ask("regexp_matches(u, $1)", expressions.URI),
        "parse": ask(seven, expressions.URI),
        "encode": ask("url_encode(u)"),
        "decode": ask("url_decode(e)"),
    }


def _polars(data: Inputs, threads: int) -> Calls:
    import polars as pl

    assert os.environ.get("POLARS_MAX_THREADS") in (None, str(threads))
    frame = pl.DataFrame({"u": pl.from_arrow(data.texts)}).lazy()

    def ask(expression: pl.Expr) -> Callable[[], Any]:
        query = frame.select(expression)
        return lambda: query.collect(engine="streaming").to_arrow()

    text = pl.col("u").str
    return {
        "split": ask(text.extract_groups(expressions.APPENDIX_B)),
        "host": ask(text.extract(expressions.APPENDIX_B, 2)),
        "check": ask(text.contains(expressions.URI)),
        "parse": ask(text.extract_groups(expressions.URI)),
    }


def _pyarrow(data: Inputs, threads: int) -> Calls:
    pool = ThreadPoolExecutor(threads)
    step = -(-len(data.texts) // threads) or 1
    slices = [data.texts.slice(at, step) for at in range(0, len(data.texts), step)]

    def ask(work: Callable[..., Any], pattern: str) -> Callable[[], Any]:
        return lambda: pa.chunked_array(list(pool.map(partial(work, pattern=pattern), slices)))

    def host(column: pa.Array, pattern: str) -> pa.Array:
        return pc.extract_regex(column, pattern).field("host")

    return {
        "split": ask(pc.extract_regex, expressions.APPENDIX_B),
        "host": ask(host, expressions.HOST),
        "check": ask(pc.match_substring_regex, expressions.URI),
        "parse": ask(pc.extract_regex, expressions.URI),
    }


def _six_columns(values: list[Any]) -> list[pa.Array]:
    return [pa.array(column) for column in zip(*values, strict=True)]


def _can_ada(data: Inputs, threads: int) -> Calls:
    import can_ada

    parse, can_parse = can_ada.parse, can_ada.can_parse
    base = can_ada.parse(data.base)
    empty = (None,) * 6

    def split_six() -> Any:
        rows: list[Any] = []
        for text in data.texts.to_pylist():
            try:
                u = parse(text)
            except ValueError:
                rows.append(empty)
            else:
                rows.append((u.protocol, u.hostname, u.port, u.pathname, u.search, u.hash))
        return _six_columns(rows)

    return {
        "split": split_six,
        "parse": split_six,
        "host": _loop_rows(data.texts, lambda text: parse(text).hostname),
        "check": lambda: pa.array([can_parse(text) for text in data.texts.to_pylist()]),
        "normalize": _loop_rows(data.texts, lambda text: str(parse(text))),
        "normalize by scheme": _loop_rows(data.texts, lambda text: str(parse(text))),
        "resolve": _loop_rows(data.references, lambda text: str(base + text)),
    }


def _urllib(data: Inputs, threads: int) -> Calls:
    from urllib.parse import quote, unquote, urljoin, urlsplit

    def split_six() -> Any:
        rows: list[Any] = []
        for text in data.texts.to_pylist():
            try:
                u = urlsplit(text)
                rows.append((u.scheme, u.hostname, u.port, u.path, u.query, u.fragment))
            except ValueError:
                rows.append((None,) * 6)
        return _six_columns(rows)

    def check(text: str) -> bool:
        try:
            return bool(urlsplit(text).scheme)
        except ValueError:
            return False

    return {
        "split": split_six,
        "host": _loop_rows(data.texts, lambda text: urlsplit(text).hostname),
        "check": lambda: pa.array([check(text) for text in data.texts.to_pylist()]),
        "resolve": _loop_rows(data.references, lambda text: urljoin(data.base, text)),
        "encode": _loop_rows(data.texts, lambda text: quote(text, safe="")),
        "decode": _loop_rows(data.encoded, unquote),
    }


def _loop_rows(column: pa.Array, work: Callable[[str], str | None]) -> Callable[[], pa.Array]:
    """A loop over the rows, with null for what is refused."""

    def loop() -> pa.Array:
        results: list[str | None] = []
        for text in column.to_pylist():
            try:
                results.append(work(text))
            except Exception:  # a peer's own refusal, whatever its type
                results.append(None)
        return pa.array(results, pa.string())

    return loop


ENGINES: dict[str, Callable[[Inputs, int], Calls]] = {
    "overthere": _overthere,
    "chdb": _chdb,
    "chdb, result discarded": partial(_chdb, result="Null"),
    "duckdb": _duckdb,
    "polars": _polars,
    "pyarrow.compute": _pyarrow,
    "loop, can_ada": _can_ada,
    "loop, urllib.parse": _urllib,
}
TELLS = frozenset({"overthere", "polars"})
"""Who has null for an undefined component."""


def rows(found: Any) -> list[Any]:
    """A result row by row: tuples of components, or single answers; for `URI` the path that exists."""
    if isinstance(found, pa.Table):
        found = found.columns if found.num_columns > 1 else found.column(0)
    if isinstance(found, pa.ChunkedArray):
        found = found.combine_chunks()
    if isinstance(found, pa.StructArray):
        names = [field.name for field in found.type if not field.name.startswith("error")]
        parts = {name: found.field(name).to_pylist() for name in names}
        if "alone" in parts:
            parts["path"] = [path or alone or "" for path, alone in zip(parts["path"], parts["alone"], strict=True)]
        return list(zip(*(parts[name] for name in _SIX), strict=True))
    if isinstance(found, list):
        return list(zip(*(column.to_pylist() for column in found), strict=True))
    return found.to_pylist()  # type: ignore[no-any-return]
