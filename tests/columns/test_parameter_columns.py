"""Parameters of columns: each row is the result of the value's function, with either kernel, in each engine."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from overthere import CodingError, InvalidURI, URIReference, columns
from overthere.columns import operations, rowwise
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


def calls(name: str, pairs: Any, **kw: Any) -> Calls:
    """The column functions with the functions of values."""

    def of(u: URIReference) -> Parameters:
        return Parameters(u.query, **kw)

    return {
        "parameter": (lambda c: columns.parameter(c, name, **kw), lambda u: of(u).get(name)),
        "raw": (
            lambda c: columns.parameter(c, name, raw=True, **kw),
            lambda u: next(iter(of(u).written(name)), None),
        ),
        "with": (lambda c: columns.with_parameters(c, pairs, **kw), lambda u: str(u.with_parameters(pairs, **kw))),
        "add": (lambda c: columns.add_parameters(c, pairs, **kw), lambda u: str(u.add_parameters(pairs, **kw))),
        "without": (
            lambda c: columns.without_parameters(c, name, b"u*", **kw),
            lambda u: str(u.without_parameters(name, b"u*", **kw)),
        ),
        "sort": (lambda c: columns.sort_parameters(c, **kw), lambda u: str(u.sort_parameters(**kw))),
    }


def of_value(text: str | None, work: Callable[[URIReference], str | None]) -> str | None:
    try:
        return None if text is None else work(URIReference(text))
    except InvalidURI:
        return None


def listed(column: Any) -> list[Any]:
    rows: list[Any] = rowwise.to_pyarrow(column).to_pylist()
    return rows


@pytest.mark.parametrize("name", list(calls("", {})))
@pytest.mark.parametrize("kwargs", [{}, {"separator": ";"}, {"plus": False}], ids=str)
@pytest.mark.parametrize("method", ["a", "b", "a b", "", "utm_*", "é", "ab"])
def test_a_row_is_the_result_of_the_value(name: str, kwargs: dict[str, Any], method: str) -> None:
    pairs = [(method, "x y&"), ("n", None), (method, 2)]
    work, value = calls(method, pairs, **kwargs)[name]
    expected = [of_value(text, value) for text in TEXTS]
    assert listed(work(pa.array(TEXTS))) == expected
    for kind in (pa.large_string(), pa.string_view(), pa.dictionary(pa.int32(), pa.string())):
        assert listed(work(pa.array(TEXTS).cast(kind))) == expected
    assert listed(work(pa.chunked_array([TEXTS, TEXTS]))) == expected * 2


QUERIES = st.text(st.sampled_from("ab=&;+-/?%*"), max_size=14).map(lambda text: text.replace("%", "%e9"))
NAMES = st.text(st.sampled_from("ab*=&;+ %é"), max_size=3)


@given(st.lists(QUERIES, max_size=4), NAMES, st.sampled_from("&;"), st.booleans())
def test_laws_of_parameters(queries: list[str], name: str, separator: str, plus: bool) -> None:
    texts = [f"http://h/?{query}#f" for query in queries]
    pairs = {name: ["1", "2"], "a": None}
    for work, value in calls(name, pairs, separator=separator, plus=plus).values():
        assert listed(work(pa.array(texts, pa.string()))) == [of_value(text, value) for text in texts]


@pytest.mark.parametrize("row", ROWS, ids=ids(ROWS))
def test_parameters_of_the_cases(row: dict[str, Any]) -> None:
    """Values and columns give what users expect."""
    options = {name: row[name] for name in ("separator", "plus") if name in row}
    arguments = row.get("names") or ([[tuple(pair) for pair in row["pairs"]]] if "pairs" in row else [])
    if row["do"] == "parameter":
        value = Parameters(URIReference(row["text"]).query, **options).get(*arguments)
    else:
        value = str(getattr(URIReference(row["text"]), row["do"])(*arguments, **options))
    assert value == row.get("is")
    assert listed(getattr(columns, row["do"])(pa.array([row["text"]]), *arguments, **options)) == [value]


@pytest.mark.parametrize("by_row", [False, True])
@pytest.mark.parametrize("pairs", [{"a": []}, {"a": [], "z": [1, None]}, {"b": "1\n2"}, {}, [("a", "1\n2")]], ids=str)
def test_pairs_are_written_as_by_parameters(pairs: Any, by_row: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """In every scheme, and a name without values is removed."""
    if by_row:
        monkeypatch.setattr("overthere.columns.work.engine", lambda: rowwise)
    texts = ["http://h/?a=1&b=2", "mailto:a@b?a=1", "?a&c&a", "", "?a=1#f"]
    values = [URIReference(text) for text in texts]
    for name, method in (("with_parameters", "set"), ("add_parameters", "add")):
        expected = [str(u.replace(query=getattr(Parameters(u.query), method)(pairs).query)) for u in values]
        assert listed(getattr(columns, name)(pa.array(texts), pairs)) == expected
        assert listed(operations.Call(name, (pairs,), {})(pa.array(texts))) == expected


def test_invalid_rows_are_reported() -> None:
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


def test_invalid_arguments_are_reported() -> None:
    column = pa.array(["?a=1"])
    mistakes: list[tuple[Callable[[], Any], type[Exception]]] = [
        (lambda: columns.parameter(column, "a", separator=","), ValueError),
        (lambda: columns.parameter(column, "\ud800"), CodingError),
        (lambda: columns.without_parameters(column, "\ud800"), CodingError),
        (lambda: columns.with_parameters(column, 5), TypeError),  # type: ignore[arg-type]
        (lambda: columns.add_parameters(column, {"a": float("nan")}), CodingError),
        (lambda: columns.parameter(pa.array([1]), "a"), TypeError),
    ]
    for work, wrong in mistakes:
        with pytest.raises(wrong):
            work()


def test_engines_give_the_same_parameters() -> None:
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
        expected = listed(getattr(columns, name)(column, *arguments))
        assert getattr(pl.Series(TEXTS).uri, name)(*arguments).to_list() == expected
        frame = pl.DataFrame({"u": TEXTS}).select(getattr(pl.col("u").uri, name)(*arguments))
        assert frame["u"].to_list() == expected
        assert [None if pd.isna(v) else v for v in getattr(pd.Series(TEXTS).uri, name)(*arguments)] == expected
        assert [row[0] for row in con.execute(f"select {sql} from t").fetchall()] == expected
    query = """select uri_with_parameter(u, k, v)
             from (values ('?a=1', 'a', '2'), ('?a', 'b', '3'), ('?', 'a', null)) t(u, k, v)"""
    assert [row[0] for row in con.execute(query).fetchall()] == ["?a=2", "?a&b=3", None]


def test_parameter_columns_are_linear() -> None:
    linear(lambda n: columns.parameter(pa.array(["?" + "a=1&" * n]), "b"), 200_000)
    linear(lambda n: columns.with_parameters(pa.array(["?" + "a=1&" * n]), {"a": 2}), 200_000)
    linear(lambda n: columns.without_parameters(pa.array(["?" + "a" * n + "=1"]), "*a*b"), 400_000)


def test_the_command_parameters(tmp_path: Any) -> None:
    from click.testing import CliRunner

    from overthere.cli.app import app

    def run(*arguments: str) -> tuple[int, str]:
        result = CliRunner().invoke(app, ["parameters", *arguments])
        return result.exit_code, result.stdout

    text = "http://h/?X=%3b%20&utm_id=1&q=a+b&q#f"
    assert run(text) == (0, f"{text}\n  X=; \n  utm_id=1\n  q=a b\n  q\n")
    assert run("--get", "q", text, "?a") == (0, "a b\n\n")
    assert run("--get", "X", "--raw", text) == (0, "%3b%20\n")
    assert run("--remove", "utm_*", "--set", "q=1 2", "--add", "n", "--sort", text) == (
        0,
        "http://h/?X=%3b%20&n&q=1+2#f\n",
    )
    assert run("--set", "q=1 2", "--pair-separator", ";", "--no-plus", "?a;q") == (0, "?a;q=1%202\n")
    assert run("--get", "q", "--sort", text)[0] == run("--raw", text)[0] == 2
    code, out = run("--format", "jsonl", "a b", "?a")
    assert (code, '"parameters": [["a", null]]' in out, '"error"' in out) == (1, True, True)
    table = tmp_path / "t.csv"
    table.write_text("u\n?b=1&a=2\n?%zz\n\n")
    code, out = run("--column", "u", "--remove", "b", "--add", "c=3", str(table))
    assert (code, '"?a=2&c=3",,' in out, '"?%zz",,"pct-encoded",1' in out) == (1, True, True)
    code, out = run("--column", "u", "--get", "a", str(table))
    assert (code, "u_parameter" in out, '"?b=1&a=2","2",,' in out) == (1, True, True)
    assert run("--column", "u", str(table))[0] == 2
