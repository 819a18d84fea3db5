"""Parameters of whole columns: each row is what the value's function gives, with either kernel and in each engine."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from overthere import CodingError, InvalidURI, URIReference, columns
from overthere.columns import rowwise
from overthere.forms import Parameters
from support import cases, ids, linear

pa = pytest.importorskip("pyarrow")

ROWS = cases("parameters")
TEXTS = [
    "http://h/?a=1&b=%7e&a=2&%61=3#f?a=4",
    "?a",
    "?a=",
    "?",
    "//h",
    "x:y?&&",
    "?=1&a=%E9&a=x",
    "?a=%e2%82%ac%e2%82",
    "?utm_a=1&utm_b#",
    "?a+b=c+d&a%20b=2",
    "?a=1;b=2;a=3",
    "",
    "#a=1",
    "?b=1&a=2&b=0&a+",
    "?%61%62=1&ab=2&a%2bb=3",
    None,
    "a b",
    "http://h/?%zz",
    "http://é/?a=1",
]

Calls = dict[str, tuple[Callable[..., Any], Callable[[URIReference], str | None]]]


def calls(name: str, pairs: Any, **how: Any) -> Calls:
    """A column function beside the function of values."""

    def of(u: URIReference) -> Parameters:
        return Parameters(u.query, **how)

    return {
        "parameter": (lambda c: columns.parameter(c, name, **how), lambda u: of(u).get(name)),
        "raw": (
            lambda c: columns.parameter(c, name, raw=True, **how),
            lambda u: next(iter(of(u).written(name)), None),
        ),
        "with": (lambda c: columns.with_parameters(c, pairs, **how), lambda u: str(u.with_parameters(pairs, **how))),
        "add": (lambda c: columns.add_parameters(c, pairs, **how), lambda u: str(u.add_parameters(pairs, **how))),
        "without": (
            lambda c: columns.without_parameters(c, name, b"u*", **how),
            lambda u: str(u.without_parameters(name, b"u*", **how)),
        ),
        "sort": (lambda c: columns.sort_parameters(c, **how), lambda u: str(u.sort_parameters(**how))),
    }


def of_value(text: str | None, work: Callable[[URIReference], str | None]) -> str | None:
    try:
        return None if text is None else work(URIReference(text))
    except InvalidURI:
        return None


def listed(found: Any) -> list[Any]:
    rows: list[Any] = rowwise.to_pyarrow(found).to_pylist()
    return rows


@pytest.mark.parametrize("name", list(calls("", {})))
@pytest.mark.parametrize("how", [{}, {"separator": ";"}, {"plus": False}], ids=str)
@pytest.mark.parametrize("asked", ["a", "b", "a b", "", "utm_*", "é", "ab"])
def test_a_row_is_what_the_value_gives(name: str, how: dict[str, Any], asked: str) -> None:
    pairs = [(asked, "x y&"), ("n", None), (asked, 2)]
    work, value = calls(asked, pairs, **how)[name]
    wanted = [of_value(text, value) for text in TEXTS]
    assert listed(work(pa.array(TEXTS))) == wanted
    for kind in (pa.large_string(), pa.string_view(), pa.dictionary(pa.int32(), pa.string())):
        assert listed(work(pa.array(TEXTS).cast(kind))) == wanted
    assert listed(work(pa.chunked_array([TEXTS, TEXTS]))) == wanted * 2


QUERIES = st.text(st.sampled_from("ab=&;+-/?%*"), max_size=14).map(lambda text: text.replace("%", "%e9"))
NAMES = st.text(st.sampled_from("ab*=&;+ %é"), max_size=3)


@given(st.lists(QUERIES, max_size=4), NAMES, st.sampled_from("&;"), st.booleans())
def test_laws(queries: list[str], name: str, separator: str, plus: bool) -> None:
    texts = [f"http://h/?{query}#f" for query in queries]
    pairs = {name: ["1", "2"], "a": None}
    for work, value in calls(name, pairs, separator=separator, plus=plus).values():
        assert listed(work(pa.array(texts, pa.string()))) == [of_value(text, value) for text in texts]


@pytest.mark.parametrize("row", ROWS, ids=ids(ROWS))
def test_rows(row: dict[str, Any]) -> None:
    """What people expect of parameters, on values and on a column."""
    how = {name: row[name] for name in ("separator", "plus") if name in row}
    arguments = row.get("names") or ([[tuple(pair) for pair in row["pairs"]]] if "pairs" in row else [])
    if row["do"] == "parameter":
        found = Parameters(URIReference(row["text"]).query, **how).get(*arguments)
    else:
        found = str(getattr(URIReference(row["text"]), row["do"])(*arguments, **how))
    assert found == row.get("is")
    assert listed(getattr(columns, row["do"])(pa.array([row["text"]]), *arguments, **how)) == [found]


def test_bad_rows_are_told() -> None:
    column = pa.array(["?a=1", "a b", None])
    detail = listed(columns.sort_parameters(column, errors="detail"))
    assert detail == [
        {"value": "?a=1", "error": None, "error_at": None},
        {"value": None, "error": "space", "error_at": 1},
        None,
    ]
    with pytest.raises(columns.ColumnError, match="row 1: space at 1"):
        columns.parameter(column, "a", errors="raise")
    assert listed(columns.add_parameters(column, {"n": 1}, errors="repair")) == ["?a=1&n=1", "a%20b?n=1", None]


def test_bad_arguments_are_told() -> None:
    column = pa.array(["?a=1"])
    asked: list[tuple[Callable[[], Any], type[Exception]]] = [
        (lambda: columns.parameter(column, "a", separator=","), ValueError),
        (lambda: columns.parameter(column, "\ud800"), CodingError),
        (lambda: columns.without_parameters(column, "\ud800"), CodingError),
        (lambda: columns.with_parameters(column, 5), TypeError),  # type: ignore[arg-type]
        (lambda: columns.add_parameters(column, {"a": float("nan")}), CodingError),
        (lambda: columns.parameter(pa.array([1]), "a"), TypeError),
    ]
    for work, wrong in asked:
        with pytest.raises(wrong):
            work()


def test_engines() -> None:
    pl, pd, duckdb = (pytest.importorskip(module) for module in ("polars", "pandas", "duckdb"))
    import overthere.columns.duckdb
    import overthere.columns.pandas
    import overthere.columns.polars

    column = pa.array(TEXTS)
    con = duckdb.connect()
    overthere.columns.duckdb.register(con)
    con.execute("create table t as select unnest(?) as u", [TEXTS])
    for name, arguments, sql in [
        ("parameter", ("a",), "uri_parameter(u, 'a')"),
        ("with_parameters", ([("a", "x y")],), "uri_with_parameter(u, 'a', 'x y')"),
        ("add_parameters", ([("a", "x y")],), "uri_add_parameter(u, 'a', 'x y')"),
        ("without_parameters", ("utm_*", "b"), "uri_without_parameters(u, 'utm_*', 'b')"),
        ("sort_parameters", (), "uri_sort_parameters(u)"),
    ]:
        wanted = listed(getattr(columns, name)(column, *arguments))
        assert getattr(pl.Series(TEXTS).uri, name)(*arguments).to_list() == wanted
        frame = pl.DataFrame({"u": TEXTS}).select(getattr(pl.col("u").uri, name)(*arguments))
        assert frame["u"].to_list() == wanted
        assert [None if pd.isna(v) else v for v in getattr(pd.Series(TEXTS).uri, name)(*arguments)] == wanted
        assert [row[0] for row in con.execute(f"select {sql} from t").fetchall()] == wanted
    own = """select uri_with_parameter(u, k, v)
             from (values ('?a=1', 'a', '2'), ('?a', 'b', '3'), ('?', 'a', null)) t(u, k, v)"""
    assert [row[0] for row in con.execute(own).fetchall()] == ["?a=2", "?a&b=3", None]


def test_work_is_linear() -> None:
    linear(lambda n: columns.parameter(pa.array(["?" + "a=1&" * n]), "b"), 200_000)
    linear(lambda n: columns.with_parameters(pa.array(["?" + "a=1&" * n]), {"a": 2}), 200_000)
    linear(lambda n: columns.without_parameters(pa.array(["?" + "a" * n + "=1"]), "*a*b"), 400_000)


def test_command_line(tmp_path: Any) -> None:
    from click.testing import CliRunner

    from overthere.cli.app import app

    def said(*arguments: str) -> tuple[int, str]:
        done = CliRunner().invoke(app, ["parameters", *arguments])
        return done.exit_code, done.stdout

    text = "http://h/?X=%3b%20&utm_id=1&q=a+b&q#f"
    assert said(text) == (0, f"{text}\n  X=; \n  utm_id=1\n  q=a b\n  q\n")
    assert said("--get", "q", text, "?a") == (0, "a b\n\n")
    assert said("--get", "X", "--raw", text) == (0, "%3b%20\n")
    assert said("--remove", "utm_*", "--set", "q=1 2", "--add", "n", "--sort", text) == (
        0,
        "http://h/?X=%3b%20&n&q=1+2#f\n",
    )
    assert said("--set", "q=1 2", "--pair-separator", ";", "--no-plus", "?a;q") == (0, "?a;q=1%202\n")
    assert said("--get", "q", "--sort", text)[0] == said("--raw", text)[0] == 2
    code, out = said("--format", "jsonl", "a b", "?a")
    assert (code, '"parameters": [["a", null]]' in out, '"error"' in out) == (1, True, True)
    table = tmp_path / "t.csv"
    table.write_text("u\n?b=1&a=2\n?%zz\n\n")
    code, out = said("--column", "u", "--remove", "b", "--add", "c=3", str(table))
    assert (code, '"?a=2&c=3",,' in out, '"?%zz",,"pct-encoded",1' in out) == (1, True, True)
    code, out = said("--column", "u", "--get", "a", str(table))
    assert (code, "u_parameter" in out, '"?b=1&a=2","2",,' in out) == (1, True, True)
    assert said("--column", "u", str(table))[0] == 2
