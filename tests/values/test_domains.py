"""Registrable domains: the algorithm of publicsuffix.org, on values, columns and in engines."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from overthere import IRI, URI, IRIReference, URIReference, columns
from overthere.columns import rowwise
from overthere.values.hosts.domains import SuffixList, suffix_list
from support import cases, ids, linear

ROWS = cases("domains")
PARTS = ("public_suffix", "registrable_domain", "subdomain")


@pytest.mark.parametrize("row", ROWS, ids=ids(ROWS))
def test_domains_of_the_cases(row: dict[str, Any]) -> None:
    parts = suffix_list().split(row["host"], private=row.get("private", True))
    assert (parts and parts.registrable_domain) == row.get("is")
    if "suffix" in row:
        assert parts is not None
        assert parts.public_suffix == row["suffix"]


@pytest.mark.parametrize("row", [row for row in ROWS if row.get("private", True)], ids=lambda row: row["id"])
def test_the_parts_of_a_value_agree_with_the_list(row: dict[str, Any]) -> None:
    value = IRIReference(f"//{row['host']}")
    parts = suffix_list().split(value.host or "")
    assert [getattr(value, part) for part in PARTS] == [parts and getattr(parts, part) for part in PARTS]


def test_the_published_test_rows() -> None:
    """They are published with the list, and part of the installed package."""
    import re

    package = pytest.importorskip("publicsuffixlist")
    text = Path(package.__file__).with_name("test_psl.txt").read_text("utf-8")
    rows = re.findall(r"(?m)^checkPublicSuffix\('([^']*)', (?:null|'([^']*)')\)", text)
    assert len(rows) > 70
    for host, expected in rows:
        parts = suffix_list().split(host)
        registrable = parts and parts.registrable_domain
        assert (registrable and registrable.lower()) == (expected or None), host


RULES = SuffixList(
    "// VERSION: 2020-01-02_03-04-05_UTC\n// ===BEGIN ICANN DOMAINS===\ncom\nuk\nco.uk\n*.ck\n!www.ck\njp\n*.kobe.jp\n"
    "!city.kobe.jp\n公司.cn\ncn\n// ===BEGIN PRIVATE DOMAINS===\nblogspot.com\n*.compute.com\n"
)


def naive(name: str, private: bool) -> int:
    """The algorithm as printed: try every rule, and take the prevailing one."""
    rules = ["com", "uk", "co.uk", "*.ck", "!www.ck", "jp", "*.kobe.jp", "!city.kobe.jp", "公司.cn", "cn"]
    rules += ["xn--55qx5d.cn", *(["blogspot.com", "*.compute.com"] if private else [])]
    labels = name.split(".")[::-1]
    lists = list[list[str]]()
    for rule in rules:
        parts = rule.removeprefix("!").split(".")[::-1]
        if len(parts) <= len(labels) and all(p in ("*", label) for p, label in zip(parts, labels, strict=False)):
            if rule.startswith("!"):
                return len(parts) - 1
            lists.append(parts)
    return max(map(len, lists), default=1)


LABELS = st.sampled_from(["com", "uk", "co", "ck", "www", "jp", "kobe", "city", "cn", "公司", "xn--55qx5d", "a",
                          "blogspot", "compute"])  # fmt: skip


@given(st.lists(st.text(st.sampled_from("aA.1x%6[é。"), max_size=4) | LABELS, max_size=4).map(".".join), st.booleans())
def test_the_native_kernel_finds_the_same_domains(host: str, private: bool) -> None:
    pa = pytest.importorskip("pyarrow")
    column = pa.array([f"http://{host}/"])
    for name in PARTS:
        expected = listed(rowwise.domain(column, name, private=private, threads=1, views=True))
        assert listed(getattr(columns, name)(column, private=private)) == expected


@given(st.lists(LABELS, min_size=1, max_size=6).map(".".join), st.booleans())
def test_the_list_agrees_with_the_printed_algorithm(name: str, private: bool) -> None:
    parts = RULES.split(name, private=private)
    assert parts is not None
    assert parts.public_suffix == ".".join(name.split(".")[-naive(name, private) :])
    if parts.registrable_domain is None:
        assert (parts.public_suffix, parts.subdomain) == (name, None)
    else:
        assert ".".join(filter(None, (parts.subdomain, parts.registrable_domain))) == name


def test_values_have_domains() -> None:
    u = URI("http://joe@WWW.Example.Co.Uk.:80/p")
    assert (u.subdomain, u.registrable_domain, u.public_suffix) == ("WWW", "Example.Co.Uk", "Co.Uk")
    assert IRI("http://a.bücher.公司.cn/").registrable_domain == "bücher.公司.cn"
    for text in (
        "a/b",
        "http:///",
        "http://[::1]/",
        "http://127.0.0.1/",
        "http://0x7f.1/",
        "http://a..b/",
        "http://%FF.com/",
    ):
        u2 = URIReference(text)
        assert (u2.public_suffix, u2.registrable_domain, u2.subdomain) == (None, None, None)
    assert URI("http://ex%61mple.com/").registrable_domain == "example.com"
    assert (RULES.version, suffix_list().version is not None) == ("2020-01-02", True)


TEXTS = [f"http://{row['host']}/p" for row in ROWS] + [None, "a", "http://[::1]:8/", "x://h@www.A.co.uk:80", "é", ""]


def listed(column: Any) -> list[Any]:
    rows: list[Any] = rowwise.to_pyarrow(column).to_pylist()
    return rows


@pytest.mark.parametrize("name", PARTS)
@pytest.mark.parametrize("private", [True, False])
def test_columns_agree_with_the_list(name: str, private: bool) -> None:
    pa = pytest.importorskip("pyarrow")
    column = pa.array(TEXTS)
    hosts = pa.array(columns.host(column)).to_pylist()
    cuts = [suffix_list().split(host, private=private) if host else None for host in hosts]
    expected = [None if parts is None else getattr(parts, name) for parts in cuts]
    work = getattr(columns, name)
    for kind in (pa.string(), pa.large_string(), pa.string_view()):
        assert listed(work(column.cast(kind), private=private)) == expected
    assert listed(work(column.dictionary_encode(), private=private)) == expected
    assert listed(work(pa.chunked_array([column, column]), private=private)) == expected * 2
    assert listed(work(pa.chunked_array([], pa.string()), private=private)) == []
    assert listed(work(column[:0], private=private)) == []


@pytest.mark.parametrize("name", PARTS)
def test_engines_have_domains(name: str) -> None:
    pl, pd, duckdb = (pytest.importorskip(module) for module in ("polars", "pandas", "duckdb"))
    import overthere.columns.duckdb
    import overthere.columns.pandas
    import overthere.columns.polars

    texts = ["http://www.bbc.co.uk/", None, "http://[::1]/"]
    expected = [URI("http://www.bbc.co.uk/").__getattribute__(name), None, None]
    assert getattr(pl.Series(texts).uri, name)().to_list() == expected
    frame = pl.DataFrame({"u": texts}).select(getattr(pl.col("u").uri, name)())
    assert frame["u"].to_list() == expected
    assert [None if pd.isna(v) else v for v in getattr(pd.Series(texts).uri, name)()] == expected
    con = duckdb.connect()
    overthere.columns.duckdb.register(con)
    con.execute("create table t as select unnest(?) as u", [texts])
    assert [row[0] for row in con.execute(f"select uri_{name}(u) from t").fetchall()] == expected


def test_the_command_split_shows_domains(tmp_path: Path) -> None:
    from click.testing import CliRunner

    from overthere.cli.app import app

    names = [f"--component={name}" for name in PARTS]
    result = CliRunner().invoke(app, ["split", *names, "http://www.bbc.co.uk/", "http://[::1]/", "--format", "jsonl"])
    assert result.exit_code == 0
    assert '"registrable_domain": "bbc.co.uk", "subdomain": "www"' in result.stdout
    assert result.stdout.count("null") == 3
    table = tmp_path / "t.csv"
    table.write_text("u\nhttp://www.bbc.co.uk/\nhttp://a b.co.uk/\n\n")
    result = CliRunner().invoke(app, ["split", *names, "--component=path", "--column", "u", str(table)])
    assert (result.exit_code, result.stdout.splitlines()) == (
        0,
        [
            '"u","u_public_suffix","u_registrable_domain","u_subdomain","u_path"',
            '"http://www.bbc.co.uk/","co.uk","bbc.co.uk","www","/"',
            '"http://a b.co.uk/","co.uk","a b.co.uk",,"/"',
            ",,,,",
        ],
    ), result.stderr
    result = CliRunner().invoke(app, ["split", *names, "--strict", "--column", "u", str(table)])
    assert (result.exit_code, result.stdout.splitlines()[2]) == (1, '"http://a b.co.uk/",,,,"space",8')


def test_a_missing_list_is_reported() -> None:
    code = "import sys; sys.modules['publicsuffixlist'] = None; from overthere import URI; URI('http://a/').subdomain"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "pip install 'overthere[domains]'" in result.stderr


def test_splitting_a_host_is_linear() -> None:
    linear(lambda n: RULES.split("a." * n + "com"), 100_000)
    linear(lambda n: RULES.split("公." * n + "com"), 100_000)
