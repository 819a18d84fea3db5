"""Spark columns give what the column functions give, however the rows are partitioned."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pytest

from overthere import URI, CodingError, GrammarError, InvalidURI, Rung, columns, kernel
from test_engines import BASE, TEXTS, rows

pytest.importorskip("pyspark", reason="pyspark is absent")
if not (shutil.which("java") or os.environ.get("JAVA_HOME")):
    pytest.skip("java is absent", allow_module_level=True)

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - as its users call it

from overthere.columns import spark

COMPONENTS = ("scheme", "authority", "userinfo", "host", "port", "path", "query", "fragment")
BASES = ["http://a/b/c", "x", None]
CONFIG: dict[str, bool | float | int | str | None] = {
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.log.level": "ERROR",
    "spark.sql.execution.arrow.maxRecordsPerBatch": 7,
    "spark.sql.shuffle.partitions": 2,
    "spark.ui.enabled": False,
    "spark.ui.showConsoleProgress": False,
}


@pytest.fixture(scope="module")
def session() -> Iterator[SparkSession]:
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("PYSPARK_PYTHON", sys.executable)
        spark_session = SparkSession.builder.master("local[2]").config(map=CONFIG).getOrCreate()
    yield spark_session
    spark_session.stop()


@pytest.fixture(scope="module")
def frame(session: SparkSession) -> DataFrame:
    """The texts in four partitions, two or more of them empty, in batches of seven rows."""
    texts = [(n, text, BASES[n % 3]) for n, text in enumerate(TEXTS)]
    return session.createDataFrame(texts, "n int, url string, base string").repartition(4, F.col("n") % 2)


@pytest.fixture(scope="module")
def expected_columns() -> dict[str, list[Any]]:
    """The results of the column functions, by the name of the SQL function."""
    texts = pa.array(TEXTS)
    parts = rows(columns.split(texts, COMPONENTS))
    return {
        "check": rows(columns.check(texts)),
        **{name: [row and row[name] for row in parts] for name in COMPONENTS},
        "normalize": rows(columns.normalize(texts)),
        "resolve": rows(columns.resolve(texts, BASE)),
        "encode": rows(columns.encode(texts)),
        "decode": rows(columns.decode(texts)),
    }


def evaluate(frame: DataFrame, **column_by_name: Column) -> dict[str, list[Any]]:
    """Evaluate columns of a frame; return their values in the order of the texts."""
    listed = frame.select("n", *(column.alias(name) for name, column in column_by_name.items())).toArrow().sort_by("n")
    return {name: listed[name].to_pylist() for name in column_by_name}


def test_columns_of_a_frame(frame: DataFrame, expected_columns: dict[str, list[Any]]) -> None:
    columns = {name: getattr(spark, name)("url", *([BASE] if name == "resolve" else [])) for name in expected_columns}
    assert evaluate(frame, **columns) == expected_columns
    assert frame.where("n < 0").select(*columns.values()).collect() == []


def test_arguments_of_columns(frame: DataFrame) -> None:
    texts, url = pa.array(TEXTS), F.col("url")
    assert evaluate(
        frame,
        check=spark.check(url, "URI-reference"),
        of_scheme=spark.check(url, "URI-reference", scheme=True),
        split=spark.split(url),
        two=spark.split(url, ["port", "host"]),
        parse=spark.parse(url),
        one=spark.parse(url, ["path"], "URI-reference"),
        normalize=spark.normalize(url, Rung.SCHEME),
        resolve=spark.resolve(url, URI("http:a/b"), strict=False),
        encode=spark.encode(url, "query", keep="/"),
    ) == {
        "check": rows(columns.check(texts, "URI-reference")),
        "of_scheme": rows(columns.check(texts, "URI-reference", scheme=True)),
        "split": rows(columns.split(texts)),
        "two": rows(columns.split(texts, ["port", "host"])),
        "parse": rows(columns.parse(texts)),
        "one": rows(columns.parse(texts, ["path"], "URI-reference")),
        "normalize": rows(columns.normalize(texts, Rung.SCHEME)),
        "resolve": rows(columns.resolve(texts, "http:a/b", strict=False)),
        "encode": rows(columns.encode(texts, "query", keep="/")),
    }


def test_sql_functions(session: SparkSession, frame: DataFrame, expected_columns: dict[str, list[Any]]) -> None:
    spark.register(session)
    calls = {
        name: F.expr(f"uri_{name}({f'url, {BASE!r}' if name == 'resolve' else 'url'})") for name in expected_columns
    }
    assert evaluate(frame, **calls) == expected_columns
    texts = pa.array(TEXTS)
    assert evaluate(frame, of=F.expr("uri_check_scheme(url)")) == {"of": rows(columns.check(texts, scheme=True))}
    assert evaluate(frame, kept=F.expr("uri_encode(url, 'query', '/=')"), path=F.expr("uri_encode(url, 'path')")) == {
        "kept": rows(columns.encode(texts, "query", keep="/=")),
        "path": rows(columns.encode(texts, "path")),
    }


def test_iris(session: SparkSession, frame: DataFrame) -> None:
    """IRIs to URIs and back (RFC 3987 3.1, 3.2), by functions and in SQL."""
    spark.register(session)
    texts = pa.array(TEXTS)
    uris, iris = rows(columns.to_uri(texts)), rows(columns.to_iri(texts))
    assert "http://%C3%A9/%C3%BC" in uris
    assert "x:\u00e9" in iris
    sql = {"to_uri_sql": F.expr("iri_to_uri(url)"), "to_iri_sql": F.expr("uri_to_iri(url)")}
    assert evaluate(frame, to_uri=spark.to_uri("url"), to_iri=spark.to_iri(F.col("url")), **sql) == {
        "to_uri": uris,
        "to_iri": iris,
        "to_uri_sql": uris,
        "to_iri_sql": iris,
    }


def test_a_base_in_each_row(frame: DataFrame) -> None:
    bases = pa.array([BASES[n % 3] for n in range(len(TEXTS))])
    expected = rows(columns.resolve(pa.array(TEXTS), bases))
    assert any(expected)
    assert evaluate(frame, ours=spark.resolve("url", F.col("base")), sql=F.expr("uri_resolve(url, base)")) == {
        "ours": expected,
        "sql": expected,
    }


def test_a_wrong_argument_is_rejected_before_a_task_runs() -> None:
    with pytest.raises(InvalidURI):
        spark.resolve("url", "x")
    with pytest.raises(ValueError, match="components"):
        spark.split("url", ["name"])
    with pytest.raises(GrammarError, match="no rule 'no-rule'"):
        spark.check("url", "no-rule")
    with pytest.raises(CodingError):
        spark.encode("url", "scheme")


def test_the_workers_use_the_drivers_kernel(session: SparkSession) -> None:
    assert session.sparkContext.parallelize([0]).map(lambda _: kernel.name).collect() == [kernel.name]


def test_parameter_functions(session: SparkSession, frame: DataFrame) -> None:
    texts = pa.array(TEXTS)
    expected = {
        "get": rows(columns.parameter(texts, "y")),
        "set": rows(columns.with_parameters(texts, {"y": "a b"})),
        "add": rows(columns.add_parameters(texts, {"y": 1})),
        "less": rows(columns.without_parameters(texts, "y*")),
        "sorted": rows(columns.sort_parameters(texts)),
    }
    frames = {
        "get": spark.parameter("url", "y"),
        "set": spark.with_parameters("url", {"y": "a b"}),
        "add": spark.add_parameters("url", {"y": 1}),
        "less": spark.without_parameters("url", "y*"),
        "sorted": spark.sort_parameters("url"),
    }
    assert evaluate(frame, **frames) == expected
    spark.register(session)
    in_sql = {
        "get": F.expr("uri_parameter(url, 'y')"),
        "set": F.expr("uri_with_parameter(url, 'y', 'a b')"),
        "add": F.expr("uri_add_parameter(url, 'y', '1')"),
        "less": F.expr("uri_without_parameters(url, 'y*')"),
        "sorted": F.expr("uri_sort_parameters(url)"),
    }
    assert evaluate(frame, **in_sql) == expected
