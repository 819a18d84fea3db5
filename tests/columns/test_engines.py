"""Columns in every engine give what the column functions give."""

from __future__ import annotations

import ast
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import overthere.columns.pandas
import overthere.columns.polars  # noqa: F401 - registers the namespace
from overthere import Rung, columns
from overthere.canonical import W3LIB
from overthere.columns.duckdb import register
from overthere.columns.operations import COMPONENTS, OPERATIONS
from support import cases

TEXTS = [row["text"] for row in cases("normalize")] + ["a b", None, "", "http://h/%zz", "http://é/ü", "x:%C3%A9"]
BASE = "http://a/b/c/d;p?q"


def rows(column: Any) -> list[Any]:
    listed: list[Any] = pa.array(column).to_pylist()
    return listed


EXPECTED: dict[str, list[Any]] = {
    "check": rows(columns.check(pa.array(TEXTS))),
    "host": rows(columns.host(pa.array(TEXTS))),
    "normalize": rows(columns.normalize(pa.array(TEXTS))),
    "resolve": rows(columns.resolve(pa.array(TEXTS), BASE)),
    "relate": rows(columns.relate(pa.array(TEXTS), BASE)),
    "encode": rows(columns.encode(pa.array(TEXTS))),
    "decode": rows(columns.decode(pa.array(TEXTS))),
    "to_uri": rows(columns.to_uri(pa.array(TEXTS))),
    "to_iri": rows(columns.to_iri(pa.array(TEXTS))),
    "split": rows(columns.split(pa.array(TEXTS))),
}


SECOND = pa.array([*TEXTS[1:], "HTTP://a/"])
ARGUMENTS: dict[str, tuple[Any, ...]] = {
    "resolve": (BASE,),
    "relate": (BASE,),
    "equivalent": (SECOND,),
    "lowest_rung": (SECOND,),
    "canonicalize": (W3LIB,),
    "parameter": ("a",),
    "with_parameters": ({"a": "b c"},),
    "add_parameters": ([("a", "b c")],),
    "without_parameters": ("utm_*", "a"),
}
"""Arguments after the column; a column of bases is passed as a column of the engine."""
VALUES = {"base": BASE, "name": "a", "value": "b c", "names": "utm_*", "form": "w3lib", "component": "path", "keep": ""}


def arguments_for(name: str, as_column: Callable[[Any], Any]) -> list[Any]:
    return [as_column(argument) if isinstance(argument, pa.Array) else argument for argument in ARGUMENTS.get(name, ())]


@pytest.mark.parametrize("name", OPERATIONS)
def test_every_engine_has_every_operation(name: str) -> None:
    expected = rows(getattr(columns, name)(pa.array(TEXTS), *ARGUMENTS.get(name, ())))
    frame = pl.DataFrame({"url": TEXTS, "other": SECOND})
    eager = getattr(frame["url"].uri, name)(*arguments_for(name, pl.Series))  # type: ignore[attr-defined]
    assert eager.to_list() == expected
    expr = getattr(pl.col("url").uri, name)(*arguments_for(name, lambda _: pl.col("other")))  # type: ignore[attr-defined]
    lazy = frame.lazy().select(expr)
    assert lazy.collect()["url"].equals(eager)
    assert lazy.collect(engine="streaming")["url"].equals(eager)
    assert lazy.collect_schema() == {"url": eager.dtype}
    results = getattr(pd.Series(TEXTS).uri, name)(*arguments_for(name, lambda column: pd.Series(column.to_pylist())))
    if isinstance(results, pd.DataFrame):
        for field in results.columns:
            assert pa.array(results[field], from_pandas=True).to_pylist() == [row and row[field] for row in expected]
    else:
        assert pa.array(results, from_pandas=True).to_pylist() == expected


@pytest.mark.parametrize("name", COMPONENTS)
def test_every_engine_has_every_component(name: str) -> None:
    expected = [row and row[name] for row in rows(columns.split(pa.array(TEXTS), [name]))]
    assert getattr(pl.Series("url", TEXTS).uri, name)().to_list() == expected  # type: ignore[attr-defined]
    assert pa.array(getattr(pd.Series(TEXTS).uri, name), from_pandas=True).to_pylist() == expected


@pytest.mark.parametrize("name", [name for name, row in OPERATIONS.items() if row.sql])
def test_every_function_of_sql(name: str) -> None:
    """With one value for all rows, and with a value per row; null gives null."""
    con = duckdb.connect()
    register(con)
    for sql in OPERATIONS[name].sql:
        values = [VALUES[argument] for argument in sql.arguments]
        named_values = dict(zip(sql.arguments, values, strict=True))
        named = sql.values(*values) if sql.values else {} if sql.repeats else named_values
        positional = values if sql.repeats else []
        expected = rows(getattr(columns, name)(pa.array(TEXTS), *positional, **named, **sql.constants))
        con.register("t", pa.table({"n": range(len(TEXTS)), "url": pa.array(TEXTS, pa.string())}))
        constants = "".join(f", '{value}'" for value in values)
        results = con.sql(f"select {sql.name}(url{constants}) from t order by n").fetchall()
        assert [row[0] for row in results] == expected
        if values:
            mixed = "".join(f", case when n % 2 = 0 then '{value}' end" for value in values)
            results = con.sql(f"select {sql.name}(url{mixed}) from t order by n").fetchall()
            assert [row[0] for row in results] == [None if n % 2 else column for n, column in enumerate(expected)]
    con.close()


def test_without_names_parameters_are_unchanged() -> None:
    con = duckdb.connect()
    register(con)
    assert con.sql("select uri_without_parameters('?a=1')").fetchall() == [("?a=1",)]
    con.close()


def test_the_stubs_name_the_methods() -> None:
    for name in ("polars", "pandas", "spark"):
        stub = ast.parse((Path(columns.__file__).parent / f"{name}.pyi").read_text())
        classes = [node.body for node in stub.body if isinstance(node, ast.ClassDef)]
        for body in classes or [stub.body]:
            named = {node.name for node in body if isinstance(node, ast.FunctionDef)}
            assert named - {"__init__", "register"} == {*OPERATIONS, *COMPONENTS}


def test_polars_against_a_column() -> None:
    frame = pl.DataFrame({"url": ["../g", "x", None], "base": ["http://a/b/c", "no base", "http://a/"]})
    expr = pl.col("url").uri.resolve(pl.col("base"))  # type: ignore[attr-defined]
    expected = ["http://a/g", None, None]
    assert frame.lazy().select(expr).collect(engine="streaming")["url"].to_list() == expected
    assert frame["url"].uri.resolve(frame["base"]).to_list() == expected  # type: ignore[attr-defined]


@pytest.mark.parametrize("dtype", ["float64", "float32", "category", "object", "string"])
@pytest.mark.parametrize("count", [0, 1, 3])
def test_pandas_missing_values_alone(dtype: Any, count: int) -> None:
    series = pd.Series([None] * count, dtype=dtype)
    for results in (series.uri.check(), series.uri.host, series.uri.normalize(), series.uri.repair()):
        assert pa.array(results, from_pandas=True).to_pylist() == [None] * count
    assert pa.array(series.uri.resolve(series), from_pandas=True).to_pylist() == [None] * count


def test_pandas_against_a_column() -> None:
    frame = pd.DataFrame({"url": ["../g", "x", None], "base": ["http://a/b/c", "no base", "http://a/"]})
    targets = frame["url"].uri.resolve(frame["base"])
    assert pa.array(targets, from_pandas=True).to_pylist() == ["http://a/g", None, None]


def test_iris_are_optional() -> None:
    texts = ["HTTP://h/é/../ü", "ü"]
    series = pl.Series(texts).uri  # type: ignore[attr-defined]
    assert series.normalize(iri=True).to_list() == ["http://h/ü", "ü"]
    assert series.resolve("http://é/", iri=True).to_list() == ["HTTP://h/ü", "http://é/ü"]
    accessor = pd.Series(texts).uri
    assert accessor.normalize(iri=True).tolist() == ["http://h/ü", "ü"]
    assert accessor.resolve("http://é/", iri=True).tolist() == ["HTTP://h/ü", "http://é/ü"]


def test_polars_literals_are_for_all_rows() -> None:
    frame = pl.DataFrame({"u": ["a", "b", None], "base": ["http://h/x/", "http://g/", "http://g/"]})
    url, base, literal = pl.col("u").uri, pl.col("base"), pl.lit("http://l/")  # type: ignore[attr-defined]
    for expression, expected in (
        (url.resolve(literal), ["http://l/a", "http://l/b", None]),
        (url.resolve(base.first()), ["http://h/x/a", "http://h/x/b", None]),
        (pl.lit("a").uri.resolve(base), ["http://h/x/a", "http://g/a", "http://g/a"]),  # type: ignore[attr-defined]
        (url.equivalent(pl.lit("a")), [True, False, None]),
    ):
        assert frame.select(expression).to_series().to_list() == expected
        assert frame.lazy().select(expression).collect(engine="streaming").to_series().to_list() == expected
        assert frame.clear().select(expression.alias("x")).height == 0


def test_polars_rung() -> None:
    normalized = pl.Series(["http://h:80"]).uri.normalize(Rung.SCHEME)  # type: ignore[attr-defined]
    assert normalized.to_list() == ["http://h/"]


@pytest.mark.parametrize("dtype", [object, "string[pyarrow]", pd.ArrowDtype(pa.string())])
def test_pandas(dtype: Any) -> None:
    series = pd.Series(TEXTS, index=range(100, 100 + len(TEXTS)), dtype=dtype, name="url")
    uri = series.uri
    for name in ("check", "normalize", "resolve", "relate", "encode", "decode", "to_uri", "to_iri"):
        results = getattr(uri, name)(*((BASE,) if name in ("resolve", "relate") else ()))
        assert pa.array(results, from_pandas=True).to_pylist() == EXPECTED[name], name
        assert list(results.index) == list(series.index)
        assert results.name == "url"
    assert pa.array(uri.host, from_pandas=True).to_pylist() == EXPECTED["host"]
    frame = uri.split()
    assert list(frame.columns) == list(columns.SIX)
    for name in columns.SIX:
        expected = [row and row[name] for row in EXPECTED["split"]]
        assert pa.array(frame[name], from_pandas=True).to_pylist() == expected
    with pytest.raises(AttributeError):
        _ = uri.nothing


def test_duckdb() -> None:
    con = duckdb.connect()
    register(con)
    table = pa.table({"n": range(len(TEXTS)), "url": pa.array(TEXTS, pa.string())})
    con.register("t", table)
    for name in ("check", "host", "normalize", "encode", "decode"):
        results = con.sql(f"select uri_{name}(url) from t order by n").fetchall()
        assert [row[0] for row in results] == EXPECTED[name], name
    encoded = con.sql("select uri_encode(url, 'query', '/='), uri_encode(url, 'path') from t order by n").fetchall()
    expected = [columns.encode(pa.array(TEXTS), "query", keep="/="), columns.encode(pa.array(TEXTS), "path")]
    assert [list(each) for each in zip(*encoded, strict=True)] == [rows(column) for column in expected]
    both = con.sql("select uri_encode('a/b', 'path', k) from (values ('/'), (''), (null)) v(k)").fetchall()
    assert [row[0] for row in both] == ["a/b", "a%2Fb", None]
    with pytest.raises(duckdb.Error, match="takes a column, component, keep"):
        con.sql("select uri_encode(url, 'path', '', '') from t").fetchall()
    with pytest.raises(duckdb.Error, match="cannot contain"):
        con.sql("select uri_encode('a', 'segment', '/')").fetchall()
    for name, function in (("to_uri", "iri_to_uri"), ("to_iri", "uri_to_iri")):
        results = con.sql(f"select {function}(url) from t order by n").fetchall()
        assert [row[0] for row in results] == EXPECTED[name], name
    results = con.sql(f"select uri_resolve(url, '{BASE}') from t order by n").fetchall()
    assert [row[0] for row in results] == EXPECTED["resolve"]
    results = con.sql(f"select uri_relate(url, '{BASE}') from t order by n").fetchall()
    assert [row[0] for row in results] == EXPECTED["relate"]
    results = con.sql("select uri_resolve(url, 'no base') from t").fetchall()
    assert {row[0] for row in results} == {None}
    resolved = con.sql("select uri_resolve('../g', b) from (values ('http://a/b/c'), ('x'), (null)) v(b)").fetchall()
    assert [row[0] for row in resolved] == ["http://a/g", None, None]
    con.close()
