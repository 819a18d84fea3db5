"""The faces of the columns: each engine gives what the column functions give."""

from __future__ import annotations

from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import overthere.columns.pandas
import overthere.columns.polars  # noqa: F401 - registers the namespace
from overthere import Rung, columns
from overthere.columns.duckdb import register
from support import cases

TEXTS = [row["text"] for row in cases("normalize")] + ["a b", None, "", "http://h/%zz", "http://é/ü", "x:%C3%A9"]
BASE = "http://a/b/c/d;p?q"


def rows(found: Any) -> list[Any]:
    listed: list[Any] = pa.array(found).to_pylist()
    return listed


WANTED: dict[str, list[Any]] = {
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


@pytest.mark.parametrize("name", WANTED)
def test_polars(name: str) -> None:
    series = pl.Series("url", TEXTS)
    more = (BASE,) if name in ("resolve", "relate") else ()
    eager = getattr(series.uri, name)(*more)  # type: ignore[attr-defined]
    assert list(eager) == WANTED[name]
    assert eager.name == "url"
    expr = getattr(pl.col("url").uri, name)(*more)  # type: ignore[attr-defined]
    lazy = series.to_frame().lazy().select(expr)
    assert lazy.collect()["url"].equals(eager)
    assert lazy.collect(engine="streaming")["url"].equals(eager)
    assert lazy.collect_schema() == {"url": eager.dtype}


def test_polars_against_a_column() -> None:
    frame = pl.DataFrame({"url": ["../g", "x", None], "base": ["http://a/b/c", "no base", "http://a/"]})
    expr = pl.col("url").uri.resolve(pl.col("base"))  # type: ignore[attr-defined]
    wanted = ["http://a/g", None, None]
    assert frame.lazy().select(expr).collect(engine="streaming")["url"].to_list() == wanted
    assert frame["url"].uri.resolve(frame["base"]).to_list() == wanted  # type: ignore[attr-defined]


def test_pandas_against_a_column() -> None:
    frame = pd.DataFrame({"url": ["../g", "x", None], "base": ["http://a/b/c", "no base", "http://a/"]})
    found = frame["url"].uri.resolve(frame["base"])
    assert pa.array(found, from_pandas=True).to_pylist() == ["http://a/g", None, None]


def test_iris_by_choice() -> None:
    texts = ["HTTP://h/é/../ü", "ü"]
    series = pl.Series(texts).uri  # type: ignore[attr-defined]
    assert series.normalize(iri=True).to_list() == ["http://h/ü", "ü"]
    assert series.resolve("http://é/", iri=True).to_list() == ["HTTP://h/ü", "http://é/ü"]
    accessor = pd.Series(texts).uri
    assert accessor.normalize(iri=True).tolist() == ["http://h/ü", "ü"]
    assert accessor.resolve("http://é/", iri=True).tolist() == ["HTTP://h/ü", "http://é/ü"]


def test_polars_rung() -> None:
    found = pl.Series(["http://h:80"]).uri.normalize(Rung.SCHEME)  # type: ignore[attr-defined]
    assert found.to_list() == ["http://h/"]


@pytest.mark.parametrize("dtype", [object, "string[pyarrow]", pd.ArrowDtype(pa.string())])
def test_pandas(dtype: Any) -> None:
    series = pd.Series(TEXTS, index=range(100, 100 + len(TEXTS)), dtype=dtype, name="url")
    uri = series.uri
    for name in ("check", "normalize", "resolve", "relate", "encode", "decode", "to_uri", "to_iri"):
        found = getattr(uri, name)(*((BASE,) if name in ("resolve", "relate") else ()))
        assert pa.array(found, from_pandas=True).to_pylist() == WANTED[name], name
        assert list(found.index) == list(series.index)
        assert found.name == "url"
    assert pa.array(uri.host, from_pandas=True).to_pylist() == WANTED["host"]
    frame = uri.split()
    assert list(frame.columns) == list(columns.SIX)
    for name in columns.SIX:
        wanted = [row and row[name] for row in WANTED["split"]]
        assert pa.array(frame[name], from_pandas=True).to_pylist() == wanted
    with pytest.raises(AttributeError):
        _ = uri.nothing


def test_duckdb() -> None:
    con = duckdb.connect()
    register(con)
    table = pa.table({"n": range(len(TEXTS)), "url": pa.array(TEXTS, pa.string())})
    con.register("t", table)
    for name in ("check", "host", "normalize", "encode", "decode"):
        found = con.sql(f"select uri_{name}(url) from t order by n").fetchall()
        assert [row[0] for row in found] == WANTED[name], name
    kept = con.sql("select uri_encode(url, 'query', '/='), uri_encode(url, 'path') from t order by n").fetchall()
    wanted = [columns.encode(pa.array(TEXTS), "query", keep="/="), columns.encode(pa.array(TEXTS), "path")]
    assert [list(each) for each in zip(*kept, strict=True)] == [rows(one) for one in wanted]
    with pytest.raises(duckdb.Error, match="one component and one keep"):
        con.sql("select uri_encode(url, url) from t").fetchall()
    with pytest.raises(duckdb.Error, match="cannot hold"):
        con.sql("select uri_encode('a', 'segment', '/')").fetchall()
    for name, function in (("to_uri", "iri_to_uri"), ("to_iri", "uri_to_iri")):
        found = con.sql(f"select {function}(url) from t order by n").fetchall()
        assert [row[0] for row in found] == WANTED[name], name
    found = con.sql(f"select uri_resolve(url, '{BASE}') from t order by n").fetchall()
    assert [row[0] for row in found] == WANTED["resolve"]
    found = con.sql(f"select uri_relate(url, '{BASE}') from t order by n").fetchall()
    assert [row[0] for row in found] == WANTED["relate"]
    found = con.sql("select uri_resolve(url, 'no base') from t").fetchall()
    assert {row[0] for row in found} == {None}
    own = con.sql("select uri_resolve('../g', b) from (values ('http://a/b/c'), ('x'), (null)) v(b)").fetchall()
    assert [row[0] for row in own] == ["http://a/g", None, None]
    con.close()
